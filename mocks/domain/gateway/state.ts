import type { BehaviorName } from './behaviors.ts'
import type { ChargeMoment, ChargeRecord } from './charges.ts'
import { chargeBody } from './charges.ts'
import type { ChargeOutcome, ChargeStatus } from './transitions.ts'
import type { GatewayEvent } from './types.ts'

/** Keys that executed, by scope: the charge as it was answered. A key is as old as its charge. */
export type KeyTable = Map<string, ChargeMoment>

/** Where a key counts: within a credential, a route and the id in the path (row 73). */
export const keyScope = (
  credential: string,
  route: 'charge' | 'renew',
  pathId: string,
  key: string,
): string =>
  // A header's value has no line break, so no two scopes run together.
  `${route}\n${credential}\n${pathId}\n${key}`

const PURGE_FROM = 1024

/** Finds and keeps the first result of each key. Only executed results are stored. */
export interface KeyStore {
  find(scope: string): ChargeMoment | undefined
  store(scope: string, moment: ChargeMoment): void
}

/** The keys of `table()`, forgotten after `ttl` milliseconds. */
export const createKeyStore = (table: () => KeyTable, ttl: number | false, now: () => number): KeyStore => {
  let purgeAt = PURGE_FROM
  const isOld = (record: ChargeMoment): boolean => ttl !== false && record.charge.createdAt + ttl <= now()

  /** Now and then, so that the cost of a call stays flat. */
  const purge = (keys: KeyTable): void => {
    for (const [scope, record] of keys) if (isOld(record)) keys.delete(scope)
    purgeAt = Math.max(PURGE_FROM, keys.size * 2)
  }

  return {
    find(scope) {
      const record = table().get(scope)
      return record === undefined || isOld(record) ? undefined : record
    },
    store(scope, moment) {
      const keys = table()
      if (ttl !== false && keys.size >= purgeAt) purge(keys)
      keys.set(scope, moment)
    },
  }
}

/** The events, oldest first, in columns: millions of small objects would slow every collection of garbage. */
export interface EventColumns {
  readonly types: GatewayEvent['type'][]
  readonly times: number[]
  readonly charges: ChargeRecord[]
  readonly statuses: ChargeStatus[]
  readonly outcomes: ChargeOutcome[]
}

/** What a reset clears (G3): plain data, so that it can be copied. */
export interface TransactionalState {
  readonly charges: Map<string, ChargeRecord>
  readonly confirmations: Map<string, ChargeRecord>
  readonly keys: KeyTable
  readonly events: EventColumns
  /** Numbers of which a charge has succeeded, for behaviors that change after the first. */
  readonly paidNumbers: Set<string>
}

/** What a reset keeps and a restart forgets. */
export interface LastingState {
  /** Behaviors that were set at run time: comparable number → behavior. */
  readonly behaviors: Map<string, BehaviorName>
  /** How many events were cleared by resets: event ids go on counting. */
  clearedEvents: number
}

/** State with no charge in it. */
export const emptyTransactions = (): TransactionalState => ({
  charges: new Map(),
  confirmations: new Map(),
  keys: new Map(),
  events: { types: [], times: [], charges: [], statuses: [], outcomes: [] },
  paidNumbers: new Set(),
})

/** Lasting state of a new mock. */
export const newLastingState = (): LastingState => ({ behaviors: new Map(), clearedEvents: 0 })

/** Records what happened to a charge, and where it then stood. */
export const recordEvent = (
  events: EventColumns,
  type: GatewayEvent['type'],
  charge: ChargeRecord,
  at: number,
): void => {
  events.types.push(type)
  events.times.push(at)
  events.charges.push(charge)
  events.statuses.push(charge.status)
  events.outcomes.push(charge.outcome)
}

/** The events as they are read (row 80); ids count on from those that resets have cleared. */
export const readEvents = (events: EventColumns, cleared: number): GatewayEvent[] =>
  events.types.flatMap((type, index) => {
    const [at, charge] = [events.times[index], events.charges[index]]
    const [status, outcome] = [events.statuses[index], events.outcomes[index]]
    // The columns are of one length.
    if (at === undefined || charge === undefined || status === undefined || outcome === undefined) return []
    return {
      id: `evt_${String(cleared + index + 1).padStart(8, '0')}`,
      type,
      created_at: new Date(at).toISOString(),
      data: chargeBody(charge, { status, outcome }),
    }
  })

import type { BehaviorName } from './behaviors.ts'
import type { ChargeMoment, ChargeRecord } from './charges.ts'
import { chargeBody } from './charges.ts'
import type { ChargeOutcome, ChargeStatus } from './transitions.ts'
import type { GatewayEvent } from './types.ts'

/** Executed keys by scope, with the charge as it was in the response. A key is as old as its charge. */
type KeyTable = Map<string, ChargeMoment>

/** Returns where a key counts: within a credential, a route and the id in the path (row 73). */
export const keyScope = (
  credential: string,
  route: 'charge' | 'renew',
  pathId: string,
  key: string,
): string =>
  // The value of a header contains no line break, so two scopes are never equal.
  `${route}\n${credential}\n${pathId}\n${key}`

const PURGE_FROM = 1024

/** Keeps the first result of each executed key in `table()`, and forgets it after `ttl` milliseconds. */
export const createKeyStore = (table: () => KeyTable, ttl: number | false, now: () => number) => {
  let purgeAt = PURGE_FROM
  const isOld = (moment: ChargeMoment): boolean => ttl !== false && moment.charge.createdAt + ttl <= now()

  return {
    find(scope: string): ChargeMoment | undefined {
      const moment = table().get(scope)
      return moment === undefined || isOld(moment) ? undefined : moment
    },
    store(scope: string, moment: ChargeMoment): void {
      const keys = table()
      // Old keys are removed now and then, so that the cost of a call does not grow.
      if (ttl !== false && keys.size >= purgeAt) {
        for (const [old, record] of keys) if (isOld(record)) keys.delete(old)
        purgeAt = Math.max(PURGE_FROM, keys.size * 2)
      }
      keys.set(scope, moment)
    },
  }
}

/** Events in columns, oldest first: millions of small objects would slow down every garbage collection. */
interface EventColumns {
  readonly types: GatewayEvent['type'][]
  readonly times: number[]
  readonly charges: ChargeRecord[]
  readonly statuses: ChargeStatus[]
  readonly outcomes: ChargeOutcome[]
}

/** The state that a reset clears (G3), as plain data that can be copied. */
export interface TransactionalState {
  readonly charges: Map<string, ChargeRecord>
  readonly confirmations: Map<string, ChargeRecord>
  readonly keys: KeyTable
  readonly events: EventColumns
  /** Numbers with a succeeded charge, for behaviors that change after the first. */
  readonly paidNumbers: Set<string>
}

/** The state that a reset keeps and a restart clears. */
export interface LastingState {
  /** Behaviors set at run time: comparable number → behavior. */
  readonly behaviors: Map<string, BehaviorName>
  /** How many events resets have cleared: event ids continue from there. */
  clearedEvents: number
}

/** Returns a state without charges. */
export const emptyTransactions = (): TransactionalState => ({
  charges: new Map(),
  confirmations: new Map(),
  keys: new Map(),
  events: { types: [], times: [], charges: [], statuses: [], outcomes: [] },
  paidNumbers: new Set(),
})

/** Returns the lasting state of a new mock. */
export const newLastingState = (): LastingState => ({ behaviors: new Map(), clearedEvents: 0 })

/** Records what happened to a charge, and its status then. */
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

/** Returns the events (row 80). Their ids continue after the events that resets have cleared. */
export const readEvents = (events: EventColumns, cleared: number): GatewayEvent[] =>
  events.types.flatMap((type, index) => {
    const [at, charge] = [events.times[index], events.charges[index]]
    const [status, outcome] = [events.statuses[index], events.outcomes[index]]
    // The columns have the same length.
    if (at === undefined || charge === undefined || status === undefined || outcome === undefined) return []
    return {
      id: `evt_${String(cleared + index + 1).padStart(8, '0')}`,
      type,
      created_at: new Date(at).toISOString(),
      data: chargeBody(charge, { status, outcome }),
    }
  })

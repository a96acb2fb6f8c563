import type { BehaviorName } from './behaviors.ts'
import type { ChargeMoment, ChargeRecord } from './charges.ts'
import { chargeBody } from './charges.ts'
import type { ChargeOutcome, ChargeStatus } from './transitions.ts'
import type { GatewayEvent } from './types.ts'

/** The charge as it was in the response, for each scope of a used key. A key is as old as its charge. */
type KeyTable = Map<string, ChargeMoment>

/** Returns the scope of an idempotency key, which includes the credential, the route and the path's id (row 73). */
export const keyScope = (
  credential: string,
  route: 'charge' | 'renew',
  pathId: string,
  key: string,
): string =>
  // Header values contain no line breaks, so different scopes never give the same text.
  `${route}\n${credential}\n${pathId}\n${key}`

const PURGE_FROM = 1024

/** Creates a store that keeps the first result of each key in `table()`, and forgets it after `ttl` milliseconds. */
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
      // Expired keys are removed when the table has doubled, so that the average cost of a call stays constant.
      if (ttl !== false && keys.size >= purgeAt) {
        for (const [old, record] of keys) if (isOld(record)) keys.delete(old)
        purgeAt = Math.max(PURGE_FROM, keys.size * 2)
      }
      keys.set(scope, moment)
    },
  }
}

/** The events, oldest first, with one array per field. Millions of objects would slow down garbage collection. */
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
  /** Numbers with a succeeded charge, for behaviors that change after the first success. */
  readonly paidNumbers: Set<string>
}

/** The state that `reset` keeps and `restart` clears. */
export interface LastingState {
  /** Behaviors set at run time: comparable number → behavior. */
  readonly behaviors: Map<string, BehaviorName>
  /** The number of events that resets have cleared. The ids of later events continue after this number. */
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

/** Records an event of a charge, with the status and outcome that the charge has at that time. */
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
    // This never happens, because the columns have the same length.
    if (at === undefined || charge === undefined || status === undefined || outcome === undefined) return []
    return {
      id: `evt_${String(cleared + index + 1).padStart(8, '0')}`,
      type,
      created_at: new Date(at).toISOString(),
      data: chargeBody(charge, { status, outcome }),
    }
  })

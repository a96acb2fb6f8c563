import { fingerprint } from '../ids.ts'
import type { BehaviorName } from './behaviors.ts'
import { type ChargeMoment, type ChargeRecord, chargeBody } from './charges.ts'
import type { ChargeOutcome, ChargeStatus } from './transitions.ts'
import type { GatewayEvent } from './types.ts'

/** Maps the scope of each idempotency key (see `keyScope`) to the charge in the first response. */
type KeyTable = Map<string, ChargeMoment>

/**
 * Returns the hash that identifies an API key in stored charges. The charges do not contain the key's index in
 * `apiKeys`, because a snapshot may be restored in a mock that has another key at this index.
 */
export const credentialOf = (apiKey: string): string => fingerprint(apiKey)

/** An idempotency key, and the parts of the request that limit its scope (row 73). */
export interface KeyUse {
  readonly route: 'charge' | 'renew'
  /** The hash of the API key. */
  readonly credential: string
  /** The id in the path; empty if the path has no id. */
  readonly pathId: string
  /** The Idempotency-Key header; empty if the request has none. */
  readonly key: string
}

/** Returns text that identifies an idempotency key together with its route, API key and path id. */
export const keyScope = ({ route, credential, pathId, key }: KeyUse): string =>
  // Line breaks separate the parts. Only `pathId` may contain line breaks, so different scopes give different texts.
  `${route}\n${credential}\n${pathId}\n${key}`

const PURGE_FROM = 1024

/** Creates a store that keeps each idempotency key's first result for `ttl` milliseconds (`false`: forever). */
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
      // Looking for expired keys in the whole table is slow, so this happens only when the table has doubled in size.
      if (ttl !== false && keys.size >= purgeAt) {
        for (const [old, record] of keys) if (isOld(record)) keys.delete(old)
        purgeAt = Math.max(PURGE_FROM, keys.size * 2)
      }
      keys.set(scope, moment)
    },
  }
}

/** The events, oldest first: one array for each field, because millions of objects would slow garbage collection. */
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
  /** Phone numbers with a succeeded charge. For these numbers, a behavior's `afterFirst` applies. */
  readonly paidNumbers: Set<string>
}

/** The state that `reset` keeps and `restart` clears. */
export interface LastingState {
  /** The behaviors that `setBehavior` has set, by phone number without a leading `+`. */
  readonly behaviors: Map<string, BehaviorName>
  /** The number of events that `reset` has cleared: event ids continue after this number. */
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

/** Returns the `LastingState` of a new mock. */
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

/**
 * Returns the events of the charges that still exist (row 80). Event ids start at `cleared` + 1, so that ids do not
 * repeat after a reset.
 */
export const readEvents = ({ events, charges }: TransactionalState, cleared: number): GatewayEvent[] =>
  events.types.flatMap((type, index) => {
    const [at, charge] = [events.times[index], events.charges[index]]
    const [status, outcome] = [events.statuses[index], events.outcomes[index]]
    // This condition is never true, because all arrays have the same length. The compiler requires the check.
    if (at === undefined || charge === undefined || status === undefined || outcome === undefined) return []
    if (!charges.has(charge.id)) return []
    return {
      id: `evt_${String(cleared + index + 1).padStart(8, '0')}`,
      type,
      created_at: new Date(at).toISOString(),
      data: chargeBody(charge, { status, outcome }),
    }
  })

import type { GatewayEvent } from '../api.ts'
import type { BehaviorName } from './behaviors.ts'
import type { ChargeRecord } from './charges.ts'
import { chargeBody } from './charges.ts'
import type { KeyTable } from './keys.ts'
import type { ChargeOutcome, ChargeStatus } from './transitions.ts'

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

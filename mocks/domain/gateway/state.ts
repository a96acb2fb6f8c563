import type { GatewayEvent } from '../api.ts'
import type { BehaviourName } from './behaviours.ts'
import type { ChargeMoment, ChargeRecord } from './charges.ts'
import { chargeBody } from './charges.ts'
import type { KeyTable } from './keys.ts'

/** A stored event: what happened, when, and where the charge then stood. */
export interface EventRecord extends ChargeMoment {
  readonly type: GatewayEvent['type']
  readonly at: number
}

/** What a reset clears (G3): plain data, so that it can be copied. */
export interface TransactionalState {
  readonly charges: Map<string, ChargeRecord>
  readonly confirmations: Map<string, ChargeRecord>
  readonly keys: KeyTable
  readonly events: EventRecord[]
  /** Numbers of which a charge has succeeded, for behaviours that change after the first. */
  readonly paidNumbers: Set<string>
}

/** What a reset keeps and a restart forgets. */
export interface LastingState {
  /** Behaviours that were set at run time: comparable number → behaviour. */
  readonly behaviours: Map<string, BehaviourName>
  /** How many events were cleared by resets: event ids go on counting. */
  clearedEvents: number
}

/** State with no charge in it. */
export const emptyTransactions = (): TransactionalState => ({
  charges: new Map(),
  confirmations: new Map(),
  keys: new Map(),
  events: [],
  paidNumbers: new Set(),
})

/** Lasting state of a new mock. */
export const newLastingState = (): LastingState => ({ behaviours: new Map(), clearedEvents: 0 })

/** An event as it is read (row 80). `number` counts from 1 and makes its id. */
export const eventBody = (event: EventRecord, number: number): GatewayEvent => ({
  id: `evt_${String(number).padStart(8, '0')}`,
  type: event.type,
  created_at: new Date(event.at).toISOString(),
  data: chargeBody(event.charge, event),
})

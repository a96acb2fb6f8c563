import type { KnownChargeStatus } from '../../src/contract/gateway.ts'
import type { BehaviorName, ChargeOutcome } from './behaviors.ts'

/** The status to which each result of a charge leads. */
export const statusAfter = {
  succeed: 'succeeded',
  fail: 'failed',
  retry: 'pending_retry',
  expire: 'expired',
} as const

/**
 * Every status change of a charge: from → event → to. The mock allows no other change.
 *
 * A renewal needs no code from the payer, so a renewal skips `pending_confirmation`.
 */
export const chargeTransitions = {
  none: { create: 'pending_confirmation', ...statusAfter },
  pending_confirmation: statusAfter,
  pending_retry: { succeed: 'succeeded', fail: 'failed' },
  succeeded: {},
  failed: {},
  expired: {},
} as const

/** Status and outcome of a charge at one time. */
export interface Standing<Status extends KnownChargeStatus = KnownChargeStatus> {
  readonly status: Status
  readonly outcome: ChargeOutcome
}

/** What happens to a charge. The first event of a renewal is `charge.renewed`, not `charge.created` (row 80). */
export type ChargeEventType =
  `charge.${'created' | 'confirmed' | 'succeeded' | 'failed' | 'pending_retry' | 'expired' | 'renewed'}`

/** A change of a charge, with the status and outcome that the charge then has. */
export interface Change extends Standing {
  readonly type: ChargeEventType
  readonly at: number
  /** Orders changes of the same time. */
  readonly order: number
}

/** A change that has happened: an event (G3). */
export interface Step extends Change {
  readonly charge: ChargeRecord
}

/** The fields of a charge request. */
export interface ChargeFields {
  readonly msisdn: string
  readonly amount: number
  readonly currency: string
  readonly redirect_uri: string
}

/** A charge: what was requested, and what calls did to it. `standingAt` returns its status at a time. */
export interface ChargeRecord extends ChargeFields {
  readonly id: string
  readonly confirmation_id: string
  /** The gateway's base URL when the charge was created: the start of `confirmation_url`. */
  readonly baseUrl: string
  readonly createdAt: number
  /** Only for a renewal: identifier of the renewed charge. */
  readonly mandate_id: string | undefined
  /** The idempotency key of the request that created the charge. A seeded charge has no key. */
  readonly idempotencyKey: string | undefined
  /** Hash of the API key that created the charge (row 84). */
  readonly credential: string
  /** Status and outcome since the last call that changed them. */
  standing: Standing
  /** What happens if no call comes first: an unconfirmed charge expires, and a charge in pending_retry is retried. */
  next: Change | undefined
  wrongCodes: number
}

/** An idempotency key, and the parts of the request that limit its scope (row 73). */
export interface IdempotencyScope {
  /** The Idempotency-Key header; empty if the request has none. */
  readonly key: string
  /** Hash of the API key. */
  readonly credential: string
  /** Identifies the scope. */
  readonly text: string
}

/** Creates the scope of an idempotency key. `mandateId`, only for a renewal, is the id in the path. */
export const idempotencyScope = (credential: string, key: string, mandateId?: string): IdempotencyScope => ({
  key,
  credential,
  // Only the last part may contain line breaks, so different scopes give different texts.
  text: mandateId === undefined ? `${credential}\n${key}` : `${credential}\n${key}\n${mandateId}`,
})

/** The state of the gateway: plain data that `structuredClone` copies. */
export interface GatewayState {
  /** Every charge, oldest first. */
  charges: ChargeRecord[]
  /** Every charge by its id, and again by its confirmation id. */
  byId: Map<string, ChargeRecord>
  /** The first step of the charge that a request with an idempotency key created, by the text of the key's scope. */
  keys: Map<string, Step>
  /** The steps that calls caused, and those without a call that `freeze` has recorded. */
  steps: Step[]
  /** The number of steps that were recorded before the clock was last set back. */
  frozen: number
  /** By phone number, the charge that succeeds first. From then on, the `afterFirst` of a behavior applies. */
  firstPaid: Map<string, ChargeRecord>
  /** The behaviors that `setBehavior` has set, by phone number without a leading `+`. A reset of the API keeps them. */
  behaviors: Map<string, BehaviorName>
  /** The number of events that resets of the API have deleted: event ids continue after this number. */
  clearedEvents: number
}

/** Returns the state of a gateway without charges. */
export const newGatewayState = (): GatewayState => ({
  charges: [],
  byId: new Map(),
  keys: new Map(),
  steps: [],
  frozen: 0,
  firstPaid: new Map(),
  behaviors: new Map(),
  clearedEvents: 0,
})

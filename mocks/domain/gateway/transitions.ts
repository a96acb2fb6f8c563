import type { KnownChargeOutcome, KnownChargeStatus } from '../../../src/contract/gateway.ts'

/** Status of a charge (G1). */
export type ChargeStatus = KnownChargeStatus
/** Status of a charge, or `none` before the charge exists. */
export type ChargeState = 'none' | ChargeStatus
/** The events that change the status of a charge. */
export type ChargeTrigger = 'create' | 'succeed' | 'fail' | 'retry' | 'expire'
/** Outcome of a charge; the specification shows only PENDING (row 62). */
export type ChargeOutcome = KnownChargeOutcome

/** An event of a charge, and the outcome that the event causes. */
export interface Resolution {
  /** The event: the charge succeeds, fails, is retried later, or expires. */
  readonly event: Exclude<ChargeTrigger, 'create'>
  /** The outcome of the charge after the event, such as `WALLET_BLOCKED` (row 62). */
  readonly outcome: ChargeOutcome
}

/**
 * Every status change of a charge: from → event → to. The mock refuses all other changes.
 *
 * A renewal needs no code from the payer, so a renewal skips `pending_confirmation`.
 */
export const chargeTransitions = {
  none: {
    create: 'pending_confirmation',
    succeed: 'succeeded',
    fail: 'failed',
    retry: 'pending_retry',
    expire: 'expired',
  },
  pending_confirmation: {
    succeed: 'succeeded',
    fail: 'failed',
    retry: 'pending_retry',
    expire: 'expired',
  },
  pending_retry: { succeed: 'succeeded', fail: 'failed' },
  succeeded: {},
  failed: {},
  expired: {},
} as const satisfies Record<ChargeState, Partial<Record<ChargeTrigger, ChargeStatus>>>

const moves: Record<ChargeState, Partial<Record<ChargeTrigger, ChargeStatus>>> = chargeTransitions

/** Returns the status of a charge after an event, or `undefined` if the event is not allowed. */
export const chargeAfter = (state: ChargeState, trigger: ChargeTrigger): ChargeStatus | undefined =>
  moves[state][trigger]

/** Returns whether a status is final. No event changes a final status. */
export const isFinalStatus = (status: ChargeStatus): boolean => Object.keys(moves[status]).length === 0

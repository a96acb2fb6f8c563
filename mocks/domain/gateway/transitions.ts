import type { KnownChargeOutcome, KnownChargeStatus } from '../../../src/contract/gateway.ts'

/** Status of a charge (G1). */
export type ChargeStatus = KnownChargeStatus
/** Where a charge stands; `none` before it exists. */
export type ChargeState = 'none' | ChargeStatus
/** The events of a charge. */
export type ChargeTrigger = 'create' | 'succeed' | 'fail' | 'retry' | 'expire'
/** Outcome of a charge; the specification shows only PENDING (row 62). */
export type ChargeOutcome = KnownChargeOutcome

/** An event of a charge, and the outcome that follows. */
export interface Resolution {
  /** The event: the charge succeeds, fails, is retried later, or expires. */
  readonly event: Exclude<ChargeTrigger, 'create'>
  /** The outcome that the charge then has, such as `WALLET_BLOCKED` (row 62). */
  readonly outcome: ChargeOutcome
}

/**
 * Every move of a charge: from → event → to. Other moves are refused.
 *
 * A renewal needs no payer: it is created and resolved in one step, so it also starts at `none`.
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

/** Returns where an event leads, or `undefined` for an illegal move. */
export const chargeAfter = (state: ChargeState, trigger: ChargeTrigger): ChargeStatus | undefined =>
  moves[state][trigger]

/** Whether no event can move a charge of this status. */
export const isFinalStatus = (status: ChargeStatus): boolean => Object.keys(moves[status]).length === 0

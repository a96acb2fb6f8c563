import type { KnownChargeOutcome, KnownChargeStatus } from '../../../src/contract/gateway.ts'

/** Status of a charge (G1). */
export type ChargeStatus = KnownChargeStatus
/** Where a charge can stand; `none` before it exists. */
export type ChargeState = 'none' | ChargeStatus
/** What can happen to a charge. */
export type ChargeTrigger = 'create' | 'succeed' | 'fail' | 'retry' | 'expire'
/** Outcomes of a charge; the specification shows PENDING alone (row 62). */
export type ChargeOutcome = KnownChargeOutcome

/** What happens to a charge, and the outcome it then shows. */
export interface Resolution {
  /** What happens: it succeeds, fails, is to be retried, or expires. */
  readonly event: Exclude<ChargeTrigger, 'create'>
  /** The outcome that the charge shows then, such as `WALLET_BLOCKED` (row 62). */
  readonly outcome: ChargeOutcome
}

/**
 * Every move of a charge: from → event → to. What is not here is refused.
 *
 * A renewal has nobody to ask: it is created and resolved in one step, so it starts at `none` too.
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

/** Where the event leads, or `undefined`: the move is illegal. */
export const chargeAfter = (state: ChargeState, trigger: ChargeTrigger): ChargeStatus | undefined =>
  moves[state][trigger]

/** Whether no event can move a charge of this status any more. */
export const isFinalStatus = (status: ChargeStatus): boolean => Object.keys(moves[status]).length === 0

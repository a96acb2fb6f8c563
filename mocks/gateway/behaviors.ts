import type { KnownChargeOutcome } from '../../src/contract/gateway.ts'

/** Outcome of a charge; the specification shows only PENDING (row 62). */
export type ChargeOutcome = KnownChargeOutcome

/** An event of a charge, and the outcome that the event causes. */
export interface Resolution {
  /** The event: the charge succeeds, fails, is retried later, or expires. */
  readonly event: 'succeed' | 'fail' | 'retry' | 'expire'
  /** The outcome of the charge after the event, such as `WALLET_BLOCKED` (row 62). */
  readonly outcome: ChargeOutcome
}

/** Determines the results of a phone number's charges and renewals. */
export interface Behavior {
  readonly description: string
  /** Result of a confirmed charge or of a renewal. */
  readonly resolution: Resolution
  /** Result of the charges after the number's first successful charge. Default: `resolution`. */
  readonly afterFirst?: Resolution
  /** Result when the gateway retries a charge. Default: the charge stays in pending_retry. */
  readonly afterRetry?: Resolution
}

const succeed: Resolution = { event: 'succeed', outcome: 'SUCCEEDED' }
const insufficientFunds: Resolution = { event: 'fail', outcome: 'INSUFFICIENT_FUNDS' }
const retry: Resolution = { event: 'retry', outcome: 'RETRYING' }

/** The behaviors that a phone number can have. The specification defines no behaviors (rows 61, 62). */
export const behaviors = {
  succeeds: { description: 'Every charge succeeds.', resolution: succeed },
  insufficient_funds: {
    description: 'Every charge fails: the balance of the wallet is too low.',
    resolution: insufficientFunds,
  },
  wallet_blocked: {
    description: 'Every charge fails: the wallet is blocked.',
    resolution: { event: 'fail', outcome: 'WALLET_BLOCKED' },
  },
  retry_then_succeeds: {
    description: 'Every charge goes to pending_retry and succeeds when the gateway retries it.',
    resolution: retry,
    afterRetry: succeed,
  },
  retry_then_fails: {
    description: 'Every charge goes to pending_retry and fails when the gateway retries it.',
    resolution: retry,
    afterRetry: insufficientFunds,
  },
  stays_pending_retry: { description: 'Every charge stays in pending_retry.', resolution: retry },
  expires: {
    description: 'Every charge expires when the payer enters the correct code.',
    resolution: { event: 'expire', outcome: 'EXPIRED' },
  },
  succeeds_once: {
    description: 'The first charge succeeds; every later charge and renewal fails.',
    resolution: succeed,
    afterFirst: insufficientFunds,
  },
} as const satisfies Record<string, Behavior>

/** Name of a behavior, as the reference route returns it and `payer.setBehavior` accepts it. */
export type BehaviorName = keyof typeof behaviors

/** Returns whether a text is the name of a behavior. */
export const isBehaviorName = (name: string): name is BehaviorName => Object.hasOwn(behaviors, name)

/** The names of all behaviors. */
export const behaviorNames: readonly BehaviorName[] = Object.keys(behaviors).filter(isBehaviorName)

/**
 * A phone number for each behavior. No real phone has such a number, because +999 is not a country code.
 *
 * @example gateway.charge({ msisdn: testNumbers.insufficient_funds, … })
 */
export const testNumbers = {
  succeeds: '+99900000001',
  insufficient_funds: '+99900000002',
  wallet_blocked: '+99900000003',
  retry_then_succeeds: '+99900000004',
  retry_then_fails: '+99900000005',
  stays_pending_retry: '+99900000006',
  expires: '+99900000007',
  succeeds_once: '+99900000008',
} as const satisfies Record<BehaviorName, string>

/** The type of the option `gateway.testNumbers`, which maps each phone number to a behavior. */
export type NumberTable = Readonly<Record<string, BehaviorName>>

/** Maps each number of `testNumbers` to its behavior. */
export const testNumberTable: NumberTable = Object.fromEntries(
  Object.entries(testNumbers).flatMap(([name, msisdn]) => (isBehaviorName(name) ? [[msisdn, name]] : [])),
)

/** Removes the leading plus of a phone number, so that a comparison ignores the plus. */
export const comparableNumber = (msisdn: string): string => msisdn.replace(/^\+/, '')

/** Returns the entry of a test number in the response of the reference route. */
export const testNumber = (msisdn: string, name: BehaviorName) => {
  const { description, resolution, afterRetry }: Behavior = behaviors[name]
  return { msisdn, behavior: name, description, outcome: (afterRetry ?? resolution).outcome }
}

import type { Resolution } from './transitions.ts'

/** How charges of a number resolve. */
export interface Behavior {
  readonly description: string
  /** How a confirmed charge, or a renewal, resolves. */
  readonly resolution: Resolution
  /** How they resolve once a charge of this number has succeeded. Default: the same. */
  readonly afterFirst?: Resolution
  /** How a charge in pending_retry resolves after `retryDelay`. Default: never. */
  readonly afterRetry?: Resolution
}

const succeed: Resolution = { event: 'succeed', outcome: 'SUCCEEDED' }
const insufficientFunds: Resolution = { event: 'fail', outcome: 'INSUFFICIENT_FUNDS' }
const retry: Resolution = { event: 'retry', outcome: 'RETRYING' }

/** The behaviors of a number. Names and outcomes are ours: the specification shows neither (rows 61 and 62). */
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
    description: 'Goes to pending_retry and succeeds when the gateway retries it.',
    resolution: retry,
    afterRetry: succeed,
  },
  retry_then_fails: {
    description: 'Goes to pending_retry and fails when the gateway retries it.',
    resolution: retry,
    afterRetry: insufficientFunds,
  },
  stays_pending_retry: { description: 'Goes to pending_retry and stays there.', resolution: retry },
  expires: {
    description: 'Expires when the right code is given.',
    resolution: { event: 'expire', outcome: 'EXPIRED' },
  },
  succeeds_once: {
    description: 'The first charge succeeds, every later charge and renewal fails.',
    resolution: succeed,
    afterFirst: insufficientFunds,
  },
} as const satisfies Record<string, Behavior>

/** Name of a behavior, as the reference route shows it and as `payer.setBehavior` takes it. */
export type BehaviorName = keyof typeof behaviors

/** Whether the text names a behavior. */
export const isBehaviorName = (name: string): name is BehaviorName => Object.hasOwn(behaviors, name)

/**
 * A number for each behavior. They belong to no operator, because +999 is not the code of a country.
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

/** Numbers and behaviors as an option takes them: number → behavior. */
export type NumberTable = Readonly<Record<string, BehaviorName>>

/** `testNumbers` as a number table. */
export const testNumberTable: NumberTable = Object.fromEntries(
  Object.entries(testNumbers).flatMap(([name, msisdn]) => (isBehaviorName(name) ? [[msisdn, name]] : [])),
)

/** Returns the form in which numbers are compared: the leading plus does not matter. */
export const comparableNumber = (msisdn: string): string => msisdn.replace(/^\+/, '')

/** Returns the row of the reference table for a number. */
export const testNumber = (msisdn: string, name: BehaviorName) => {
  const { description, resolution, afterRetry }: Behavior = behaviors[name]
  return { msisdn, behavior: name, description, outcome: (afterRetry ?? resolution).outcome }
}

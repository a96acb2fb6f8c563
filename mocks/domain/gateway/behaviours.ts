import type { TestNumber } from '../api.ts'
import type { Resolution } from './transitions.ts'

/** How charges of a number end. */
export interface Behaviour {
  readonly description: string
  /** How a confirmed charge, or a renewal, resolves. */
  readonly resolution: Resolution
  /** How it resolves once a charge of the number has succeeded before; left out: the same. */
  readonly afterFirst?: Resolution
  /** How a charge in pending_retry resolves after `retryDelay`; left out: never. */
  readonly afterRetry?: Resolution
}

const succeed: Resolution = { event: 'succeed', outcome: 'SUCCEEDED' }
const insufficientFunds: Resolution = { event: 'fail', outcome: 'INSUFFICIENT_FUNDS' }
const retry: Resolution = { event: 'retry', outcome: 'RETRYING' }

/** The behaviours a number can have. Names and outcomes are ours: the specification shows neither (row 61, 62). */
export const behaviours = {
  succeeds: { description: 'Every charge succeeds.', resolution: succeed },
  insufficient_funds: {
    description: 'Every charge fails: the wallet holds too little.',
    resolution: insufficientFunds,
  },
  wallet_blocked: {
    description: 'Every charge fails: the wallet is blocked.',
    resolution: { event: 'fail', outcome: 'WALLET_BLOCKED' },
  },
  retry_then_succeeds: {
    description: 'Goes to pending_retry and succeeds when it is retried.',
    resolution: retry,
    afterRetry: succeed,
  },
  retry_then_fails: {
    description: 'Goes to pending_retry and fails when it is retried.',
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
} as const satisfies Record<string, Behaviour>

/** Name of a behaviour, as the reference route shows it and as `payer.setBehaviour` takes it. */
export type BehaviourName = keyof typeof behaviours

/** Whether the text names a behaviour. */
export const isBehaviourName = (name: string): name is BehaviourName => Object.hasOwn(behaviours, name)

/** The behaviour of that name. */
export const behaviourNamed = (name: BehaviourName): Behaviour => behaviours[name]

/**
 * A number for each behaviour. No operator can own them: +999 is no country's code.
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
} as const satisfies Record<BehaviourName, string>

/** Numbers and behaviours as an option takes them: number → behaviour. */
export type NumberTable = Readonly<Record<string, BehaviourName>>

/** `testNumbers` as a number table. */
export const testNumberTable: NumberTable = Object.fromEntries(
  Object.entries(testNumbers).flatMap(([name, msisdn]) => (isBehaviourName(name) ? [[msisdn, name]] : [])),
)

/** The form in which numbers are compared: international format is written with and without a plus. */
export const comparableNumber = (msisdn: string): string =>
  msisdn.startsWith('+') ? msisdn.slice(1) : msisdn

/** The row of the reference table for a number. */
export const testNumber = (msisdn: string, name: BehaviourName): TestNumber => {
  const { description, resolution, afterRetry } = behaviourNamed(name)
  return { msisdn, behaviour: name, description, outcome: (afterRetry ?? resolution).outcome }
}

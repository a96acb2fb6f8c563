import type { BehaviorName, FaultEffect, FaultTarget, Mock } from 'mandatekit/mocks/core'
import { createMock } from 'mandatekit/mocks/core'

export const secrets = {
  clientSecret: 'secret-of-the-client',
  password: 'password-of-the-user',
  apiKey: 'key-of-the-gateway',
  otp: '918273',
}
const user = { username: 'shop-user', password: secrets.password }
export const merchant = { name: 'Shop', clientId: 'shop', clientSecret: secrets.clientSecret, users: [user] }

const BEHAVIORS: readonly BehaviorName[] = [
  ...Array<BehaviorName>(6).fill('succeeds'),
  'insufficient_funds',
  'succeeds_once',
  'retry_then_succeeds',
  'retry_then_fails',
]
/** The number of the payer of a mandate. */
export const msisdnOf = (number: number): string => `+99955${String(number).padStart(6, '0')}`

export interface MockSettings {
  readonly rules: 'spec' | 'strict'
  /** Number of payers with a mandate. */
  readonly mandates: number
  /** The length of a minute in milliseconds. All limits are shorter by the same factor. */
  readonly minute: number
  /** How long the account is locked after five rejected logins, in seconds. */
  readonly lockedSeconds?: number
  /** How long the gateway keeps an idempotency key, in seconds. Default: forever. */
  readonly keySeconds?: number
  /** The behaviors of the payers, in turn. */
  readonly behaviors?: readonly BehaviorName[]
}

export const openMock = ({ rules, mandates, minute, ...more }: MockSettings): Mock => {
  const { lockedSeconds = 900, keySeconds, behaviors = BEHAVIORS } = more
  return createMock({
    rules,
    logSize: 1_000_000,
    subscriptions: {
      merchants: [merchant],
      rateLimit: { limit: 600, windowMs: minute },
      lockout: { attempts: 5, windowSeconds: 60, durationSeconds: lockedSeconds },
      // The run moves the clock by days. The tokens must outlive that.
      tokenTtl: { days: 30 },
    },
    gateway: {
      apiKeys: [secrets.apiKey],
      otp: secrets.otp,
      rateLimit: { limit: 120, windowMs: minute },
      keyTtl: keySeconds === undefined ? false : { seconds: keySeconds },
      testNumbers: Object.fromEntries(
        Array.from({ length: mandates }, (_, index) => [
          msisdnOf(index),
          behaviors[index % behaviors.length] ?? 'succeeds',
        ]),
      ),
    },
  })
}

const FAULTS: readonly (FaultEffect & Pick<FaultTarget, 'probability'>)[] = [
  { kind: 'lost-response', probability: 0.03 },
  { kind: 'truncated', probability: 0.01 },
  { kind: 'reset', probability: 0.02 },
  { kind: 'status', status: 503, probability: 0.02 },
  { kind: 'html', probability: 0.01 },
  { kind: 'timeout', probability: 0.001 },
  { kind: 'rate-limit', retryAfter: 1, probability: 0.001 },
  { kind: 'latency', latencyMs: 30, probability: 0.2 },
]
const CALLS = ['subscribe', 'status', 'details', 'cancel', 'cancellation', 'payments', 'payment'] as const

/** Adds faults to every operation but the login, whose count is a result of the run. */
export const addFaults = (mock: Mock): void => {
  const operations = CALLS.map((name) => `subscriptions.${name}` as const)
  for (const operation of ['gateway.*', ...operations] as const)
    for (const fault of FAULTS) mock.faults.add({ operation, ...fault })
}

import { LOGIN } from './auth/credentials.ts'
import { isRejection } from './auth/login-failure.ts'
import type { AnyMandateKitError } from './errors.ts'
import { isMandateKitError } from './errors.ts'

/** A job that runs again. Times are in milliseconds. */
interface Again {
  /** The shortest time before the job runs again. */
  readonly afterMs: number
  /** Pass this key when the job runs again. Without the key, the server could execute the call twice. */
  readonly idempotencyKey?: string
}

/** What a job should do after an error. */
export type NextStep =
  | (Again & {
      /** Run the same job again. */
      readonly step: 'retry'
    })
  | (Again & {
      /** Stop the queue, because every other job would fail too. Do not count the failure as an attempt of the job. */
      readonly step: 'pause-queue'
      /**
       * Why the other jobs would fail. `locked-out`: the account is locked (HTTP 403 for a login).
       * `credentials-rejected`: the server rejected a login. `not-authorized`: the server rejected the API key or a new
       * token. `login-unavailable`: a login failed for another reason. `rate-limited`: the rate limit allows no request
       * now.
       */
      readonly reason:
        | 'locked-out'
        | 'credentials-rejected'
        | 'not-authorized'
        | 'login-unavailable'
        | 'rate-limited'
    })
  | {
      /** The server may have executed the call, and a retry could execute the call twice. */
      readonly step: 'find-out'
      /**
       * What to do. `subscribe-again`: subscribe with a new `requestID`, because the response with the `url` is lost.
       * `read-subscription`: read `details`, and cancel again if `enabled` is 1. `read-charge`: read `status`, and
       * confirm again if it is still `pending_confirmation`. `read-state`: read the state that the operation changes.
       */
      readonly how: 'subscribe-again' | 'read-subscription' | 'read-charge' | 'read-state'
    }
  | {
      /** Do not run the job again, because it would fail again. */
      readonly step: 'fail'
    }

type PauseReason = Extract<NextStep, { step: 'pause-queue' }>['reason']
type FindOut = Extract<NextStep, { step: 'find-out' }>['how']

const RETRY = 30_000
const PAUSE: Readonly<Record<PauseReason, number>> = {
  'locked-out': 900_000,
  'credentials-rejected': 900_000,
  'not-authorized': 60_000,
  'login-unavailable': 10_000,
  'rate-limited': 60_000,
}
const FIND_OUT: Readonly<Record<string, FindOut>> = {
  'subscriptions.subscribe': 'subscribe-again',
  'subscriptions.cancel': 'read-subscription',
  'gateway.confirm': 'read-charge',
}
const READS = /\.(?:status|details|cancellation|payments?|reference|health|login)$/

const pauseReason = (error: AnyMandateKitError): PauseReason | undefined => {
  if (error.code === 'locked_out') return 'locked-out'
  if (error.code === 'rate_limited') return 'rate-limited'
  const isLogin = error.phase === 'login' || error.operation === LOGIN
  if (isLogin && 'status' in error) return isRejection(error) ? 'credentials-rejected' : 'login-unavailable'
  return error.code === 'authentication_failed' ? 'not-authorized' : undefined
}

/**
 * Tells a job of a queue what to do after an error. The result depends on the error alone, and needs no I/O.
 *
 * A call of unknown outcome is retried only with its idempotency key, or if the call only reads, so that the server
 * cannot execute the call twice.
 *
 * @returns `retry` after a temporary failure; `pause-queue` if every job would fail; `find-out` if the outcome of a
 * call without a key is unknown; `fail` for everything else, and for an error that is not of this package
 * @example
 * const next = nextStep(error)
 * if (next.step === 'pause-queue') await worker.rateLimit(next.afterMs)
 */
export const nextStep = (error: unknown): NextStep => {
  if (!isMandateKitError(error)) return { step: 'fail' }
  const { outcome, operation, idempotencyKey, retryable, retryAfterMs } = error
  const hasKey = idempotencyKey !== undefined
  if (outcome === 'unknown' && !hasKey && !READS.test(operation))
    return { step: 'find-out', how: FIND_OUT[operation] ?? 'read-state' }
  const reason = pauseReason(error)
  const key = hasKey && { idempotencyKey }
  if (reason !== undefined)
    return { step: 'pause-queue', afterMs: retryAfterMs ?? PAUSE[reason], reason, ...key }
  if (!retryable && !(hasKey && outcome === 'unknown')) return { step: 'fail' }
  return { step: 'retry', afterMs: retryAfterMs ?? RETRY, ...key }
}

import { exportedWait, systemClock } from './clock.ts'
import type { FindOut } from './contract/endpoint.ts'
import { isObject } from './contract/fields.ts'
import { isMandateKitError, type KnownError } from './errors.ts'
import { REJECTED_CERTIFICATE } from './http/retry.ts'

interface Again {
  /** The minimum wait before the job runs again: a whole number of milliseconds from 1 000 to 3 600 000. */
  readonly afterMs: number
  /** The key to pass when the job runs again. Without the key, the server could execute the call twice. */
  readonly idempotencyKey?: string
}

/** What a job should do after an error. */
export type NextStep =
  | (Again & {
      /** Run the same job again. */
      readonly step: 'retry'
    })
  | (Again & {
      /** Pause the queue, because every other job would fail too. Do not count the failure as an attempt of the job. */
      readonly step: 'pause-queue'
      /**
       * Why the other jobs would fail. `locked-out`: the account is locked (HTTP 403 for a login).
       * `credentials-rejected`: the server rejected a login. `not-authorized`: the server rejected the API key or a new
       * token. `login-unavailable`: a login failed for another reason. `rate-limited`: the rate limit allows no request
       * now. `not-available`: a proxy or firewall responded instead of the API, or the runtime refused the certificate.
       */
      readonly reason: PauseReason
    })
  | {
      /** The server may have executed the call. A retry could execute it again, or would fail. */
      readonly step: 'find-out'
      /** What to do (see `FindOut`). After a `KeyReusedError`, read the charge whose id is in the error's `body`. */
      readonly how: FindOut
    }
  | {
      /** Do not run the job again, because it would fail again. */
      readonly step: 'fail'
    }
  | {
      /** The error is not from this package. Let your queue handle it like other errors. */
      readonly step: 'unknown-error'
    }

/** Facts that a job's error does not contain. */
export interface NextStepOptions {
  /** When the job first sent its request: a `Date`, or ms since 1970. The key's lifetime starts at this time. */
  readonly firstSentAt?: number | Date | undefined
  /** The current time. Default: the system's time. */
  readonly now?: number | Date | undefined
}

/** Why a queue is paused: see `NextStep`. */
export type PauseReason =
  | 'locked-out'
  | 'credentials-rejected'
  | 'not-authorized'
  | 'login-unavailable'
  | 'rate-limited'
  | 'not-available'

const RETRY = 30_000
/** How long to pause the queue for each reason, in milliseconds, if the error has no `retryAfterMs`. */
const PAUSE: Readonly<Record<PauseReason, number>> = {
  'locked-out': 900_000,
  'credentials-rejected': 900_000,
  'not-authorized': 60_000,
  'login-unavailable': 10_000,
  'rate-limited': 60_000,
  'not-available': 60_000,
}
/**
 * Statuses with which a proxy or a firewall rejects every request: 3xx (a redirect to another page), 403, 404, 405, 407
 * (the proxy requires credentials), 421 (the server does not serve this host name) and 451 (a filter). The list omits
 * 400, 413 and 431, because they may depend on the request, and 5xx, because they are temporary.
 */
const BLOCKED = /^(?:3\d\d|40[3457]|421|451)$/
/** Statuses of a final refusal. 408, 409, 425, 429 and 499 are not in the list: the same call can still succeed. */
const REFUSED = /^4(?!08|09|25|29|99)\d\d$/
const MAX_DEPTH = 8

/** Finds this package's error: the given error, one of its causes, or the only error in an `AggregateError`. */
const knownIn = (error: unknown, depth = 0): KnownError | undefined => {
  if (!isObject(error) || depth > MAX_DEPTH) return undefined
  const { code, operation, outcome, retryable, errors, cause } = error
  const isJson =
    typeof code === 'string' && typeof operation === 'string' && outcome && retryable !== undefined
  if (isMandateKitError(error)) return error
  // Some serializers write null for undefined, for example for a missing idempotencyKey.
  if (isJson) return Object.fromEntries(Object.entries(error).filter(([, value]) => value !== null))
  return knownIn(Array.isArray(errors) && errors.length === 1 ? errors[0] : cause, depth + 1)
}

const pauseReason = ({ code, phase, status, verdict, reason }: KnownError): PauseReason | undefined => {
  if (code === 'locked_out') return 'locked-out'
  if (code === 'rate_limited') return 'rate-limited'
  if (phase === 'login' && status !== undefined) {
    const isRejected = code === 'authentication_failed' || verdict === 'rejected-credentials'
    return isRejected ? 'credentials-rejected' : 'login-unavailable'
  }
  if (code === 'authentication_failed') return 'not-authorized'
  const isBlocked = verdict === 'somebody-else' && BLOCKED.test(String(status))
  return isBlocked || REJECTED_CERTIFICATE.test(String(reason)) ? 'not-available' : undefined
}

/** Returns whether the API, not a proxy, refused the call. If so, the API would also refuse a retry. */
const isRefused = ({ status, verdict }: KnownError): boolean =>
  REFUSED.test(String(status)) && verdict !== 'somebody-else'

/**
 * Returns what a queued job should do after an error. The result depends only on the error, the options and the time.
 * This package's error may come as JSON from another process, or inside another error: as its `cause`, or as the only
 * error in an `AggregateError`.
 *
 * If the outcome is unknown, the result is `retry` only for a read or a call with an idempotency key. A key prevents
 * a second charge only while the gateway keeps it. To make `nextStep` check the key's age, set the client's option
 * `keyLifetime` and pass `firstSentAt`. A key can also expire while the queue is paused, so compare a job's age with
 * the key's lifetime before each request.
 *
 * @returns `retry` after a temporary failure; `pause-queue` if every job would fail; `find-out` if the server may have
 * acted and no retry is safe or useful; `unknown-error` for an error that is not from this package;
 * `fail` for everything else
 * @example
 * const next = nextStep(error, { firstSentAt: job.timestamp })
 * if (next.step === 'pause-queue') await worker.rateLimit(next.afterMs)
 */
export const nextStep = (error: unknown, options: NextStepOptions = {}): NextStep => {
  const known = knownIn(error)
  if (known === undefined) return { step: 'unknown-error' }
  const { code, outcome, status, afterUnknown: how = 'read-state', idempotencyKey } = known
  // An error of an earlier version of the package has no field `acts`.
  const { retryable, acts = !retryable, retryAfterMs, keyLifetime, totalTimeout = 120_000 } = known
  const hasKey = idempotencyKey !== undefined
  const mayActTwice = acts && !hasKey
  // With another API key, a gateway would not know the idempotency key, and would charge again. After invalid
  // credentials or a refusal by the API, every retry would fail.
  const isStuck =
    code === 'authentication_failed' || (code === 'invalid_request' && !retryable) || isRefused(known)
  if (code === 'key_reused' || (acts && (mayActTwice || isStuck) && outcome === 'unknown'))
    return { step: 'find-out', how }
  const reason = pauseReason(known)
  const key = hasKey && { idempotencyKey }
  const wait = (ms: number): number => exportedWait(retryAfterMs) ?? ms
  if (reason !== undefined) return { step: 'pause-queue', afterMs: wait(PAUSE[reason]), reason, ...key }
  // The first request of the same job may still be in progress.
  if (mayActTwice && (status === 409 || status === 425)) return { step: 'find-out', how }
  if (!retryable && !(hasKey && outcome === 'unknown')) return { step: 'fail' }
  const afterMs = wait(RETRY)
  const { now = systemClock.now() } = options
  // Without the time, the request may have been sent when the failed call began.
  const { firstSentAt = outcome === 'unknown' ? +now - totalTimeout : undefined } = options
  // The retries of the next call must end before the gateway forgets the key.
  const lastSentAt = +now + afterMs + totalTimeout
  const isKept = !keyLifetime || firstSentAt === undefined || lastSentAt - +firstSentAt < keyLifetime
  return hasKey && !isKept ? { step: 'find-out', how: 'find-charge' } : { step: 'retry', afterMs, ...key }
}

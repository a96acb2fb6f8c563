import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { Outcome, RateLimit } from '../errors.ts'
import type { Failure } from './failure.ts'

/** The fields of an endpoint definition that decide whether a call is retried. */
type RetryRules = Pick<EndpointDefinition, 'retry' | 'auth' | 'keyInUse'>

/** The facts that decide whether an attempt is retried. Times are in milliseconds. */
export interface RetryQuestion {
  readonly endpoint: RetryRules
  readonly failure: Failure
  /** Number of retries so far, except retries with a renewed token. */
  readonly retries: number
  readonly limit: number
  /** Whether the call was already retried with a renewed token. */
  readonly renewed: boolean
  /** The wait that the server requested. */
  readonly hint: number | undefined
  readonly maxWait: number
  readonly remaining: number
  /** A random number in [0, 1) for the jitter. */
  readonly random: number
}

/** Why an attempt is retried. */
export type RetryReason = 'not-sent' | 'rate-limited' | 'response-lost' | 'token-rejected'

/** Why an attempt is not retried. */
type NoRetryReason =
  | Ending
  | 'never-retried'
  | 'may-have-executed'
  | 'no-wait-named'
  | 'limit-reached'
  | 'wait-too-long'
type Ending = 'rejected' | 'aborted'

/** Whether an attempt is retried, the reason, and the wait before the retry. */
export type RetryDecision =
  | { readonly retry: true; readonly reason: RetryReason; readonly waitMs: number }
  | { readonly retry: false; readonly reason: NoRetryReason; readonly waitMs?: number }

const FIRST_BACKOFF = 500
const LONGEST_BACKOFF = 8000

type Kind = Exclude<RetryReason, 'token-rejected'>

/** Returns what status 409 or 425 means for a call with an idempotency key; `undefined` for all other responses. */
export const keyInUse = (endpoint: RetryRules, status: number): string | undefined =>
  status === 409 || status === 425 ? endpoint.keyInUse : undefined

/** Returns whether the server may have acted although it responded with this status. */
const isLost = (endpoint: RetryRules, status: number): boolean =>
  status >= 500 ? status !== 501 && status !== 505 : status === 408 || !!keyInUse(endpoint, status)

const kindOf = (endpoint: RetryRules, failure: Failure): Kind | Ending => {
  const { kind } = failure
  if (kind === 'aborted') return kind
  if (kind === 'timeout' || kind === 'cut') return 'response-lost'
  if (kind === 'connection' && !failure.certificate) return failure.notSent ? 'not-sent' : 'response-lost'
  if (kind !== 'status') return 'rejected'
  if (isLost(endpoint, failure.status)) return 'response-lost'
  return failure.status === 429 && !failure.created ? 'rate-limited' : 'rejected'
}

/** Returns why an endpoint's policy forbids a retry, or `undefined` if the policy allows the retry. */
const forbidden = ({ endpoint: { retry }, hint }: RetryQuestion, kind: Kind): NoRetryReason | undefined => {
  if (retry === 'never') return 'never-retried'
  if (retry === 'always' || kind === 'not-sent') return undefined
  if (kind === 'response-lost') return 'may-have-executed'
  return retry === 'when-not-sent' && hint === undefined ? 'no-wait-named' : undefined
}

/** Returns a random backoff (full jitter) in ms. Its maximum is 0.5 s at first, then doubles per retry up to 8 s. */
const backoff = (retries: number, random: number): number =>
  Math.floor(random * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** retries))

/** Decides whether a failed attempt is retried. `docs/retries-and-outcomes.md` has the same rules as a table. */
export const decideRetry = (question: RetryQuestion): RetryDecision => {
  const { endpoint, failure, renewed, retries, limit, hint, maxWait, remaining, random } = question
  const isRejectedToken = failure.kind === 'status' && failure.status === 401 && !failure.created
  if (isRejectedToken && endpoint.auth === 'token' && !renewed) {
    if (remaining <= 0) return { retry: false, reason: 'wait-too-long' }
    return { retry: true, reason: 'token-rejected', waitMs: 0 }
  }
  const kind = kindOf(endpoint, failure)
  if (kind === 'aborted' || kind === 'rejected') return { retry: false, reason: kind }
  const prohibition = forbidden(question, kind)
  if (prohibition !== undefined) return { retry: false, reason: prohibition }
  if (retries >= limit) return { retry: false, reason: 'limit-reached' }
  const waitMs = hint ?? Math.min(backoff(retries, random), maxWait)
  if (waitMs > maxWait || waitMs >= remaining) return { retry: false, reason: 'wait-too-long', waitMs }
  return { retry: true, reason: kind, waitMs }
}

/** Returns the outcome that one failed attempt proves. */
export const outcomeOf = (endpoint: RetryRules, failure: Failure): Outcome => {
  if (failure.kind === 'connection') return failure.notSent ? 'not-sent' : 'unknown'
  if (failure.kind === 'code') return failure.proof ? 'rejected' : 'unknown'
  if (failure.kind !== 'status' || failure.created || failure.status >= 500) return 'unknown'
  return isLost(endpoint, failure.status) ? 'unknown' : 'rejected'
}

/** Returns the less certain of two outcomes, which is the last in the alphabet: `not-sent`, `rejected`, `unknown`. */
export const combineOutcomes = (one: Outcome, other: Outcome): Outcome => (one > other ? one : other)

/** Returns whether a failure is temporary, so that the same call may succeed later. */
export const isTransient = (endpoint: RetryRules, failure: Failure): boolean => {
  if (failure.kind === 'connection') return !failure.certificate
  if (failure.kind === 'status') return failure.status === 429 || isLost(endpoint, failure.status)
  return failure.kind !== 'code' && failure.kind !== 'unexpected'
}

// A header that was sent twice arrives as `20, 20`.
const SECONDS = /^(?:\d{1,9}(?:\.\d+)?(?:, *|$))+$/
// Date.parse reads "5" and "-5" as dates. A real HTTP date always starts with the name of a day.
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /

type Headers = Readonly<Record<string, string>>

/**
 * Returns the milliseconds from now until a time in a response header. "Now" is the time on the client's clock or in
 * the header `Date`, whichever gives the shorter positive wait. A wait that is too short costs at most one rejected
 * retry, but a wrong clock could cause a very long wait.
 */
export const untilServerTime = (time: number, now: number, headers: Headers): number | undefined => {
  const serverNow = headers.date === undefined ? Number.NaN : Date.parse(headers.date)
  const waits = [time - now, time - serverNow].filter((wait) => wait > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** Returns the wait in Retry-After in milliseconds, or `undefined` if the header is missing or invalid. */
export const readRetryAfter = (headers: Headers, now: number): number | undefined => {
  const text = headers['retry-after']?.trim() ?? ''
  if (SECONDS.test(text)) return Math.max(...text.split(',').map(Number)) * 1000
  // The oldest form of an HTTP date does not contain "GMT", but is in GMT.
  const date = HTTP_DATE.test(text) ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : untilServerTime(date, now, headers)
}

/**
 * Returns the wait that an error response requests, in ms: its Retry-After, or the time until a 429's reset time. A
 * wait below a second counts as none, because servers send 0 in place of a wait that they do not know.
 */
export const readWaitHint = (
  status: number,
  headers: Headers,
  rateLimit: RateLimit | undefined,
  now: number,
): number | undefined => {
  if (status < 400) return undefined
  // The reset time applies only to a 429. The cause of a 503 is not the rate limit, and may last beyond the reset.
  const resetAt = status === 429 ? rateLimit?.resetAt : undefined
  const asked = readRetryAfter(headers, now) ?? (resetAt && untilServerTime(resetAt.getTime(), now, headers))
  return asked !== undefined && asked >= 1000 ? asked : undefined
}

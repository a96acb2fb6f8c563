import type { AuthKind, RetryPolicy } from '../contract/endpoint.ts'
import type { Outcome, RateLimit } from '../errors.ts'
import type { Interruption } from './deadline.ts'
import type { NetworkFailure } from './network-failure.ts'

/** How an attempt failed. */
export type Failure =
  /** No response. */
  | ({ readonly kind: 'connection' } & NetworkFailure)
  | Interruption
  /** An HTTP status of 400 or above. */
  | { readonly kind: 'status'; readonly status: number }
  /** A 2xx response with an error code. `proof`: the code proves that the server did not act. */
  | { readonly kind: 'code'; readonly proof: boolean }
  /** A 2xx response that was cut off, or another response that is not the contract. `reason` completes "the response …". */
  | { readonly kind: 'cut' | 'unexpected'; readonly reason: string }

/** The facts for the decision. Times are milliseconds. */
export interface RetryQuestion {
  readonly endpoint: { readonly retry: RetryPolicy; readonly auth: AuthKind }
  readonly failure: Failure
  /** Retries so far, without those after a renewed token. */
  readonly retries: number
  readonly limit: number
  /** Whether the call was already retried with a renewed token. */
  readonly renewed: boolean
  /** The wait that the server asked for. */
  readonly hint: number | undefined
  readonly maxWait: number
  readonly remaining: number
  /** A number in [0, 1) for the jitter. */
  readonly random: number
}

/** Why an attempt is retried. */
export type RetryReason = 'not-sent' | 'rate-limited' | 'answer-lost' | 'credential-refused'

/** Why it is not. */
type NoRetryReason =
  | Ending
  | 'never-retried'
  | 'may-have-executed'
  | 'no-wait-named'
  | 'limit-reached'
  | 'wait-too-long'
type Ending = 'rejected' | 'aborted'

/** Whether to retry, why or why not, and after which wait. */
export type RetryDecision =
  | { readonly retry: true; readonly reason: RetryReason; readonly waitMs: number }
  | { readonly retry: false; readonly reason: NoRetryReason; readonly waitMs?: number }

/** Statuses that mean a lost response: the server may have acted. */
const RESPONSE_LOST = new Set([408, 500, 502, 503, 504])
const FIRST_BACKOFF = 500
const LONGEST_BACKOFF = 8000

type Kind = Exclude<RetryReason, 'credential-refused'>

const kindOf = (failure: Failure): Kind | Ending => {
  const { kind } = failure
  if (kind === 'aborted') return kind
  if (kind === 'timeout' || kind === 'cut') return 'answer-lost'
  if (kind === 'connection' && !failure.certificate) return failure.notSent ? 'not-sent' : 'answer-lost'
  if (kind !== 'status') return 'rejected'
  if (failure.status === 429) return 'rate-limited'
  return RESPONSE_LOST.has(failure.status) ? 'answer-lost' : 'rejected'
}

/** Why an endpoint's policy forbids a retry, or `undefined` when it allows one. */
const forbidden = ({ endpoint: { retry }, hint }: RetryQuestion, kind: Kind): NoRetryReason | undefined => {
  if (retry === 'never') return 'never-retried'
  if (retry === 'always' || kind === 'not-sent') return undefined
  if (kind === 'answer-lost') return 'may-have-executed'
  return retry === 'when-not-sent' && hint === undefined ? 'no-wait-named' : undefined
}

/** Exponential backoff with full jitter: up to 0.5 s, doubling to 8 s, in whole milliseconds. */
const backoff = (retries: number, random: number): number =>
  Math.ceil(random * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** retries))

/** Decides whether a failed attempt is retried: a pure function, and the table of `docs/retries-and-outcomes.md`. */
export const decideRetry = (question: RetryQuestion): RetryDecision => {
  const { endpoint, failure, renewed, retries, limit, hint, maxWait, remaining, random } = question
  if (failure.kind === 'status' && failure.status === 401 && endpoint.auth === 'token' && !renewed) {
    if (remaining <= 0) return { retry: false, reason: 'wait-too-long' }
    return { retry: true, reason: 'credential-refused', waitMs: 0 }
  }
  const kind = kindOf(failure)
  if (kind === 'aborted' || kind === 'rejected') return { retry: false, reason: kind }
  const prohibition = forbidden(question, kind)
  if (prohibition !== undefined) return { retry: false, reason: prohibition }
  if (retries >= limit) return { retry: false, reason: 'limit-reached' }
  const waitMs = hint ?? backoff(retries, random)
  if (waitMs > maxWait || waitMs >= remaining) return { retry: false, reason: 'wait-too-long', waitMs }
  return { retry: true, reason: kind, waitMs }
}

/** Returns whether the server may have acted, as far as one failed attempt proves it. */
export const outcomeOf = (failure: Failure): Outcome => {
  if (failure.kind === 'connection') return failure.notSent ? 'not-sent' : 'unknown'
  const isRejected =
    (failure.kind === 'status' && failure.status < 500 && failure.status !== 408) ||
    (failure.kind === 'code' && failure.proof)
  return isRejected ? 'rejected' : 'unknown'
}

const CERTAINTY: readonly Outcome[] = ['not-sent', 'rejected', 'unknown']

/** The outcome of several attempts together: the least certain one. */
export const combineOutcomes = (one: Outcome, other: Outcome): Outcome =>
  CERTAINTY.indexOf(one) >= CERTAINTY.indexOf(other) ? one : other

/** Whether the same call may succeed later, as far as the failure itself tells. */
export const isTransient = (failure: Failure): boolean => {
  if (failure.kind === 'connection') return !failure.certificate
  if (failure.kind === 'status') return failure.status === 429 || RESPONSE_LOST.has(failure.status)
  return failure.kind !== 'code' && failure.kind !== 'unexpected'
}

const SECONDS = /^\d{1,9}(?:\.\d+)?$/
// Date.parse alone reads "5" and "-5" as years. Each of the three forms of an HTTP date starts with a day's name.
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /

type Headers = Readonly<Record<string, string>>

/**
 * Milliseconds until a time that the server named. When the system's clock and the server's `Date` differ, the shorter
 * wait counts: calling too early costs one rejection, but waiting for a wrong clock costs more.
 */
export const untilServerTime = (time: number, now: number, headers: Headers): number | undefined => {
  const serverNow = headers.date === undefined ? Number.NaN : Date.parse(headers.date)
  const waits = [time - now, time - serverNow].filter((wait) => wait > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** Milliseconds that Retry-After asks for: seconds or an HTTP date. `undefined` when it holds nothing usable. */
export const readRetryAfter = (headers: Headers, now: number): number | undefined => {
  const text = headers['retry-after']?.trim() ?? ''
  if (SECONDS.test(text)) return Number(text) * 1000
  // The oldest form has no zone. It is GMT as well.
  const date = HTTP_DATE.test(text) ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : untilServerTime(date, now, headers)
}

/** The wait that an error response asks for, in milliseconds: Retry-After, or the end of the window after a 429. */
export const readWaitHint = (
  status: number,
  headers: Headers,
  rateLimit: RateLimit | undefined,
  now: number,
): number | undefined => {
  if (status < 400) return undefined
  const asked = readRetryAfter(headers, now)
  if (asked !== undefined) return asked
  // Every response of area S names the window's end. After a 503 it does not say when the service is back.
  if (status !== 429 || rateLimit?.resetAt === undefined) return undefined
  return untilServerTime(rateLimit.resetAt.getTime(), now, headers)
}

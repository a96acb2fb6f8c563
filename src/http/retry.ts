import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { Outcome } from '../errors.ts'
import type { Failure } from './failure.ts'

/** The fields of an endpoint definition that decide whether a call is retried. */
type RetryRules = Pick<EndpointDefinition, 'retry' | 'auth' | 'idempotencyKey'>

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

type Ending = 'rejected' | 'aborted'
type Prohibition = 'never-retried' | 'may-have-executed' | 'no-wait-named'
/** Why an attempt is not retried. */
type NoRetryReason = Ending | Prohibition | 'limit-reached' | 'wait-too-long'

/** Whether an attempt is retried, the reason, and the wait before the retry. */
export type RetryDecision =
  | { readonly retry: true; readonly reason: RetryReason; readonly waitMs: number }
  | { readonly retry: false; readonly reason: NoRetryReason; readonly waitMs?: number }

const FIRST_BACKOFF = 500
const LONGEST_BACKOFF = 8000

type Kind = Exclude<RetryReason, 'token-rejected'>

/** Whether a status says that a call with the same idempotency key still runs, or that a state forbids the call. */
export const isKeyInUse = (endpoint: RetryRules, status: number): boolean =>
  endpoint.idempotencyKey === true && (status === 409 || status === 425)

/** Returns whether the server may have acted although it responded with this status. */
const isLost = (endpoint: RetryRules, status: number): boolean =>
  status >= 500 ? status !== 501 && status !== 505 : status === 408 || isKeyInUse(endpoint, status)

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
const forbidden = ({ endpoint: { retry }, hint }: RetryQuestion, kind: Kind): Prohibition | undefined => {
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

import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { Outcome } from '../errors.ts'
import type { Failure } from './failure.ts'
import type { RetryReason } from './observe.ts'
import type { Call } from './prepare.ts'

type RetryRules = Pick<EndpointDefinition, 'retry' | 'auth' | 'idempotencyKey'>

interface RetryDecision {
  readonly reason?: RetryReason
  readonly waitMs?: number
}

const FIRST_BACKOFF = 500
const MAX_BACKOFF_MS = 8000

/** Whether a status says that a call with the same idempotency key still runs, or that a state forbids the call. */
export const isKeyInUse = (endpoint: RetryRules, status: number): boolean =>
  endpoint.idempotencyKey === true && (status === 409 || status === 425)

/** Returns whether the server may have acted although it responded with this status. */
const isLost = (endpoint: RetryRules, status: number): boolean =>
  status >= 500 ? status !== 501 && status !== 505 : status === 408 || isKeyInUse(endpoint, status)

const reasonOf = (endpoint: RetryRules, failure: Failure): RetryReason | 'rejected' | 'aborted' => {
  const { kind } = failure
  if (kind === 'aborted') return kind
  if (kind === 'timeout' || kind === 'cut') return 'response-lost'
  if (kind === 'connection' && !failure.certificate) return failure.notSent ? 'not-sent' : 'response-lost'
  if (kind !== 'status') return 'rejected'
  if (isLost(endpoint, failure.status)) return 'response-lost'
  if (failure.created) return 'rejected'
  if (failure.status === 401 && endpoint.auth === 'token') return 'token-rejected'
  return failure.status === 429 ? 'rate-limited' : 'rejected'
}

/** Returns a random backoff (full jitter) in ms. Its maximum is 0.5 s at first, then doubles per retry up to 8 s. */
const backoff = (retries: number): number =>
  Math.floor(Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF * 2 ** retries))

/** Decides whether a failed attempt is retried. `docs/retries-and-outcomes.md` has the same rules as a table. */
export const decideRetry = (
  { endpoint, limit, maxWait, deadline: { remaining } }: Call,
  failure: Failure,
  retries: number,
  serverWaitMs: number | undefined,
): RetryDecision => {
  const { retry: policy } = endpoint
  const reason = reasonOf(endpoint, failure)
  if (reason === 'aborted' || reason === 'rejected') return {}
  if (reason === 'token-rejected') return remaining <= 0 ? {} : { reason, waitMs: 0 }
  if (policy === 'never' || retries >= limit) return {}
  if (policy !== 'always' && reason === 'response-lost') return {}
  if (policy === 'when-not-sent' && reason === 'rate-limited' && serverWaitMs === undefined) return {}
  const waitMs = serverWaitMs ?? Math.min(backoff(retries), maxWait)
  return waitMs > maxWait || waitMs >= remaining ? { waitMs } : { reason, waitMs }
}

export const callOutcome = (endpoint: RetryRules, failure: Failure): Outcome => {
  if (failure.kind === 'connection') return failure.notSent ? 'not-sent' : 'unknown'
  if (failure.kind === 'code') return failure.proof ? 'rejected' : 'unknown'
  if (failure.kind !== 'status' || failure.created || failure.status >= 500) return 'unknown'
  return isLost(endpoint, failure.status) ? 'unknown' : 'rejected'
}

/** Returns the less certain of two outcomes, which is the last in the alphabet: `not-sent`, `rejected`, `unknown`. */
export const combineOutcomes = (one: Outcome, other: Outcome): Outcome => (one > other ? one : other)

export const isTransient = (endpoint: RetryRules, failure: Failure): boolean =>
  (failure.kind === 'status' && failure.status === 429) ||
  !['rejected', 'token-rejected'].includes(reasonOf(endpoint, failure))

import { inWords } from '../clock.ts'
import {
  ApiError,
  AuthenticationError,
  isMandateKitError,
  LockedOutError,
  RateLimitError,
} from '../errors.ts'
import { LOGIN } from './credentials.ts'
import type { LoginPause, RefusedLogin } from './token-record.ts'

const NOT_SENT = { operation: LOGIN, phase: 'login', outcome: 'not-sent', attempts: 0 } as const

/** Pauses that the client chooses, in milliseconds: the first one, which doubles, and the longest one. */
const FIRST_PAUSE = 10_000
const LONGEST_PAUSE = 60_000

/** Returns the facts of a response, or an empty object if `error` is about no response. */
const responseIn = (error: unknown): Partial<Omit<ApiError, 'code'>> =>
  isMandateKitError(error) ? error : {}

/**
 * Returns the rejection if the server rejected the credentials of a token request: a 400, 401 or 403 with an error
 * code, or a success with an error code. Any other response may come from a proxy. The returned value does not contain
 * the error, because the error's message and body could quote a secret.
 */
export const rejectionIn = (error: unknown): Omit<RefusedLogin, 'fingerprint' | 'at'> | undefined => {
  const { status = 500, errorCode, serverRequestId } = responseIn(error)
  const isRejection = errorCode && (status < 400 || [400, 401, 403].includes(status))
  return isRejection ? { status, errorCode, serverRequestId } : undefined
}

/** Returns whether a token request failed with a response whose status is not 408, 429 or 503. */
export const isDecided = (error: unknown): boolean =>
  ![undefined, 408, 429, 503].includes(responseIn(error).status)

/** Returns the pause after a response without a token: the server's, after a 429 or 503, or the client's own. */
export const pauseAfter = (
  error: unknown,
  at: number,
  last: LoginPause | undefined,
): LoginPause | undefined => {
  const { status, retryAfterMs } = responseIn(error)
  if (status === undefined) return undefined
  if (retryAfterMs && (status === 429 || status === 503)) return { at, wait: retryAfterMs }
  const wait = last?.status === undefined ? FIRST_PAUSE : Math.min(last.wait * 2, LONGEST_PAUSE)
  return { at, wait, status }
}

/** Creates the error of a call that is not sent because a login was rejected. `remaining` is in ms. */
export const rejectedEarlier = (refusal: RefusedLogin, remaining: number): ApiError => {
  const { status, errorCode, serverRequestId } = refusal
  const code = errorCode === undefined ? '' : `, code ${JSON.stringify(errorCode)}`
  const last = status === 403 ? 'the last login was locked out' : 'the last login was rejected'
  const message =
    `${LOGIN} failed: ${last} (HTTP ${status}${code}). The client logs in again when the credentials ` +
    `change, when login() is called, or in ${inWords(remaining)} (loginCooldown).`
  const response = { status, errorCode, serverRequestId, retryAfterMs: remaining }
  const details = { ...NOT_SENT, ...response, retryable: false }
  if (status === 401) return new AuthenticationError(message, details)
  return status === 403 ? new LockedOutError(message, details) : new ApiError(message, details)
}

/** Throws during a pause. Cuts the pause to `longest` ms. Ignores pauses that start after `now`. */
export const checkPause = (pause: LoginPause | undefined, now: number, longest: number): void => {
  const { at, wait, status } = pause ?? { at: now, wait: 0 }
  const retryAfterMs = at + Math.min(wait, longest) - now
  if (now < at || retryAfterMs <= 0) return
  const what = status
    ? `the response to the last token request has no token (HTTP ${status})`
    : 'the server asked for a pause between token requests'
  const message = `${LOGIN} failed: ${what}. Retry in ${inWords(retryAfterMs)}, or call login().`
  const details = { ...NOT_SENT, status, retryAfterMs, retryable: true }
  if (status === undefined) throw new RateLimitError(message, details)
  throw status === 401 ? new AuthenticationError(message, details) : new ApiError(message, details)
}

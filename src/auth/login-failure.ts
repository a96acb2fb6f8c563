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

/**
 * Returns the rejection if the server rejected the credentials of a token request. A rejection has a 4xx status
 * except 408 and 429, or a status below 400 and an errorCode other than `00`. A 5xx is not a rejection. The
 * returned value does not contain the error, because the error's message and body could quote a secret.
 */
export const rejectionIn = (error: unknown): Omit<RefusedLogin, 'fingerprint' | 'at'> | undefined => {
  if (!isMandateKitError(error) || !('errorCode' in error)) return undefined
  const { status = 500, errorCode = '00', serverRequestId } = error
  const isRejection = status < 400 ? errorCode !== '00' : status < 500 && status !== 408 && status !== 429
  return isRejection ? { status, errorCode: error.errorCode, serverRequestId } : undefined
}

const statusOf = (error: unknown): number | undefined =>
  isMandateKitError(error) && 'status' in error ? error.status : undefined

/** Returns whether a token request failed with a response whose status is not 408, 429 or 503. */
export const isDecided = (error: unknown): boolean => ![undefined, 408, 429, 503].includes(statusOf(error))

/** Returns the pause that the server asked for in a 429 or 503 response to a token request. */
export const pauseIn = (error: unknown, at: number): LoginPause | undefined => {
  const wait = isMandateKitError(error) && [429, 503].includes(statusOf(error) ?? 0) && error.retryAfterMs
  return wait ? { at, wait } : undefined
}

/** Creates the error of a call that is not sent because a login was rejected. `remaining` is in ms. */
export const rejectedEarlier = (refusal: RefusedLogin, remaining: number): ApiError => {
  const { status, errorCode, serverRequestId } = refusal
  const code = errorCode === undefined ? '' : `, code ${JSON.stringify(errorCode)}`
  const last = status === 403 ? 'the last login was locked out' : 'the last login was rejected'
  const message =
    `${LOGIN} failed: ${last} (HTTP ${status}${code}). The client logs in again when the credentials ` +
    `change, when login() is called, or in ${inWords(remaining)} (loginCooldown).`
  const details = { ...NOT_SENT, retryable: false, status, errorCode, serverRequestId }
  if (status === 401) return new AuthenticationError(message, details)
  return status === 403 ? new LockedOutError(message, details) : new ApiError(message, details)
}

/** Throws a RateLimitError during a pause. Cuts the pause to `longest` ms. Ignores pauses that start after `now`. */
export const checkPause = (pause: LoginPause | undefined, now: number, longest: number): void => {
  const { at, wait } = pause ?? { at: now, wait: 0 }
  const retryAfterMs = at + Math.min(wait, longest) - now
  if (now < at || retryAfterMs <= 0) return
  const message =
    `${LOGIN} failed: the server asked for a pause between token requests. ` +
    `Retry in ${inWords(retryAfterMs)}, or call login().`
  throw new RateLimitError(message, { ...NOT_SENT, retryable: true, retryAfterMs })
}

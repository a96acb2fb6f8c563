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
 * Reads from a token request's error whether the server rejected the credentials: a 4xx other than 408 and 429, or,
 * below 400, an errorCode other than `00`. A 5xx does not concern the credentials, whatever errorCode it carries. The
 * error itself is not kept: its message and body could quote a secret.
 */
export const rejectionIn = (error: unknown): Omit<RefusedLogin, 'fingerprint' | 'at'> | undefined => {
  if (!isMandateKitError(error) || !('errorCode' in error)) return undefined
  const { status = 500, errorCode = '00', serverRequestId } = error
  const isRejection = status < 400 ? errorCode !== '00' : status < 500 && status !== 408 && status !== 429
  return isRejection ? { status, errorCode: error.errorCode, serverRequestId } : undefined
}

const statusOf = (error: unknown): number | undefined =>
  isMandateKitError(error) && 'status' in error ? error.status : undefined

/** Whether the server responded to a token request with a decision, rather than asking for a pause (408, 429, 503). */
export const isDecided = (error: unknown): boolean => ![undefined, 408, 429, 503].includes(statusOf(error))

/** The pause that a token request's error asks for, after a 429 or a 503. */
export const pauseIn = (error: unknown, at: number): LoginPause | undefined => {
  const wait = isMandateKitError(error) && [429, 503].includes(statusOf(error) ?? 0) && error.retryAfterMs
  return wait ? { at, wait } : undefined
}

/** Makes the error of a call that is not sent because an earlier login was rejected. `remaining` is in milliseconds. */
export const rejectedEarlier = (refusal: RefusedLogin, remaining: number): ApiError => {
  const { status, errorCode, serverRequestId } = refusal
  const code = errorCode === undefined ? '' : `, code ${JSON.stringify(errorCode)}`
  const last = status === 403 ? 'the last login was locked out' : 'the last login was rejected'
  const message =
    `${LOGIN} failed: ${last} (HTTP ${status}${code}). The next one is made when the credentials ` +
    `change, when login() is called, or in ${inWords(remaining)} (loginCooldown).`
  const details = { ...NOT_SENT, retryable: false, status, errorCode, serverRequestId }
  if (status === 401) return new AuthenticationError(message, details)
  return status === 403 ? new LockedOutError(message, details) : new ApiError(message, details)
}

/** Throws while a pause lasts, at most `longest` milliseconds. A pause from the future was written by a wrong clock. */
export const checkPause = (pause: LoginPause | undefined, now: number, longest: number): void => {
  const { at, wait } = pause ?? { at: now, wait: 0 }
  const retryAfterMs = at + Math.min(wait, longest) - now
  if (now < at || retryAfterMs <= 0) return
  const message =
    `${LOGIN} failed: the server asked for a pause between token requests. ` +
    `The next one is made when login() is called, or in ${inWords(retryAfterMs)}.`
  throw new RateLimitError(message, { ...NOT_SENT, retryable: true, retryAfterMs })
}

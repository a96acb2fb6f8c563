import { inWords } from '../clock.ts'
import {
  ApiError,
  AuthenticationError,
  isMandateKitError,
  LockedOutError,
  RateLimitError,
} from '../errors.ts'
import { LOGIN } from './credentials.ts'
import type { LoginBlock } from './token-record.ts'

/** Length of the first block after a login that got no token but was not rejected, in milliseconds. */
const FIRST_BLOCK = 10_000
/** Each further failure doubles the block's length, up to this many milliseconds. */
const LONGEST_BLOCK = 60_000

/** Returns an error of this package unchanged, and an empty object for any other value. */
const responseIn = (error: unknown): Partial<Omit<ApiError, 'code'>> =>
  isMandateKitError(error) ? error : {}

/**
 * Returns whether the server rejected the credentials of a token request. A rejection has an error code, and its status
 * is 403 or at most 401. Any other response may come from a proxy.
 */
export const isRejection = (error: unknown): boolean => {
  const { status = 500, errorCode } = responseIn(error)
  return !!errorCode && (status < 400 || [400, 401, 403].includes(status))
}

/** Returns whether a failed token request got a final response. A response with status 408, 429 or 503 is not final. */
export const isDecided = (error: unknown): boolean =>
  ![undefined, 408, 429, 503].includes(responseIn(error).status)

/**
 * Returns the login block that a failed token request causes, or `undefined` if it causes none. The login block does
 * not contain the error, because the error's message and body could quote a secret.
 */
export const blockAfter = (
  error: unknown,
  at: number,
  cooldown: number,
  last: LoginBlock | undefined,
  isLogin: boolean,
): LoginBlock | undefined => {
  const { status, errorCode, retryAfterMs, outcome } = responseIn(error)
  if (outcome === undefined || outcome === 'not-sent') return undefined
  if (retryAfterMs && (status === 429 || status === 503)) return { at, wait: retryAfterMs }
  // After a failed refresh, the client logs in with the password. The failed refresh must not block this login.
  if (!isLogin) return undefined
  if (isRejection(error)) return { at, wait: cooldown, status, errorCode }
  return { at, wait: last ? Math.min(last.wait * 2, LONGEST_BLOCK) : FIRST_BLOCK, status }
}

/** Creates the error of a call that is not sent, because logins are blocked for another `retryAfterMs` milliseconds. */
export const blockedError = ({ status, errorCode }: LoginBlock, retryAfterMs: number): ApiError => {
  const isLocked = status === 403 && errorCode !== undefined
  let what = 'logins are paused'
  if (errorCode !== undefined)
    what = `the last login was ${isLocked ? 'locked out' : 'rejected'} (HTTP ${status}, code "${errorCode}")`
  else if (status) what = `the last login got no token (HTTP ${status})`
  const others = errorCode === undefined ? '' : ' (loginCooldown), when the credentials change'
  const message = `${LOGIN} failed: ${what}. The client logs in again in ${inWords(retryAfterMs)}${others}, or when you call login().`
  const retryable = errorCode === undefined
  const call = { operation: LOGIN, phase: 'login', outcome: 'not-sent', attempts: 0 } as const
  const details = { ...call, status, errorCode, retryAfterMs, retryable }
  if (status === undefined) return new RateLimitError(message, details)
  if (status === 401) return new AuthenticationError(message, details)
  return isLocked ? new LockedOutError(message, details) : new ApiError(message, details)
}

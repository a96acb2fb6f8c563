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

/** Blocks that the client chooses, in milliseconds: the first one, which doubles, and the longest one. */
const FIRST_BLOCK = 10_000
const LONGEST_BLOCK = 60_000

/** Returns the facts of a response, or an empty object if `error` is about no response. */
const responseIn = (error: unknown): Partial<Omit<ApiError, 'code'>> =>
  isMandateKitError(error) ? error : {}

/**
 * Returns whether the server rejected the credentials of a token request: with a 400, 401 or 403 and an error code, or
 * with a success and an error code. Any other response may come from a proxy.
 */
export const isRejection = (error: unknown): boolean => {
  const { status = 500, errorCode } = responseIn(error)
  return !!errorCode && (status < 400 || [400, 401, 403].includes(status))
}

/** Returns whether a token request failed with a response whose status is not 408, 429 or 503. */
export const isDecided = (error: unknown): boolean =>
  ![undefined, 408, 429, 503].includes(responseIn(error).status)

/**
 * Returns the block after a response without a token, or `undefined` if there was no response. A block does not contain
 * the error, because the error's message and body could quote a secret.
 */
export const blockAfter = (
  error: unknown,
  at: number,
  cooldown: number,
  last: LoginBlock | undefined,
): LoginBlock | undefined => {
  const { status, errorCode, serverRequestId, retryAfterMs } = responseIn(error)
  if (status === undefined) return undefined
  if (isRejection(error)) return { at, wait: cooldown, status, errorCode, serverRequestId }
  if (retryAfterMs && (status === 429 || status === 503)) return { at, wait: retryAfterMs }
  return { at, wait: last?.status ? Math.min(last.wait * 2, LONGEST_BLOCK) : FIRST_BLOCK, status }
}

/** Creates the error of a call that is not sent because of a block. `retryAfterMs` is the rest of the block. */
export const blockedError = (
  { status, errorCode, serverRequestId }: LoginBlock,
  retryAfterMs: number,
): ApiError => {
  const isLocked = status === 403 && errorCode !== undefined
  let what = 'the server asked for a pause between token requests'
  if (errorCode !== undefined)
    what = `the last login was ${isLocked ? 'locked out' : 'rejected'} (HTTP ${status}, code ${JSON.stringify(errorCode)})`
  else if (status) what = `the response to the last token request has no token (HTTP ${status})`
  const others = errorCode === undefined ? '' : ' (loginCooldown), when the credentials change'
  const next = `The client logs in again in ${inWords(retryAfterMs)}${others}, or when you call login().`
  const message = `${LOGIN} failed: ${what}. ${next}`
  const response = { status, errorCode, serverRequestId, retryAfterMs }
  const call = { operation: LOGIN, phase: 'login', outcome: 'not-sent', attempts: 0 } as const
  const details = { ...call, ...response, retryable: errorCode === undefined }
  if (status === undefined) return new RateLimitError(message, details)
  if (status === 401) return new AuthenticationError(message, details)
  return isLocked ? new LockedOutError(message, details) : new ApiError(message, details)
}

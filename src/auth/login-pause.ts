import type { ApiError } from '../errors.ts'
import { isMandateKitError, RateLimitError } from '../errors.ts'
import { duration } from '../transport/words.ts'
import { LOGIN } from './credentials.ts'
import type { LoginPause, TokenRecord } from './token-record.ts'

/** The longest that a call waits for a pause to end, in milliseconds. */
const LONGEST_HOLD = 60_000

/**
 * The pause that a token request's error names: Retry-After or the end of the window after a 429, Retry-After of a 503.
 * `longest` bounds it, in milliseconds.
 */
export const pauseIn = (error: unknown, at: number, longest: number): LoginPause | undefined => {
  if (!isMandateKitError(error)) return undefined
  const { status, retryAfterMs } = error as Partial<ApiError>
  const asksForPatience = status === 429 || status === 503
  return asksForPatience && retryAfterMs ? { at, wait: Math.min(retryAfterMs, longest) } : undefined
}

/**
 * Throws while a pause stands. One from the future was written by a clock gone wrong, and none is believed for more
 * than `longest` milliseconds: others write to stores as well.
 */
export const checkPause = ({ pause }: TokenRecord, now: number, longest: number): void => {
  const retryAfterMs = pause === undefined ? 0 : pause.at + Math.min(pause.wait, longest) - now
  if (pause === undefined || now < pause.at || retryAfterMs <= 0) return
  const message =
    `${LOGIN}: the server asked for a pause between token requests. ` +
    `The next one is made when login() is called, or in ${duration(retryAfterMs)}.`
  throw new RateLimitError(message, {
    operation: LOGIN,
    phase: 'login',
    outcome: 'not-sent',
    attempts: 0,
    retryable: true,
    retryAfterMs,
  })
}

/** How long a call may wait for the pause that its error speaks of; `undefined` when it should fail with it instead. */
export const waitForPause = (error: unknown, remaining: number): number | undefined => {
  if (!(error instanceof RateLimitError) || error.status !== undefined) return undefined
  const { retryAfterMs = 0 } = error
  return retryAfterMs <= LONGEST_HOLD && retryAfterMs < remaining ? retryAfterMs : undefined
}

import { exportedWait, inWords } from '../clock.ts'
import {
  ApiError,
  AuthenticationError,
  isMandateKitError,
  LockedOutError,
  RateLimitError,
  UnexpectedResponseError,
} from '../errors.ts'
import { LOGIN } from './credentials.ts'
import type { LoginBlock } from './token-record.ts'

/** Length of the first block after a login that got no token but was not rejected, in milliseconds. */
const FIRST_BLOCK = 10_000
/** Each further failure doubles the block's length, up to this many milliseconds. */
export const LONGEST_BLOCK = 900_000

/** Returns an error of this package unchanged, and an empty object for any other value. */
const responseIn = (error: unknown): Partial<Omit<ApiError, 'code'>> =>
  isMandateKitError(error) ? error : {}

/** Returns whether a failed token request, or its block, proves that the server rejects the credentials. */
export const isRejection = ({ verdict }: Pick<LoginBlock, 'verdict'>): boolean =>
  verdict === 'rejected-credentials' || verdict === 'locked'

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
  const { status = 0, verdict, errorCode, retryAfterMs = 0, outcome } = responseIn(error)
  if (outcome === undefined || outcome === 'not-sent') return undefined
  const isNamed = status >= 400 && retryAfterMs >= 1_000
  // After a failed refresh, the client logs in with the password. The failed refresh must not block this login.
  if (!isLogin && (isDecided(error) || !isNamed)) return undefined
  const facts = { at, errorCode, verdict }
  // Each further login with rejected credentials could lock the account, so a shorter wait that the response names, as
  // proxies add it, does not count.
  if (isRejection(facts)) return { ...facts, status, wait: cooldown }
  if (isNamed) return { at, wait: retryAfterMs }
  const wait = last ? Math.min(last.wait * 2, LONGEST_BLOCK) : FIRST_BLOCK
  return { ...facts, status: status || undefined, wait }
}

const errorClassOf = ({ status = 0, errorCode, verdict }: LoginBlock) => {
  if (status === 401) return AuthenticationError
  if (verdict === 'locked') return LockedOutError
  if (status >= 200 && status < 400 && errorCode === undefined) return UnexpectedResponseError
  return verdict === undefined || verdict === 'rate-limited' ? RateLimitError : ApiError
}

/** Creates the error of a call that is not sent, because logins are blocked for another `remaining` milliseconds. */
export const blockedError = (block: LoginBlock, remaining: number): ApiError | UnexpectedResponseError => {
  const { status = 0, errorCode, verdict } = block
  const isRejected = isRejection(block)
  const retryAfterMs = exportedWait(remaining) ?? 0
  const response = `(HTTP ${status}${errorCode === undefined ? '' : `, code "${errorCode}"`})`
  let what = 'logins are paused'
  if (isRejected) what = `the last login was ${verdict === 'locked' ? 'locked out' : 'rejected'} ${response}`
  else if (status > 0) what = `the last login got no token ${response}`
  const others = isRejected ? ' (loginCooldown), when the credentials change' : ''
  const message = `${LOGIN} failed: ${what}. The client logs in again in ${inWords(retryAfterMs)}${others}, or when you call login().`
  const call = { operation: LOGIN, phase: 'login', outcome: 'not-sent', attempts: 0 } as const
  const details = { ...call, status: block.status as number, errorCode, verdict, retryAfterMs }
  return new (errorClassOf(block))(message, { ...details, retryable: !isRejected })
}

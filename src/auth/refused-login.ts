import type { MandateKitError } from '../errors.ts'
import { ApiError, AuthenticationError, isMandateKitError, LockedOutError } from '../errors.ts'
import { duration } from '../transport/words.ts'
import { LOGIN } from './credentials.ts'
import type { RefusedLogin } from './token-record.ts'

const isApiError = (error: unknown): error is ApiError =>
  isMandateKitError(error) && 'status' in error && 'errorCode' in error

/**
 * Whether the server refused a token request for good: a 4xx other than 408 and 429, or, below 500, an errorCode
 * other than `00`. A 5xx is no word about the credentials, whatever errorCode it carries.
 */
export const isRefusal = (error: unknown): error is ApiError & { readonly status: number } => {
  if (!isApiError(error) || typeof error.status !== 'number') return false
  const { status, errorCode } = error
  if (status === 408 || status === 429 || status >= 500) return false
  return status >= 400 || (errorCode !== undefined && errorCode !== '00')
}

/** Whether the server answered a token request at all, and did not ask for patience (408, 429, 503). */
export const wasAnswered = (error: unknown): boolean => {
  if (!isMandateKitError(error) || !('status' in error)) return false
  const { status } = error
  return typeof status === 'number' && ![408, 429, 503].includes(status)
}

/** The facts of a refusal that later calls need. Its message and body stay out: they could quote a secret. */
export const refusalFrom = (
  error: ApiError & { readonly status: number },
  fingerprint: string,
  at: number,
): RefusedLogin => ({
  fingerprint,
  at,
  status: error.status,
  ...(error.errorCode === undefined ? {} : { errorCode: error.errorCode }),
  ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
})

/** The error of a call that is not let in because an earlier login was refused. `remaining` is in milliseconds. */
export const refusedEarlier = (refusal: RefusedLogin, remaining: number): MandateKitError => {
  const { status, errorCode, requestId } = refusal
  const code = errorCode === undefined ? '' : `, code ${JSON.stringify(errorCode)}`
  const last = status === 403 ? 'the account was locked at the last login' : 'the last login was refused'
  const message =
    `${LOGIN}: ${last} (HTTP ${status}${code}). The next one is tried when the credentials ` +
    `change, when login() is called, or in ${duration(remaining)} (loginCooldown).`
  const facts = {
    operation: LOGIN,
    phase: 'login',
    outcome: 'not-sent',
    attempts: 0,
    retryable: false,
    status,
    errorCode,
    requestId,
  } as const
  if (status === 401) return new AuthenticationError(message, facts)
  if (status === 403) return new LockedOutError(message, facts)
  return new ApiError(message, facts)
}

import type { ErrorFacts, MandateKitError } from '../errors.ts'
import {
  AbortedError,
  ApiError,
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  LockedOutError,
  RateLimitError,
  TimeoutError,
  UnexpectedResponseError,
} from '../errors.ts'
import type { CallRecord } from './call-record.ts'
import { isTransient } from './outcome.ts'

const mayPass = (error: MandateKitError): boolean => {
  if (error.retryable || error instanceof ConnectionError || error instanceof TimeoutError) return true
  return error instanceof ApiError && error.status !== undefined
    ? isTransient({ kind: 'status', status: error.status })
    : false
}

const ApiErrorClasses = [AuthenticationError, LockedOutError, RateLimitError, ApiError] as const

/**
 * A login's error as the error of the call that needed it: the same class and facts of the answer, but the call's
 * operation, attempts and outcome, since it is the call that the caller asks about.
 */
export const asLoginFailure = (error: MandateKitError, record: CallRecord): MandateKitError => {
  record.phase = 'login'
  const facts: ErrorFacts = { ...record.errorFacts(mayPass(error)), cause: error.cause }
  const sent =
    record.attempts === 0 ? 'The call itself was not sent.' : 'The login followed an attempt of the call.'
  const message = `${facts.operation}: no token, since the login failed. ${sent} ${error.message}`
  if (error instanceof InvalidRequestError)
    return new InvalidRequestError(facts.operation, error.issues, facts)
  if (error instanceof ApiError) {
    const { status, errorCode, requestId, headers, rateLimit, retryAfterMs } = error
    const answer = { ...facts, status, errorCode, requestId, headers, rateLimit, retryAfterMs }
    const Class = ApiErrorClasses.find((each) => error instanceof each) ?? ApiError
    return new Class(message, answer)
  }
  if (error instanceof UnexpectedResponseError) {
    return new UnexpectedResponseError(message, { ...facts, status: error.status, headers: error.headers })
  }
  if (error instanceof ConnectionError)
    return new ConnectionError(message, { ...facts, reason: error.reason })
  if (error instanceof TimeoutError)
    return new TimeoutError(message, { ...facts, timeoutMs: error.timeoutMs })
  return error instanceof AbortedError ? new AbortedError(message, facts) : error
}

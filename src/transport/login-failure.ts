import type { ErrorFacts, MandateKitError } from '../errors.ts'
import { ApiError, ConnectionError, InvalidRequestError, TimeoutError } from '../errors.ts'
import type { CallRecord } from './call-record.ts'
import { isTransient } from './outcome.ts'

const mayPass = (error: MandateKitError): boolean => {
  if (error.retryable || error instanceof ConnectionError || error instanceof TimeoutError) return true
  return error instanceof ApiError && error.status !== undefined
    ? isTransient({ kind: 'status', status: error.status })
    : false
}

/**
 * A login's error as the error of the call that needed it: the same class and facts of the answer, but the call's
 * operation, attempts and outcome, since it is the call that the caller asks about.
 */
export const asLoginFailure = (error: MandateKitError, record: CallRecord): MandateKitError => {
  record.phase = 'login'
  const facts: ErrorFacts = { ...record.errorFacts(mayPass(error)), cause: error.cause }
  if (error instanceof InvalidRequestError)
    return new InvalidRequestError(facts.operation, error.issues, facts)
  const sent =
    record.attempts === 0 ? 'The call itself was not sent.' : 'The login followed an attempt of the call.'
  const message = `${facts.operation}: no token, since the login failed. ${sent} ${error.message}`
  // Every other class is made of a message and its facts, which an error carries as its own fields.
  const made: MandateKitError = Reflect.construct(error.constructor, [message, { ...error, ...facts }])
  return made
}

import type { ErrorFacts, MandateKitError } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import type { CallRecord } from './call-record.ts'

/**
 * A login's error as the error of the call that needed it: the same class and facts of the answer, but the call's
 * operation, attempts and outcome, since it is the call that the caller asks about.
 */
export const asLoginFailure = (error: MandateKitError, record: CallRecord): MandateKitError => {
  record.phase = 'login'
  const facts: ErrorFacts = { ...record.errorFacts(error.retryable), cause: error.cause }
  if (error instanceof InvalidRequestError)
    return new InvalidRequestError(facts.operation, error.issues, facts)
  const lack = record.attempts === 0 ? 'not sent, since there is no token' : 'no token for another attempt'
  const message = `${facts.operation}: ${lack}: ${error.message.replace(`${error.operation}: `, '')}`
  // Every other class is made of a message and its facts, which an error carries as its own fields.
  const made: MandateKitError = Reflect.construct(error.constructor, [message, { ...error, ...facts }])
  return made
}

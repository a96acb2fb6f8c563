import type { Outcome } from '../errors.ts'
import type { Failure } from './repeat.ts'
import { LOST_ANSWER } from './repeat.ts'

const SEVERITY: readonly Outcome[] = ['not-sent', 'rejected', 'unknown']

/** What one failed attempt proves about the server: see the table in the documentation of errors. */
export const outcomeOfFailure = (failure: Failure): Outcome => {
  switch (failure.kind) {
    case 'connection':
      return failure.surelyNotSent ? 'not-sent' : 'unknown'
    case 'status':
      return failure.status < 500 && failure.status !== 408 ? 'rejected' : 'unknown'
    case 'code':
      return failure.readable ? 'rejected' : 'unknown'
    default:
      return 'unknown'
  }
}

/** The outcome of attempts together: the least certain one stays. */
export const worseOutcome = (one: Outcome, other: Outcome): Outcome =>
  SEVERITY.indexOf(one) >= SEVERITY.indexOf(other) ? one : other

/** Whether calling again later could end otherwise, as far as a refusal itself tells. */
export const isTransient = (refusal: Extract<Failure, { kind: 'status' | 'code' }>): boolean =>
  refusal.kind === 'status' && (refusal.status === 429 || LOST_ANSWER.has(refusal.status))

import type { MandateKitError } from '../errors.ts'
import type { Reading } from './answer.ts'
import type { AttemptResult, ReceivedAnswer } from './attempt.ts'
import { connectionError, interruptionError, refusalError, unexpectedError } from './call-errors.ts'
import type { CallRecord } from './call-record.ts'
import { isTransient } from './outcome.ts'
import { readRateLimit } from './rate-limit-headers.ts'
import type { Failure } from './repeat.ts'

/** A failed attempt: what the decision needs, and the error that ends the call when it is not repeated. */
export interface FailedAttempt {
  readonly failure: Failure
  readonly status: number | undefined
  /** Makes the error, from what the record knows by then. `tooLong`: a wait that was longer than allowed. */
  readonly toError: (
    record: CallRecord,
    hint: number | undefined,
    tooLong: number | undefined,
  ) => MandateKitError
}

/** An attempt that brought no answer. */
export const withoutAnswer = (result: Exclude<AttemptResult, { kind: 'answer' }>): FailedAttempt => {
  if (result.kind === 'interrupted') {
    const { by } = result
    return {
      failure: { kind: by.kind },
      status: undefined,
      toError: (record) => interruptionError(record, by),
    }
  }
  const { failure } = result
  return {
    failure: { kind: 'connection', ...failure },
    status: undefined,
    toError: (record, _, tooLong) => connectionError(record, failure, tooLong),
  }
}

/** An attempt whose answer is no success. */
export const withAnswer = (
  answer: ReceivedAnswer,
  reading: Exclude<Reading, { kind: 'success' }>,
): FailedAttempt => {
  const { status } = answer
  if (reading.kind === 'unexpected') {
    return {
      failure: { kind: reading.cut ? 'cut' : 'unexpected' },
      status,
      toError: (record, _, tooLong) => unexpectedError(record, answer, reading, tooLong),
    }
  }
  const failure =
    reading.kind === 'refused'
      ? ({ kind: 'status', status } as const)
      : ({ kind: 'code', readable: reading.readable } as const)
  return {
    failure,
    status,
    toError: (record, hint, tooLong) =>
      refusalError(record, answer, reading, {
        rateLimit: readRateLimit(answer.headers),
        hint,
        tooLong,
        transient: isTransient(failure),
      }),
  }
}

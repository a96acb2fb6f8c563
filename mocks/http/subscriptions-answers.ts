import type { Refusal, RefusalReason } from '../domain/result.ts'
import type { ErrorCodes, SubscriptionsOptions } from '../domain/subscriptions/options.ts'
import { defaultErrorCodes } from '../domain/subscriptions/options.ts'
import { jsonAnswer } from './answer.ts'
import type { AreaAnswers, Headers, LimitState } from './area-answers.ts'
import type { Vary } from './variants.ts'

/** Options that word the answers of area S. */
export type AnswerOptions = Pick<
  SubscriptionsOptions,
  'errorCodes' | 'validationStatus' | 'notFoundStatus' | 'errorsAs200' | 'tokenEnvelope'
>

const SUCCESS_MESSAGE = 'The operation succeeded.'

/** Refusals that `errorsAs200` leaves as they are: the specification states their status. */
const STATED = new Set([401, 403, 429])

const KIND_OF_STATUS: Readonly<Record<number, keyof ErrorCodes>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'locked_out',
  404: 'not_found',
  405: 'invalid',
  409: 'state',
  413: 'invalid',
  415: 'invalid',
  422: 'invalid',
  429: 'rate_limited',
}

/** The three headers that every answer carries (Limits, area S). */
export const limitHeaders = (state: LimitState): Headers => ({
  'X-RateLimit-Limit': String(state.limit),
  'X-RateLimit-Remaining': String(state.remaining),
  'X-RateLimit-Reset': String(Math.ceil(state.resetAt / 1_000)),
})

/** Area S: every answer carries errorCode and errorMessage (Errors, area S). */
export const createSubscriptionsAnswers = (options: AnswerOptions, vary: Vary): AreaAnswers => {
  const codes: ErrorCodes = { ...defaultErrorCodes, ...options.errorCodes }
  const statusOf: Partial<Record<RefusalReason, number>> = {
    invalid: options.validationStatus,
    client_mismatch: options.validationStatus,
    not_found: options.notFoundStatus,
    duplicate_request: 409,
    state: 409,
    unauthorized: 401,
    locked_out: 403,
    rate_limited: 429,
  }
  const codeOf: Partial<Record<RefusalReason, string>> = codes

  const refusal = ({ reason, message }: Refusal, headers: Headers) => {
    const status = statusOf[reason] ?? 500
    const shown = options.errorsAs200 && status < 500 && !STATED.has(status) ? 200 : status
    return jsonAnswer(shown, { errorCode: codeOf[reason] ?? codes.internal, errorMessage: message }, headers)
  }

  return {
    success({ operation, status, auth }, { body }, headers) {
      const bare = auth === 'credentials' && !options.tokenEnvelope
      const envelope = { errorCode: codes.success, errorMessage: SUCCESS_MESSAGE }
      const whole = bare ? body : { ...(body as object), ...envelope }
      return jsonAnswer(status, vary(operation, whole), headers)
    },
    refusal,
    failure: (status, message, headers) =>
      jsonAnswer(
        status,
        { errorCode: codes[KIND_OF_STATUS[status] ?? 'internal'], errorMessage: message },
        headers,
      ),
  }
}

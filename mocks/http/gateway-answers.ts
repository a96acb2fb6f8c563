import type { RefusalReason } from '../domain/result.ts'
import { jsonAnswer, mayHaveBody } from './answer.ts'
import type { AreaAnswers } from './area-answers.ts'

/** HTTP status and code string of each refusal (rows 69 to 77). */
const REFUSALS: Partial<Record<RefusalReason, readonly [status: number, code: string]>> = {
  invalid: [400, 'invalid_request'],
  not_found: [404, 'not_found'],
  unauthorized: [401, 'unauthorized'],
  rate_limited: [429, 'rate_limited'],
  incorrect_code: [400, 'incorrect_code'],
  missing_idempotency_key: [400, 'missing_idempotency_key'],
  idempotency_key_reused: [422, 'idempotency_key_reused'],
  mandate_mismatch: [422, 'mandate_mismatch'],
  mandate_not_active: [409, 'mandate_not_active'],
  already_confirmed: [409, 'already_confirmed'],
  charge_expired: [409, 'charge_expired'],
  redirect_uri_not_allowed: [400, 'redirect_uri_not_allowed'],
}

const INTERNAL = [500, 'internal_error'] as const

const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limited',
}

const codeOfStatus = (status: number): string =>
  CODE_OF_STATUS[status] ?? (status >= 500 ? 'internal_error' : 'invalid_request')

/** Area G: plain bodies, and errors in the shape G2. */
export const gatewayAnswers: AreaAnswers = {
  success(definition, { body, status = definition.status }, headers) {
    if (!mayHaveBody(status)) return { status, headers, body: '' }
    return jsonAnswer(status, body, headers)
  },
  refusal({ reason, message }, headers) {
    const [status, code] = REFUSALS[reason] ?? INTERNAL
    return jsonAnswer(status, { error: { code, message } }, headers)
  },
  failure: (status, message, headers) =>
    jsonAnswer(status, { error: { code: codeOfStatus(status), message } }, headers),
}

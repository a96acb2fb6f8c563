/** The unchecked fields of a request body, which is a form or JSON. */
export type Fields = Readonly<Record<string, unknown>>

/** The reason why an operation is refused. The HTTP layer maps the reason to a status and an error code. */
export type RefusalReason =
  // Both areas
  | 'invalid'
  | 'not_found'
  | 'unauthorized'
  | 'rate_limited'
  | 'state'
  // Area S
  | 'locked_out'
  | 'duplicate_request'
  | 'client_mismatch'
  // Area G
  | 'incorrect_code'
  | 'missing_idempotency_key'
  | 'idempotency_key_in_use'
  | 'idempotency_key_reused'
  | 'mandate_mismatch'
  | 'mandate_not_active'
  | 'already_confirmed'
  | 'charge_expired'
  | 'redirect_uri_not_allowed'

/** The refusal of an operation. */
export interface Refusal {
  /** The reason, such as `not_found` or `already_confirmed`. */
  readonly reason: RefusalReason
  /** The message in the response. It contains no details that a real API would hide. */
  readonly message: string
  /** The name of the invalid field in the request. */
  readonly field?: string
  /** The explanation in the request log: names the option that caused the refusal, and contains no secret. */
  readonly explanation?: string
}

/** The result of an operation: its value, or its refusal. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal }

/** Returns a success. */
export const ok = <Value>(value: Value): Result<Value> => ({ ok: true, value })

/** Returns a refusal. */
export const refused = (
  reason: RefusalReason,
  message: string,
  more: Omit<Refusal, 'reason' | 'message'> = {},
): Result<never> => ({ ok: false, refusal: { reason, message, ...more } })

/** Returns a refusal that names an invalid field of the request. */
export const invalid = (field: string, message: string, explanation?: string): Result<never> =>
  refused('invalid', message, { field, ...(explanation === undefined ? {} : { explanation }) })

/** Thrown when the mock refuses an action of a test, such as authorizing a request that does not exist. */
export class MockRefusedError extends Error {
  /** Always `MockRefusedError`. */
  override readonly name = 'MockRefusedError'
  /** The reason, such as `not_found`. */
  readonly reason: RefusalReason
  /** The name of the invalid field, if a field caused the refusal. */
  readonly field: string | undefined

  constructor(action: string, { reason, message, field, explanation }: Refusal) {
    super([`${action}: ${message}`, explanation].filter(Boolean).join(' '))
    this.reason = reason
    this.field = field
  }
}

/** Returns what a function returns, or `otherwise` if it throws. */
export const attempt = <Value>(act: () => Value, otherwise: Value): Value => {
  try {
    return act()
  } catch {
    return otherwise
  }
}

/** Returns the value of a result. Throws a `MockRefusedError` if the result is a refusal. */
export const valueOrThrow = <Value>(action: string, result: Result<Value>): Value => {
  if (result.ok) return result.value
  throw new MockRefusedError(action, result.refusal)
}

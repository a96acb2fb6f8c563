/** Fields of a request's body as they arrived, form or JSON: the domain checks presence, types and rules. */
export type Fields = Readonly<Record<string, unknown>>

/** Why the domain refused, in the domain's words; the HTTP layer maps it to a status and a code. */
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
  | 'idempotency_key_reused'
  | 'mandate_mismatch'
  | 'mandate_not_active'
  | 'already_confirmed'
  | 'charge_expired'
  | 'redirect_uri_not_allowed'

/** A refusal: nothing changed. */
export interface Refusal {
  /** Why, in a word, such as `not_found` or `already_confirmed`. */
  readonly reason: RefusalReason
  /** The words that stand in the answer: they reveal nothing an API would not. */
  readonly message: string
  /** The field that broke a rule, under its name on the wire. */
  readonly field?: string
  /** The words for the request log: why, and which option of the mock decides it. Never a secret. */
  readonly explanation?: string
}

/** What a domain operation yields. */
export type Result<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly refusal: Refusal }

/** A success. */
export const accepted = <Value>(value: Value): Result<Value> => ({ ok: true, value })

/** A refusal. */
export const refused = (
  reason: RefusalReason,
  message: string,
  more: Omit<Refusal, 'reason' | 'message'> = {},
): Result<never> => ({
  ok: false,
  refusal: { reason, message, ...more },
})

/** A refusal of a field that breaks a rule. */
export const invalid = (field: string, message: string, explanation?: string): Result<never> =>
  refused('invalid', message, { field, ...(explanation === undefined ? {} : { explanation }) })

/** The mock refused what a test asked of it, for example to authorize a request that does not exist. */
export class MockRefusedError extends Error {
  /** Always `MockRefusedError`. */
  override readonly name = 'MockRefusedError'
  /** Why, in a word that a program can read. */
  readonly reason: RefusalReason
  /** The field that broke a rule. */
  readonly field: string | undefined

  constructor(action: string, { reason, message, field, explanation }: Refusal) {
    super([`${action}: ${message}`, explanation].filter(Boolean).join(' '))
    this.reason = reason
    this.field = field
  }
}

/** The value of a result; throws `MockRefusedError` for a refusal. */
export const granted = <Value>(action: string, result: Result<Value>): Value => {
  if (result.ok) return result.value
  throw new MockRefusedError(action, result.refusal)
}

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

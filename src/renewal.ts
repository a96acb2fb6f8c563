import type { InputIssue } from './errors.ts'
import { InvalidRequestError } from './errors.ts'
import { renewalKey } from './renewal-key.ts'
import { kindOfValue } from './transport/kind-of-value.ts'

/** What makes a renewal safe to repeat: the billing cycle it is for, or a key of the caller's own. One is required. */
export type RenewalInput =
  | {
      /** The billing cycle's date as `YYYY-MM-DD`; the key is then `renewalKey(chargeId, cycle, attempt)`. */
      readonly cycle: string
      /** 1 (default) for the cycle's first try; 2 and on for another one after a renewal that ended as failed. */
      readonly attempt?: number | undefined
      readonly idempotencyKey?: undefined
    }
  | { readonly idempotencyKey: string; readonly cycle?: undefined; readonly attempt?: undefined }

const FIELDS = new Set(['cycle', 'attempt', 'idempotencyKey'])

/** The idempotency key of a renewal. Throws `InvalidRequestError` unless exactly one of cycle and key is given. */
export const renewalKeyOf = (chargeId: string, input: RenewalInput): string => {
  const given: unknown = input
  const fields = typeof given === 'object' && given !== null ? input : undefined
  const issues: InputIssue[] = Object.keys(fields ?? {})
    .filter((name) => !FIELDS.has(name))
    .map((field) => ({ field, rule: 'a field of a renewal', received: 'an unknown field' }))
  const { cycle, attempt, idempotencyKey } = fields ?? {}
  if (cycle === undefined && idempotencyKey === undefined) {
    const rule = 'given, or idempotencyKey, so that a restart cannot charge twice'
    issues.push({ field: 'cycle', rule, received: kindOfValue(cycle) })
  } else if (idempotencyKey !== undefined && (cycle !== undefined || attempt !== undefined)) {
    const rule = 'given without cycle and attempt, which make a key themselves'
    issues.push({ field: 'idempotencyKey', rule, received: 'both' })
  }
  if (issues.length > 0) throw new InvalidRequestError('gateway.renew', issues)
  return idempotencyKey ?? renewalKey(chargeId, cycle ?? '', attempt)
}

import { renewalKey, renewalKeyIssues } from './renewal-key.ts'
import { refuse, unknownNames } from './transport/input-issues.ts'

/** What makes a renewal safe to repeat: the billing cycle it is for, or a key of the caller's own. One is required. */
export type RenewalInput =
  | {
      /** The billing cycle's date as `YYYY-MM-DD`, such as `2026-12-01`; the key is then `renewalKey(chargeId, cycle, attempt)`. */
      readonly cycle: string
      /** 1 (default) for the cycle's first try; 2 and on for another one after a renewal that ended as failed. */
      readonly attempt?: number | undefined
      /** Made of `cycle` and `attempt`: not to be given beside them. */
      readonly idempotencyKey?: undefined
    }
  | {
      /** A key of your own: the same key never renews twice (G rule 1). Visible ASCII, such as `order-1001:2`. */
      readonly idempotencyKey: string
      /** Not to be given beside a key. */
      readonly cycle?: undefined
      /** Not to be given beside a key. */
      readonly attempt?: undefined
    }

const FIELDS = ['cycle', 'attempt', 'idempotencyKey']

/** The idempotency key of a renewal. Throws `InvalidRequestError` unless exactly one of cycle and key is given. */
export const renewalKeyOf = (chargeId: string, input: RenewalInput): string => {
  const issues = unknownNames(input, FIELDS, 'field of renew')
  const { cycle, attempt = 1, idempotencyKey } = input
  if (cycle === undefined && idempotencyKey === undefined) {
    const rule = 'given, or idempotencyKey, so that a restart cannot charge twice'
    issues.push({ field: 'cycle', rule, received: 'nothing' })
  } else if (idempotencyKey !== undefined && (cycle !== undefined || input.attempt !== undefined)) {
    const rule = 'given without cycle and attempt, which make a key themselves'
    issues.push({ field: 'idempotencyKey', rule, received: 'both' })
  }
  if (cycle !== undefined) issues.push(...renewalKeyIssues(chargeId, cycle, attempt))
  refuse('gateway.renew', issues)
  return idempotencyKey ?? renewalKey(chargeId, cycle ?? '', attempt)
}

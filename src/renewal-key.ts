import { isCalendarDate, isPathSegment } from './contract/formats.ts'
import type { InputIssue } from './errors.ts'
import { InvalidRequestError } from './errors.ts'
import { kindOfValue } from './transport/kind-of-value.ts'

/**
 * The idempotency key of one billing cycle's renewal: `renewal:<charge id, percent-encoded>:<cycle>:<attempt>`.
 *
 * The same mandate, cycle and attempt always give the same key, in every process and after every restart, so that one
 * cycle is charged once (G rule 1). The format is fixed: it never changes within a major version.
 *
 * @param chargeId the charge of the mandate
 * @param cycle the billing cycle's date as `YYYY-MM-DD` text; a `Date` is refused, since its day depends on a time zone
 * @param attempt 1 (default) for the cycle's first try; 2 and on when an earlier one ended as failed and is made anew
 * @throws InvalidRequestError
 * @example renewalKey('ch_1', '2026-12-01') // 'renewal:ch_1:2026-12-01:1'
 */
export const renewalKey = (chargeId: string, cycle: string, attempt = 1): string => {
  const issues: InputIssue[] = []
  if (typeof chargeId !== 'string' || !isPathSegment(chargeId)) {
    const received = kindOfValue(chargeId)
    issues.push({ field: 'chargeId', rule: 'an identifier as text that is not empty', received })
  }
  if (typeof cycle !== 'string' || !isCalendarDate(cycle)) {
    issues.push({
      field: 'cycle',
      rule: 'a day of the calendar as YYYY-MM-DD text',
      received: kindOfValue(cycle),
    })
  }
  if (!Number.isSafeInteger(attempt) || attempt < 1) {
    issues.push({ field: 'attempt', rule: 'a whole number from 1', received: kindOfValue(attempt) })
  }
  if (issues.length > 0) throw new InvalidRequestError('gateway.renew', issues)
  return `renewal:${encodeURIComponent(chargeId)}:${cycle}:${attempt}`
}

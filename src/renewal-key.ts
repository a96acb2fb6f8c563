import { isCalendarDate } from './contract/formats.ts'
import type { InputIssue } from './errors.ts'
import { parameterIssues } from './transport/input-check.ts'
import { countIssues, refuse, unless } from './transport/input-issues.ts'

/** The issues of what makes a renewal's key. */
export const renewalKeyIssues = (chargeId: unknown, cycle: unknown, attempt: unknown): InputIssue[] => {
  const dayHolds = typeof cycle === 'string' && isCalendarDate(cycle)
  return [
    ...parameterIssues({ chargeId }),
    ...unless(dayHolds, 'cycle', 'a day of the calendar as YYYY-MM-DD text', cycle, 'day'),
    ...countIssues('attempt', attempt, 1),
  ]
}

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
  refuse('renewalKey', renewalKeyIssues(chargeId, cycle, attempt))
  return `renewal:${encodeURIComponent(chargeId)}:${cycle}:${attempt}`
}

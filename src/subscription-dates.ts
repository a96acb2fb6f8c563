import { dayNumber, MAX_SUBSCRIPTION_DAYS } from './contract/formats.ts'
import type { InputIssue } from './errors.ts'

const MILLISECONDS_PER_DAY = 86_400_000
// The first zone in which a day begins: nowhere is it later than there.
const EARLIEST_ZONE = 14 * 3_600_000

/**
 * The issues of an end that lies too far away however the 730 days are counted: from the start, and from the latest
 * day that is "today" anywhere (Limits, area S; the reference point is not shown).
 */
export const endIssues = ({ start, end }: { start: string; end: string }, now: number): InputIssue[] => {
  const today = Math.floor((now + EARLIEST_ZONE) / MILLISECONDS_PER_DAY)
  const latest = Math.max(dayNumber(start) ?? 0, today) + MAX_SUBSCRIPTION_DAYS
  if ((dayNumber(end) ?? 0) <= latest) return []
  const rule = `at most ${MAX_SUBSCRIPTION_DAYS} days after start or today`
  return [{ field: 'end', rule, received: 'a later day' }]
}

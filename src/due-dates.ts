import { check } from './check.ts'
import { inputDate, wholeNumber } from './contract/fields.ts'

/**
 * Returns a due date of a monthly plan. If a month lacks the anchor's day, the due date is the month's last day.
 *
 * As the anchor, always pass the day of the first charge. If the first charge was on `2027-01-31` and you pass the day
 * of the first renewal, `2027-02-28`, all further due dates are on the 28th.
 *
 * @param anchor the day of the first charge as `YYYY-MM-DD` text
 * @param number how many months after the anchor; 0 is the anchor itself
 * @throws InvalidRequestError
 * @example monthlyDueDate('2027-01-31', 1) // '2027-02-28'
 * @example monthlyDueDate('2027-01-31', 2) // '2027-03-31'
 */
export const monthlyDueDate = (anchor: string, number: number): string => {
  check('monthlyDueDate', inputDate, anchor, 'anchor')
  const [year = 0, month = 0, day = 0] = anchor.split('-').map(Number)
  // The API's dates end with the year 9999.
  check('monthlyDueDate', wholeNumber(0, (9999 - year) * 12 + 12 - month), number, 'number')
  const [firstOfNext, date] = [new Date(anchor), new Date(anchor)]
  firstOfNext.setUTCFullYear(year, month + number, 0)
  date.setUTCFullYear(year, month - 1 + number, Math.min(day, firstOfNext.getUTCDate()))
  return date.toISOString().slice(0, 10)
}

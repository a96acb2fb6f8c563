import { check, inputError } from './check.ts'
import { inputDate, wholeNumber } from './contract/fields.ts'
import { isCalendarDate } from './contract/formats.ts'

/**
 * Adds `number` months to `anchor`. If the resulting month lacks the anchor's day, returns the month's last day.
 *
 * As `anchor`, always pass the day of the first charge. If the first charge was on `2027-01-31` and you pass the day
 * of the first renewal, `2027-02-28`, all further due dates are on the 28th.
 *
 * @param anchor the day of the first charge as `YYYY-MM-DD` text
 * @param number the number of months after the anchor; 0 returns the anchor
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

const DAY = 86_400_000
const NAIVE = /^(\d{4}-\d{2}-\d{2})(?:[ T]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?)?$/
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}[ T][\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/

const DATE_PARTS = { year: 'numeric', month: 'numeric', day: 'numeric' } as const
const TIME_PARTS = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const

const formatterOf = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    // The locale is fixed, because the result must not depend on the system's language.
    return new Intl.DateTimeFormat('en-US', { timeZone, ...DATE_PARTS, ...TIME_PARTS })
  } catch {
    return undefined
  }
}

/** Treats the local time at `instant` as a time in UTC, and returns this time in ms since 1970. */
const wallTime = (formatter: Intl.DateTimeFormat, instant: number): number => {
  const parts = formatter.formatToParts(instant).map(({ type, value }) => [type, Number(value)])
  const { year, month, day, hour, minute, second } = Object.fromEntries(parts)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

const instantOf = (formatter: Intl.DateTimeFormat, wall: number): number => {
  const offsetAt = (instant: number): number => wallTime(formatter, instant) - instant
  const before = wall - offsetAt(wall - DAY)
  if (offsetAt(before) === wall - before) return before
  const after = wall - offsetAt(wall + DAY)
  // When clocks go forward, some local times do not exist. For these, the offset of the day before is used.
  return offsetAt(after) === wall - after ? after : before
}

/**
 * Converts a time without a zone (`createdAt`, `transactionDate`, `nextPaymentDate`, …) to an instant. The caller
 * passes the zone, because the specification does not name a zone.
 *
 * Accepts `YYYY-MM-DD HH:MM:SS`, also without seconds or with `T` instead of the space. A date alone means midnight. An
 * offset in the text overrides `zone`. If a time occurs twice because clocks go back, returns the first instant.
 *
 * @param zone an IANA name such as `Asia/Dhaka`
 * @throws InvalidRequestError when `naive` has another format or `zone` is unknown
 * @example toInstant('2026-11-28 12:00:00', 'Asia/Dhaka').toISOString() // '2026-11-28T06:00:00.000Z'
 */
export const toInstant = (naive: string, zone: string): Date => {
  // Without a zone, Intl would use the system's time zone.
  const formatter = typeof zone === 'string' ? formatterOf(zone) : undefined
  if (formatter === undefined)
    throw inputError('toInstant', 'zone', 'an IANA time zone such as Asia/Dhaka', zone, 'string')
  const [, date = '', hour = '00', minute = '00', second = '00', fraction = ''] = NAIVE.exec(naive) ?? []
  if (isCalendarDate(date)) {
    const wall = Date.parse(`${date}T${hour}:${minute}:${second}Z`)
    return new Date(instantOf(formatter, wall) + Number(fraction.padEnd(3, '0').slice(0, 3)))
  }
  const time = WITH_OFFSET.test(naive) ? Date.parse(naive.replace(' ', 'T')) : Number.NaN
  if (Number.isNaN(time) || !isCalendarDate(naive.slice(0, 10)))
    throw inputError('toInstant', 'naive', 'a time in the form YYYY-MM-DD HH:MM:SS', naive, 'string')
  return new Date(time)
}

import type { Wanted } from './contract/fields.ts'
import { isCalendarDate } from './contract/formats.ts'
import { InvalidRequestError } from './errors.ts'
import { kindOfValue } from './transport/kind-of-value.ts'

const NAIVE = /^(\d{4}-\d{2}-\d{2})(?:[ T]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?)?$/
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}[ T][\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/

const formatterOf = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}

/** What a clock on a wall of the zone shows at an instant, as if it were UTC. */
const wallTime = (formatter: Intl.DateTimeFormat, instant: number): number => {
  const parts = Object.fromEntries(
    formatter.formatToParts(instant).map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/** The instant at which the zone's clocks show `wall`. */
const instantOf = (formatter: Intl.DateTimeFormat, wall: number): number => {
  const offsetAt = (instant: number): number => wallTime(formatter, instant) - instant
  const DAY = 86_400_000
  const before = wall - offsetAt(wall - DAY)
  if (offsetAt(before) === wall - before) return before
  const after = wall - offsetAt(wall + DAY)
  // A time that the zone's clocks skip does not exist: it is read as if they had not been put forward yet.
  return offsetAt(after) === wall - after ? after : before
}

/**
 * Turns a time of the specification without a zone (`createdAt`, `transactionDate`, `nextPaymentDate`, …) into an
 * instant, in the zone that the caller names: the specification does not show it.
 *
 * Takes `YYYY-MM-DD HH:MM:SS`, with `T` for the space, with fewer parts (a date is its midnight), or with an offset,
 * which then counts instead of the zone. A time that occurs twice, when clocks are put back, is read as the first.
 *
 * @param zone an IANA name such as `Asia/Dhaka`
 * @throws InvalidRequestError when the text is no such time or the zone is unknown
 * @example toInstant('2026-11-28 12:00:00', 'Asia/Dhaka').toISOString() // '2026-11-28T06:00:00.000Z'
 */
export const toInstant = (naive: string, zone: string): Date => {
  const refuse = (field: string, rule: string, value: unknown, wanted: Wanted = 'text') =>
    new InvalidRequestError('toInstant', [{ field, rule, received: kindOfValue(value, wanted) }])
  const formatter = typeof zone === 'string' ? formatterOf(zone) : undefined
  if (formatter === undefined) throw refuse('zone', 'an IANA time zone such as Asia/Dhaka', zone)
  const match = typeof naive === 'string' ? NAIVE.exec(naive) : null
  if (match === null) {
    const time =
      typeof naive === 'string' && WITH_OFFSET.test(naive) ? Date.parse(naive.replace(' ', 'T')) : Number.NaN
    if (!Number.isNaN(time) && isCalendarDate(naive.slice(0, 10))) return new Date(time)
    throw refuse('naive', 'a time as YYYY-MM-DD HH:MM:SS text', naive)
  }
  const [, date = '', hour = '00', minute = '00', second = '00', fraction = ''] = match
  if (!isCalendarDate(date)) throw refuse('naive', 'a day of the calendar', date, 'day')
  const wall = Date.parse(`${date}T${hour}:${minute}:${second}Z`)
  return new Date(instantOf(formatter, wall) + Number(fraction.padEnd(3, '0').slice(0, 3)))
}

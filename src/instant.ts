import { inputIssue } from './check.ts'
import { isCalendarDate } from './contract/formats.ts'
import { InvalidRequestError } from './errors.ts'

const DAY = 86_400_000
const NAIVE = /^(\d{4}-\d{2}-\d{2})(?:[ T]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?)?$/
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}[ T][\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/

const refuse = (field: string, rule: string, value: unknown) =>
  new InvalidRequestError('toInstant', [inputIssue(field, rule, value, 'string')])

const formatterOf = (timeZone: string): Intl.DateTimeFormat | undefined => {
  try {
    const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const
    const clock = { minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const
    // The locale is fixed, because the result must not depend on the system's language.
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      ...parts,
      ...clock,
    })
  } catch {
    return undefined
  }
}

/** Returns the local time at an instant, in milliseconds as if the local time were in UTC. */
const wallTime = (formatter: Intl.DateTimeFormat, instant: number): number => {
  const parts = formatter.formatToParts(instant).map(({ type, value }) => [type, Number(value)])
  const { year, month, day, hour, minute, second } = Object.fromEntries(parts)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/** Converts local time from `wallTime` back to an instant. */
const instantOf = (formatter: Intl.DateTimeFormat, wall: number): number => {
  const offsetAt = (instant: number): number => wallTime(formatter, instant) - instant
  const before = wall - offsetAt(wall - DAY)
  if (offsetAt(before) === wall - before) return before
  const after = wall - offsetAt(wall + DAY)
  // A local time that is skipped when clocks go forward uses the offset of the day before.
  return offsetAt(after) === wall - after ? after : before
}

/**
 * Converts a time without a zone (`createdAt`, `transactionDate`, `nextPaymentDate`, …) to an instant. The caller
 * passes the zone, because the specification does not name a zone.
 *
 * Accepts `YYYY-MM-DD HH:MM:SS`, also with `T` instead of the space, without seconds, or without a time (midnight). An
 * offset in the text takes precedence over `zone`. If a local time occurs twice, returns the earlier instant.
 *
 * @param zone an IANA name such as `Asia/Dhaka`
 * @throws InvalidRequestError when `naive` has another format or `zone` is unknown
 * @example toInstant('2026-11-28 12:00:00', 'Asia/Dhaka').toISOString() // '2026-11-28T06:00:00.000Z'
 */
export const toInstant = (naive: string, zone: string): Date => {
  // Without a zone, Intl would use the system's time zone.
  const formatter = typeof zone === 'string' ? formatterOf(zone) : undefined
  if (formatter === undefined) throw refuse('zone', 'an IANA time zone such as Asia/Dhaka', zone)
  const [, date = '', hour = '00', minute = '00', second = '00', fraction = ''] = NAIVE.exec(naive) ?? []
  if (isCalendarDate(date)) {
    const wall = Date.parse(`${date}T${hour}:${minute}:${second}Z`)
    return new Date(instantOf(formatter, wall) + Number(fraction.padEnd(3, '0').slice(0, 3)))
  }
  const time = WITH_OFFSET.test(naive) ? Date.parse(naive.replace(' ', 'T')) : Number.NaN
  if (Number.isNaN(time) || !isCalendarDate(naive.slice(0, 10)))
    throw refuse('naive', 'a time in the form YYYY-MM-DD HH:MM:SS', naive)
  return new Date(time)
}

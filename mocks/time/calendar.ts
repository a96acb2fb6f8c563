import { DAY, HOUR, MINUTE, SECOND } from './duration.ts'

/** A calendar day as the number of days since 1970-01-01. */
export type Day = number

/** Formats a day as `YYYY-MM-DD`. */
export const dateText = (day: Day): string => new Date(day * DAY).toISOString().slice(0, 10)

const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

/** Converts a time of day, such as `23:30` or `12:00:00`, to seconds since midnight. */
export const parseTimeOfDay = (text: string): number | undefined => {
  const match = TIME_OF_DAY.exec(text)
  return match === null ? undefined : Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3] ?? 0)
}

/** Returns an instant as ISO 8601 in UTC with microseconds: `2026-11-28T12:00:00.000000Z` (S4 createdDate). */
export const isoMicroseconds = (instant: number): string =>
  new Date(instant).toISOString().replace('Z', '000Z')

// The UTC offset of a time zone changes only at minute 0, 15, 30 or 45 of an hour.
const QUARTER = HOUR / 4
const MAX_CACHE_ENTRIES = 4_096

/** Returns the value of `key` from the cache. If the cache has no such value, computes and stores it. */
const cached = (cache: Map<number, number>, key: number, compute: () => number): number => {
  let value = cache.get(key)
  if (value === undefined) {
    if (cache.size >= MAX_CACHE_ENTRIES) cache.clear()
    value = compute()
    cache.set(key, value)
  }
  return value
}

// The end of a text such as `11/28/2026, GMT-05:00`. At an offset of zero, the text ends with `GMT`.
const OFFSET = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/

// The mock does not import the client, so this code repeats a part of the client's `toInstant`.
/** Creates a function that returns the zone's UTC offset at an instant, in milliseconds. */
const offsetReader = (timeZone: string): ((instant: number) => number) => {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch (cause) {
    throw new RangeError(`"${timeZone}" is not an IANA time zone; write one such as Asia/Dhaka.`, { cause })
  }
  return (instant) => {
    const [, sign, hours, minutes, seconds = 0] = OFFSET.exec(format.format(instant)) ?? []
    if (sign === undefined) return 0
    const length = Number(hours) * HOUR + Number(minutes) * MINUTE + Number(seconds) * SECOND
    return sign === '-' ? -length : length
  }
}

/**
 * Makes the calendar of an IANA time zone. Instants are milliseconds since 1970-01-01T00:00:00Z.
 *
 * @throws RangeError when there is no such zone.
 */
export const createCalendar = (timeZone: string) => {
  // The UTC calendar avoids `new Intl.DateTimeFormat`, which takes up to 40 ms.
  const readOffset = timeZone === 'UTC' ? () => 0 : offsetReader(timeZone)
  const offsets = new Map<number, number>()
  const instants = new Map<number, number>()

  const offsetAt = (instant: number): number => {
    const quarter = Math.floor(instant / QUARTER)
    return cached(offsets, quarter, () => readOffset(quarter * QUARTER))
  }
  const shownAt = (instant: number): number => instant + offsetAt(instant)

  const findInstant = (shown: number): number => {
    // `before` uses the UTC offset of the previous day, and `after` uses the UTC offset of the next day.
    const before = shown - offsetAt(shown - DAY)
    const after = shown - offsetAt(shown + DAY)
    if (shownAt(before) === shown) return before
    return shownAt(after) === shown ? after : before
  }

  return {
    /** Returns the calendar day in the zone at an instant. */
    dayAt: (instant: number): Day => Math.floor(shownAt(instant) / DAY),
    /** Returns the zone's time of day at an instant, as seconds since midnight: 0 to 86 399. */
    secondOfDayAt(instant: number): number {
      const shown = shownAt(instant)
      return Math.floor((shown - Math.floor(shown / DAY) * DAY) / SECOND)
    },
    /**
     * Converts a day and a time in the zone to an instant. If a clock change skips the time, uses the UTC offset from
     * before the change (02:30 becomes 03:30). If the time occurs twice, the result is the first instant.
     */
    instantOf(day: Day, secondOfDay: number): number {
      const shown = day * DAY + secondOfDay * SECOND
      return cached(instants, shown, () => findInstant(shown))
    },
    /** Formats an instant in the zone as `YYYY-MM-DD HH:MM:SS` (S3, S4, S6). */
    dateTimeText: (instant: number): string =>
      new Date(shownAt(instant)).toISOString().slice(0, 19).replace('T', ' '),
  }
}

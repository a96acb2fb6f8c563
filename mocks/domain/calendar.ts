import { DAY, HOUR, SECOND } from './duration.ts'

/** A day of the calendar as days since 1970-01-01: adding a number of days is adding a number. */
export type Day = number

/** The calendar of one time zone. Instants are milliseconds since 1970-01-01T00:00:00Z. */
export interface Calendar {
  /** The zone's day at an instant. */
  dayAt(instant: number): Day
  /** Whole seconds since the zone's midnight as its clocks show them, from 0 to 86 399. */
  secondOfDayAt(instant: number): number
  /**
   * The instant at which the zone's clocks show a time of a day. A time that a change of the clocks leaves out is read
   * with the offset before the change (02:30 becomes 03:30); of a time that comes twice the first is meant.
   */
  instantOf(day: Day, secondOfDay: number): number
  /** `YYYY-MM-DD HH:MM:SS` as the zone's clocks show an instant (S3, S4, S6). */
  dateTimeText(instant: number): string
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/

/** `YYYY-MM-DD` of a day. */
export const dateText = (day: Day): string => new Date(day * DAY).toISOString().slice(0, 10)

/** The day that a `YYYY-MM-DD` text names, or `undefined` when the calendar has no such day. */
export const parseDate = (text: string): Day | undefined => {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const day = Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])) / DAY
  // 30 February rolls over and years below 100 become 19xx: the way back tells.
  return dateText(day) === text ? day : undefined
}

const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/

/** Seconds since midnight of a time of day such as `23:30` or `12:00:00`, or `undefined`. */
export const parseTimeOfDay = (text: string): number | undefined => {
  const match = TIME_OF_DAY.exec(text)
  return match === null ? undefined : Number(match[1]) * 3600 + Number(match[2]) * 60 + Number(match[3] ?? 0)
}

/** An instant as ISO 8601 in UTC with microseconds: `2026-11-28T12:00:00.000000Z` (S4 createdDate). */
export const isoMicroseconds = (instant: number): string =>
  new Date(instant).toISOString().replace('Z', '000Z')

// Zones change their offset at whole quarters of an hour, at most: the offset is looked up once for each.
const QUARTER = HOUR / 4
const REMEMBERED_OFFSETS = 4_096
const REMEMBERED_INSTANTS = 4_096

// The client's `toInstant` reads zones in the same way. Neither may import the other, and the contract does nothing.
/** The offset of a zone's clocks from UTC at an instant, in milliseconds. */
const offsetReader = (timeZone: string): ((instant: number) => number) => {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
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
  } catch (cause) {
    throw new RangeError(`"${timeZone}" is not an IANA time zone; write one such as Asia/Dhaka.`, { cause })
  }
  return (instant) => {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]))
    const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0
    const shown = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    )
    return shown - Math.floor(instant / SECOND) * SECOND
  }
}

/**
 * Makes the calendar of an IANA time zone.
 *
 * @throws RangeError when there is no such zone.
 */
export const createCalendar = (timeZone: string): Calendar => {
  const readOffset = offsetReader(timeZone)
  const offsets = new Map<number, number>()
  const instants = new Map<number, number>()

  const offsetAt = (instant: number): number => {
    const quarter = Math.floor(instant / QUARTER)
    let offset = offsets.get(quarter)
    if (offset === undefined) {
      if (offsets.size >= REMEMBERED_OFFSETS) offsets.clear()
      offset = readOffset(quarter * QUARTER)
      offsets.set(quarter, offset)
    }
    return offset
  }

  const shownAt = (instant: number): number => instant + offsetAt(instant)

  const findInstant = (shown: number): number => {
    // No zone is further than a day from UTC: these are the offsets before and after any change close by.
    const before = shown - offsetAt(shown - DAY)
    const after = shown - offsetAt(shown + DAY)
    if (shownAt(before) === shown) return before
    return shownAt(after) === shown ? after : before
  }

  return {
    dayAt: (instant) => Math.floor(shownAt(instant) / DAY),
    secondOfDayAt: (instant) => {
      const shown = shownAt(instant)
      return Math.floor((shown - Math.floor(shown / DAY) * DAY) / SECOND)
    },
    instantOf(day, secondOfDay) {
      const shown = day * DAY + secondOfDay * SECOND
      let instant = instants.get(shown)
      if (instant === undefined) {
        if (instants.size >= REMEMBERED_INSTANTS) instants.clear()
        instant = findInstant(shown)
        instants.set(shown, instant)
      }
      return instant
    },
    dateTimeText: (instant) => new Date(shownAt(instant)).toISOString().slice(0, 19).replace('T', ' '),
  }
}

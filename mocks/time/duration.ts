import { type Input, optional } from '../../src/contract/fields.ts'
import { isCalendarDate } from '../../src/contract/formats.ts'
import { also, check, either, number, type Rule, rule, strict } from '../base/fields.ts'

/** One second, minute, hour and day in milliseconds. */
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

const parts = {
  /** Days of 24 hours. */
  days: optional(number()),
  /** Hours. */
  hours: optional(number()),
  /** Minutes. */
  minutes: optional(number()),
  /** Seconds. */
  seconds: optional(number()),
  /** Milliseconds. */
  milliseconds: optional(number()),
}
/** A duration in days, hours, minutes, seconds and milliseconds, which are added up. A day has 24 hours. */
export interface DurationParts extends Input<typeof parts> {}
/** A duration: milliseconds, or parts such as `{ days: 15 }`. */
export type Duration = number | DurationParts

const total = (duration: Duration): number => {
  if (typeof duration === 'number') return duration
  const { days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 } = duration
  return days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + milliseconds
}

/** Accepts a duration that is not negative. */
export const duration: Rule<Duration> = also(
  either(number('milliseconds'), strict(parts)),
  'a duration that is not negative',
  (value) => total(value) >= 0,
)

/** Returns whether a value is a duration for sure. The schema decides about all others, and explains its errors. */
const isSimple = (given: unknown): given is Duration => {
  if (typeof given === 'number') return given >= 0
  const amounts = Object.entries<unknown>(Object(given))
  const areKnown = amounts.every(([unit, amount]) => Object.hasOwn(parts, unit) && Number.isFinite(amount))
  return areKnown && amounts.length > 0 && total(Object(given)) >= 0
}

/** Converts a duration to milliseconds; `Infinity` is valid. Throws a TypeError for a negative or invalid duration. */
export const toMilliseconds = (given: Duration): number =>
  total(isSimple(given) ? given : check(duration, given, '', 'duration'))

/** A point in time: a Date, milliseconds since 1970, or ISO 8601 text with a time zone. */
export type PointInTime = Date | number | string

const ZONED_TEXT = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** The time of the last Date. */
const LATEST_DATE = 8_640_000_000_000_000

/** Converts a time to milliseconds since 1970. Returns NaN for an invalid time, such as 30 February. */
const instantOf = (time: unknown): number => {
  if (typeof time === 'string') {
    return isCalendarDate(ZONED_TEXT.exec(time)?.[1] ?? '') ? Date.parse(time) : Number.NaN
  }
  const isDate = Object.prototype.toString.call(time) === '[object Date]'
  return isDate || typeof time === 'number' ? new Date(Number(time)).getTime() : Number.NaN
}

/** Accepts a point in time. */
export const pointInTime = rule<PointInTime>(
  'a Date, milliseconds since 1970, or ISO 8601 text with its zone such as 2026-11-28T12:00:00Z',
  (value) => !Number.isNaN(instantOf(value)),
  {
    anyOf: [
      { type: 'string', pattern: ZONED_TEXT.source },
      { type: 'number', minimum: -LATEST_DATE, maximum: LATEST_DATE },
    ],
  },
)

/**
 * Converts a point in time to milliseconds since 1970-01-01T00:00:00Z. A date without a time means midnight in UTC.
 * Throws a TypeError for an invalid time, such as a time without a zone or 30 February.
 */
export const toInstantMilliseconds = (time: PointInTime): number =>
  instantOf(check(pointInTime, time, '', 'time'))

/** A length of time in parts that add up. A day is 24 hours. */
export interface DurationParts {
  /** Days of 24 hours. */
  readonly days?: number
  /** Hours. */
  readonly hours?: number
  /** Minutes. */
  readonly minutes?: number
  /** Seconds. */
  readonly seconds?: number
  /** Milliseconds. */
  readonly milliseconds?: number
}

/** A length of time: milliseconds, or parts such as `{ days: 15 }`. */
export type Duration = number | DurationParts

/** Milliseconds of a second, minute, hour and day. */
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

const UNITS: Readonly<Record<keyof DurationParts, number>> = {
  days: DAY,
  hours: HOUR,
  minutes: MINUTE,
  seconds: SECOND,
  milliseconds: 1,
}

const isUnit = (name: string): name is keyof DurationParts => Object.hasOwn(UNITS, name)

/**
 * Milliseconds of a length of time.
 *
 * @throws TypeError when it is neither a number nor parts, when a part is no number, or has a name that is not a unit:
 * `{ day: 1 }` would otherwise count as nothing.
 * @throws RangeError when the length is negative or NaN.
 */
export const toMilliseconds = (duration: Duration): number => {
  let total = 0
  if (typeof duration === 'number') total = duration
  else if (typeof duration !== 'object' || duration === null) {
    throw new TypeError('A length of time is a number of milliseconds, or parts such as { days: 1 }.')
  } else {
    for (const [name, value] of Object.entries(duration)) {
      if (!isUnit(name)) {
        throw new TypeError(
          `A length of time has no part "${name}"; its parts are ${Object.keys(UNITS).join(', ')}.`,
        )
      }
      if (value !== undefined && typeof value !== 'number') {
        throw new TypeError(`The part "${name}" of a length of time is a number.`)
      }
      total += (value ?? 0) * UNITS[name]
    }
  }
  if (!(total >= 0)) throw new RangeError(`A length of time is a number from 0, not ${total}.`)
  return total
}

const ZONED_TEXT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/
const DAY_LENGTH = 'YYYY-MM-DD'.length

/** NaN for text without a zone, and for a day that the calendar does not have: the platform takes 30 February. */
const instantOfText = (text: string): number => {
  if (!ZONED_TEXT.test(text)) return Number.NaN
  const day = text.slice(0, DAY_LENGTH)
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, DAY_LENGTH) !== day)
    return Number.NaN
  return Date.parse(text)
}

/** NaN for what only looks like a number, such as null. */
const instantOf = (time: Date | number): number =>
  typeof time === 'number' || Object.prototype.toString.call(time) === '[object Date]'
    ? Number(time)
    : Number.NaN

/**
 * Milliseconds since 1970-01-01T00:00:00Z of a point in time: a Date, milliseconds, or ISO 8601 text with its zone
 * (`2026-11-28T06:00:00+06:00`; a day alone is its midnight in UTC).
 *
 * @throws RangeError when it is none of these, or a day that the calendar does not have; text without a zone is refused,
 * since its meaning would depend on the machine.
 */
export const toInstantMilliseconds = (time: Date | number | string): number => {
  const text = typeof time === 'string'
  const milliseconds = text ? instantOfText(time) : instantOf(time)
  if (Number.isNaN(new Date(milliseconds).getTime())) {
    throw new RangeError(
      text
        ? `"${time}" is not a point in time; write a day of the calendar with its zone, such as 2026-11-28T12:00:00Z.`
        : 'A point in time is a valid Date, milliseconds since 1970, or ISO 8601 text with its zone.',
    )
  }
  return milliseconds
}

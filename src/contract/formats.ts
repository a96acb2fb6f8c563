/** Cycles the specification lists (S1). */
export const CYCLES = ['DAILY', 'WEEKLY', 'FIFTEEN_DAYS'] as const

/** The furthest `end` may lie away, in days (Limits, area S). */
export const MAX_SUBSCRIPTION_DAYS = 730

const MILLISECONDS_PER_DAY = 86_400_000
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DECIMAL = /^\d+(?:\.\d+)?$/
const ABSOLUTE_URL = /^([a-z][a-z\d+.-]*):\/\/[^\s\\]+$/i
// A payer's browser is sent to these addresses: schemes that run or reveal local content have no place there.
const FORBIDDEN_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about'])

/** Days since 1970-01-01 of a `YYYY-MM-DD` text, or `undefined` when the calendar has no such day. */
export const dayNumber = (text: string): number | undefined => {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const time = Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
  // Date.UTC reads years below 100 as 19xx and rolls over 30 February: the round trip tells.
  if (new Date(time).toISOString().slice(0, 10) !== text) return undefined
  return time / MILLISECONDS_PER_DAY
}

/** Whether the text is a day of the calendar in the form `YYYY-MM-DD`. */
export const isCalendarDate = (text: string): boolean => dayNumber(text) !== undefined

/** Whether the text is a decimal number above zero, such as `25`, `25.00` or `0.5`; no sign, no exponent. */
export const isAmountText = (text: string): boolean => DECIMAL.test(text) && /[1-9]/.test(text)

/** Whether the text is an absolute URL that a payer's browser may be sent to. */
export const isAbsoluteUrl = (text: string): boolean => {
  const scheme = ABSOLUTE_URL.exec(text)?.[1]?.toLowerCase()
  return scheme !== undefined && !FORBIDDEN_SCHEMES.has(scheme) && URL.canParse(text)
}

/** Whether the text can stand as one segment of a path once encoded: not empty, not `.` or `..`, well-formed. */
export const isPathSegment = (text: string): boolean =>
  text.length > 0 && text !== '.' && text !== '..' && !/[\uD800-\uDFFF]/u.test(text)

/** Whether the text can be sent as an HTTP header's value without being changed on the way. */
export const isHeaderText = (text: string): boolean => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)

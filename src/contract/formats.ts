/** The payment cycles of the specification (S1). */
export const CYCLES = ['DAILY', 'WEEKLY', 'FIFTEEN_DAYS'] as const

/** A subscription must end within this number of days (Limits, area S). */
export const MAX_SUBSCRIPTION_DAYS = 730

const MILLISECONDS_PER_DAY = 86_400_000
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DECIMAL = /^\d+(?:\.\d+)?$/
// `(?!\d)` refuses `shop.example:8080/return`, which has no scheme: the text before its colon is a host.
const ABSOLUTE_URL = /^([a-z][a-z\d+.-]*):(?!\d)[^\s\\]+$/i
// The payer's browser opens these URLs, so schemes that run code or open local files are refused.
const FORBIDDEN_SCHEMES = new Set(['javascript', 'data', 'vbscript', 'file', 'blob', 'about'])

/** Returns the number of days from 1970-01-01 to a `YYYY-MM-DD` date, or `undefined` if the date does not exist. */
export const dayNumber = (text: string): number | undefined => {
  const match = DATE.exec(text)
  if (match === null) return undefined
  const time = Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]))
  // Date.UTC turns year 50 into 1950 and 30 February into March, so the result is compared with the text.
  if (new Date(time).toISOString().slice(0, 10) !== text) return undefined
  return time / MILLISECONDS_PER_DAY
}

/** Whether the text is a calendar date in the form `YYYY-MM-DD`. */
export const isCalendarDate = (text: string): boolean => dayNumber(text) !== undefined

/** Whether the text is a decimal number above zero, such as `25`, `25.00` or `0.5`, without a sign or an exponent. */
export const isAmountText = (text: string): boolean => DECIMAL.test(text) && /[1-9]/.test(text)

/** Whether the text is an absolute URL for the payer's browser. Custom schemes such as `myapp:return` are allowed. */
export const isAbsoluteUrl = (text: string): boolean => {
  const scheme = ABSOLUTE_URL.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined || FORBIDDEN_SCHEMES.has(scheme)) return false
  return URL.canParse(text) && (!/^https?$/.test(scheme) || /^https?:\/\/[^/]/i.test(text))
}

/** Whether an HTTP header can transmit the text unchanged. */
export const isHeaderText = (text: string): boolean => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)

/** Returns a random identifier, also on pages without TLS, where browsers lack `randomUUID`. */
export const randomId = (): string =>
  crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join('-')

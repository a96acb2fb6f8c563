/** The payment cycles of the specification (S1). */
export const CYCLES = ['DAILY', 'WEEKLY', 'FIFTEEN_DAYS'] as const

/** `end` is at most this many days after `start` or today, whichever is later (Limits, area S). */
export const MAX_SUBSCRIPTION_DAYS = 730

const MILLISECONDS_PER_DAY = 86_400_000
// Date.parse would accept the years 0000 to 0099, which are typing mistakes.
const DATE = /^(?!00)\d{4}-\d{2}-\d{2}$/
const DECIMAL = /^\d+(?:\.\d+)?$/
// The payer's browser opens these URLs, so schemes that run code or open local files are refused. `(?!\d)` refuses
// `shop.example:8080/return`, which has no scheme: the text before its colon is a host.
const ABSOLUTE_URL =
  /^(?!(?:javascript|data|vbscript|file|blob|about|https?(?!:\/\/[^/])):)[a-z][a-z\d+.-]*:(?!\d)[^\s\\]+$/i

/** Returns the number of days from 1970-01-01 to a `YYYY-MM-DD` date, or `undefined` if the date does not exist. */
export const dayNumber = (text: string): number | undefined => {
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN
  // Some runtimes read 30 February as a day in March, so the result is compared with the text.
  const isReal = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
  return isReal ? time / MILLISECONDS_PER_DAY : undefined
}

export const isCalendarDate = (text: string): boolean => dayNumber(text) !== undefined

/** Returns whether text is a decimal number above zero, such as `25` or `0.50`, without a sign or an exponent. */
export const isAmountText = (text: string): boolean => DECIMAL.test(text) && /[1-9]/.test(text)

/** Returns whether text is an absolute URL for the payer's browser. Custom schemes (`myapp:return`) are allowed. */
export const isAbsoluteUrl = (text: string): boolean => ABSOLUTE_URL.test(text) && URL.canParse(text)

export const isHeaderText = (text: string): boolean => /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)

/** Returns a random identifier, even on pages without TLS, where browsers lack `randomUUID`. */
export const randomId = (): string =>
  crypto.randomUUID?.() ?? crypto.getRandomValues(new Uint32Array(4)).join('-')

import type { RateLimit } from '../errors.ts'
import type { AnswerHeaders } from './answer-headers.ts'

const SECONDS = /^\d{1,9}(?:\.\d+)?$/
// Date.parse alone would read "5" and "-5" as years: each of the three forms of an HTTP date starts with a day's name.
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /
const FIRST_BACKOFF = 500
const LONGEST_BACKOFF = 8000

/**
 * Milliseconds from now until a time that the server named. Where the machine's clock and the server's `Date` differ,
 * the shorter wait that is still ahead counts: asking early costs a refusal, waiting for a clock's error costs more.
 */
export const untilServerTime = (
  time: number,
  now: number,
  serverDate: string | undefined,
): number | undefined => {
  const server = serverDate === undefined ? Number.NaN : Date.parse(serverDate)
  const waits = [time - now, time - server].filter((wait) => wait > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** Milliseconds that a Retry-After asks for: seconds or an HTTP date; `undefined` when it says nothing usable. */
export const readRetryAfter = (headers: AnswerHeaders, now: number): number | undefined => {
  const text = headers['retry-after']?.trim() ?? ''
  if (SECONDS.test(text)) return Number(text) * 1000
  // The oldest form names no zone: it is GMT all the same.
  const date = HTTP_DATE.test(text) ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : untilServerTime(date, now, headers.date)
}

/**
 * When the server wants to be asked again, in milliseconds from now: Retry-After, or after a 429 the end of the
 * rate limit's window.
 */
export const readWaitHint = (
  status: number,
  headers: AnswerHeaders,
  rateLimit: RateLimit | undefined,
  now: number,
): number | undefined => {
  const asked = readRetryAfter(headers, now)
  if (asked !== undefined) return asked
  // Every answer of area S names the window's end. After a 503 it says nothing about when the service is back.
  if (status !== 429 || rateLimit?.resetAt === undefined) return undefined
  return untilServerTime(rateLimit.resetAt.getTime(), now, headers.date)
}

/** Exponential backoff with full jitter: up to 0.5 s, doubling to 8 s, in whole milliseconds. `random` lies in [0, 1). */
export const backoff = (repeats: number, random: number): number =>
  Math.ceil(random * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** repeats))

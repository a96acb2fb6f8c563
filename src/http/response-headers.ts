import type { RateLimit } from '../errors.ts'

export type Headers = Readonly<Record<string, string>>

export interface ResponseHead {
  readonly status: number
  readonly headers: Headers
  readonly serverRequestId: string | undefined
  readonly rateLimit: RateLimit | undefined
  /** How long an error response asks the client to wait, in milliseconds. */
  readonly waitMs: number | undefined
}

/** Reads X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset. Omits invalid values. (Limits, area S) */
const readRateLimit = (headers: Headers): RateLimit | undefined => {
  const [limit, remaining, reset = 0] = ['limit', 'remaining', 'reset'].map((name) => {
    // A proxy may send a header twice, which gives `20, 20`.
    const digits = /^\s*(\d{1,15})\s*(?:$|,)/.exec(headers[`x-ratelimit-${name}`] ?? '')?.[1]
    return digits === undefined ? undefined : Number(digits)
  })
  // From 2001 to 2286, a time in seconds has 10 digits, and a time in milliseconds has 13.
  const [seconds = 0] = [reset, reset / 1000].filter((time) => time >= 1e9 && time < 1e10)
  const resetAt = seconds > 0 ? new Date(seconds * 1000) : undefined
  return (limit ?? remaining ?? resetAt) === undefined ? undefined : { limit, remaining, resetAt }
}

// A header that a server sends twice arrives as `20, 20`.
const SECONDS = /^(?:\d{1,9}(?:\.\d+)?(?:, *|$))+$/
// Date.parse reads "5" and "-5" as dates. A real HTTP date always starts with the name of a day.
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /

/**
 * Returns the milliseconds until a time in a response header. Computes the wait twice, from the client's clock and from
 * the header `Date`, because one of the clocks may be wrong. Returns the shorter positive wait: a wait that is too
 * short costs at most one rejected retry, but a wrong clock could cause a very long wait.
 */
export const untilServerTime = (time: number, now: number, headers: Headers): number | undefined => {
  const waits = [now, Date.parse(headers.date ?? '')].map((from) => time - from).filter((wait) => wait > 0)
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** Returns how many milliseconds Retry-After asks for, or `undefined` if the header is missing or invalid. */
export const readRetryAfter = (headers: Headers, now: number): number | undefined => {
  const text = headers['retry-after']?.trim() ?? ''
  if (SECONDS.test(text)) return Math.max(...text.split(',').map(Number)) * 1000
  // The oldest form of an HTTP date does not contain "GMT", but is in GMT.
  const date = HTTP_DATE.test(text) ? Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : untilServerTime(date, now, headers)
}

/**
 * Reads a response's headers. Ignores a wait below a second, because a server may send 0 for an unknown wait. The
 * specification names no header for the server's request id, so the function tries the usual headers.
 */
export const readHead = (status: number, headers: Headers, now: number): ResponseHead => {
  const rateLimit = readRateLimit(headers)
  // The reset time matters only for a 429. The cause of a 503 is not the rate limit, and may last beyond the reset.
  const reset = status === 429 ? rateLimit?.resetAt?.getTime() : undefined
  const wait =
    status < 400
      ? undefined
      : (readRetryAfter(headers, now) ?? (reset && untilServerTime(reset, now, headers)))
  return {
    status,
    headers,
    serverRequestId: headers['x-request-id'] || headers['request-id'] || headers['x-correlation-id'],
    rateLimit,
    waitMs: wait !== undefined && wait >= 1000 ? wait : undefined,
  }
}

import { type Clock, steadyClock, waitAtMost } from '../clock.ts'
import type { RateLimit } from '../errors.ts'

/** A response whose headers may tell the rate limit. */
export type WithRateLimit = {
  /** The limit that the response's headers name. (Limits, area S) */
  readonly rateLimit?: RateLimit | undefined
}
/** A call of a client. Without `withResponse`, only the number of lookups at once is limited. */
export type LookupCall<Data> = PromiseLike<Data> & {
  /** Returns the data with the response. */
  withResponse?(): PromiseLike<{ readonly data: Data; readonly response: WithRateLimit }>
}

const MAX_LOOKUPS = 4
/** How long a lookup waits for a place, in milliseconds. */
const LONGEST_WAIT = 2_000
/** How long a lookup keeps its place, in milliseconds. It may never settle if the worker that made it has ended. */
const LONGEST_LOOKUP = 30_000
/** The rate limit is per minute. (Limits, area S) */
const WINDOW = 60_000

/** Creates an error after which the handler responds 503, so that the sender delivers again. */
export const postponed = (message: string, retryAfterMs: number): Error =>
  Object.assign(new Error(message), { retryAfterMs })

/**
 * Returns a function that makes a lookup, or rejects without a request: at most four lookups run at once, and lookups
 * use at most half of a window's limit and not its last quarter, which other processes may have left.
 */
export const createLookupLimit = (clock: Clock) => {
  const active = new Map<Promise<unknown>, number>()
  let limit = Number.POSITIVE_INFINITY
  let window = { endsAt: 0, lookups: 0, remaining: limit }

  const isFull = (): boolean => {
    for (const [lookup, endsAt] of active) if (endsAt <= steadyClock.now()) active.delete(lookup)
    return active.size >= MAX_LOOKUPS
  }

  const update = ({ limit: told, remaining = told, resetAt }: RateLimit = {}): void => {
    if (told === undefined || remaining === undefined) return
    limit = told
    window.remaining = Math.min(remaining, window.remaining)
    if (Number(resetAt) > clock.now()) window.endsAt = Math.min(Number(resetAt), window.endsAt)
  }

  const read = async <Data>(call: () => LookupCall<Data>): Promise<Data> => {
    try {
      const started = call()
      if (started.withResponse === undefined) return await started
      const { data, response } = await started.withResponse()
      update(response.rateLimit)
      return data
    } catch (error) {
      update((Object(error) as WithRateLimit).rateLimit)
      throw error
    }
  }

  return async <Data>(call: () => LookupCall<Data>): Promise<Data> => {
    const giveUpAt = steadyClock.now() + LONGEST_WAIT
    while (isFull()) {
      const left = giveUpAt - steadyClock.now()
      if (left <= 0) throw postponed(`${MAX_LOOKUPS} lookups are in progress`, LONGEST_WAIT)
      await waitAtMost(Promise.race(active.keys()), left).catch(() => undefined)
    }
    const now = clock.now()
    if (now >= window.endsAt || now < window.endsAt - WINDOW)
      window = { endsAt: now + WINDOW, lookups: 0, remaining: Number.POSITIVE_INFINITY }
    if (window.lookups >= Math.max(1, Math.floor(limit / 2)) || window.remaining - active.size < limit / 4)
      throw postponed('More lookups would use up the rate limit', window.endsAt - now)
    window.lookups += 1
    const lookup: Promise<Data> = read(call).finally(() => active.delete(lookup))
    active.set(lookup, steadyClock.now() + LONGEST_LOOKUP)
    return lookup
  }
}

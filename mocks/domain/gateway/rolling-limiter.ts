import type { Limiter } from '../api.ts'

const COMPACT_FROM = 1024

/**
 * A limiter over a rolling window (Limits, area G): at most `limit` accepted calls in any `windowMs` milliseconds.
 * One limit for all routes and callers: the bucket named in `take` makes no difference. Refused calls do not count.
 * It remembers at most the `limit` accepted calls of the last window, however many are made.
 */
export const createRollingLimiter = (options: {
  readonly limit: number
  readonly windowMs: number
  readonly now: () => number
}): Limiter => {
  const { limit, windowMs, now } = options
  /** Times of accepted calls, oldest first; what lies before `head` has left the window. */
  let times: number[] = []
  let head = 0

  const forget = (time: number): void => {
    // After the clock was moved back, calls of the future must not hold up the present.
    for (let last = times.at(-1); last !== undefined && last > time; last = times.at(-1)) times.pop()
    for (let first = times[head]; first !== undefined && first <= time - windowMs; first = times[head]) head++
    if (head > times.length) head = times.length
    if (head >= COMPACT_FROM && head * 2 >= times.length) {
      times = times.slice(head)
      head = 0
    }
  }

  return {
    take() {
      const time = now()
      forget(time)
      const allowed = times.length - head < limit
      if (allowed) times.push(time)
      return {
        allowed,
        limit,
        remaining: Math.max(0, limit - (times.length - head)),
        resetAt: (times[head] ?? time) + windowMs,
      }
    },
    reset() {
      times = []
      head = 0
    },
    snapshot: (): readonly number[] => times.slice(head),
    restore(snapshot) {
      times = [...(snapshot as readonly number[])]
      head = 0
    },
  }
}

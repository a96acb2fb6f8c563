/** A rate limit. */
export interface Limiter {
  /**
   * Decides whether a call is allowed, and adds an allowed call to the count unless the parameter `counts` is false.
   * Returns the decision and the values of the rate-limit headers.
   */
  take(
    bucket: string,
    counts?: boolean,
  ): {
    readonly allowed: boolean
    readonly limit: number
    readonly remaining: number
    /** The time when the fixed window ends, or when the oldest call leaves the rolling window. */
    readonly resetAt: number
  }
  reset(): void
  /** Returns the state as plain data. Copy the data, because the limiter may later change objects in the data. */
  snapshot(): unknown
  restore(snapshot: unknown): void
}

interface LimiterParts {
  readonly limit: number
  readonly windowMs: number
  readonly now: () => number
  /** Returns whether the limiter is off. A limiter that is off accepts every call and counts no calls. */
  readonly isOff?: () => boolean
}

/** The decision of a limiter that is off: the call is allowed and not counted. */
const uncounted = ({ limit, windowMs, now }: LimiterParts) => ({
  allowed: true,
  limit,
  remaining: limit,
  resetAt: now() + windowMs,
})

interface Window {
  readonly startedAt: number
  count: number
}

// When the limiter has this many buckets, it removes all buckets whose window has ended.
const MANY_BUCKETS = 1_000

/**
 * Creates a limiter with fixed windows (Limits, area S). The first call of a bucket starts a window of `windowMs`
 * milliseconds, in which at most `limit` calls are accepted. Refused calls do not count.
 */
export const createFixedWindowLimiter = (parts: LimiterParts): Limiter => {
  const { limit, windowMs, now, isOff } = parts
  const windows = new Map<string, Window>()
  let sweepFrom = MANY_BUCKETS

  // If the clock was set back to a time before the window, the next call opens a new window.
  const isOver = ({ startedAt }: Window, time: number): boolean =>
    time >= startedAt + windowMs || time < startedAt

  const sweep = (time: number): void => {
    for (const [bucket, window] of windows) if (isOver(window, time)) windows.delete(bucket)
    sweepFrom = Math.max(MANY_BUCKETS, windows.size * 2)
  }

  return {
    take(bucket, counts = true) {
      if (isOff?.() === true) return uncounted(parts)
      const time = now()
      let window = windows.get(bucket)
      if (window === undefined || isOver(window, time)) {
        if (windows.size >= sweepFrom) sweep(time)
        window = { startedAt: time, count: 0 }
        windows.set(bucket, window)
      }
      const allowed = window.count < limit
      if (allowed && counts) window.count += 1
      return { allowed, limit, remaining: limit - window.count, resetAt: window.startedAt + windowMs }
    },
    reset() {
      windows.clear()
      sweepFrom = MANY_BUCKETS
    },
    snapshot: (): readonly (readonly [string, Window])[] => [...windows],
    restore(snapshot) {
      windows.clear()
      const taken = snapshot as readonly (readonly [string, Window])[]
      for (const [bucket, window] of taken) windows.set(bucket, window)
    },
  }
}

const COMPACT_FROM = 1024

/**
 * Creates a limiter with a rolling window (Limits, area G). It accepts at most `limit` calls in any period of
 * `windowMs` milliseconds, for all routes and callers together. Refused calls do not count.
 */
export const createRollingLimiter = (parts: LimiterParts): Limiter => {
  const { limit, windowMs, now, isOff } = parts
  /** Times of accepted calls, oldest first. The times before index `head` are no longer in the window. */
  let times: number[] = []
  let head = 0

  const forget = (time: number): void => {
    // After the clock is set back, the times of earlier calls can be in the future. These calls must not count.
    for (let last = times.at(-1); last !== undefined && last > time; last = times.at(-1)) times.pop()
    for (let first = times[head]; first !== undefined && first <= time - windowMs; first = times[head]) head++
    if (head > times.length) head = times.length
    if (head >= COMPACT_FROM && head * 2 >= times.length) {
      times = times.slice(head)
      head = 0
    }
  }

  return {
    take(_bucket, counts = true) {
      if (isOff?.() === true) return uncounted(parts)
      const time = now()
      forget(time)
      const allowed = times.length - head < limit
      if (allowed && counts) times.push(time)
      const remaining = Math.max(0, limit - (times.length - head))
      return { allowed, limit, remaining, resetAt: (times[head] ?? time) + windowMs }
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

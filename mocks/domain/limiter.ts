/** A rate limit. */
export interface Limiter {
  /** Counts a call of a bucket, if it is allowed, and returns what the headers of its response say. */
  take(bucket: string): {
    readonly allowed: boolean
    readonly limit: number
    readonly remaining: number
    /** When the window ends, or the next call is allowed. */
    readonly resetAt: number
  }
  reset(): void
  /** Plain data that `restore` takes back (structured-clone safe). */
  snapshot(): unknown
  restore(snapshot: unknown): void
}

interface LimiterParts {
  readonly limit: number
  readonly windowMs: number
  readonly now: () => number
}

interface Window {
  readonly startedAt: number
  count: number
}

// From this many buckets on, those whose window has ended are dropped.
const MANY_BUCKETS = 1_000

/**
 * Makes a limiter with fixed windows (Limits, area S): at most `limit` accepted calls of a bucket in the `windowMs`
 * after its first call. A new window begins with the next call after that. Refused calls do not count.
 */
export const createFixedWindowLimiter = ({ limit, windowMs, now }: LimiterParts): Limiter => {
  const windows = new Map<string, Window>()
  let sweepFrom = MANY_BUCKETS

  // A clock that was set back also opens a new window.
  const isOver = ({ startedAt }: Window, time: number): boolean =>
    time >= startedAt + windowMs || time < startedAt

  const sweep = (time: number): void => {
    for (const [bucket, window] of windows) if (isOver(window, time)) windows.delete(bucket)
    sweepFrom = Math.max(MANY_BUCKETS, windows.size * 2)
  }

  return {
    take(bucket) {
      const time = now()
      let window = windows.get(bucket)
      if (window === undefined || isOver(window, time)) {
        if (windows.size >= sweepFrom) sweep(time)
        window = { startedAt: time, count: 0 }
        windows.set(bucket, window)
      }
      const allowed = window.count < limit
      if (allowed) window.count += 1
      return { allowed, limit, remaining: limit - window.count, resetAt: window.startedAt + windowMs }
    },
    reset() {
      windows.clear()
      sweepFrom = MANY_BUCKETS
    },
    snapshot: (): readonly (readonly [string, Window])[] => structuredClone([...windows]),
    restore(snapshot) {
      windows.clear()
      const taken = structuredClone(snapshot as readonly (readonly [string, Window])[])
      for (const [bucket, window] of taken) windows.set(bucket, window)
    },
  }
}

const COMPACT_FROM = 1024

/**
 * Makes a limiter with a rolling window (Limits, area G): at most `limit` accepted calls in any `windowMs` milliseconds,
 * for all routes and callers together. Refused calls do not count. It keeps at most `limit` times.
 */
export const createRollingLimiter = ({ limit, windowMs, now }: LimiterParts): Limiter => {
  /** Times of accepted calls, oldest first; those before `head` have left the window. */
  let times: number[] = []
  let head = 0

  const forget = (time: number): void => {
    // After the clock was set back, later calls must not count.
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

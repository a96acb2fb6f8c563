/** A request limiter: asks whether a call may pass now, and tells what the headers say. */
export interface Limiter {
  take(bucket: string): {
    readonly allowed: boolean
    readonly limit: number
    readonly remaining: number
    /** When the window ends, or the next call may pass. */
    readonly resetAt: number
  }
  reset(): void
  /** Plain data that `restore` takes back (structured-clone safe). */
  snapshot(): unknown
  restore(snapshot: unknown): void
}

interface Window {
  readonly startedAt: number
  count: number
}

// From here on buckets whose window has passed are looked for and dropped.
const MANY_BUCKETS = 1_000

/**
 * A limiter with fixed windows (Limits, area S): at most `limit` accepted calls of a bucket from its first call until
 * `windowMs` later; then a new window begins with its next call. Refused calls do not count.
 */
export const createFixedWindowLimiter = (options: {
  readonly limit: number
  readonly windowMs: number
  readonly now: () => number
}): Limiter => {
  const { limit, windowMs, now } = options
  const windows = new Map<string, Window>()
  let sweepFrom = MANY_BUCKETS

  // A clock that was moved back opens a new window, too.
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

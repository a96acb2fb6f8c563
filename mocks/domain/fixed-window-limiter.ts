import type { Limiter } from './api.ts'

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

/** The decision about a call, and the values of the rate-limit headers. */
export interface Admission {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** The time when the fixed window ends, or when the oldest call leaves the rolling window. */
  readonly resetAt: number
}

/** A rate limit: decides whether a call is allowed. A call that is allowed counts, unless `counts` is false. */
export type Limiter = (bucket: string, counts?: boolean) => Admission

/** The counted calls of both areas, as plain data. */
export interface LimitsState {
  /** The window of each bucket, the oldest first (Limits, area S). */
  readonly subscriptions: Map<string, { readonly startedAt: number; count: number }>
  /** The times of the accepted calls of the rolling window, oldest first (Limits, area G); none without a limit. */
  readonly gateway: number[] | undefined
}

/** Returns limits that have counted no call. */
export const newLimits = (hasGatewayLimit = true): LimitsState => ({
  subscriptions: new Map(),
  gateway: hasGatewayLimit ? [] : undefined,
})

interface LimiterOptions {
  readonly limit: number
  readonly windowMs: number
  readonly now: () => number
  /** Returns whether the limiter is off. A limiter that is off accepts every call and counts no calls. */
  readonly isOff: () => boolean
}

/** The decision of a limiter that is off: the call is allowed and not counted. */
const uncounted = ({ limit, windowMs, now }: LimiterOptions): Admission => ({
  allowed: true,
  limit,
  remaining: limit,
  resetAt: now() + windowMs,
})

/**
 * Creates a limiter with fixed windows (Limits, area S). The first call of a bucket starts a window of `windowMs`
 * milliseconds, in which at most `limit` calls are accepted. Refused calls do not count.
 */
export const createFixedWindowLimiter = (
  windows: () => LimitsState['subscriptions'],
  options: LimiterOptions,
): Limiter => {
  const { limit, windowMs, now, isOff } = options
  // If the clock was set back to a time before the window, the next call opens a new window.
  const isOver = ({ startedAt }: { readonly startedAt: number }, time: number): boolean =>
    time >= startedAt + windowMs || time < startedAt

  const open = (bucket: string, startedAt: number) => {
    const all = windows()
    for (const [other, window] of all) {
      if (other !== bucket && !isOver(window, startedAt)) break
      all.delete(other)
    }
    const window = { startedAt, count: 0 }
    all.set(bucket, window)
    return window
  }

  return (bucket, counts = true) => {
    if (isOff()) return uncounted(options)
    const time = now()
    const current = windows().get(bucket)
    const window = current === undefined || isOver(current, time) ? open(bucket, time) : current
    const allowed = window.count < limit
    if (allowed && counts) window.count += 1
    return { allowed, limit, remaining: limit - window.count, resetAt: window.startedAt + windowMs }
  }
}

/**
 * Creates a limiter with a rolling window (Limits, area G). It accepts at most `limit` calls in any period of
 * `windowMs` milliseconds, for all routes and callers together. Refused calls do not count.
 */
export const createRollingLimiter = (calls: () => number[], options: LimiterOptions): Limiter => {
  const { limit, windowMs, now, isOff } = options
  return (_bucket, counts = true) => {
    if (isOff()) return uncounted(options)
    const time = now()
    const times = calls()
    // After the clock is set back, the times of earlier calls can be in the future. These calls must not count.
    while ((times.at(-1) ?? time) > time) times.pop()
    while ((times[0] ?? time) <= time - windowMs) times.shift()
    const allowed = times.length < limit
    if (allowed && counts) times.push(time)
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - times.length),
      resetAt: (times[0] ?? time) + windowMs,
    }
  }
}

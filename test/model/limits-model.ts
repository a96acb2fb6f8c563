/**
 * At most `limit` accepted calls in any 60 seconds (Limits, area G); refused calls do not count. Calls of a time to come,
 * when the clock went back, do not either.
 */
export class RollingLimit {
  #accepted: number[] = []
  readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  copy(): RollingLimit {
    const copy = new RollingLimit(this.limit)
    copy.#accepted = [...this.#accepted]
    return copy
  }

  /** Whether a call passes at `now`. */
  take(now: number): boolean {
    this.#accepted = this.#accepted.filter((at) => at > now - 60_000 && at <= now)
    if (this.#accepted.length >= this.limit) return false
    this.#accepted.push(now)
    return true
  }

  /** Seconds until a call passes again, at least one. */
  retryAfter(now: number): number {
    return Math.max(1, Math.ceil(((this.#accepted[0] ?? now) + 60_000 - now) / 1_000))
  }
}

/** At most `limit` accepted calls of a bucket in a minute that begins with its first call (Limits, area S). */
export class FixedLimit {
  readonly #windows = new Map<string, { from: number; count: number }>()
  readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  copy(): FixedLimit {
    const copy = new FixedLimit(this.limit)
    for (const [bucket, window] of this.#windows) copy.#windows.set(bucket, { ...window })
    return copy
  }

  /** Whether a call passes at `now`, and what the three headers then say. */
  take(bucket: string, now: number): { readonly passes: boolean; readonly headers: readonly string[] } {
    const known = this.#windows.get(bucket)
    const window =
      known !== undefined && now >= known.from && now < known.from + 60_000 ? known : { from: now, count: 0 }
    this.#windows.set(bucket, window)
    const passes = window.count < this.limit
    if (passes) window.count += 1
    const reset = Math.ceil((window.from + 60_000) / 1_000)
    return { passes, headers: [this.limit, this.limit - window.count, reset].map(String) }
  }
}

/** Five failures of a username within a minute lock it for fifteen minutes; a success clears them. */
export class LoginLock {
  #failures: number[] = []
  #lockedUntil = Number.NEGATIVE_INFINITY

  copy(): LoginLock {
    const copy = new LoginLock()
    copy.#failures = [...this.#failures]
    copy.#lockedUntil = this.#lockedUntil
    return copy
  }

  isLocked(now: number): boolean {
    return now < this.#lockedUntil
  }

  fail(now: number): void {
    this.#failures = [...this.#failures.filter((at) => at > now - 60_000), now]
    if (this.#failures.length < 5) return
    this.#failures = []
    this.#lockedUntil = now + 900_000
  }

  succeed(): void {
    this.#failures = []
  }
}

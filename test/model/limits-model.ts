/** At most `limit` accepted calls in any 60 seconds (Limits, area G); refused calls do not count. */
export class RollingLimit {
  #accepted: number[] = []
  readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** Whether a call passes at `now`. */
  take(now: number): boolean {
    const recent = this.#accepted.filter((at) => at > now - 60_000)
    if (recent.length >= this.limit) return false
    this.#accepted = [...recent, now]
    return true
  }

  /** Seconds until a call passes again, at least one. */
  retryAfter(now: number): number {
    const recent = this.#accepted.filter((at) => at > now - 60_000)
    return Math.max(1, Math.ceil(((recent[0] ?? now) + 60_000 - now) / 1_000))
  }
}

/** At most `limit` accepted calls of a bucket in a minute that begins with its first call (Limits, area S). */
export class FixedLimit {
  readonly #windows = new Map<string, { from: number; count: number }>()
  readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  /** Whether a call passes at `now`, and what the three headers then say. */
  take(bucket: string, now: number): { readonly passes: boolean; readonly headers: readonly string[] } {
    const known = this.#windows.get(bucket)
    const window = known !== undefined && now < known.from + 60_000 ? known : { from: now, count: 0 }
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

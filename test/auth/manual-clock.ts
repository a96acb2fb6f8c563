import type { Clock } from '../../src/clock.ts'

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number
  #sleepers: { readonly until: number; readonly wake: () => void }[] = []

  constructor(now = Date.UTC(2026, 10, 28)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  /** How many wait. */
  get sleeping(): number {
    return this.#sleepers.length
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (milliseconds <= 0) return Promise.resolve()
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      this.#sleepers.push({ until: this.#now + milliseconds, wake: resolve })
    })
  }

  /** Moves the clock; a negative step sets it back. */
  advance(milliseconds: number): void {
    this.#now += milliseconds
    const due = this.#sleepers.filter(({ until }) => until <= this.#now)
    this.#sleepers = this.#sleepers.filter(({ until }) => until > this.#now)
    for (const { wake } of due) wake()
  }
}

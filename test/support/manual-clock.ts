import type { Clock } from '../../src/index.ts'

interface Sleeper {
  readonly wakesAt: number
  readonly wake: () => void
}

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #now: number
  #sleepers: Sleeper[] = []
  /** Sleeps of at most this many milliseconds end at once, and the clock stands still. */
  skips = 0

  constructor(now = Date.parse('2026-11-28T00:00:00Z')) {
    this.#now = now
  }

  now = (): number => this.#now

  sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = () => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      const sleeper: Sleeper = { wakesAt: this.#now + milliseconds, wake }
      if (signal?.aborted) return stop()
      if (milliseconds <= this.skips) return wake()
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', stop, { once: true })
    })

  /** The number of sleepers: a timer that was left behind shows here. */
  get sleeping(): number {
    return this.#sleepers.length
  }

  /** Changes the time at once, and wakes everyone who is due; a negative step sets the clock back. */
  jump(milliseconds: number): void {
    this.#now += milliseconds
    const due = this.#sleepers.filter(({ wakesAt }) => wakesAt <= this.#now)
    this.#sleepers = this.#sleepers.filter(({ wakesAt }) => wakesAt > this.#now)
    for (const { wake } of due) wake()
  }

  /** Lets the time pass: wakes the sleepers in order, and lets each do its work before the next one wakes. */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    for (;;) {
      await settled()
      const next = this.#sleepers
        .filter(({ wakesAt }) => wakesAt <= end)
        .sort((a, b) => a.wakesAt - b.wakesAt)[0]
      if (next === undefined) break
      this.#sleepers = this.#sleepers.filter((one) => one !== next)
      this.#now = Math.max(this.#now, next.wakesAt)
      next.wake()
    }
    this.#now = end
  }
}

/** Runs everything that needs no time to its end. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

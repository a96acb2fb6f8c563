import type { Clock } from '../../src/clock.ts'

interface Sleeper {
  readonly wakesAt: number
  readonly wake: () => void
}

/** A clock that moves only when it is told to; sleepers wake in time order. */
export class ManualClock implements Clock {
  #now: number
  #sleepers: Sleeper[] = []

  constructor(now = Date.parse('2026-11-28T00:00:00Z')) {
    this.#now = now
  }

  now = (): number => this.#now

  sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const stop = () => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper)
        reject(signal?.reason)
      }
      const sleeper: Sleeper = {
        wakesAt: this.#now + milliseconds,
        wake: () => {
          signal?.removeEventListener('abort', stop)
          resolve()
        },
      }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', stop, { once: true })
    })

  /** How many sleep now: a timer left behind shows here. */
  get sleeping(): number {
    return this.#sleepers.length
  }

  /** Moves the time forward, waking on the way who is due, and lets each do what it does next. */
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

/** Lets everything that needs no time run to its end. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

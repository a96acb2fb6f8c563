import { steadyClock, systemClock, waitAtMost } from '../clock.ts'

/** The reason why a call or an attempt ended before its response was complete. */
export type Interruption =
  | { readonly kind: 'aborted' }
  | { readonly kind: 'timeout'; readonly limit: 'attempt' | 'total' | 'fetch'; readonly milliseconds: number }

/** An internal error, which the client replaces with an `AbortedError` or a `TimeoutError`. */
export class Interrupted extends Error {
  readonly by: Interruption

  constructor(by: Interruption) {
    super(by.kind)
    this.by = by
  }
}

/** If the system clock advances this many ms more than timers, the machine slept. A smaller gap may be a correction. */
const CLOCK_CORRECTION = 60_000

/** Ends a call when the caller's signal is aborted or the call's total time limit passes. */
export class Deadline {
  readonly #startedAt = steadyClock.now()
  readonly #startDate = systemClock.now()
  readonly #milliseconds: number
  readonly #signal: AbortSignal | undefined

  constructor(milliseconds: number, signal: AbortSignal | undefined) {
    this.#milliseconds = milliseconds
    this.#signal = signal
  }

  get remaining(): number {
    const elapsed = steadyClock.now() - this.#startedAt
    // Timers stop while the machine sleeps, but the system time advances.
    const asleep = systemClock.now() - this.#startDate - CLOCK_CORRECTION
    return this.#milliseconds - Math.max(elapsed, asleep)
  }

  check(): void {
    if (this.#signal?.aborted) throw new Interrupted({ kind: 'aborted' })
    const milliseconds = this.#milliseconds
    if (this.remaining <= 0) throw new Interrupted({ kind: 'timeout', limit: 'total', milliseconds })
  }

  /**
   * Runs `work` until it ends, the caller aborts, or a time limit passes. After an abort or a timeout, `race` aborts
   * the signal that it passed to `work`, and rejects with `Interrupted` even if `work` ignores the signal.
   */
  async race<Value>(work: (signal: AbortSignal) => Promise<Value>, limit = Infinity): Promise<Value> {
    this.check()
    const { remaining } = this
    const controller = new AbortController()
    const isAttempt = limit < remaining
    const milliseconds = isAttempt ? limit : this.#milliseconds
    const late = () =>
      new Interrupted({ kind: 'timeout', limit: isAttempt ? 'attempt' : 'total', milliseconds })
    const time = Math.ceil(Math.min(limit, remaining))
    try {
      return await waitAtMost(work(controller.signal), time, this.#signal, late)
    } catch (error) {
      const isAborted = this.#signal?.aborted && error === this.#signal.reason
      const end = isAborted ? new Interrupted({ kind: 'aborted' }) : error
      if (end instanceof Interrupted) controller.abort(end)
      throw end
    }
  }
}

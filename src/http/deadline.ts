import { startTimer, steadyClock, systemClock } from '../clock.ts'

/** The reason why a call or an attempt ended before its response was complete. */
export type Interruption =
  | { readonly kind: 'aborted' }
  | { readonly kind: 'timeout'; readonly limit: 'attempt' | 'total'; readonly milliseconds: number }

/** Rejects the work that an interruption ended. It never leaves the package: the call turns it into its own error. */
export class Interrupted extends Error {
  readonly by: Interruption

  constructor(by: Interruption) {
    super(by.kind)
    this.by = by
  }
}

/** How much more the system's date may move than its timers before it counts as a sleep of the machine, in milliseconds. */
const CLOCK_CORRECTION = 60_000

/** The time that one logical call may take, with all its attempts and waits, and the caller's signal. */
export class Deadline {
  readonly #startedAt = steadyClock.now()
  readonly #startDate = systemClock.now()
  readonly #milliseconds: number
  readonly #signal: AbortSignal | undefined

  constructor(milliseconds: number, signal: AbortSignal | undefined) {
    this.#milliseconds = milliseconds
    this.#signal = signal
  }

  /** Milliseconds that the call may still take. */
  get remaining(): number {
    const elapsed = steadyClock.now() - this.#startedAt
    // Timers stand still while the machine sleeps. The date does not.
    const asleep = systemClock.now() - this.#startDate - CLOCK_CORRECTION
    return this.#milliseconds - Math.max(elapsed, asleep)
  }

  /** Throws `Interrupted` when the call has to end. */
  check(): void {
    if (this.#signal?.aborted) throw new Interrupted({ kind: 'aborted' })
    const milliseconds = this.#milliseconds
    if (this.remaining <= 0) throw new Interrupted({ kind: 'timeout', limit: 'total', milliseconds })
  }

  /**
   * Runs work that ends with the call, or after `limit` milliseconds. Then the signal of the work is aborted, and the
   * promise rejects with `Interrupted` even if the work ignores its signal. No timer and no listener is left.
   */
  race<Value>(work: (signal: AbortSignal) => Promise<Value>, limit = Infinity): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.check()
      const controller = new AbortController()
      const { remaining } = this
      const end = (by: Interruption) => {
        release()
        const reason = new Interrupted(by)
        reject(reason)
        controller.abort(reason)
      }
      const abort = () => end({ kind: 'aborted' })
      const isAttempt = limit < remaining
      const milliseconds = isAttempt ? limit : this.#milliseconds
      const stop = startTimer(Math.ceil(isAttempt ? limit : remaining), () =>
        end({ kind: 'timeout', limit: isAttempt ? 'attempt' : 'total', milliseconds }),
      )
      const release = () => {
        stop()
        this.#signal?.removeEventListener('abort', abort)
      }
      this.#signal?.addEventListener('abort', abort, { once: true })
      work(controller.signal).finally(release).then(resolve, reject)
    })
  }
}

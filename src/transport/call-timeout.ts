import type { Clock } from '../clock.ts'
import { LONGEST_DELAY } from '../clock.ts'

/** How much further the machine's date may move than its timers without being taken for a sleep, in milliseconds. */
const CORRECTION = 60_000

/** What ended a call, or one attempt of it, before its answer was there. */
export type Interruption =
  | { readonly kind: 'aborted' }
  | { readonly kind: 'timeout'; readonly limit: 'attempt' | 'total'; readonly milliseconds: number }

/** Runs `act` after `milliseconds` of real time, unless the function given back is called first. */
const startTimeout = (milliseconds: number, act: () => void): (() => void) => {
  const timer = setTimeout(act, Math.min(milliseconds, LONGEST_DELAY))
  return () => clearTimeout(timer)
}

/** Milliseconds of real time that never step back; only differences mean something. */
export const monotonicTime = (): number => performance.now()

/**
 * The time one logical call may take, its attempts and waits together, and the caller's wish to end it.
 * Runs on real time. `end()` must follow: it leaves no timer, and no listener on the caller's signal.
 */
export class CallTimeout {
  readonly #startedAt = monotonicTime()
  readonly #startDate = Date.now()
  readonly #milliseconds: number
  readonly #callerSignal: AbortSignal | undefined
  #stopTimer: (() => void) | undefined
  readonly #listeners = new Set<(by: Interruption) => void>()
  #controller: AbortController | undefined
  #interruption: Interruption | undefined

  constructor(milliseconds: number, callerSignal: AbortSignal | undefined) {
    this.#milliseconds = milliseconds
    this.#callerSignal = callerSignal
    if (callerSignal?.aborted) this.#interrupt({ kind: 'aborted' })
    else callerSignal?.addEventListener('abort', this.#abort, { once: true })
  }

  /** Aborted once the call has to end. Made when it is first asked for: most calls never need it. */
  get signal(): AbortSignal {
    this.#startTimer()
    this.#controller ??= new AbortController()
    if (this.#interruption !== undefined) this.#controller.abort()
    return this.#controller.signal
  }

  /** Why the call has to end, or `undefined` while it may go on. */
  get interruption(): Interruption | undefined {
    if (this.#interruption === undefined && this.#hasOverslept) this.#interrupt(this.#end)
    return this.#interruption
  }

  /** Timers do not count the time in which the machine sleeps; its date tells. */
  get #hasOverslept(): boolean {
    return Date.now() - this.#startDate > this.#milliseconds + CORRECTION
  }

  get #end(): Interruption {
    return { kind: 'timeout', limit: 'total', milliseconds: this.#milliseconds }
  }

  /** Milliseconds the call may still take. */
  get remaining(): number {
    return this.#milliseconds - (monotonicTime() - this.#startedAt)
  }

  /**
   * Calls `act` when an attempt that begins now has to end, by its own limit or with the call, unless the function
   * given back is called first.
   */
  limitAttempt(milliseconds: number, act: (by: Interruption) => void): () => void {
    const forget = this.#onInterruption(act)
    // An attempt that ends before the call has to needs no second timer.
    if (milliseconds >= this.remaining) {
      this.#startTimer()
      return forget
    }
    const stop = startTimeout(milliseconds, () => act({ kind: 'timeout', limit: 'attempt', milliseconds }))
    return () => {
      stop()
      forget()
    }
  }

  #onInterruption(listener: (by: Interruption) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Started by the first who waits for anything but an attempt: most calls never need it. */
  #startTimer(): void {
    this.#stopTimer ??= startTimeout(Math.ceil(this.remaining), () => this.#interrupt(this.#end))
  }

  /** Releases the timer and the caller's signal. */
  end(): void {
    this.#stopTimer?.()
    this.#stopTimer = () => undefined
    this.#callerSignal?.removeEventListener('abort', this.#abort)
  }

  readonly #abort = (): void => this.#interrupt({ kind: 'aborted' })

  #interrupt(interruption: Interruption): void {
    if (this.#interruption !== undefined) return
    this.#interruption = interruption
    this.#controller?.abort()
    for (const listener of this.#listeners) listener(interruption)
  }

  /** Waits on the given clock. Ends early, without an error, when the call has to end: look at `interruption`. */
  async wait(milliseconds: number, clock: Clock): Promise<void> {
    await this.race(clock.sleep(milliseconds, this.signal))
  }

  /**
   * Waits for a promise, and no longer than the call may take: then the answer is `undefined`, and `interruption`
   * says why. Whoever ignores the signal cannot hold the call.
   */
  async race<Value>(work: Promise<Value>): Promise<Value | undefined> {
    this.#startTimer()
    let forget: (() => unknown) | undefined
    const interrupted = new Promise<undefined>((resolve) => {
      if (this.#interruption === undefined) forget = this.#onInterruption(() => resolve(undefined))
      else resolve(undefined)
    })
    try {
      return await Promise.race([interrupted, work])
    } catch (error) {
      if (this.interruption !== undefined) return undefined
      throw error
    } finally {
      forget?.()
    }
  }
}

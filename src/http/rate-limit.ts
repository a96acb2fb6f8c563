import type { Clock } from '../clock.ts'
import { startTimer, steadyClock } from '../clock.ts'
import type { RateLimit } from '../errors.ts'
import { untilServerTime } from './retry.ts'

// A proxy may send a header twice, which gives `20, 20`.
const WHOLE_NUMBER = /^\d{1,15}(?=$|,)/
// From 2001 to 2286, a time in seconds has 10 digits, and a time in milliseconds has 13.
const RESET_TIME = /^(\d{10})(\d{3})?(?=$|,)/

type Headers = Readonly<Record<string, string>>

const wholeNumber = (text = ''): number | undefined => {
  const [digits] = WHOLE_NUMBER.exec(text.trim()) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const resetTime = (text = ''): Date | undefined => {
  const [, seconds, milliseconds = '000'] = RESET_TIME.exec(text.trim()) ?? []
  return seconds === undefined ? undefined : new Date(Number(seconds + milliseconds))
}

/** Reads X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset. Omits invalid values. (Limits, area S) */
export const readRateLimit = (headers: Headers): RateLimit | undefined => {
  const limit = wholeNumber(headers['x-ratelimit-limit'])
  const remaining = wholeNumber(headers['x-ratelimit-remaining'])
  const resetAt = resetTime(headers['x-ratelimit-reset'])
  if (limit === undefined && remaining === undefined && resetAt === undefined) return undefined
  return { limit, remaining, resetAt }
}

/** The longest delay of a call, in milliseconds. A rate-limit window may be longer than this only after a 429. */
const LONGEST_DELAY = 60_000
// Rate limits are per minute. A wait or reset time of more than an hour must be wrong, so the gate ignores it.
const LONGEST_PLAUSIBLE_DELAY = 3_600_000

/** A rate-limit window. `remaining` is the number of requests that may still start before `endsAt`. */
interface Window {
  readonly remaining: number
  readonly startsAt: number
  readonly endsAt: number
  /** The server's reset time, if a response contained one. The reset time identifies the window. */
  readonly resetAt?: number | undefined
  /** True if no response has reported this window yet, and the client assumes that the last window's limit applies. */
  readonly isGuess?: boolean
}

/** The data of a response that the gate uses. */
export interface LimitUpdate {
  readonly headers: Headers
  /** The wait that a 429 response requests, in milliseconds, or undefined for any other response. */
  readonly waitMs: number | undefined
}

/** A request in flight or a waiting call. The gate deletes a slot after its `endsAt`, a time on `steadyClock`. */
export interface Slot {
  readonly endsAt: number
  wake?: () => void
}

/** Deletes entries whose `endsAt` has passed, and returns the others. A worker may end before it calls `leave`. */
const withoutEnded = (slots: Set<Slot>): Slot[] => {
  const now = steadyClock.now()
  for (const slot of slots) if (slot.endsAt <= now) slots.delete(slot)
  return [...slots]
}

/**
 * Delays calls after the server said that no requests remain. The calls of a client share one gate and start in order.
 * Requests in flight count as used, so that parallel calls together do not exceed the limit.
 */
export class RateLimitGate {
  readonly #clock: Clock
  readonly #queue = new Set<Slot>()
  readonly #inFlight = new Set<Slot>()
  #window: Window | undefined
  #limit: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds a request to those in flight if the limit allows it now. `timeout`: the request's longest duration in ms. */
  tryEnter(timeout: number): Slot | undefined {
    return this.#isClosed() ? undefined : this.#take(timeout)
  }

  /**
   * Waits until a request may start, and then adds a request in flight. If the wait would exceed a minute or the call's
   * remaining time, returns the wait in milliseconds at once.
   */
  async enter(signal: AbortSignal, remaining: number, timeout: number): Promise<Slot | number> {
    const own: Slot = { endsAt: steadyClock.now() + remaining }
    this.#queue.add(own)
    try {
      while (this.#isClosed()) {
        const delay = this.#delay()
        if (delay > LONGEST_DELAY || delay >= own.endsAt - steadyClock.now()) return delay
        await this.#nextChange(own, signal)
      }
      signal.throwIfAborted()
      return this.#take(timeout)
    } finally {
      this.#queue.delete(own)
      this.#wake()
    }
  }

  /** Removes a request in flight, and updates the rate-limit window with the data of the response. */
  leave(slot: Slot, update: LimitUpdate | undefined): void {
    this.#inFlight.delete(slot)
    if (update !== undefined) this.#update(update)
    this.#wake()
  }

  #take(timeout: number): Slot {
    const slot = { endsAt: steadyClock.now() + timeout }
    this.#inFlight.add(slot)
    return slot
  }

  /** Wakes all waiting calls in order. If no request may start, wakes only the first, which checks its delay again. */
  #wake(): void {
    const waiting = withoutEnded(this.#queue)
    for (const slot of this.#isClosed() ? waiting.slice(0, 1) : waiting) slot.wake?.()
  }

  #update({ headers, waitMs }: LimitUpdate): void {
    const { limit, remaining, resetAt } = readRateLimit(headers) ?? {}
    this.#limit = limit ?? this.#limit
    const reset = resetAt?.getTime()
    const untilReset = reset && untilServerTime(reset, this.#clock.now(), headers)
    if (remaining !== undefined && untilReset && untilReset <= LONGEST_PLAUSIBLE_DELAY)
      this.#open(remaining, Math.min(untilReset, LONGEST_DELAY), reset)
    if (waitMs !== undefined && waitMs <= LONGEST_PLAUSIBLE_DELAY) this.#open(0, waitMs, reset)
  }

  #open(remaining: number, milliseconds: number, resetAt: number | undefined): void {
    // Responses may arrive out of order. The lowest number is the newest, because in one window the number only falls.
    const known =
      resetAt !== undefined && this.#window?.resetAt === resetAt ? this.#window.remaining : remaining
    const startsAt = this.#clock.now()
    this.#window = {
      remaining: Math.min(remaining, known),
      startsAt,
      endsAt: startsAt + milliseconds,
      resetAt,
    }
  }

  #isClosed(): boolean {
    if (this.#window === undefined) return false
    const now = this.#clock.now()
    // If the clock was set back, the window starts in the future.
    if (now < this.#window.startsAt || now >= this.#window.endsAt) this.#endWindow()
    return this.#window !== undefined && this.#window.remaining <= withoutEnded(this.#inFlight).length
  }

  /** Ends a window. If a response reported the window's limit, opens the next window with the same limit. */
  #endWindow(): void {
    const limit = this.#window?.isGuess ? undefined : this.#limit
    this.#limit = undefined
    const startsAt = this.#clock.now()
    const endsAt = startsAt + LONGEST_DELAY
    this.#window = limit ? { remaining: limit, startsAt, endsAt, isGuess: true } : undefined
  }

  /** Returns the milliseconds until the window ends, or 0 if the server allows more requests in this window. */
  #delay(): number {
    return this.#window?.remaining === 0 ? this.#window.endsAt - this.#clock.now() : 0
  }

  /** Waits until the window ends, a request in flight ends, or the `endsAt` of such a request passes. */
  #nextChange(own: Slot, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const awake = new AbortController()
      const ends = [...this.#inFlight].map(({ endsAt }) => endsAt)
      const stop = startTimer(Math.min(...ends) - steadyClock.now(), () => own.wake?.())
      const end = (settle: () => void) => () => {
        stop()
        signal.removeEventListener('abort', leave)
        awake.abort()
        settle()
      }
      const leave = end(() => reject(signal.reason))
      own.wake = end(resolve)
      signal.addEventListener('abort', leave)
      const window = this.#window
      const sleep = async () => this.#clock.sleep((window?.endsAt ?? 0) - this.#clock.now(), awake.signal)
      const windowEnded = () => {
        if (awake.signal.aborted) return
        if (this.#window === window) this.#endWindow()
        // Earlier calls go first.
        this.#wake()
        own.wake?.()
      }
      // If the given clock's `sleep` throws or rejects, the window ends at once.
      void sleep().then(windowEnded, windowEnded)
    })
  }
}

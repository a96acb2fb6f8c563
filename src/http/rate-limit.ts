import { type Clock, steadyClock, waitAtMost } from '../clock.ts'
import { type ResponseHead, untilServerTime } from './response-headers.ts'

/** The longest delay of a call, in milliseconds. A rate-limit window may be longer than this only after a 429. */
const MAX_DELAY_MS = 60_000
// Rate limits are per minute. A wait or reset time of more than an hour must be wrong, so the gate ignores it.
const MAX_PLAUSIBLE_DELAY_MS = 3_600_000
/** How much longer than the first waiting call the others wait before they check the limit themselves, in ms. */
const TURN = 1_000
/** The reason with which a call's sleep is aborted. It is constant, because each new reason costs a stack trace. */
const AWAKE = 'The call no longer waits for this time.'

/** A span of time on the client's clock in which only so many requests may still start: none after a 429. */
interface Window {
  readonly startsAt: number
  readonly endsAt: number
  readonly remaining: number
  /** The server's reset time, if a response contained one. The reset time identifies the window. */
  readonly resetAt?: number | undefined
  /** True if no response has reported this window yet, and the client assumes that the last window's limit applies. */
  readonly isGuess?: boolean
}

/**
 * A waiting call, and then its request in flight. The gate deletes a slot after its `endsAt`, a time on `steadyClock`,
 * because a worker may end before it calls `leave`.
 */
export interface Slot {
  endsAt: number
  /** The longest duration of the request, in milliseconds. */
  readonly timeout: number
  wake?: () => void
}

/**
 * Delays calls after the server said that no requests remain. The calls of a client share one gate and start in order.
 * Requests in flight count as used, so that parallel calls together do not exceed the limit.
 */
export class RateLimitGate {
  readonly #clock: Clock
  /** The waiting calls. Only the first sleeps until the limit may change, so that a change wakes one call. */
  readonly #queue = new Set<Slot>()
  readonly #inFlight = new Set<Slot>()
  /** The wait that the last 429 requested. */
  #pause: Window | undefined
  #window: Window | undefined
  #limit: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Adds a request to those in flight if the limit allows it now. `timeout`: the request's longest duration in ms. */
  tryEnter(timeout: number): Slot | undefined {
    if (this.#queue.size > 0 || this.#isClosed()) return undefined
    const slot = { endsAt: steadyClock.now() + timeout, timeout }
    this.#inFlight.add(slot)
    return slot
  }

  /**
   * Waits until a request may start, and then adds a request in flight. If the wait would exceed a minute or the call's
   * remaining time, returns the wait in milliseconds at once.
   */
  async enter(signal: AbortSignal, remaining: number, timeout: number): Promise<Slot | number> {
    const slot: Slot = { endsAt: steadyClock.now() + remaining, timeout }
    this.#queue.add(slot)
    try {
      for (;;) {
        this.#admit()
        signal.throwIfAborted()
        if (this.#inFlight.has(slot)) return slot
        const delay = this.#delay()
        if (delay > MAX_DELAY_MS || delay >= slot.endsAt - steadyClock.now()) return delay
        await this.#nextChange(slot, signal)
      }
    } finally {
      this.#queue.delete(slot)
      if (signal.aborted) this.#inFlight.delete(slot)
      if (!this.#inFlight.has(slot)) this.#admit(true)
    }
  }

  leave(slot: Slot, update: ResponseHead | undefined): void {
    this.#inFlight.delete(slot)
    if (update !== undefined) this.#update(update)
    this.#admit(true)
  }

  /** Lets the first waiting calls start. After a change, wakes the next one, which then waits for the next change. */
  #admit(isChange = false): void {
    let wakesNext = isChange
    for (const slot of this.#queue) {
      const now = steadyClock.now()
      const isWaiting = slot.endsAt > now
      if (isWaiting && this.#isClosed()) {
        if (wakesNext) slot.wake?.()
        return
      }
      wakesNext = true
      this.#queue.delete(slot)
      slot.endsAt = Math.min(slot.endsAt, now + slot.timeout)
      if (isWaiting) this.#inFlight.add(slot)
      slot.wake?.()
    }
  }

  #update({ status, headers, rateLimit = {}, waitMs }: ResponseHead): void {
    const { limit, remaining, resetAt } = rateLimit
    this.#limit = limit ?? this.#limit
    const reset = resetAt?.getTime()
    const untilReset = reset && untilServerTime(reset, this.#clock.now(), headers)
    const isPause = status === 429 && waitMs !== undefined && waitMs <= MAX_PLAUSIBLE_DELAY_MS
    if (isPause) this.#pause = this.#open(waitMs, 0)
    // After the wait that a 429 names, calls continue, even if the window with no remaining requests is longer.
    if (isPause && !remaining) this.#endWindow()
    else if (remaining !== undefined && untilReset && untilReset <= MAX_PLAUSIBLE_DELAY_MS) {
      // Responses may arrive out of order. The lowest number is the newest, because in a window the number only falls.
      const known = this.#window?.resetAt === reset ? this.#window?.remaining : undefined
      const window = this.#open(Math.min(untilReset, MAX_DELAY_MS), Math.min(remaining, known ?? remaining))
      this.#window = { ...window, resetAt: reset }
    }
  }

  #open(milliseconds: number, remaining: number): Window {
    const startsAt = this.#clock.now()
    return { startsAt, endsAt: startsAt + milliseconds, remaining }
  }

  #isClosed(): boolean {
    if (this.#pause === undefined && this.#window === undefined) return false
    const now = this.#clock.now()
    // If the clock was set back, a window starts in the future.
    const isOver = (window?: Window) => window && !(window.startsAt <= now && now < window.endsAt)
    if (isOver(this.#pause)) this.#pause = undefined
    if (isOver(this.#window)) this.#endWindow()
    const ended = steadyClock.now()
    for (const slot of this.#inFlight) if (slot.endsAt <= ended) this.#inFlight.delete(slot)
    return this.#pause !== undefined || (this.#window?.remaining ?? Infinity) <= this.#inFlight.size
  }

  /** Ends a window. If a response reported the window's limit, opens the next window with the same limit. */
  #endWindow(): void {
    const limit = this.#window?.isGuess ? undefined : this.#limit
    this.#limit = undefined
    this.#window = limit ? { ...this.#open(MAX_DELAY_MS, limit), isGuess: true } : undefined
  }

  /** Returns the milliseconds until the pause and a used-up window end, or 0 if the server allows more requests. */
  #delay(): number {
    const ends = [this.#pause, this.#window].map((window) => (window?.remaining === 0 ? window.endsAt : 0))
    return Math.max(0, Math.max(...ends) - this.#clock.now())
  }

  /** Waits until the gate wakes the call, the window ends, or the `endsAt` of a request in flight passes. */
  async #nextChange(slot: Slot, signal: AbortSignal): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      slot.wake = resolve
    })
    const [first] = this.#queue
    const asleep = first === slot ? new AbortController() : undefined
    const span = this.#pause ?? this.#window
    const untilEnd = Math.max(0, (span?.endsAt ?? 0) - this.#clock.now())
    const ends = [...this.#inFlight].map(({ endsAt }) => endsAt)
    const untilLeft = Math.min(...ends) - steadyClock.now()
    // In a worker, the timers of the first call stop when its request ends. So the other calls have later timers.
    const longest = asleep ? untilLeft : Math.min(untilLeft, untilEnd) + TURN
    const ended = () => {
      if (asleep?.signal.aborted) return
      if (span === this.#pause) this.#pause = undefined
      else if (span === this.#window) this.#endWindow()
      this.#admit(true)
    }
    // If the given clock's `sleep` throws or rejects, the window ends at once.
    if (asleep) (async () => this.#clock.sleep(untilEnd, asleep.signal))().then(ended, ended)
    try {
      await waitAtMost(woken, longest, signal)
    } catch (error) {
      if (signal.aborted) throw error
      this.#admit(true)
    } finally {
      asleep?.abort(AWAKE)
    }
  }
}

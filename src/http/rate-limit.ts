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

/** The longest time for which the gate delays a call, and for which a limit counts, in milliseconds. */
const LONGEST_DELAY = 60_000
// The limit counts per minute, so a reset time that is more than an hour away is ignored.
const ABSURD_DELAY = 3_600_000

/** A rate-limit window. `remaining` is the number of requests that may still start before `endsAt`. */
interface Window {
  readonly remaining: number
  readonly startsAt: number
  readonly endsAt: number
  /** The server's reset time, if a response contained it. It identifies the window. */
  readonly resetAt?: number | undefined
  /** True until a response confirms this window. */
  readonly isGuess?: boolean
}

/** The parts of a response that the gate uses. */
export interface LimitNews {
  readonly headers: Headers
  /** The wait that the server asked for in a 429 response, in milliseconds. */
  readonly waitMs: number | undefined
}

/** A request in flight, or a call that waits. It counts until `endsAt`, in milliseconds of `steadyClock`. */
export interface Place {
  readonly endsAt: number
  wake?: () => void
}

/** Returns the places that still count. In a worker, the request that took a place may end without leaving it. */
const current = (places: Set<Place>): Place[] => {
  const now = steadyClock.now()
  for (const place of places) if (place.endsAt <= now) places.delete(place)
  return [...places]
}

/**
 * Delays calls after the server said that no requests remain. Each client has one gate, and calls pass it in order.
 * Requests in flight count as used, so that parallel calls together do not exceed the limit.
 */
export class RateLimitGate {
  readonly #clock: Clock
  readonly #queue = new Set<Place>()
  readonly #inFlight = new Set<Place>()
  #window: Window | undefined
  #limit: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Enters the gate if a request may start now. `timeout` is the longest time of the request, in milliseconds. */
  tryEnter(timeout: number): Place | undefined {
    return this.#isClosed() ? undefined : this.#take(timeout)
  }

  /**
   * Waits until a request may start. Returns the delay in milliseconds instead if the server would reject the request
   * for longer than `remaining` or than a minute.
   */
  async enter(signal: AbortSignal, remaining: number, timeout: number): Promise<Place | number> {
    const own: Place = { endsAt: steadyClock.now() + remaining }
    this.#queue.add(own)
    try {
      while (this.#isClosed()) {
        const delay = this.#delay()
        if (delay > LONGEST_DELAY || delay >= own.endsAt - steadyClock.now()) return delay
        await this.#change(own, signal)
      }
      signal.throwIfAborted()
      return this.#take(timeout)
    } finally {
      this.#queue.delete(own)
      this.#wake()
    }
  }

  /** Leaves the gate, and updates it with the data of the response. */
  leave(place: Place, news: LimitNews | undefined): void {
    this.#inFlight.delete(place)
    if (news !== undefined) this.#learn(news)
    this.#wake()
  }

  #take(timeout: number): Place {
    const place = { endsAt: steadyClock.now() + timeout }
    this.#inFlight.add(place)
    return place
  }

  /** Wakes the waiters, in order, if a request may start. Otherwise wakes the first one, to look at the new window. */
  #wake(): void {
    const waiting = current(this.#queue)
    for (const place of this.#isClosed() ? waiting.slice(0, 1) : waiting) place.wake?.()
  }

  #learn({ headers, waitMs }: LimitNews): void {
    const { limit, remaining, resetAt } = readRateLimit(headers) ?? {}
    this.#limit = limit ?? this.#limit
    const reset = resetAt?.getTime()
    const untilReset = reset && untilServerTime(reset, this.#clock.now(), headers)
    if (remaining !== undefined && untilReset && untilReset <= ABSURD_DELAY)
      this.#open(remaining, Math.min(untilReset, LONGEST_DELAY), reset)
    if (waitMs !== undefined && waitMs <= ABSURD_DELAY) this.#open(0, waitMs, reset)
  }

  #open(remaining: number, milliseconds: number, resetAt: number | undefined): void {
    // Responses may arrive out of order, so within one window the number of remaining requests never grows.
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
    return this.#window !== undefined && this.#window.remaining <= current(this.#inFlight).length
  }

  /** Starts a window with the last known limit, once: the window is a guess until a response reports the real one. */
  #endWindow(): void {
    const limit = this.#window?.isGuess ? undefined : this.#limit
    this.#limit = undefined
    const startsAt = this.#clock.now()
    const endsAt = startsAt + LONGEST_DELAY
    this.#window = limit ? { remaining: limit, startsAt, endsAt, isGuess: true } : undefined
  }

  /** Returns the time until the window ends, in milliseconds, if none of its requests remains. Otherwise returns 0. */
  #delay(): number {
    return this.#window?.remaining === 0 ? this.#window.endsAt - this.#clock.now() : 0
  }

  /** Waits until a request leaves or its place ends, or until the window ends. */
  #change(own: Place, signal: AbortSignal): Promise<void> {
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
      // If `sleep` throws or rejects, the window ends at once.
      void sleep().then(windowEnded, windowEnded)
    })
  }
}

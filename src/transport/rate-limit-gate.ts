import type { Clock } from '../clock.ts'
import type { RateLimit } from '../errors.ts'

/** The longest a call is held back, in milliseconds. */
const LONGEST_HOLD = 60_000
// A reset further away is no reset of a limit that counts by the minute.
const ABSURD_HOLD = 3_600_000

/** How many requests may still begin before `endsAt`, and which reset of the server that is. */
interface Window {
  readonly remaining: number
  readonly endsAt: number
  /** The server's own reset time; absent when the window is a guess or follows a refusal. */
  readonly resetAt?: number | undefined
  /** Begun after the last one ended, and not confirmed by an answer yet. */
  readonly guessed: boolean
}

/** What an answer taught about the limit. */
export interface LimitNews {
  readonly rateLimit: RateLimit | undefined
  /** Milliseconds until the window's end, when the answer names one ahead. */
  readonly untilReset: number | undefined
  /** Milliseconds for which a 429 asked to stay away. */
  readonly refusedFor?: number | undefined
}

/**
 * Holds calls back while the server said that no requests remain. One gate a client; calls go in the order they came.
 * Requests under way count against what remains, so that parallel calls do not overrun the limit together.
 */
export class RateLimitGate {
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #underWay = 0
  #window: Window | undefined
  #limit: number | undefined
  #sleeper: AbortController | undefined
  #sleepsUntil = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether a call would have to wait. */
  get isBusy(): boolean {
    return this.#waiting.length > 0 || this.#isClosed()
  }

  /**
   * Milliseconds for which a call will surely be held back: until the end of a window in which nothing remains. 0 when
   * the gate is open, or when it is only full of requests under way, whose answers may open it at any time.
   */
  get hold(): number {
    return this.#isClosed() && this.#window?.remaining === 0 ? this.#untilEnd() : 0
  }

  /** Takes a place without waiting; right when the gate is not busy. */
  enterNow(): void {
    this.#underWay += 1
  }

  /** Waits in line. True: the place is taken. False: the signal ended the wait, and no place is taken. */
  enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve(true)
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        this.#letIn()
        resolve(false)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(enter)
      this.#letIn()
    })
  }

  /** Gives the place back, with what the answer taught. */
  leave(news?: LimitNews): void {
    this.#underWay -= 1
    if (news !== undefined) this.#learn(news)
    this.#letIn()
  }

  #learn({ rateLimit, untilReset, refusedFor }: LimitNews): void {
    if (rateLimit?.limit !== undefined) this.#limit = rateLimit.limit
    if (rateLimit?.remaining !== undefined && untilReset !== undefined) {
      this.#open(rateLimit.remaining, untilReset, rateLimit.resetAt?.getTime())
    }
    if (refusedFor !== undefined) this.#open(0, refusedFor, rateLimit?.resetAt?.getTime())
  }

  #open(remaining: number, milliseconds: number, resetAt: number | undefined): void {
    if (milliseconds > ABSURD_HOLD) return
    // Answers may overtake each other: within one window what remains only shrinks.
    const same = resetAt !== undefined && this.#window?.resetAt === resetAt
    this.#window = {
      remaining: same ? Math.min(remaining, this.#window?.remaining ?? remaining) : remaining,
      endsAt: this.#clock.now() + Math.min(milliseconds, LONGEST_HOLD),
      resetAt,
      guessed: false,
    }
  }

  /** After a window's end the next one allows the limit, if the server ever told it, until an answer says more. */
  #next(): void {
    const limit = this.#limit
    this.#window =
      limit === undefined || limit === 0
        ? undefined
        : { remaining: limit, endsAt: this.#clock.now() + LONGEST_HOLD, guessed: true }
  }

  #isClosed(): boolean {
    if (this.#window === undefined) return false
    const untilEnd = this.#untilEnd()
    // A hold longer than any that is ever begun: the clock was set back.
    if (untilEnd <= 0 || untilEnd > LONGEST_HOLD) this.#next()
    return this.#window !== undefined && this.#window.remaining <= this.#underWay
  }

  #untilEnd(): number {
    return (this.#window?.endsAt ?? 0) - this.#clock.now()
  }

  #letIn(): void {
    while (this.#waiting.length > 0 && !this.#isClosed()) {
      this.#underWay += 1
      this.#waiting.shift()?.()
    }
    if (this.#waiting.length === 0) {
      this.#sleeper?.abort()
      this.#sleeper = undefined
    } else if (this.#window?.guessed === false) {
      // A guessed window is full of requests under way: their answers open it.
      this.#awake(this.#window)
    }
  }

  /** Sees to it that somebody wakes when the window ends, also when an answer brought that forward. */
  #awake(window: Window): void {
    if (this.#sleeper !== undefined && window.endsAt >= this.#sleepsUntil) return
    this.#sleeper?.abort()
    void this.#sleep(window, new AbortController())
  }

  /** Sleeps until the window ends, once for all who wait. */
  async #sleep(window: Window, sleeper: AbortController): Promise<void> {
    this.#sleeper = sleeper
    this.#sleepsUntil = window.endsAt
    try {
      await this.#clock.sleep(this.#untilEnd(), sleeper.signal)
    } catch {
      // Nobody waits any more, or the clock failed: then those who wait are let in.
    }
    if (this.#sleeper !== sleeper) return
    this.#sleeper = undefined
    // An answer that came meanwhile may have asked for a longer stay.
    if ((this.#window?.endsAt ?? 0) <= window.endsAt) this.#next()
    this.#letIn()
  }
}

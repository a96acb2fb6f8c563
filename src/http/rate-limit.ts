import type { Clock } from '../clock.ts'
import type { RateLimit } from '../errors.ts'
import { untilServerTime } from './retry.ts'

const WHOLE_NUMBER = /^\d{1,15}$/
// Between the years 2001 and 2286 a time in seconds has 10 digits, and a time in milliseconds 3 more.
const RESET_TIME = /^(\d{10})(\d{3})?$/

type Headers = Readonly<Record<string, string>>

const wholeNumber = (text = ''): number | undefined =>
  WHOLE_NUMBER.test(text.trim()) ? Number(text) : undefined

const resetTime = (text = ''): Date | undefined => {
  const [, seconds, milliseconds = '000'] = RESET_TIME.exec(text.trim()) ?? []
  return seconds === undefined ? undefined : new Date(Number(seconds + milliseconds))
}

/** Reads X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset. Unusable values are omitted. (Limits, area S) */
export const readRateLimit = (headers: Headers): RateLimit | undefined => {
  const limit = wholeNumber(headers['x-ratelimit-limit'])
  const remaining = wholeNumber(headers['x-ratelimit-remaining'])
  const resetAt = resetTime(headers['x-ratelimit-reset'])
  if (limit === undefined && remaining === undefined && resetAt === undefined) return undefined
  return { limit, remaining, resetAt }
}

/** The longest that a call is delayed, in milliseconds. */
const LONGEST_DELAY = 60_000
// The limit counts per minute: a reset further away than this is not believed.
const ABSURD_DELAY = 3_600_000

/** How many requests may still start before `endsAt`. */
interface Window {
  readonly remaining: number
  readonly endsAt: number
  /** The server's own reset time, if it named one. It distinguishes windows. */
  readonly resetAt?: number | undefined
  /** Opened after the last window ended, and not confirmed by a response yet. */
  readonly isGuess: boolean
}

/** The facts of a response that the gate uses. */
export interface LimitNews {
  readonly headers: Headers
  /** Milliseconds that a 429 of this call asked to wait. */
  readonly waitMs: number | undefined
}

/**
 * Delays calls after the server said that no requests remain. One gate per client; calls pass in order. Requests in
 * flight count against what remains, so that parallel calls do not exceed the limit together.
 */
export class RateLimitGate {
  readonly #clock: Clock
  readonly #queue: (() => void)[] = []
  #inFlight = 0
  #window: Window | undefined
  #limit: number | undefined
  #alarm: AbortController | undefined
  #alarmAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether a call would have to wait. */
  get isBusy(): boolean {
    return this.#queue.length > 0 || this.#isClosed()
  }

  /** Milliseconds until a call can pass at the earliest; 0 if the response to a request in flight may open the gate. */
  get delay(): number {
    return this.#isClosed() && this.#window?.remaining === 0 ? this.#untilEnd() : 0
  }

  /** Takes a place without waiting. Right only when the gate is not busy. */
  enterNow(): void {
    this.#inFlight += 1
  }

  /** Waits for a place and takes it, unless the signal is aborted first. */
  async enter(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const enter = () => {
        signal.removeEventListener('abort', leaveQueue)
        resolve()
      }
      const leaveQueue = () => {
        this.#queue.splice(this.#queue.indexOf(enter), 1)
        this.#letIn()
      }
      signal.addEventListener('abort', leaveQueue, { once: true })
      this.#queue.push(enter)
      this.#letIn()
    })
    // The call was aborted while it passed, so it will not give the place back itself.
    if (signal.aborted) this.leave()
  }

  /** Gives the place back, with the facts of the response. */
  leave(news?: LimitNews): void {
    this.#inFlight -= 1
    if (news !== undefined) this.#learn(news)
    this.#letIn()
  }

  #learn({ headers, waitMs }: LimitNews): void {
    const { limit, remaining, resetAt } = readRateLimit(headers) ?? {}
    this.#limit = limit ?? this.#limit
    const reset = resetAt?.getTime()
    const untilReset = reset && untilServerTime(reset, this.#clock.now(), headers)
    if (remaining !== undefined && untilReset) this.#open(remaining, untilReset, reset)
    if (waitMs !== undefined) this.#open(0, waitMs, reset)
  }

  #open(remaining: number, milliseconds: number, resetAt: number | undefined): void {
    if (milliseconds > ABSURD_DELAY) return
    // Responses may overtake each other: within one window, the remaining requests only become fewer.
    const known =
      resetAt !== undefined && this.#window?.resetAt === resetAt ? this.#window.remaining : remaining
    const endsAt = this.#clock.now() + Math.min(milliseconds, LONGEST_DELAY)
    this.#window = { remaining: Math.min(remaining, known), endsAt, resetAt, isGuess: false }
  }

  /** After the end of a window the next one allows the last known limit, until a response says more. */
  #guessNext(): void {
    const endsAt = this.#clock.now() + LONGEST_DELAY
    this.#window = this.#limit ? { remaining: this.#limit, endsAt, isGuess: true } : undefined
  }

  #isClosed(): boolean {
    if (this.#window === undefined) return false
    const untilEnd = this.#untilEnd()
    // Further away than any window that is ever opened: the clock was set back.
    if (untilEnd <= 0 || untilEnd > LONGEST_DELAY) this.#guessNext()
    return this.#window !== undefined && this.#window.remaining <= this.#inFlight
  }

  #untilEnd(): number {
    return (this.#window?.endsAt ?? 0) - this.#clock.now()
  }

  #letIn(): void {
    while (this.#queue.length > 0 && !this.#isClosed()) {
      this.#inFlight += 1
      this.#queue.shift()?.()
    }
    if (this.#queue.length === 0) {
      this.#alarm?.abort()
      this.#alarm = undefined
    } else if (this.#window?.isGuess === false) {
      // A guessed window is full of requests in flight: their responses open it.
      this.#setAlarm(this.#window.endsAt)
    }
  }

  /** Wakes the queue when the window ends, also when a response brought that forward. */
  #setAlarm(endsAt: number): void {
    if (this.#alarm !== undefined && endsAt >= this.#alarmAt) return
    this.#alarm?.abort()
    const alarm = new AbortController()
    this.#alarm = alarm
    this.#alarmAt = endsAt
    const wake = () => {
      if (this.#alarm !== alarm) return
      this.#alarm = undefined
      // A response that arrived meanwhile may have asked for a longer wait.
      if ((this.#window?.endsAt ?? 0) <= endsAt) this.#guessNext()
      this.#letIn()
    }
    // If the given clock fails, the queue is let in.
    const sleep = async () => this.#clock.sleep(this.#untilEnd(), alarm.signal)
    void sleep().then(wake, wake)
  }
}

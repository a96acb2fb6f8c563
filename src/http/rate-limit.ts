import type { Clock } from '../clock.ts'
import type { RateLimit } from '../errors.ts'
import { untilServerTime } from './retry.ts'

const WHOLE_NUMBER = /^\d{1,15}$/
// From 2001 to 2286, a time in seconds has 10 digits, and a time in milliseconds has 13.
const RESET_TIME = /^(\d{10})(\d{3})?$/

type Headers = Readonly<Record<string, string>>

const wholeNumber = (text = ''): number | undefined =>
  WHOLE_NUMBER.test(text.trim()) ? Number(text) : undefined

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

/** The longest time that the gate delays a call, in milliseconds. */
const LONGEST_DELAY = 60_000
// The limit counts per minute, so a reset time that is more than an hour away is ignored.
const ABSURD_DELAY = 3_600_000

/** A rate-limit window. `remaining` is the number of requests that may still start before `endsAt`. */
interface Window {
  readonly remaining: number
  readonly endsAt: number
  /** The server's reset time, if a response contained it. It identifies the window. */
  readonly resetAt?: number | undefined
  /** True until a response confirms this window. */
  readonly isGuess: boolean
}

/** The parts of a response that the gate uses. */
export interface LimitNews {
  readonly headers: Headers
  /** The wait that the server asked for in a 429 response, in milliseconds. */
  readonly waitMs: number | undefined
}

/**
 * Delays calls after the server said that no requests remain. Each client has one gate, and calls pass it in order.
 * Requests in flight count as used, so that parallel calls together do not exceed the limit.
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

  /** Whether a new call must wait. */
  get isBusy(): boolean {
    return this.#queue.length > 0 || this.#isClosed()
  }

  /** Minimum wait for the end of the window, in milliseconds. 0 if the window has requests left. */
  get delay(): number {
    return this.#isClosed() && this.#window?.remaining === 0 ? this.#untilEnd() : 0
  }

  /** Enters the gate without waiting. Call this only when the gate is not busy. */
  enterNow(): void {
    this.#inFlight += 1
  }

  /** Waits until the call may pass, and then enters. If the signal is aborted first, the call leaves the queue. */
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
    // After an abort, the caller does not call `leave`, so this line calls `leave`.
    if (signal.aborted) this.leave()
  }

  /** Leaves the gate, and updates it with the data of the response. */
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
    // Responses may arrive out of order, so within one window the number of remaining requests never grows.
    const known =
      resetAt !== undefined && this.#window?.resetAt === resetAt ? this.#window.remaining : remaining
    const endsAt = this.#clock.now() + Math.min(milliseconds, LONGEST_DELAY)
    this.#window = { remaining: Math.min(remaining, known), endsAt, resetAt, isGuess: false }
  }

  /** Starts a window with the last known limit. The window is a guess until a response reports the real one. */
  #guessNext(): void {
    const endsAt = this.#clock.now() + LONGEST_DELAY
    this.#window = this.#limit ? { remaining: this.#limit, endsAt, isGuess: true } : undefined
  }

  #isClosed(): boolean {
    if (this.#window === undefined) return false
    const untilEnd = this.#untilEnd()
    // A window never exceeds LONGEST_DELAY. A larger `untilEnd` means that the clock was set back.
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
      // A guessed window needs no alarm: each response to a request in flight calls `#letIn`.
      this.#setAlarm(this.#window.endsAt)
    }
  }

  /** Wakes the queue at `endsAt`, when the window ends. Cancels a later alarm. */
  #setAlarm(endsAt: number): void {
    if (this.#alarm !== undefined && endsAt >= this.#alarmAt) return
    this.#alarm?.abort()
    const alarm = new AbortController()
    this.#alarm = alarm
    this.#alarmAt = endsAt
    const wake = () => {
      if (this.#alarm !== alarm) return
      this.#alarm = undefined
      // While the alarm slept, a response may have replaced the window.
      if ((this.#window?.endsAt ?? 0) <= endsAt) this.#guessNext()
      this.#letIn()
    }
    // If `sleep` throws or rejects, the queue wakes at once.
    const sleep = async () => this.#clock.sleep(this.#untilEnd(), alarm.signal)
    void sleep().then(wake, wake)
  }
}

import { startTimer, steadyClock, withTimeout } from '../clock.ts'

/** How long a flight continues after its last caller has left, in milliseconds. A login usually takes less time. */
const GRACE = 5_000

/** Work that several callers share, such as one login. It continues when a caller leaves. */
export class Flight<Result> {
  /** The result, for the caller that started the flight. */
  readonly work: Promise<Result>
  readonly #controller = new AbortController()
  #callers = 0
  #endsAt: number
  #stopEnd: (() => void) | undefined

  /** Starts `work`. Callers wait for it at most `limit` milliseconds. */
  constructor(work: (signal: AbortSignal) => Promise<Result>, limit: number) {
    this.#endsAt = steadyClock.now() + limit
    this.work = work(this.#controller.signal).finally(() => this.#stopEnd?.())
  }

  /** Whether the flight was ended before its work. */
  get isEnded(): boolean {
    return this.#controller.signal.aborted
  }

  /** Waits for the result. If the flight takes too long, rejects with an error that is not of this package. */
  joined(): Promise<Result> {
    return withTimeout(this.work, this.#endsAt - steadyClock.now(), 'The flight')
  }

  /** Counts a caller until its signal is aborted. After the last caller has left, the flight ends soon. */
  join(signal: AbortSignal): void {
    this.#callers += 1
    // A flight without callers may be dead, in a worker: the new caller gives it some time.
    if (this.#stopEnd) this.#endSoon()
    const leave = () => {
      this.#callers -= 1
      if (this.#callers === 0) this.#endSoon()
    }
    signal.addEventListener('abort', leave, { once: true })
  }

  #endSoon(): void {
    this.#stopEnd?.()
    this.#endsAt = steadyClock.now() + GRACE
    this.#stopEnd = startTimer(GRACE, () => this.end())
  }

  /** Aborts the work. */
  end(): void {
    this.#controller.abort()
  }
}

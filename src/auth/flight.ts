import { startTimer, steadyClock, withTimeout } from '../clock.ts'

/** How long a flight continues after its last caller has left, in milliseconds. A login usually takes less time. */
const GRACE = 2_000

/** Work that several callers share, such as one login. It continues when a caller leaves. */
export class Flight<Result> {
  /** The result, for the caller that started the flight. */
  readonly work: Promise<Result>
  readonly #controller = new AbortController()
  #callers = 0
  #endsAt: number

  /** Starts `work`. Callers wait for it at most `limit` milliseconds. */
  constructor(work: (signal: AbortSignal) => Promise<Result>, limit: number) {
    this.#endsAt = steadyClock.now() + limit
    this.work = work(this.#controller.signal)
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
    const leave = () => {
      this.#callers -= 1
      if (this.#callers > 0) return
      this.#endsAt = Math.min(this.#endsAt, steadyClock.now() + GRACE)
      const stop = startTimer(GRACE, () => this.end())
      this.work.then(stop, stop)
    }
    signal.addEventListener('abort', leave, { once: true })
  }

  /** Aborts the work. */
  end(): void {
    this.#controller.abort()
  }
}

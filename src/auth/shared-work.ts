import { startTimer, steadyClock, withTimeout } from '../clock.ts'

/** How long shared work continues after all waiting calls were aborted, in milliseconds. Most logins take less time. */
const GRACE = 5_000

/** Work that several calls share, such as one login. The work continues when one of the calls is aborted. */
export class SharedWork<Result> {
  /** The work's result. The call that started the work awaits this promise; other calls use `joined()`. */
  readonly work: Promise<Result>
  readonly #controller = new AbortController()
  #callers = 0
  #endsAt: number
  #stopEnd: (() => void) | undefined

  /** Starts `work`. Other calls wait for the result until `limit` milliseconds after the start. */
  constructor(work: (signal: AbortSignal) => Promise<Result>, limit: number) {
    this.#endsAt = steadyClock.now() + limit
    this.work = work(this.#controller.signal).finally(() => this.#stopEnd?.())
  }

  /** Whether `end` has aborted the work. */
  get isEnded(): boolean {
    return this.#controller.signal.aborted
  }

  /** Waits for the work's result. After the time limit, rejects with an error that is not a `MandateKitError`. */
  joined(): Promise<Result> {
    return withTimeout(this.work, this.#endsAt - steadyClock.now(), 'The work')
  }

  /** Adds a waiting call. When the signals of all added calls are aborted, aborts the work after 5 s. */
  join(signal: AbortSignal): void {
    this.#callers += 1
    // In a worker, the work may never settle after all earlier calls were aborted, so this call waits at most 5 s.
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

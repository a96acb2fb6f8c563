import { startTimer, steadyClock, waitAtMost } from '../clock.ts'

/** How long shared work continues after all waiting calls were aborted, in milliseconds. Most logins take less time. */
const GRACE = 5_000

/** Work that several calls share, such as one login. The work continues while at least one call waits for it. */
export class SharedWork<Result> {
  /** The work's result. The call that started the work awaits this promise; other calls use `joined()`. */
  readonly work: Promise<Result>
  readonly #controller = new AbortController()
  readonly #limitAt: number
  #endsAt: number
  #callers = 0
  #stopEnd: (() => void) | undefined

  /** Starts `work`. Other calls wait for the result until `limit` milliseconds after the start. */
  constructor(work: (signal: AbortSignal) => Promise<Result>, limit: number) {
    this.#limitAt = this.#endsAt = steadyClock.now() + limit
    this.work = work(this.#controller.signal).finally(() => this.#stopEnd?.())
  }

  /** Whether `end` has aborted the work. */
  get isEnded(): boolean {
    return this.#controller.signal.aborted
  }

  /** Waits for the work's result. After the time limit, rejects with an error that is not a `MandateKitError`. */
  async joined(): Promise<Result> {
    const endsAt = this.#endsAt
    const wait = waitAtMost(this.work, endsAt - steadyClock.now())
    return wait.catch((error: unknown) => {
      if (this.#endsAt <= endsAt) throw error
      return this.joined()
    })
  }

  /** Counts a waiting call. When the signals of all counted calls are aborted, aborts the work after 5 s. */
  join(signal: AbortSignal | undefined): void {
    this.#callers += 1
    const leave = () => {
      this.#callers -= 1
      if (this.#callers > 0) return
      this.#stopEnd?.()
      // In a worker, this timer never fires if the runtime stopped the work together with the last call. A call that
      // joins later waits until the timer has shown that the work is alive.
      this.#endsAt = steadyClock.now() + GRACE + 100
      this.#stopEnd = startTimer(GRACE, () => {
        if (this.#callers === 0) this.end()
        else this.#endsAt = this.#limitAt
      })
    }
    signal?.addEventListener('abort', leave, { once: true })
  }

  /** Aborts the work. */
  end(): void {
    this.#controller.abort()
  }
}

import { startTimer, waitAtMost } from '../clock.ts'

/** Interval of the work's signs of life, in milliseconds. */
const BEAT = 1_000
/** Work that no call waits for ends after this many signs of life. Most logins take less time. */
const IDLE_BEATS = 5

/** Starts work that several calls share, such as one login. The work goes on while at least one call waits for it. */
export const shareWork = <Result>(work: (signal: AbortSignal) => Promise<Result>) => {
  const controller = new AbortController()
  const result = work(controller.signal)
  let callers = 0
  let beats = 0
  let idleBeats = 0
  // In a worker, this timer stops together with the work, when the request that started both ends.
  const beat = () => {
    beats += 1
    idleBeats = callers > 0 ? 0 : idleBeats + 1
    if (idleBeats < IDLE_BEATS) stop = startTimer(BEAT, beat)
    else controller.abort()
  }
  let stop = startTimer(BEAT, beat)
  const ended = () => stop()
  result.then(ended, ended)

  return {
    /** The work's result. The call that started the work awaits it, because it lives as long as the work. */
    result,
    isEnded: () => controller.signal.aborted,
    end: () => controller.abort(),
    /** Counts a waiting call until its signal is aborted. */
    join(signal: AbortSignal | undefined): void {
      callers += 1
      const leave = () => {
        callers -= 1
      }
      signal?.addEventListener('abort', leave, { once: true })
    },
    /**
     * Waits for the result. If the runtime stopped the work, rejects with an error that is not a `MandateKitError`. Each
     * wait is as long as a beat: if the process stalls, timers of different lengths may fire in another order.
     */
    joined(isSilent = false): Promise<Result> {
      const seen = beats
      return waitAtMost(result, BEAT).catch((error: unknown) => {
        if (isSilent && seen === beats) throw error
        return this.joined(seen === beats)
      })
    },
  }
}

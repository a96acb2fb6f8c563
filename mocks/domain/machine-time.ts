/**
 * Waits on the machine's time (or on fake timers): a slow answer is slow for a caller whose timeouts run on that time,
 * whatever the mock's clock says. Ends early, and leaves no timer, when the caller gives up.
 */
export const delayAnswer = (milliseconds: number, signal: AbortSignal | null): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal?.addEventListener('abort', done)
  })

const LONGEST_ANSWER_MS = 10_000

/** Ends a delivery over the network that no answer comes to. Runs on real time, and keeps no process alive. */
export const deliveryTimeout = (): AbortSignal => AbortSignal.timeout(LONGEST_ANSWER_MS)

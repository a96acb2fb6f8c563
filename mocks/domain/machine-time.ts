// The only file of the mock that reads the machine's clock or starts a timer.

/** Returns the machine's time, or the time of fake timers, in milliseconds since 1970. */
export const machineNow = (): number => Date.now()

// A longer timer would fire at once.
const LONGEST_TIMER = 2_147_483_647

/** Calls `act` after `milliseconds` of the machine's time or of fake timers. The returned function stops the timer. */
export const startTimer = (milliseconds: number, act: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout>
  const start = (rest: number): void => {
    const part = Math.min(rest, LONGEST_TIMER)
    timer = setTimeout(() => (rest > part ? start(rest - part) : act()), part)
  }
  start(milliseconds)
  return () => clearTimeout(timer)
}

/** Calls `run` every `milliseconds`. The returned function ends that. */
export const every = (milliseconds: number, run: () => void): (() => void) => {
  const timer = setInterval(run, milliseconds)
  return () => clearInterval(timer)
}

/** Delays a response by the machine's time, as callers' timeouts do not follow the mock's clock. An abort ends it. */
export const delayAnswer = (milliseconds: number, signal: AbortSignal | null): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const done = (): void => {
      stop()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const stop = startTimer(milliseconds, done)
    signal?.addEventListener('abort', done)
  })

// Read when the module loads, so that fake timers that a test installs later do not replace these timers.
const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = globalThis

/** Resolves after everything that is ready has run. Fake timers do not replace message channels. */
export const macrotask = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof MessageChannel !== 'function') {
      realSetTimeout(resolve, 0)
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })

/** Work took longer than its limit. */
export class LateError extends Error {}

/**
 * Runs `work` for at most `milliseconds` of real time, then aborts its signal and rejects with a `LateError`. A timer
 * keeps the process alive until then: without it, work that waits for itself would end a script without an error.
 *
 * @param isPaused while it returns `true`, the limit starts again instead of ending the work
 */
export const withinRealTime = <Value>(
  milliseconds: number,
  message: string,
  work: (signal: AbortSignal) => Promise<Value>,
  isPaused: () => boolean = () => false,
): Promise<Value> =>
  new Promise((resolve, reject) => {
    const controller = new AbortController()
    const keepAlive = realSetTimeout(() => undefined, milliseconds)
    let hasEnded = false
    // Fake timers do not replace this one. It does not keep the process alive, and a pause, which may never end, need not.
    const start = (): void => {
      AbortSignal.timeout(milliseconds).addEventListener('abort', () => {
        if (hasEnded) return
        if (isPaused()) {
          start()
          return
        }
        const error = new LateError(message)
        reject(error)
        controller.abort(error)
      })
    }
    start()
    void work(controller.signal)
      .finally(() => {
        hasEnded = true
        realClearTimeout(keepAlive)
      })
      .then(resolve, reject)
  })

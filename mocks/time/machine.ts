// This is the only file of the mock that reads the machine's clock or starts a timer.

/** Returns the machine's time, or the time of fake timers, in milliseconds since 1970. */
export const machineNow = (): number => Date.now()

// `setTimeout` fires at once if the delay exceeds this number of milliseconds.
const MAX_TIMER_MS = 2_147_483_647

/** Calls `act` after `milliseconds`. Uses fake timers if a test installs any. The returned function stops the timer. */
export const startTimer = (milliseconds: number, act: () => void): (() => void) => {
  let timer: ReturnType<typeof setTimeout>
  const start = (rest: number): void => {
    const part = Math.min(rest, MAX_TIMER_MS)
    timer = setTimeout(() => (rest > part ? start(rest - part) : act()), part)
  }
  start(milliseconds)
  return () => clearTimeout(timer)
}

// The module keeps the real timer functions, because a test may install fake timers later.
const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = globalThis
const { setInterval: realSetInterval, clearInterval: realClearInterval } = globalThis
const CHECK_MS = 30_000

/** Creates an alarm, which is off. An alarm that is on has at most one timer, for the earliest requested time. */
export const createAlarm = (ring: () => void) => {
  let ringsAt = Number.POSITIVE_INFINITY
  let stopTimer = (): void => undefined
  let checks: ReturnType<typeof setInterval> | undefined

  return {
    /** Turns the alarm on or off. An alarm that is off has no timer and ignores `within`. */
    turn(on: boolean): void {
      realClearInterval(checks)
      // A timer does not count the time in which the machine sleeps.
      checks = on ? realSetInterval(ring, CHECK_MS) : undefined
      if (on) return
      ringsAt = Number.POSITIVE_INFINITY
      stopTimer()
    },
    /** Calls `ring` after `milliseconds` of machine time, or earlier if an earlier time was requested. */
    within(milliseconds: number): void {
      const wait = Math.max(0, milliseconds)
      const now = machineNow()
      if (checks === undefined || (ringsAt > now && now + wait >= ringsAt)) return
      stopTimer()
      ringsAt = now + wait
      stopTimer = startTimer(wait, () => {
        ringsAt = Number.POSITIVE_INFINITY
        ring()
      })
    },
  }
}

/** Waits for `milliseconds` of machine time, or until `signal` is aborted. */
export const delayResponse = (milliseconds: number, signal: AbortSignal | null): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stop()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const stop = startTimer(milliseconds, done)
    signal?.addEventListener('abort', done)
    if (signal?.aborted === true) done()
  })

// undici's fetch waits this long for the headers of a response.
const MAX_SILENCE_MS = 300_000

/**
 * Keeps the process alive for a request that gets no response, as an open socket does: a signal that aborts it later
 * may be the only thing that is left to happen. The returned function ends this.
 */
export const keepProcessAlive = (): (() => void) => {
  const timer = realSetTimeout(() => undefined, MAX_SILENCE_MS)
  return () => realClearTimeout(timer)
}

/** Waits for the next macrotask, even if a test has installed fake timers. */
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

/** Thrown when work exceeds its time limit. */
export class LateError extends Error {}

/**
 * Runs `work` with a time limit of `milliseconds` in real time. At the limit, aborts the signal of `work` and rejects
 * with a `LateError`. A timer keeps the process alive until `work` ends, but not longer than `milliseconds`.
 *
 * @param isPaused called at the end of the time limit; if `isPaused` returns `true`, a new time limit starts
 * @param stop if aborted, `withinRealTime` rejects with the abort reason and aborts the signal of `work` at once
 */
export const withinRealTime = <Value>(
  milliseconds: number,
  message: string,
  work: (signal: AbortSignal) => Promise<Value>,
  isPaused: () => boolean = () => false,
  stop?: AbortSignal,
): Promise<Value> =>
  new Promise((resolve, reject) => {
    const controller = new AbortController()
    const keepAlive = realSetTimeout(() => undefined, milliseconds)
    let hasEnded = false
    const end = (): void => {
      hasEnded = true
      realClearTimeout(keepAlive)
    }
    const fail = (error: unknown): void => {
      reject(error)
      controller.abort(error)
    }
    // AbortSignal.timeout ignores fake timers. It lets a script exit even if `isPaused` always returns true.
    const start = (): void =>
      AbortSignal.timeout(milliseconds).addEventListener('abort', () => {
        if (hasEnded) return
        if (isPaused()) start()
        else fail(new LateError(message))
      })
    start()
    stop?.addEventListener('abort', () => {
      end()
      fail(stop.reason)
    })
    void work(controller.signal).finally(end).then(resolve, reject)
  })

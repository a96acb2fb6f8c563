/** Provides a client's time. Pass the mock's clock to run a client on the mock's time. */
export interface Clock {
  /** The current time, in milliseconds since 1970-01-01T00:00:00Z. */
  now(): number
  /** Resolves after `milliseconds`. If the signal is aborted first, rejects with the signal's reason. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** The longest delay of a timer, in milliseconds. A timer with a longer delay would overflow and fire at once. */
export const MAX_TIMER_MS = 2_147_483_647

/** Calls `act` after `milliseconds` of real time. Returns a function that stops the timer. */
export const startTimer = (milliseconds: number, act: () => void): (() => void) => {
  const timer = setTimeout(act, Math.min(Math.max(milliseconds, 0), MAX_TIMER_MS))
  return () => clearTimeout(timer)
}

/**
 * Settles like `promise`. If the signal is aborted first, rejects with the signal's reason. If `milliseconds` of real
 * time pass first, calls `expire` with the returned promise's `resolve` and `reject`.
 */
const settleWithin = <Result>(
  promise: Promise<Result> | undefined,
  milliseconds: number,
  signal: AbortSignal | undefined,
  expire: (resolve: (result: Result) => void, reject: (reason: unknown) => void) => void,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const end =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        stop()
        signal?.removeEventListener('abort', abort)
        settle(value)
      }
    const abort = () => end(reject)(signal?.reason)
    const stop = startTimer(milliseconds, () => expire(end(resolve), end(reject)))
    signal?.addEventListener('abort', abort)
    promise?.then(end(resolve), end(reject))
  })

const sleep: Clock['sleep'] = (milliseconds, signal) =>
  settleWithin<void>(undefined, milliseconds, signal, (resolve) => resolve())

/** The clock with the system's time. It is the default of every `clock` option. */
export const systemClock: Clock = { now: () => Date.now(), sleep }

/** A clock that never jumps, for timeouts, leases and locks. Only the difference between two times is meaningful. */
export const steadyClock: Clock = { now: () => performance.now(), sleep }

/**
 * Waits at most `milliseconds` of real time for a promise, which may never settle. Then rejects. If `late` is a
 * function, the error is its result. If `late` is text, the error is a `TimeoutError`, and its message begins with
 * `late`. If the signal is aborted first, rejects with the signal's reason.
 */
export const waitAtMost = <Result>(
  promise: Promise<Result>,
  milliseconds: number,
  signal?: AbortSignal,
  late: string | (() => Error) = 'The work',
): Promise<Result> =>
  settleWithin(promise, milliseconds, signal, (_, reject) => {
    if (typeof late === 'function') return reject(late())
    const error = new Error(`${late} took longer than ${milliseconds} ms`)
    reject(Object.assign(error, { name: 'TimeoutError' }))
  })

/** Rounds a wait such as `retryAfterMs` up to whole milliseconds. Limits it to the range from 1 s to 1 h. */
export const exportedWait = (ms: number | undefined): number | undefined =>
  ms === undefined ? undefined : Math.min(Math.max(Math.ceil(ms), 1000), 3_600_000)

export const formatDuration = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.ceil(milliseconds)} ms` : `${Math.ceil(milliseconds / 100) / 10} s`

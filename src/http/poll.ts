import { check, duration, functionOption } from '../check.ts'
import { formatDuration } from '../clock.ts'
import type { EndpointDefinition } from '../contract/endpoint.ts'
import { asText, type Input, optional, strict } from '../contract/fields.ts'
import { AbortedError, isMandateKitError, knownError, type MandateKitError, TimeoutError } from '../errors.ts'
import type { WithResponse } from './call.ts'
import { Deadline, Interrupted, type Interruption } from './deadline.ts'
import { type CallOptions, type ClientSettings, callOptions } from './options.ts'
import { readRetryAfter } from './response-headers.ts'

const waitOptions = {
  /**
   * Maximum wait in milliseconds. Default: 120 000. The wait ends at once when this much real time has
   * passed. When it has passed on the client's clock (such as the mock's), the client first reads the state once more.
   */
  timeout: optional(duration()),
  /**
   * Time between two reads, in milliseconds of the client's clock. Default: a random time, at first 0.5 to 1 s, later
   * up to 10 s. If a response has a `Retry-After`, the client waits for that time, unless `pollInterval` is longer.
   */
  pollInterval: optional(duration()),
  /** Aborts the wait with an `AbortedError`, but does not cancel the charge or the subscription request. */
  signal: callOptions.signal,
}
/** Options of `waitForCharge` and `waitForStatus`. */
export interface WaitOptions<State> extends Input<typeof waitOptions> {
  /** Receives each state that the client reads. If `until` returns true or a promise of true, the wait ends. */
  readonly until?: ((state: State) => boolean | PromiseLike<boolean>) | undefined
}
const until = optional(functionOption<(state: unknown) => unknown>())
const waitOptionsSchema = strict({ until, ...waitOptions }, 'option')

interface Poll<State> {
  readonly endpoint: EndpointDefinition
  readonly settings: ClientSettings
  readonly options?: WaitOptions<State> | undefined
  readonly read: (options: CallOptions) => Promise<WithResponse<State>>
  /** The default of the option `until`: returns whether a state ends the wait. */
  readonly isFinal: (state: State) => boolean
}

const DEFAULT_TIMEOUT = 120_000
const FIRST_PAUSE = 1000
const MAX_PAUSE_MS = 10_000
const GROWTH = 1.5
// Without `pollInterval`, the client ignores a `Retry-After` below this many milliseconds, so as not to read too often.
const MIN_PAUSE_MS = 500

/** If a record is not found, the client keeps reading for this many ms of its clock: the record may be too new. */
const NEW_RECORD_MS = 10_000
const isMissing = (error: unknown): boolean => knownError(error).verdict === 'not-found'

/** Returns the pause after a read. It grows to 10 s. It is partly random, so that clients read at different times. */
const pauseAfter = (reads: number): number =>
  Math.min(MAX_PAUSE_MS, FIRST_PAUSE * GROWTH ** (reads - 1)) * (0.5 + Math.random() / 2)

/** Reads a state repeatedly until it is final. Retries a failed read if its error is retryable. */
export const pollUntil = async <State>(poll: Poll<State>): Promise<State> => {
  const { endpoint, settings, options = {}, read, isFinal } = poll
  const { operation, afterWait = '' } = endpoint
  const given = check(operation, waitOptionsSchema, options)
  const { timeout: timeoutMs = DEFAULT_TIMEOUT, pollInterval, signal, until = isFinal } = given
  const { clock } = settings
  const end = clock.now() + timeoutMs
  const deadline = new Deadline(timeoutMs, signal)
  let attempts = 0
  let lastState: State | undefined
  let lastFailure: MandateKitError | undefined
  let isReading = false
  let missingSince: number | undefined

  const endError = (by: Interruption): MandateKitError => {
    const isUnknown = !isReading && lastState === undefined && isMissing(lastFailure)
    if (by.kind === 'timeout' && lastFailure && isUnknown) return lastFailure
    const outcome = attempts === 0 ? 'not-sent' : 'unknown'
    const wait = { operation, phase: 'wait', outcome, attempts } as const
    const details = { ...wait, retryable: true, cause: lastFailure }
    if (by.kind === 'aborted')
      return new AbortedError(`${operation}: the given signal aborted the wait. ${afterWait}`, details)
    const last = asText(Object(lastState).status)
    const status = last === undefined ? '' : ` (last status: ${JSON.stringify(last.slice(0, 60))})`
    const message = `${operation}: the expected state was not reached within ${formatDuration(timeoutMs)}${status}. See lastState and cause. ${afterWait}`
    return new TimeoutError(message, { ...details, timeoutMs, lastState })
  }

  try {
    for (;;) {
      deadline.check()
      let serverWaitMs: number | undefined
      try {
        attempts += 1
        isReading = true
        const { data, response } = await deadline.race((signal) => read({ signal }))
        isReading = false
        lastState = data
        lastFailure = undefined
        if (await deadline.race(async () => until(data))) return data
        serverWaitMs = readRetryAfter(response.headers, clock.now())
      } catch (error) {
        if (!isMandateKitError(error)) throw error
        isReading = false
        if (isMissing(error)) missingSince ??= clock.now()
        const isNew = isMissing(error) && clock.now() - Number(missingSince) < NEW_RECORD_MS
        if (!error.retryable && !isNew) throw error
        lastFailure = error
        serverWaitMs = error.retryAfterMs
      }
      const left = end - clock.now()
      if (left <= 0) throw new Interrupted({ kind: 'timeout', limit: 'total', milliseconds: timeoutMs })
      const ownPause = pollInterval ?? pauseAfter(attempts)
      const pause =
        serverWaitMs !== undefined && serverWaitMs >= (pollInterval ?? MIN_PAUSE_MS) ? serverWaitMs : ownPause
      await deadline.race(async (signal) => clock.sleep(Math.min(pause, left), signal))
    }
  } catch (error) {
    throw error instanceof Interrupted ? endError(error.by) : error
  }
}

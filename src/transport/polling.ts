import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { InputIssue, MandateKitError } from '../errors.ts'
import { AbortedError, InvalidRequestError, isMandateKitError, TimeoutError } from '../errors.ts'
import type { CallOptions } from './call-options.ts'
import { callOptionIssues } from './call-options.ts'
import type { Answered } from './call-promise.ts'
import { CallTimeout } from './call-timeout.ts'
import type { ClientSettings } from './client-options.ts'
import { kindOfValue } from './kind-of-value.ts'
import { readRetryAfter } from './wait-hint.ts'
import { duration } from './words.ts'

/** Options of the helpers that wait for a state. */
export interface WaitOptions<State> {
  /** Ends the wait when it returns true, or a promise of true. */
  readonly until?: ((state: State) => boolean | PromiseLike<boolean>) | undefined
  /**
   * How long to wait at most, in milliseconds, on the client's clock and on real time, whichever comes first. The last
   * read is made when the client's clock has come there. Default: 120 000.
   */
  readonly timeout?: number | undefined
  /** Ends the wait: it rejects with `AbortedError`. What was asked for may still happen. */
  readonly signal?: AbortSignal | undefined
}

/** What is asked again and again. */
export interface Poll<State> {
  readonly endpoint: EndpointDefinition
  readonly settings: ClientSettings
  readonly options: WaitOptions<State>
  readonly read: (options: CallOptions) => Promise<Answered<State>>
  /** Ends the wait where the caller gives no `until`. */
  readonly isFinal: (state: State) => boolean
}

const DEFAULT_TIMEOUT = 120_000
const FIRST_PAUSE = 1000
const LONGEST_PAUSE = 10_000
const GROWTH = 1.5
/** A server that names no pause worth the name is not asked without one. */
const SHORTEST_PAUSE = 500
const WAIT_OPTIONS = ['until', 'timeout', 'signal']

/** A growing pause, between half and all of it, so that many waiters do not ask in step. */
const pauseAfter = (reads: number): number =>
  Math.min(LONGEST_PAUSE, FIRST_PAUSE * GROWTH ** (reads - 1)) * (0.5 + Math.random() / 2)

const check = (operation: string, options: WaitOptions<never>): void => {
  const issues: InputIssue[] = callOptionIssues(options, WAIT_OPTIONS)
  const until: unknown = options?.until
  if (until !== undefined && typeof until !== 'function') {
    issues.push({ field: 'until', rule: 'a function of the state', received: kindOfValue(until) })
  }
  if (issues.length > 0) throw new InvalidRequestError(operation, issues)
}

/**
 * Reads a state until it is final. Waits between reads as long as the server asks for, else 1 s growing to 10 s.
 * A read that fails and may pass is tried again; any other failure ends the wait.
 */
export const pollUntil = async <State>(poll: Poll<State>): Promise<State> => {
  const { endpoint, settings, options, read, isFinal } = poll
  const { operation } = endpoint
  check(operation, options)
  const timeoutMs = options.timeout ?? DEFAULT_TIMEOUT
  const isReached = options.until ?? isFinal
  const { clock } = settings
  const deadline = clock.now() + timeoutMs
  const time = new CallTimeout(timeoutMs, options.signal)
  let reads = 0
  let lastState: State | undefined
  /** How the last read failed. */
  let failed: MandateKitError | undefined

  const ended = (): AbortedError | TimeoutError => {
    const outcome = reads === 0 ? 'not-sent' : 'unknown'
    const facts = {
      operation,
      phase: 'wait',
      outcome,
      attempts: reads,
      retryable: true,
      cause: failed,
    } as const
    const next = endpoint.afterWait ?? endpoint.afterUnknown
    if (time.interruption?.kind === 'aborted') {
      return new AbortedError(`${operation}: the wait was ended by the given signal. ${next}`, facts)
    }
    const seen = lastState === undefined ? 'nothing could be read' : 'lastState is what was seen last'
    const message = `${operation}: the awaited state did not come within ${duration(timeoutMs)}; ${seen}. ${next}`
    return new TimeoutError(message, { ...facts, timeoutMs, lastState })
  }

  try {
    while (time.interruption === undefined) {
      let hint: number | undefined
      try {
        reads += 1
        const { data, response } = await read({ signal: time.signal })
        lastState = data
        failed = undefined
        // A promise is no answer yet: taken for one, it would end every wait at the first read.
        if (await time.race(Promise.resolve(isReached(data)))) return data
        hint = readRetryAfter(response.headers, clock.now())
      } catch (error) {
        if (time.interruption !== undefined) break
        if (!isMandateKitError(error) || !error.retryable) throw error
        failed = error
        hint = error.retryAfterMs
      }
      const left = deadline - clock.now()
      if (left <= 0) break
      const pause = hint !== undefined && hint >= SHORTEST_PAUSE ? hint : pauseAfter(reads)
      await time.wait(Math.min(pause, left), clock)
    }
    throw ended()
  } finally {
    time.end()
  }
}

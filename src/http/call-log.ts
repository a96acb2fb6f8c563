import { isObject } from '../contract/fields.ts'
import type { ApiError, ErrorDetails, MandateKitErrorCode, Outcome, Phase } from '../errors.ts'
import { isMandateKitError } from '../errors.ts'
import type { CallEvent } from './hooks.ts'
import { notify } from './hooks.ts'
import type { ClientSettings } from './options.ts'
import type { PreparedRequest } from './prepare.ts'
import { createRedactor } from './redact.ts'
import { combineOutcomes } from './retry.ts'

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-correlation-id'] as const

/** The server's identifier of a request, under its usual names. The specification shows none. */
export const serverRequestIdOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  REQUEST_ID_HEADERS.map((name) => headers[name]).find(Boolean)

// A login fails for itself, and then as what the caller of `login` waits for: the same error is reported once.
const reported = new WeakSet<object>()

/** The facts about one logical call so far. Errors and hooks use them. */
export class CallLog {
  readonly request: PreparedRequest
  readonly #settings: ClientSettings
  readonly #startedAt: number
  /** The Authorization header of each attempt. */
  readonly #sent: (string | undefined)[] = []
  #event: CallEvent | undefined
  /** Where the call stands. */
  phase: Phase = 'request'
  /** The outcome of all failed attempts. If one may have executed, later ones do not change that. */
  outcome: Outcome = 'not-sent'

  constructor(settings: ClientSettings, request: PreparedRequest) {
    this.#settings = settings
    this.request = request
    this.#startedAt = settings.clock.now()
  }

  /** Number of attempts that were started. */
  get attempts(): number {
    return this.#sent.length
  }

  /** What hooks receive about the call; always with the same `call`. */
  get event(): CallEvent {
    const { endpoint, method, url, idempotencyKey } = this.request
    const { operation, path } = endpoint
    this.#event ??= { call: {}, operation, method, path, url, idempotencyKey }
    return this.#event
  }

  /** Counts an attempt that is about to be sent. */
  sending(authorization: string | undefined): void {
    this.phase = 'request'
    this.#sent.push(authorization)
  }

  /** Adds what a failed attempt proves. */
  failedAttempt(outcome: Outcome): void {
    this.outcome = combineOutcomes(this.outcome, outcome)
  }

  /** Removes this call's secrets from errors. */
  redactor() {
    const { headers, fields } = this.request
    return createRedactor(headers, this.#sent, fields)
  }

  /** The details of an error that ends the call now. `isTransient`: the same call may succeed later. */
  details(isTransient: boolean): ErrorDetails {
    const { endpoint, idempotencyKey, isKeyGenerated, fields } = this.request
    const { operation, retry, reference = '' } = endpoint
    const isSafe = this.outcome !== 'unknown' || (retry !== 'when-not-executed' && !isKeyGenerated)
    const requestID = isObject(fields) ? fields[reference] : undefined
    const { phase, outcome, attempts } = this
    const retryable = isTransient && isSafe
    const own = { requestID: typeof requestID === 'string' ? requestID : undefined, idempotencyKey }
    return { operation, phase, outcome, attempts, ...own, retryable }
  }

  /** Reports to the hook `onError` that the call failed for good. */
  failed(error: unknown): void {
    const { hooks, clock } = this.#settings
    if (!hooks.onError) return
    const known: Partial<Omit<ApiError, 'code'>> & { readonly code?: MandateKitErrorCode } =
      isMandateKitError(error) ? error : {}
    if (reported.has(known)) return
    reported.add(known)
    const { code, phase, retryable, outcome, status, errorCode } = known
    const failure = { code, phase, retryable, outcome, status, errorCode }
    const durationMs = clock.now() - this.#startedAt
    notify(hooks, 'onError', { ...this.event, ...failure, attempts: this.attempts, durationMs })
  }
}

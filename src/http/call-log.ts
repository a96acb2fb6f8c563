import type { ApiError, ErrorDetails, MandateKitErrorCode, Outcome, Phase } from '../errors.ts'
import { isMandateKitError } from '../errors.ts'
import type { CallEvent } from './hooks.ts'
import { notify } from './logger.ts'
import type { ClientSettings } from './options.ts'
import type { PreparedRequest } from './prepare.ts'
import { createRedactor } from './redact.ts'
import { combineOutcomes } from './retry.ts'

const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-correlation-id'] as const

/** Returns the server's id of a request, from common headers. The specification names no such header. */
export const serverRequestIdOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  REQUEST_ID_HEADERS.map((name) => headers[name]).find(Boolean)

// The errors that `onError` already received. A failed `login()` and its token request report the same error.
const reported = new WeakSet<object>()

/** Collects data about one call, for errors and hooks. */
export class CallLog {
  readonly request: PreparedRequest
  readonly #settings: ClientSettings
  readonly #startedAt: number
  /** The Authorization header of each attempt. */
  readonly #sent: (string | undefined)[] = []
  #event: CallEvent | undefined
  /** The current stage of the call. */
  phase: Phase = 'request'
  /** The combined outcome of the failed attempts: `unknown` if the server may have executed an attempt. */
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

  /** The data that hooks receive about the call. Every event of the call has the same `call` object. */
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

  /** Combines the outcome of a failed attempt with the outcomes of earlier attempts. */
  failedAttempt(outcome: Outcome): void {
    this.outcome = combineOutcomes(this.outcome, outcome)
  }

  /** Creates the functions that remove this call's secrets from errors. */
  redactor() {
    const { headers, fields } = this.request
    return createRedactor(headers, this.#sent, fields)
  }

  /** Returns the details of an error that ends the call. `isTransient` means that the same call may succeed later. */
  details(isTransient: boolean): ErrorDetails {
    const { endpoint, idempotencyKey, keyLifetime, isKeyGenerated, fields } = this.request
    const { operation, auth, acts = false, afterUnknown, reference = '' } = endpoint
    const isSafe = this.outcome !== 'unknown' || !acts || (idempotencyKey !== undefined && !isKeyGenerated)
    const requestID = (fields as Partial<Record<string, string>> | undefined)?.[reference]
    const { outcome, attempts } = this
    const phase = auth === 'credentials' ? 'login' : this.phase
    const retryable = isTransient && isSafe
    const own = { requestID, idempotencyKey, keyLifetime }
    return { operation, phase, outcome, attempts, ...own, retryable, acts, afterUnknown: afterUnknown?.how }
  }

  /** Reports the final failure of the call to the hook `onError`. */
  failed(error: unknown): void {
    const { hooks, clock, logLevel } = this.#settings
    if (!hooks.onError && logLevel === 'off') return
    const known: Partial<Omit<ApiError, 'code'>> & { readonly code?: MandateKitErrorCode } =
      isMandateKitError(error) ? error : {}
    if (reported.has(known)) return
    reported.add(known)
    const { code, phase, retryable, outcome, status, errorCode } = known
    const failure = { code, phase, retryable, outcome, status, errorCode }
    const durationMs = clock.now() - this.#startedAt
    notify(this.#settings, 'onError', { ...this.event, ...failure, attempts: this.attempts, durationMs })
  }
}

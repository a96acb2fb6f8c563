import type { EndpointDefinition } from './contract/endpoint.ts'

/** The values of an error's `code`. They are stable, so that the compiler checks a `switch` over them. */
export type MandateKitErrorCode =
  | 'invalid_request'
  | 'api_error'
  | 'authentication_failed'
  | 'locked_out'
  | 'rate_limited'
  | 'unexpected_response'
  | 'connection_failed'
  | 'timeout'
  | 'aborted'

/**
 * Whether the server may have executed the logical call, over all its attempts. Check `retryable` first; when it is
 * false, `outcome` tells what to do.
 *
 * - `unknown`: the server may have acted. Find out before you call again; the message says how.
 * - `rejected`: the server responded that it did not act. Fix the cause, because the same call is rejected again.
 * - `not-sent`: no attempt reached the server. Fix the cause.
 */
export type Outcome = 'not-sent' | 'rejected' | 'unknown'

/** Where a call failed. `input`: before any I/O. `limit`: delayed by the rate limit. `wait`: between attempts or polls. */
export type Phase = 'input' | 'login' | 'limit' | 'request' | 'response' | 'wait'

/** The fields of every error of this package. */
export interface ErrorDetails {
  /** Operation id, for example `gateway.charge`. */
  readonly operation: EndpointDefinition['operation'] | string
  /** Where the call failed. */
  readonly phase: Phase
  /** Whether the server may have executed the call, over all its attempts. */
  readonly outcome: Outcome
  /** Number of attempts that were started. */
  readonly attempts: number
  /** The key of this logical call. Pass it again to retry a charge or a renewal safely. */
  readonly idempotencyKey?: string | undefined
  /** The merchant's own identifier of a subscription request (S1). */
  readonly requestID?: string | undefined
  /**
   * Whether the same call can be made again later: it can succeed, and it cannot execute twice. Check this first. Then
   * wait for `retryAfterMs` or a pause of your own, and pass the same `idempotencyKey` to a charge or renewal. It is false
   * for a charge of unknown outcome whose key the client made: only a call with the error's `idempotencyKey` is safe.
   */
  readonly retryable: boolean
  /** How long to wait before the next call, in milliseconds; undefined when no wait is known. */
  readonly retryAfterMs?: number | undefined
  /** The reason, if it is known to hold no secret. */
  readonly cause?: unknown
}

/** The rate limit as the server's headers report it (Limits, area S). */
export interface RateLimit {
  /** Maximum requests per minute. */
  readonly limit?: number | undefined
  /** Requests left in the current window. */
  readonly remaining?: number | undefined
  /** When the window ends. */
  readonly resetAt?: Date | undefined
}

/** One rule that an input broke. It names the type of the received value, never the value. */
export interface InputIssue {
  /** Name of the field or option, such as `amount` or `retry.limit`. */
  readonly field: string
  /** What the field must be, such as `a whole number from 0`. */
  readonly rule: string
  /** Type of the received value, such as `string`; `undefined` when the field is missing. */
  readonly received: string
  /** The issue as a sentence without a full stop. */
  readonly message: string
}

// In the global registry, so that the ESM and the CommonJS build of this package recognize each other's errors.
const BRAND = Symbol.for('mandatekit.error')

// Minifiers rename classes, and the CommonJS build numbers them: the name comes from the code.
const NAMES: Readonly<Record<MandateKitErrorCode, string>> = {
  invalid_request: 'InvalidRequestError',
  api_error: 'ApiError',
  authentication_failed: 'AuthenticationError',
  locked_out: 'LockedOutError',
  rate_limited: 'RateLimitError',
  unexpected_response: 'UnexpectedResponseError',
  connection_failed: 'ConnectionError',
  timeout: 'TimeoutError',
  aborted: 'AbortedError',
}

/** Base of every error that this package throws on purpose. */
export abstract class MandateKitError extends Error implements ErrorDetails {
  /** Tells the classes apart, also between copies of this package. */
  declare readonly code: MandateKitErrorCode
  declare readonly operation: string
  declare readonly phase: Phase
  declare readonly outcome: Outcome
  declare readonly attempts: number
  declare readonly idempotencyKey: string | undefined
  declare readonly requestID: string | undefined
  declare readonly retryable: boolean
  declare readonly retryAfterMs: number | undefined

  constructor(code: MandateKitErrorCode, message: string, { cause, ...details }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    Object.defineProperty(this, BRAND, { value: true })
    Object.assign(this, details, { name: NAMES[code], code })
  }

  /** The error as plain data for a log: every public field, without the stack. */
  toJSON(): Record<string, unknown> {
    const details: Record<string, unknown> = { message: this.message }
    return Object.assign(details, this)
  }
}

/**
 * Whether a value is an error of this package, from this copy or another one. `code` identifies its class.
 *
 * @example if (isMandateKitError(error) && error.retryable) retryIn(error.retryAfterMs ?? 1000)
 */
export const isMandateKitError = (value: unknown): value is AnyMandateKitError =>
  typeof value === 'object' && value !== null && BRAND in value

/**
 * Input or options that break a rule, or credentials or a key that cannot be read or used. Input is checked before any
 * I/O. Credentials are read in the phase `login`, possibly after an attempt: check `outcome`.
 */
export class InvalidRequestError extends MandateKitError {
  declare readonly code: 'invalid_request'
  /** Every rule that was broken. */
  declare readonly issues: readonly InputIssue[]

  constructor(operation: string, issues: readonly InputIssue[], details: Partial<ErrorDetails> = {}) {
    const defaults = { phase: 'input', outcome: 'not-sent', attempts: 0, retryable: false } as const
    const message = `${operation}: ${issues.map((issue) => issue.message).join('; ')}.`
    super('invalid_request', message, Object.assign({ issues }, defaults, details, { operation }))
  }
}

/** What an error carries about the response that rejected the call. */
export interface ApiErrorDetails extends ErrorDetails {
  /** HTTP status; absent when the rate limit delayed the call and nothing was sent. */
  readonly status?: number | undefined
  /** The server's code: `errorCode` of area S, `error.code` of area G. */
  readonly errorCode?: string | undefined
  /** The server's identifier of the request, if it sent one. */
  readonly serverRequestId?: string | undefined
  /** Response headers with lower-case names, without headers that could hold a secret. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The parsed JSON of the response without known secret fields; absent for token requests. */
  readonly body?: unknown
  /** Contents of the `X-RateLimit-…` headers; absent when there were none. */
  readonly rateLimit?: RateLimit | undefined
}

/** The server responded, and the response is not a success. */
export class ApiError extends MandateKitError {
  declare readonly code: 'api_error' | 'authentication_failed' | 'locked_out' | 'rate_limited'
  declare readonly status: number | undefined
  declare readonly errorCode: string | undefined
  declare readonly serverRequestId: string | undefined
  declare readonly headers: Readonly<Record<string, string>>
  declare readonly body: unknown
  declare readonly rateLimit: RateLimit | undefined

  constructor(message: string, details: ApiErrorDetails, code: ApiError['code'] = 'api_error') {
    super(code, message, Object.assign({ status: undefined, headers: {} }, details))
  }
}

/**
 * HTTP 401: the credentials, token or API key were not accepted. After a rejected login (`phase` is `login`, or the
 * call is `login()`), later calls fail with the same error and without a request, until the credentials change,
 * `login()` is called or the cool-down (`loginCooldown`) ends.
 *
 * @example 401 with `{ "errorCode": "401", "errorMessage": "…" }` for a login with a wrong password
 */
export class AuthenticationError extends ApiError {
  declare readonly code: 'authentication_failed'

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details, 'authentication_failed')
  }
}

/**
 * HTTP 403 for a token request: after too many failed logins the server also rejects valid credentials (Authentication,
 * area S, rule 4). Later calls fail without a request, as after any rejected login.
 */
export class LockedOutError extends ApiError {
  declare readonly code: 'locked_out'

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details, 'locked_out')
  }
}

/**
 * HTTP 429, or a call that was not sent because the last response said that no requests remain. `status` is absent in
 * the second case.
 *
 * @example 429 with `Retry-After: 7`
 */
export class RateLimitError extends ApiError {
  declare readonly code: 'rate_limited'

  constructor(message: string, details: ApiErrorDetails) {
    super(message, details, 'rate_limited')
  }
}

/** A 2xx response that lacks required fields, or a redirect. The server may have acted. */
export class UnexpectedResponseError extends MandateKitError {
  declare readonly code: 'unexpected_response'
  /** HTTP status. */
  declare readonly status: number
  /** Response headers with lower-case names, without headers that could hold a secret. */
  declare readonly headers: Readonly<Record<string, string>>
  /** The parsed JSON of the response without known secret fields; absent when it is not JSON. */
  declare readonly body: unknown

  constructor(
    message: string,
    details: Omit<ApiErrorDetails, 'errorCode' | 'rateLimit'> & { status: number },
  ) {
    super('unexpected_response', message, Object.assign({ headers: {} }, details))
  }
}

/** No response: the connection failed. `outcome` tells whether the request may have reached the server. */
export class ConnectionError extends MandateKitError {
  declare readonly code: 'connection_failed'
  /** The runtime's code, for example `ECONNREFUSED`, if it gave one. */
  declare readonly reason: string | undefined

  constructor(message: string, details: ErrorDetails & { readonly reason?: string | undefined }) {
    super('connection_failed', message, details)
  }
}

/**
 * An attempt, a call or a waiting helper took longer than its limit. A waiting helper only reads: its `outcome` is
 * `unknown`, because the state may still change, and `retryable` is true. Wait again or read later, and do not charge
 * or subscribe again meanwhile. `cause` is the failure of the last read, if that failed.
 */
export class TimeoutError extends MandateKitError {
  declare readonly code: 'timeout'
  /** The limit, in milliseconds. */
  declare readonly timeoutMs: number
  /** The last state that a waiting helper read; `undefined` when no read succeeded. */
  declare readonly lastState: unknown

  constructor(
    message: string,
    details: ErrorDetails & { readonly timeoutMs: number; readonly lastState?: unknown },
  ) {
    super('timeout', message, details)
  }
}

/** The caller's AbortSignal ended the call or a waiting helper. If `retryable`, call again with another signal. */
export class AbortedError extends MandateKitError {
  declare readonly code: 'aborted'

  constructor(message: string, details: ErrorDetails) {
    super('aborted', message, details)
  }
}

/** Every error of this package, told apart by `code`: the compiler reports a missing case of a `switch` over it. */
export type AnyMandateKitError =
  | InvalidRequestError
  | (ApiError & { readonly code: 'api_error' })
  | AuthenticationError
  | LockedOutError
  | RateLimitError
  | UnexpectedResponseError
  | ConnectionError
  | TimeoutError
  | AbortedError

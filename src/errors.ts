import type { EndpointDefinition, FindOut } from './contract/endpoint.ts'
import type { Verdict } from './contract/verdict.ts'

/** The stable values of an error's `code`. The compiler can check that a `switch` handles every value. */
export type MandateKitErrorCode =
  | 'invalid_request'
  | 'api_error'
  | 'authentication_failed'
  | 'locked_out'
  | 'rate_limited'
  | 'unexpected_response'
  | 'key_reused'
  | 'connection_failed'
  | 'timeout'
  | 'aborted'

/**
 * Whether the server may have executed any attempt of the call. Shows what to do if `retryable` is false.
 *
 * - `unknown`: the server may have acted. If the call changes data, the error's message says what to do next.
 * - `rejected`: the server responded that it did not act. Fix the cause before you call again.
 * - `not-sent`: no attempt reached the server. Fix the cause before you call again.
 */
export type Outcome = 'not-sent' | 'rejected' | 'unknown'

/**
 * The stage at which a call failed. `input`: before any I/O. `limit`: while the rate limit delayed the call. `wait`:
 * during a pause between attempts, or during `waitForCharge` or `waitForStatus`.
 */
export type Phase = 'input' | 'login' | 'limit' | 'request' | 'response' | 'wait'

/** The fields of every error of this package. */
export interface ErrorDetails {
  /** Id of the operation, for example `gateway.charge`. */
  readonly operation: EndpointDefinition['operation'] | string
  /** The stage at which the call failed. */
  readonly phase: Phase
  /** Whether the server may have executed any attempt of the call. */
  readonly outcome: Outcome
  /** How many attempts the client started. */
  readonly attempts: number
  /** The idempotency key of this call. Pass the key again to retry a charge or a renewal safely. */
  readonly idempotencyKey?: string | undefined
  /** The client's option `keyLifetime`: how long the gateway keeps the key, in milliseconds. */
  readonly keyLifetime?: number | undefined
  /** The call's `totalTimeout`, but at most `keyLifetime`, in milliseconds; absent if `keyLifetime` is absent. */
  readonly totalTimeout?: number | undefined
  /** The merchant's own identifier of a subscription request (S1). */
  readonly requestID?: string | undefined
  /**
   * Whether it is safe and useful to make the call again. If true, first wait `retryAfterMs` milliseconds; if this time
   * is undefined, choose a time. For a charge or renewal, pass the failed call's key. `retryable` is false if a
   * charge's outcome is unknown and the client made its key: a new call has a new key and may charge the payer again.
   */
  readonly retryable: boolean
  /**
   * How long to wait before the next call, in whole milliseconds; `undefined` if no wait is known. If a server asks for
   * less than 1 s, the client ignores that wait. A wait above 1 h becomes 1 h.
   */
  readonly retryAfterMs?: number | undefined
  /** Whether the operation moves money or changes state on the server. */
  readonly acts?: boolean | undefined
  /** What to do if `outcome` is `unknown`. Ignore this field for other outcomes. */
  readonly afterUnknown?: FindOut | undefined
  /** The error that caused this error; absent if the cause may contain a secret. */
  readonly cause?: unknown
}

/** The rate limit as the server's headers report it (Limits, area S). */
export interface RateLimit {
  /** Maximum requests per minute. */
  readonly limit?: number | undefined
  /** Requests left in the current window. */
  readonly remaining?: number | undefined
  /** When the current window ends. */
  readonly resetAt?: Date | undefined
}

/** Describes an invalid field or option. Never contains its value, which may be secret. */
export interface InputIssue {
  /** Name of the field or option, such as `amount` or `retry.limit`. */
  readonly field: string
  /** The values that the field accepts, such as `a whole number from 0`. */
  readonly rule: string
  /** Type of the received value, such as `string`; the text `undefined` when the field is missing. */
  readonly received: string
  /** A sentence that describes the issue, without a final period. */
  readonly message: string
}

// `Symbol.for` gives the ESM build and the CommonJS build the same symbol, so each build knows errors of the other.
const BRAND = Symbol.for('mandatekit.error')

/** Base class of this package's errors, except for the mock's errors. */
export abstract class MandateKitError<Details extends ErrorDetails = ErrorDetails>
  extends Error
  implements ErrorDetails
{
  // Minifiers rename classes, so each class has its name as a field.
  static override readonly name: string = 'MandateKitError'
  /** Identifies the error's class, even if another copy of this package made the error and `instanceof` fails. */
  abstract readonly code: MandateKitErrorCode
  declare readonly operation: string
  declare readonly phase: Phase
  declare readonly outcome: Outcome
  declare readonly attempts: number
  declare readonly idempotencyKey: string | undefined
  declare readonly keyLifetime: number | undefined
  declare readonly totalTimeout: number | undefined
  declare readonly requestID: string | undefined
  declare readonly retryable: boolean
  declare readonly retryAfterMs: number | undefined
  declare readonly acts: boolean | undefined
  declare readonly afterUnknown: FindOut | undefined

  constructor(message: string, { cause, ...details }: Details) {
    super(message, cause === undefined ? undefined : { cause })
    Object.defineProperty(this, BRAND, { value: true })
    Object.assign(this, details, { name: new.target.name })
  }

  /** Returns the error as plain data for a log: every public field except `stack` and `cause`. */
  toJSON(): Record<string, unknown> {
    const json: Record<string, unknown> = { message: this.message }
    return Object.assign(json, this)
  }
}

/**
 * Returns whether a value is an error of any copy of this package. If true, `code` identifies the error's class.
 * @example if (isMandateKitError(error) && error.retryable) retryIn(error.retryAfterMs ?? 1000)
 */
export const isMandateKitError = (value: unknown): value is AnyMandateKitError =>
  typeof value === 'object' && value !== null && BRAND in value

/**
 * Thrown when input or options break a rule, or when credentials or an API key cannot be read or used. The client
 * checks input before any I/O, but may read credentials again before a retry. If `phase` is `login`, check `outcome`:
 * the server may have executed an earlier attempt of the call.
 */
export class InvalidRequestError extends MandateKitError {
  static override readonly name: string = 'InvalidRequestError'
  readonly code = 'invalid_request'
  /** One issue for each broken rule. */
  declare readonly issues: readonly InputIssue[]

  constructor(operation: string, issues: readonly InputIssue[], details: Partial<ErrorDetails> = {}) {
    const defaults = { phase: 'input', outcome: 'not-sent', attempts: 0, retryable: false } as const
    const message = `${operation}: ${issues.map((issue) => issue.message).join('; ')}.`
    super(message, Object.assign({ issues }, defaults, details, { operation }))
  }
}

/** The fields of an `ApiError`. */
export interface ApiErrorDetails extends ErrorDetails {
  /** HTTP status of the response, or of the failed login that prevents this call; absent without a response. */
  readonly status?: number | undefined
  /** What the response proves; absent if `status` is absent. */
  readonly verdict?: Verdict | undefined
  /** The server's error code: the field `errorCode` in area S, or `error.code` in area G. */
  readonly errorCode?: string | undefined
  /** The server's identifier for the request; absent if the server sent none. */
  readonly serverRequestId?: string | undefined
  /** The response headers that cannot contain a secret, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The response's parsed JSON, without known secret fields; absent for token requests. */
  readonly body?: unknown
  /** The values of the `X-RateLimit-…` headers; absent if the response has no such header. */
  readonly rateLimit?: RateLimit | undefined
}

/** Thrown when the response is an error: a status of 400 or above, or an error code in a 2xx response. */
export class ApiError extends MandateKitError<ApiErrorDetails> {
  static override readonly name: string = 'ApiError'
  readonly code: 'api_error' | 'authentication_failed' | 'locked_out' | 'rate_limited' = 'api_error'
  declare readonly status: number | undefined
  declare readonly verdict: Verdict | undefined
  declare readonly errorCode: string | undefined
  declare readonly serverRequestId: string | undefined
  declare readonly headers: Readonly<Record<string, string>>
  declare readonly body: unknown
  declare readonly rateLimit: RateLimit | undefined

  constructor(message: string, details: ApiErrorDetails) {
    super(message, { status: undefined, headers: {}, ...details })
  }
}

/**
 * Thrown for HTTP 401: the server rejected the credentials, the token or the API key. If `phase` is `login`, a login
 * was rejected. Calls that need a new token then fail without a request, until the credentials change, a call of
 * `login()` succeeds, or the `loginCooldown` ends.
 * @example 401 with `{ "errorCode": "401", "errorMessage": "…" }` for a login with a wrong password
 */
export class AuthenticationError extends ApiError {
  static override readonly name: string = 'AuthenticationError'
  override readonly code = 'authentication_failed'
}

/**
 * Thrown if the API itself rejects a token request with HTTP 403. After too many failed logins, it rejects even valid
 * credentials (Authentication, area S, rule 4). Later calls fail as described at `AuthenticationError`.
 */
export class LockedOutError extends ApiError {
  static override readonly name: string = 'LockedOutError'
  override readonly code = 'locked_out'
}

/**
 * Thrown for HTTP 429. If `status` is absent, the client did not send the last attempt, because the rate limit is used
 * up, a login failed or another client is logging in. An earlier attempt may have reached the server: check `outcome`.
 * @example 429 with `Retry-After: 7`
 */
export class RateLimitError extends ApiError {
  static override readonly name: string = 'RateLimitError'
  override readonly code = 'rate_limited'
}

/**
 * Thrown for a redirect, and for a 2xx response that is unreadable, lacks required fields, or contains another record
 * than the requested one. The server may have acted.
 */
export class UnexpectedResponseError extends MandateKitError {
  static override readonly name: string = 'UnexpectedResponseError'
  readonly code = 'unexpected_response'
  /** HTTP status. */
  declare readonly status: number
  /** What the response proves: `somebody-else`, unless the body is an error in the API's own format. */
  declare readonly verdict: Verdict | undefined
  /** The response headers that cannot contain a secret, with names in lower case. */
  declare readonly headers: Readonly<Record<string, string>>
  /** The response's parsed JSON, without known secret fields; absent if the response is not JSON. */
  declare readonly body: unknown

  constructor(message: string, details: ApiErrorDetails & { readonly status: number }) {
    super(message, Object.assign({ headers: {} }, details))
  }
}

/**
 * Thrown when the response to a charge or renewal contains another charge, because the idempotency key was used before.
 * To read that charge, call `status` with the id in this error's `body`. To make the new charge, pass another key.
 */
export class KeyReusedError extends MandateKitError {
  static override readonly name: string = 'KeyReusedError'
  readonly code = 'key_reused'
  /** The charge that the server returned, without known secret fields. */
  declare readonly body: unknown
}

/** Thrown when a connection failed. `outcome` states whether a request may have reached the server. */
export class ConnectionError extends MandateKitError<
  ErrorDetails & { readonly reason?: string | undefined }
> {
  static override readonly name: string = 'ConnectionError'
  readonly code = 'connection_failed'
  /** The runtime's error code such as `ECONNREFUSED`, or a text such as `bad port`; absent if the error has neither. */
  declare readonly reason: string | undefined
}

/**
 * Thrown when an attempt, a call or a wait (`waitForCharge`, `waitForStatus`) exceeds its time limit. For a wait,
 * `outcome` is `unknown` and `retryable` is true. The charge or request may still change: do not make it again, but
 * read its state later. If the last read failed, `cause` is its error.
 */
export class TimeoutError extends MandateKitError<
  ErrorDetails & { readonly timeoutMs: number; readonly lastState?: unknown }
> {
  static override readonly name: string = 'TimeoutError'
  readonly code = 'timeout'
  /** The exceeded time limit in milliseconds, or the attempt's duration if `fetch` itself ended the attempt. */
  declare readonly timeoutMs: number
  /** The last state that `waitForCharge` or `waitForStatus` read; `undefined` if no read succeeded. */
  declare readonly lastState: unknown
}

/** Thrown when your AbortSignal ended a call or a wait. If `retryable` is true, you can retry with a new signal. */
export class AbortedError extends MandateKitError {
  static override readonly name: string = 'AbortedError'
  readonly code = 'aborted'
}

/** The union of this package's errors. In a `switch` over `code`, the compiler knows each case's error class. */
export type AnyMandateKitError =
  | InvalidRequestError
  | (ApiError & { readonly code: 'api_error' })
  | AuthenticationError
  | LockedOutError
  | RateLimitError
  | UnexpectedResponseError
  | KeyReusedError
  | ConnectionError
  | TimeoutError
  | AbortedError

/** The fields that an error of this package, or its JSON form, may have. */
export type KnownError = Partial<Omit<ApiError, 'code'>> & {
  readonly code?: MandateKitErrorCode
  readonly reason?: string | undefined
}

export const knownError = (error: unknown): KnownError => (isMandateKitError(error) ? error : {})

import type { EndpointDefinition } from './contract/endpoint.ts'

/** What an error's `code` can be; stable, so that a `switch` over it is checked. */
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
 * Whether the server may have executed the logical call, all its attempts together. Ask `retryable` first; where it is
 * false, `outcome` says what to do.
 *
 * - `unknown`: it may have acted. Find out before calling again; the message says how.
 * - `rejected`: it answered that it did not act. Fix the cause: the same call meets the same rule.
 * - `not-sent`: no attempt reached it. Fix the cause.
 */
export type Outcome = 'not-sent' | 'rejected' | 'unknown'

/**
 * Where a call stood when it failed: `input` (checks before any I/O), `login` (getting a token for it),
 * `limit` (held back by the rate limit), `request` (sending), `response` (reading), `wait` (between attempts or polls).
 */
export type Phase = 'input' | 'login' | 'limit' | 'request' | 'response' | 'wait'

/** Facts that every error of this package carries. */
export interface ErrorFacts {
  /** Operation id, for example `gateway.charge`. */
  readonly operation: EndpointDefinition['operation'] | string
  /** Where the call stood when it failed. */
  readonly phase: Phase
  /** Whether the server may have executed the call, all its attempts together. */
  readonly outcome: Outcome
  /** How many attempts were begun. */
  readonly attempts: number
  /** The key this logical call used; give it again to repeat a charge or renewal safely. */
  readonly idempotencyKey?: string | undefined
  /** The merchant's own identifier of a subscription request (S1), by which to recognise it after an unknown outcome. */
  readonly requestID?: string | undefined
  /**
   * Whether the same call, made again later, can succeed and cannot execute twice. Ask this first. True: wait
   * `retryAfterMs`, or a pause of your own where it is undefined, and call again, a charge or a renewal with the same `idempotencyKey`, an
   * aborted call with another signal. False for a charge of unknown outcome whose key the client made: only a call with
   * the error's `idempotencyKey` is safe then.
   */
  readonly retryable: boolean
  /** How long to wait before calling again, in milliseconds: what the server asked for, else a pause that was too long. */
  readonly retryAfterMs?: number | undefined
  /** A reason known to hold no secret. */
  readonly cause?: unknown
}

/** The rate limit as the server's headers tell it (Limits, area S). */
export interface RateLimit {
  /** Most requests a minute. */
  readonly limit?: number | undefined
  /** Requests left in the current window. */
  readonly remaining?: number | undefined
  /** When the window ends. */
  readonly resetAt?: Date | undefined
}

/** One rule that an input broke. `received` names the kind of value, never the value. */
export interface InputIssue {
  /** Name of the field or option, such as `amount` or `retry.limit`. */
  readonly field: string
  /** Completes "… must be". */
  readonly rule: string
  /** Completes "…, received". */
  readonly received: string
  /** The issue in words, where "field must be rule, received kind" would not say it well. */
  readonly sentence?: string | undefined
}

// In the global registry, so that an ESM copy and a CommonJS copy of this package know each other's errors.
const BRAND = Symbol.for('mandatekit.error')

// Fields that a constructor assigns are declared only: a definition of each besides would weigh in every bundle.

/** Base of every error this package throws on purpose. */
export abstract class MandateKitError extends Error implements ErrorFacts {
  abstract readonly code: MandateKitErrorCode
  declare readonly operation: string
  declare readonly phase: Phase
  declare readonly outcome: Outcome
  declare readonly attempts: number
  declare readonly idempotencyKey: string | undefined
  declare readonly requestID: string | undefined
  declare readonly retryable: boolean
  declare readonly retryAfterMs: number | undefined

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    Object.defineProperty(this, BRAND, { value: true })
    this.operation = facts.operation
    this.phase = facts.phase
    this.outcome = facts.outcome
    this.attempts = facts.attempts
    this.idempotencyKey = facts.idempotencyKey
    this.requestID = facts.requestID
    this.retryable = facts.retryable
    this.retryAfterMs = facts.retryAfterMs
  }

  /** The error as plain data for a log: every public fact, no stack. */
  toJSON(): Record<string, unknown> {
    const facts: Record<string, unknown> = { name: this.name, message: this.message }
    return Object.assign(facts, this)
  }
}

/**
 * Whether a value is an error of this package, from this copy of it or another. It is then of one of the classes, told
 * apart by `code`.
 *
 * @example if (isMandateKitError(error) && error.retryable) comeBackIn(error.retryAfterMs ?? 1000)
 */
export const isMandateKitError = (value: unknown): value is AnyMandateKitError => {
  try {
    // By the brand alone: an error of another realm, such as a test runner's, is no instance of this one's `Error`.
    return typeof value === 'object' && value !== null && BRAND in value
  } catch {
    // A proxy that refuses to be looked at: whoever asks about a failure must not meet another one.
    return false
  }
}

/** Issues in words; fields that broke the same rule in the same way share a sentence. */
const wordsOf = (issues: readonly InputIssue[]): string => {
  const sentences = new Map<string, string[]>()
  for (const { field, rule, received, sentence } of issues) {
    const words = sentence ?? `be ${rule}, received ${received}`
    sentences.set(words, [...(sentences.get(words) ?? []), ...(sentence === undefined ? [field] : [])])
  }
  const told = [...sentences].map(([words, fields]) => {
    const [last = '', ...before] = fields.toReversed()
    if (before.length > 0) return `${before.toReversed().join(', ')} and ${last} must each ${words}`
    return last === '' ? words : `${last} must ${words}`
  })
  // Names that exist are listed once, after the last that does not.
  const brief = told.map((words, index) =>
    words.replace(/; there are .*/, (list) =>
      told.slice(index + 1).some((later) => later.endsWith(list)) ? '' : list,
    ),
  )
  return `${brief.join('; ')}.`.replace(/\?[;.]/g, '?')
}

/**
 * Input that breaks a rule, or credentials or a key that cannot be had or used. Input is checked before any I/O;
 * credentials are asked for in the phase `login`, which may follow an attempt: `outcome` tells.
 */
export class InvalidRequestError extends MandateKitError {
  override readonly name = 'InvalidRequestError'
  readonly code = 'invalid_request'
  declare readonly issues: readonly InputIssue[]

  constructor(operation: string, issues: readonly InputIssue[], facts: Partial<ErrorFacts> = {}) {
    const { attempts = 0, outcome, retryable = false } = facts
    // Options, helpers and messages that come in have nothing to send.
    const sends = /^(?:subscriptions|gateway)\./.test(operation)
    const unsent =
      sends && attempts === 0 ? ` Nothing was sent${retryable ? ': calling again is safe' : ''}.` : ''
    const sent = attempts > 0 ? ` The call had been sent before; its outcome is ${outcome}.` : ''
    super(`${operation}: ${wordsOf(issues)}${unsent}${sent}`, {
      phase: 'input',
      outcome: 'not-sent',
      attempts: 0,
      retryable: false,
      ...facts,
      operation,
    })
    this.issues = issues
  }
}

/** Facts of an answer that refused a call. */
export interface ApiErrorFacts extends ErrorFacts {
  /** HTTP status; absent when the call was held back before it was sent. */
  readonly status?: number | undefined
  /** The server's own code: `errorCode` of area S, `error.code` of area G. */
  readonly errorCode?: string | undefined
  /** The server's identifier of the request, when it sent one. */
  readonly requestId?: string | undefined
  /** Answer headers without those that could hold a secret, names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The answer's body without known secret fields; absent for token requests. */
  readonly body?: unknown
  /** What the headers `X-RateLimit-…` said; absent when there were none. */
  readonly rateLimit?: RateLimit | undefined
}

/** The server answered, and the answer is not a success. */
export class ApiError extends MandateKitError {
  override readonly name: string = 'ApiError'
  readonly code: 'api_error' | 'authentication_failed' | 'locked_out' | 'rate_limited' = 'api_error'
  /** HTTP status; absent when the call was held back before it was sent. */
  declare readonly status: number | undefined
  /** The server's own code: `errorCode` of area S, `error.code` of area G. */
  declare readonly errorCode: string | undefined
  declare readonly requestId: string | undefined
  /** Answer headers without those that could hold a secret. */
  declare readonly headers: Readonly<Record<string, string>>
  /** The parsed answer without known secret fields; absent for token requests. */
  declare readonly body: unknown
  declare readonly rateLimit: RateLimit | undefined

  constructor(message: string, facts: ApiErrorFacts) {
    super(message, facts)
    this.status = facts.status
    this.errorCode = facts.errorCode
    this.requestId = facts.requestId
    this.headers = facts.headers ?? {}
    this.body = facts.body
    this.rateLimit = facts.rateLimit
  }
}

/**
 * HTTP 401: the credentials, token or API key are not accepted. After a refused login (`phase` is `login`, or `login()`
 * itself) later calls fail like this without a request, until the credentials change, `login()` is called or the
 * cool-down (`loginCooldown`) has passed.
 *
 * @example 401 with `{ "errorCode": "401", "errorMessage": "…" }` on a login with a wrong password
 */
export class AuthenticationError extends ApiError {
  override readonly name = 'AuthenticationError'
  override readonly code = 'authentication_failed'
}

/**
 * HTTP 403 of a token request: too many failed logins; valid credentials are refused as well until the server relents
 * (area S, Authentication 4). Later calls fail like this without a request, as after any refused login.
 */
export class LockedOutError extends ApiError {
  override readonly name = 'LockedOutError'
  override readonly code = 'locked_out'
}

/**
 * HTTP 429, or a call held back because the last answer said that no requests remain; then `status` is absent.
 *
 * @example 429 with `Retry-After: 7`
 */
export class RateLimitError extends ApiError {
  override readonly name = 'RateLimitError'
  override readonly code = 'rate_limited'
}

/** A 2xx answer that lacks what the contract promises, or a redirect. The server may have acted. */
export class UnexpectedResponseError extends MandateKitError {
  override readonly name = 'UnexpectedResponseError'
  readonly code = 'unexpected_response'
  declare readonly status: number
  declare readonly headers: Readonly<Record<string, string>>
  /** The answer: parsed JSON, or the beginning of its text. */
  declare readonly body: unknown

  constructor(
    message: string,
    facts: ErrorFacts & {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: unknown
    },
  ) {
    super(message, facts)
    this.status = facts.status
    this.headers = facts.headers ?? {}
    this.body = facts.body
  }
}

/** No answer: the connection failed before or while the server could act; `outcome` tells which. */
export class ConnectionError extends MandateKitError {
  override readonly name = 'ConnectionError'
  readonly code = 'connection_failed'
  /** The platform's code, for example `ECONNREFUSED`, when it gave one. */
  declare readonly reason: string | undefined

  constructor(message: string, facts: ErrorFacts & { readonly reason?: string | undefined }) {
    super(message, facts)
    this.reason = facts.reason
  }
}

/**
 * An attempt, all attempts together, or a waiting helper took longer than allowed. A waiting helper only reads: its
 * `outcome` is `unknown`, since what it waits for may still come, and `retryable` is true. Wait again or read later, and
 * do not charge or subscribe again meanwhile. `cause` is its last failure, when the last read failed.
 */
export class TimeoutError extends MandateKitError {
  override readonly name = 'TimeoutError'
  readonly code = 'timeout'
  /** The limit that was reached, in milliseconds. */
  declare readonly timeoutMs: number
  /** What a waiting helper last saw; `undefined` when no read succeeded. */
  declare readonly lastState: unknown

  constructor(
    message: string,
    facts: ErrorFacts & { readonly timeoutMs: number; readonly lastState?: unknown },
  ) {
    super(message, facts)
    this.timeoutMs = facts.timeoutMs
    this.lastState = facts.lastState
  }
}

/**
 * The caller's AbortSignal ended the call, or a waiting helper, of which the same holds as of its `TimeoutError`. Where
 * `retryable` is true, the call can be made again with another signal.
 */
export class AbortedError extends MandateKitError {
  override readonly name = 'AbortedError'
  readonly code = 'aborted'
}

/**
 * Every error of this package, told apart by `code`: a `switch` over it knows the fields of each class, and the compiler
 * tells when a case is missing. `api_error` is `ApiError` itself; its subclasses have codes of their own.
 */
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

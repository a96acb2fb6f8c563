import { functionOption } from '../check.ts'
import { formatDuration } from '../clock.ts'
import { type Input, isObject, object, optional, readWith, schema } from '../contract/fields.ts'
import type { MandateKitErrorCode, Outcome, Phase, RateLimit } from '../errors.ts'

/** The fields that all hooks except `onTokenRenewed` receive. They contain no headers, body or credentials. */
export interface CallEvent {
  /** The same object in every event of one call. Use it as the key of a `WeakMap` of spans or timers. */
  readonly call: object
  /** Operation id, for example `gateway.charge`. */
  readonly operation: string
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** Path template for names of spans and metrics, for example `/api/v1/mfs/charges/:id`. */
  readonly path: string
  /** The URL of the request, with the query and with identifiers such as a charge's id. */
  readonly url: string
  /** The idempotency key that the client sends with a charge, a renewal or a call of `request`. */
  readonly idempotencyKey: string | undefined
}

/** The event of `onRequest`: an attempt is about to be sent. */
export interface RequestEvent extends CallEvent {
  /** Number of the attempt; 1 for the first. */
  readonly attempt: number
}

/** The event of `onResponse`: an attempt received a response, which may be an error. */
export interface ResponseEvent extends RequestEvent {
  /** HTTP status. */
  readonly status: number
  /** The server's identifier for the request; absent if the server sent none. */
  readonly serverRequestId: string | undefined
  /** The values of the `X-RateLimit-…` headers; absent if the response has no such header. */
  readonly rateLimit: RateLimit | undefined
  /** Time from the start of the request to the end of the response body, in milliseconds of the client's clock. */
  readonly durationMs: number
}

/** Why the client retries an attempt. */
export type RetryReason = 'not-sent' | 'rate-limited' | 'response-lost' | 'token-rejected'

/** The event of `onRetry`: an attempt failed and will be retried. */
export interface RetryEvent extends RequestEvent {
  /** Why the client retries the attempt, for example `response-lost`. */
  readonly reason: RetryReason
  /** How long the client waits before the retry, in milliseconds. */
  readonly waitMs: number
  /** HTTP status of the failed attempt; absent if there was no response. */
  readonly status: number | undefined
}

/** The event of `onError`: a call with valid input failed, maybe before any attempt. Each failure is reported once. */
export interface FailureEvent extends CallEvent {
  /** The error's `code`, for example `timeout`. */
  readonly code: MandateKitErrorCode | undefined
  /** The stage at which the call failed. */
  readonly phase: Phase | undefined
  /** The error's `retryable`: whether you can safely retry the call later. */
  readonly retryable: boolean | undefined
  /** Whether the server may have executed the call. */
  readonly outcome: Outcome | undefined
  /** The error's HTTP status, if the error has one. */
  readonly status: number | undefined
  /** The server's error code: the field `errorCode` in area S, or `error.code` in area G. */
  readonly errorCode: string | undefined
  /** How many attempts the call made. 0 if the call ended before the first attempt. */
  readonly attempts: number
  /** Duration of the whole call, including waits, in milliseconds of the client's clock. */
  readonly durationMs: number
}

/** The event of `onTokenRenewed`: a token request succeeded. */
export interface TokenRenewedEvent {
  /** The login's operation id, `subscriptions.login`. */
  readonly operation: string
  /** Why the client requested a token: `first`, `expiring`, `unauthorized` (after a 401) or `login-called`. */
  readonly reason: string
  /** The OAuth grant type of the token request: `password` or `refresh_token`. */
  readonly grant: string
}

const hooks = {
  /** Called before an attempt is sent. */
  onRequest: optional(functionOption<(event: RequestEvent) => unknown>()),
  /** Called after an attempt received a response, which may be an error. */
  onResponse: optional(functionOption<(event: ResponseEvent) => unknown>()),
  /** Called when an attempt failed and will be retried. */
  onRetry: optional(functionOption<(event: RetryEvent) => unknown>()),
  /** Called when a call ended with an error. */
  onError: optional(functionOption<(event: FailureEvent) => unknown>()),
  /** Called after a token request succeeded. */
  onTokenRenewed: optional(functionOption<(event: TokenRenewedEvent) => unknown>()),
}
/**
 * Functions that observe calls. The client does not wait for hooks, and it ignores their errors and rejections.
 * If a method's input is invalid, the method rejects with `InvalidRequestError`, and the client calls no hook.
 */
export interface Hooks extends Input<typeof hooks> {}

/** Describes something unexpected that does not make the call fail, such as a response that lacks a field. */
export interface UnexpectedReport {
  /** Operation id, for example `gateway.charge`. */
  readonly operation: string
  /** A sentence that describes the problem. */
  readonly message: string
  /** Path of the field in the response. `[]` stands for any list item, as in `subscriptionPayments[].dueDate`. */
  readonly field?: string | undefined
  /** What the field must contain. */
  readonly rule?: string | undefined
  /** Type of the received value, or `another value` if it is not the value that was sent. Never the value itself. */
  readonly received?: string | undefined
}

const hooksSchema = object<Hooks>(hooks, 'an object of functions', 'option')

/** The option `hooks`. The client keeps your object instead of a copy, because a hook may use `this`. */
export const hooksOption = schema<Hooks, Hooks>(
  () => ({}),
  (value, issues) => {
    // A class instance may have other fields, which its hooks use. So only names that begin with `on` are checked.
    const isHook = ([name]: [string, unknown]) => Object(value).constructor === Object || /^on/.test(name)
    const named = isObject(value) && Object.entries(value).filter(isHook)
    readWith(hooksSchema, named ? Object.fromEntries(named) : value, issues)
    return value
  },
)

/** Where a client writes its log: `console`, a pino logger, or any object with these methods. */
export interface Logger {
  /** Writes a line about a request or a response. */
  debug(line: string): unknown
  /** Writes a line about a new token. */
  info(line: string): unknown
  /** Writes a line about a retry, an unexpected response or a failed token store. */
  warn(line: string): unknown
  /** Writes a line about a call that failed. */
  error(line: string): unknown
}

export const LOG_LEVELS: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug']
/** How much a client logs. `debug` logs every request and response. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug'

export interface Events {
  readonly onRequest: RequestEvent
  readonly onResponse: ResponseEvent
  readonly onRetry: RetryEvent
  readonly onError: FailureEvent
  readonly onTokenRenewed: TokenRenewedEvent
  readonly onUnexpected: UnexpectedReport
}

type Lines = {
  readonly [Name in keyof Events]: readonly [keyof Logger, (event: Events[Name]) => string]
}

const answered = (status: number | undefined): string => (status === undefined ? '' : ` (HTTP ${status})`)

const LINES: Lines = {
  onRequest: ['debug', ({ attempt, method, path }) => `attempt ${attempt}: ${method} ${path}`],
  onResponse: ['debug', ({ status, durationMs }) => `HTTP ${status} after ${formatDuration(durationMs)}`],
  onRetry: [
    'warn',
    ({ attempt, reason, status, waitMs }) =>
      `attempt ${attempt} failed: ${reason}${answered(status)}; retry in ${formatDuration(waitMs)}`,
  ],
  onError: [
    'error',
    ({ code, outcome, status, errorCode, attempts, durationMs }) =>
      `failed: ${code}${answered(status)}${errorCode ? `, code "${errorCode}"` : ''}, outcome ${outcome}, attempts ${attempts}, ${formatDuration(durationMs)}`,
  ],
  onTokenRenewed: ['info', ({ reason, grant }) => `new token: ${reason}, by ${grant}`],
  onUnexpected: ['warn', ({ message }) => message],
}

// Without this, text from a server could begin a new log line or control the terminal.
const CONTROL = /[\p{Cc}\u2028\u2029]/gu
const escaped = (text: string): string =>
  text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Returns the level in the environment variable MANDATEKIT_LOG, or `off` if it contains no known level. */
export const environmentLevel = (): LogLevel => {
  try {
    const name: unknown = Reflect.get(globalThis, 'process')?.env?.MANDATEKIT_LOG
    return LOG_LEVELS.find((level) => level === name) ?? 'off'
  } catch {
    // Deno may forbid access to the environment.
    return 'off'
  }
}

/** Runs a user's function. Ignores its errors, because a failed log line must not make a payment fail. */
const quietly = (work: () => unknown): void => {
  ;(async () => work())().catch(() => undefined)
}

type Receivers = { readonly [Name in keyof Events]?: ((event: Events[Name]) => unknown) | undefined }

interface Observers extends Pick<Receivers, 'onUnexpected'> {
  readonly hooks: Hooks
  readonly logger?: Logger | undefined
  readonly logLevel: LogLevel
}

/** Logs an event, then calls the user's hook or `onUnexpected`. Ignores all errors. In a hook, `this` is `hooks`. */
export const notify = <Name extends keyof Events>(
  observers: Observers,
  name: Name,
  event: Events[Name],
): void => {
  const { logger = console, logLevel, hooks } = observers
  const [level, line] = LINES[name]
  if (LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(logLevel))
    quietly(() => logger[level](`mandatekit ${event.operation}: ${escaped(line(event))}`))
  const receivers: Receivers = name === 'onUnexpected' ? observers : hooks
  if (receivers[name]) quietly(() => receivers[name]?.(event))
}

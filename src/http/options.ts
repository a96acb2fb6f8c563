import { check, clockOption, duration, fromZero, functionOption, objectWith, signalOption } from '../check.ts'
import { systemClock } from '../clock.ts'
import * as fields from '../contract/fields.ts'
import { isHeaderText } from '../contract/formats.ts'
import type { Logger, LogLevel, UnexpectedReport } from './observe.ts'
import { environmentLevel, hooksOption, LOG_LEVELS } from './observe.ts'

/** An object with headers, such as an instance of `Headers`. */
export interface FetchHeaders {
  /** Calls `visit` with the value and the name of each header. */
  forEach(visit: (value: string, name: string) => void): void
}

/** The parts of a response that the client reads. Every implementation of `fetch` provides these parts. */
export interface FetchResponse {
  /** HTTP status. */
  readonly status: number
  /** The response's headers. */
  readonly headers: FetchHeaders
  /** The body as a byte stream. Without a stream, the client ignores `maxResponseBytes`. */
  readonly body?: unknown
  /** True if a wrapper of `fetch` has read the body. Then the client calls `text` instead of reading `body`. */
  readonly bodyUsed?: boolean
  /** Reads the body as UTF-8 text. */
  text(): Promise<string>
}

/** The second argument of your `fetch`: a plain object, because some implementations cannot read a `Request`. */
export interface FetchRequest {
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** All headers of the request, including Authorization. */
  readonly headers: Record<string, string>
  /**
   * JSON text, or the URL-encoded body of a token request; absent if there is no body. If a request without content
   * must not be sent twice, `body` is an empty `ArrayBuffer`, because some runtimes resend requests without a body.
   */
  readonly body?: string | ArrayBuffer
  /** Aborts when a time limit passes or the caller aborts the call. */
  readonly signal: AbortSignal
  /** Always `manual`, because the client never follows redirects. */
  readonly redirect: 'manual'
  /** Only on Deno: a `Deno.HttpClient` with a new connection, on which Deno resends nothing. Pass it to `fetch`. */
  readonly client?: object
  /** Only on Bun: opens a new connection for a request that must not be sent twice. Pass `keepalive` on to `fetch`. */
  readonly keepalive?: false
}

/** A `fetch` function from the runtime, undici, a worker or a mock. The client calls the function without `this`. */
export type FetchFunction = (url: string, request: FetchRequest) => Promise<FetchResponse>

const BASE_URL = /^https?:\/\/[^\s\\?#/:@][^\s\\?#/@]*(?:\/[^\s\\?#]*)?$/i
const API_PREFIX = /^(?:\/[\w.~-]+)*$/
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
const OWN_HEADER = /^(?:authorization|content-type|idempotency-key|content-length|host)$/

const baseUrl = fields.field<string, string | URL>(
  'an http or https URL without credentials, query or fragment',
  (value) => {
    const address = fields.urlText(value)
    // `trim` removes a line break at the end, because values from environment files often have one.
    const text = typeof address === 'string' ? address.trim() : ''
    return BASE_URL.test(text) && URL.canParse(text) ? new URL(text).href.replace(/\/+$/, '') : undefined
  },
  fields.STRING,
)

/** Headers that a user adds: an object of names and values, or a `Headers` instance. */
export type HeadersInput = Readonly<Record<string, string | undefined>> | FetchHeaders

const headers: fields.Field<Readonly<Record<string, string>>, HeadersInput> = fields.schema(
  () => ({}),
  (value, issues) => {
    const result: Record<string, string> = {}
    const add = (content: unknown, given: string): void => {
      const name = given.toLowerCase()
      const isAllowed = HEADER_NAME.test(name) && !OWN_HEADER.test(name)
      const rule = 'a string of visible ASCII characters'
      const message = isAllowed ? rule : 'omitted: the client sets it, or its name is not valid'
      const isText = typeof content === 'string' && (content === '' || isHeaderText(content))
      if (isAllowed && isText) result[name] = content
      else if (content !== undefined) issues.push({ code: 'custom', message, input: content, path: [given] })
    }
    if (!fields.isObject(value))
      issues.push({ code: 'custom', message: 'an object of names and values', input: value })
    else if (typeof value.forEach === 'function') value.forEach(add)
    else for (const [name, content] of Object.entries(value)) add(content, name)
    return result
  },
)

const retryOptions = {
  /** Maximum number of retries of a call. A retry after a rejected token does not count. Default: 2. */
  limit: fields.optional(fields.wholeNumber(0)),
  /** Longest wait before a retry, in ms. If the server asks for a longer wait, the call fails. Default: 30 000. */
  maxWait: fields.optional(fromZero),
}
/** Limits of a client's automatic retries. */
export interface RetryOptions extends fields.Input<typeof retryOptions> {}

const retry = fields.unless<RetryOptions, RetryOptions, RetryOptions | false>(
  fields.strict(retryOptions, 'option'),
  (value) => value === false,
  () => ({ limit: 0 }),
)

/** The default options of a client. */
export const CLIENT_DEFAULTS = {
  timeout: 30_000,
  totalTimeout: 120_000,
  maxResponseBytes: 10_000_000,
  retry: { limit: 2, maxWait: 30_000 },
  rateLimit: 'wait',
} as const

const changeableOptions = {
  /** Time limit of one attempt, including reading the response, in milliseconds of real time. Default: 30 000. */
  timeout: fields.optional(duration()),
  /** Time limit of a call with all its attempts and waits, in milliseconds of real time. Default: 120 000. */
  totalTimeout: fields.optional(duration()),
  /** Largest response body that the client reads, in bytes after decompression. Default: 10 000 000. */
  maxResponseBytes: fields.optional(fields.wholeNumber(1)),
  /** Limits of automatic retries; `false` for no retries. Default: `{ limit: 2, maxWait: 30_000 }`. */
  retry: fields.optional(retry),
  /**
   * What the client does when the rate limit is used up. With `wait` (default), it delays calls by up to 60 s and sends
   * them in order. A call that would wait longer fails with a `RateLimitError`. With `throw`, the client delays no
   * call, and a 429 causes a `RateLimitError` without a retry.
   */
  rateLimit: fields.optional(fields.oneOf(['wait', 'throw'])),
  /** Headers for every request. Not allowed: Authorization, Content-Type, Content-Length, Host, Idempotency-Key. */
  headers: fields.optional(headers),
  /** Functions that observe calls, for logs, spans and metrics. Default: none. */
  hooks: fields.optional(hooksOption),
  /**
   * Called when a successful response has an unexpected or missing field, and when the token store fails. The client
   * ignores errors of this function.
   */
  onUnexpected: fields.optional(functionOption<(report: UnexpectedReport) => unknown>()),
  /**
   * What the client does if a response contains a record that was not requested. With `throw` (default), it
   * throws an `UnexpectedResponseError`. With `report`, it calls `onUnexpected` and returns the response. Use `report`
   * for a stub with fixed responses, or for a server that returns another identifier of the same record.
   */
  onOtherRecord: fields.optional(fields.oneOf(['throw', 'report'])),
  /** The logger of the client, for example a pino logger. Log lines contain no secrets. Default: `console`. */
  logger: fields.optional(objectWith<Logger>('a logger', 'debug', 'info', 'warn', 'error')),
  /**
   * How much the client logs: `off`, `error`, `warn`, `info` or `debug`. Default: the environment variable
   * `MANDATEKIT_LOG`, or `off`.
   * @example logLevel: 'warn' // one line for each retry, unexpected response and failure
   */
  logLevel: fields.optional(fields.oneOf(LOG_LEVELS)),
}
/** Options that `withOptions` can change. */
export interface ClientChanges extends fields.Input<typeof changeableOptions> {}
const changesSchema = fields.strict(changeableOptions, 'option')

const clientOptions = {
  /** The API's http or https URL. A path prefix is allowed; credentials, a query and a fragment are not. */
  baseUrl,
  ...changeableOptions,
  /** The function that sends requests. Default: the current `globalThis.fetch`, which you may replace at any time. */
  fetch: fields.optional(functionOption<FetchFunction>()),
  /** The client's clock, for example the mock's. Timeouts always use real time. Default: the system's time. */
  clock: fields.optional(clockOption),
  /** The version prefix of the paths. Default: `/api/v1.0` in area S, `/api/v1` in area G. */
  apiPrefix: fields.optional(fields.input('a path such as /api/v2', (value) => API_PREFIX.test(value))),
}
/** Options of both `SubscriptionsClient` and `GatewayClient`. */
export interface ClientOptions extends fields.Input<typeof clientOptions> {}
export const clientOptionsWith = <const Own extends fields.Shape>(own: Own) =>
  fields.strict({ ...clientOptions, ...own }, 'option')

type GivenOptions = fields.Output<typeof clientOptions>
const defaults = { ...CLIENT_DEFAULTS, headers: {}, hooks: {}, clock: systemClock }

export type ClientSettings = GivenOptions & {
  readonly [Name in keyof typeof defaults]: NonNullable<GivenOptions[Name]>
} & { readonly logLevel: LogLevel }

export const withDefaults = (given: GivenOptions): ClientSettings =>
  ({ ...defaults, ...given, logLevel: given.logLevel ?? environmentLevel() }) as ClientSettings

export const changeSettings = (settings: ClientSettings, changes: ClientChanges): ClientSettings => {
  const changed = check('withOptions', changesSchema, changes)
  return withDefaults({ ...settings, ...changed, headers: { ...settings.headers, ...changed.headers } })
}

export const callOptions = {
  /** Aborts the call with an `AbortedError`. The error's `outcome` states whether the server may have acted. */
  signal: fields.optional<AbortSignal, AbortSignal | null>(signalOption),
  /** Time limit of one attempt, including reading the response, in milliseconds. Default: the client's `timeout`. */
  timeout: fields.optional(duration()),
  /** Time limit of the whole call, including waits, in milliseconds. Default: the client's `totalTimeout`. */
  totalTimeout: fields.optional(duration()),
  /** Headers for this call. Not allowed: Authorization, Content-Type, Content-Length, Host, Idempotency-Key. */
  headers: fields.optional(headers),
  /** Retry limits for this call; `false` for no retries. A limit above the client's limit has no effect. */
  retry: fields.optional(retry),
}
/** Options of one call. Every method that makes one call takes these options as its last argument. */
export interface CallOptions extends fields.Input<typeof callOptions> {}
export type CheckedCallOptions = Partial<fields.Output<typeof callOptions>>
export const callOptionsWith = <const Own extends fields.Shape>(own: Own) =>
  fields.strict({ ...callOptions, ...own }, 'option')

export const callOptionsSchema = fields.strict(callOptions, 'option')

import type { KyInstance } from 'ky'
import type { Authorizer } from '../auth/authorizer.ts'
import { check, inputError } from '../check.ts'
import type { AuthKind, EndpointDefinition } from '../contract/endpoint.ts'
import { anyJson, guarded, type Input, input, isObject, oneOf, optional, strict } from '../contract/fields.ts'
import { isHeaderText, randomId } from '../contract/formats.ts'
import type { Outcome, Phase } from '../errors.ts'
import { Deadline } from './deadline.ts'
import type { CallOptions, CheckedCallOptions, ClientSettings } from './options.ts'
import { CLIENT_DEFAULTS, callOptionsSchema } from './options.ts'
import type { RateLimitGate } from './rate-limit.ts'

export interface ClientContext {
  readonly settings: ClientSettings
  readonly http: KyInstance
  readonly gate: RateLimitGate
  /** The errors that `onError` has received. `login()` does not report its token request's error twice. */
  readonly reported: WeakSet<object>
  readonly authorizers: Partial<Record<AuthKind, Authorizer>>
  /** The version prefix of the endpoints' paths. The option `apiPrefix` replaces this prefix. */
  readonly prefix: string
  /** Compares a successful response with the request. If they do not match, throws an error or calls `onUnexpected`. */
  readonly checkSuccess?: (call: Call, data: unknown, body: unknown) => void
  readonly keyLifetime?: number | undefined
  /** The body of a request for which the specification defines no fields: `{}` or nothing. */
  readonly emptyBody: 'object' | 'none'
}

/** Query parameters: an object, `URLSearchParams`, or other pairs of name and value. An object cannot repeat a name. */
export type Query =
  | Readonly<Record<string, string | number | undefined>>
  | Iterable<readonly [name: string, value: string]>

/** The input that a client's method passes for one call. `prepare` checks it. */
export interface CallInput {
  /** The path parameters, in the order in which the path contains them. */
  readonly path?: Readonly<Record<string, unknown>>
  readonly query?: Query | undefined
  readonly body?: unknown
  /** The schema that checks the body. Default: the endpoint's schema. */
  readonly schema?: EndpointDefinition['request']
  readonly idempotencyKey?: unknown
  readonly method?: string
  /** The body and its content type, if the client does not send JSON. */
  readonly encoded?: { readonly body: string; readonly contentType: string } | undefined
  readonly once?: boolean
  readonly options?: CallOptions | undefined
  readonly deadline?: Deadline
}

/** One call of a method. Its attempts send the same request, and differ only in their authorization. */
export type Call<Definition extends EndpointDefinition = EndpointDefinition> = ReturnType<
  typeof prepare<Definition>
>

/** Finds a segment `.` or `..`, even if encoded. Runtimes and proxies would change a path with such a segment. */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i

/** The schema of an identifier, which becomes one segment of a path. */
export const identifier = input(
  'an identifier, without segments `.` and `..`',
  (text) => text !== '' && !/\p{Cs}/u.test(text) && !DOT_SEGMENT.test(text),
)
export const idempotencyKey = input('a string of visible ASCII characters', isHeaderText)

const pathOf = (endpoint: EndpointDefinition, parameters: CallInput['path'] = {}): string => {
  const segments = Object.entries(parameters).map(([name, value]) =>
    encodeURIComponent(check(endpoint.operation, identifier, value, name)),
  )
  return endpoint.path.replace(/:\w+/g, (parameter) => segments.shift() ?? parameter)
}

const queryOf = (query: CallInput['query'] = {}): string => {
  const all = Symbol.iterator in query ? [...query] : Object.entries(query)
  const given = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/** Checks the input of a call and turns it into a request. */
export const prepare = <Definition extends EndpointDefinition>(
  client: ClientContext,
  endpoint: Definition,
  call: CallInput,
) => {
  const { settings, prefix } = client
  const { operation, path: template } = endpoint
  const { method = endpoint.method, schema = endpoint.request } = call
  const { baseUrl, apiPrefix = prefix, clock } = settings
  const given = pathOf(endpoint, call.path)
  const path = given.startsWith(`${prefix}/`) ? `${apiPrefix}${given.slice(prefix.length)}` : given
  const url = `${baseUrl}${path}${queryOf(call.query)}`
  const fields = schema && check(operation, schema, call.body, 'request')
  const options: CheckedCallOptions = call.options ? check(operation, callOptionsSchema, call.options) : {}
  const { timeout = settings.timeout, totalTimeout = settings.totalTimeout } = options
  const least = (name: 'limit' | 'maxWait') =>
    Math.min(settings.retry[name] ?? CLIENT_DEFAULTS.retry[name], options.retry?.[name] ?? Infinity)
  const isGiven = call.idempotencyKey !== undefined
  const givenKey = isGiven && check(operation, idempotencyKey, call.idempotencyKey, 'idempotencyKey')
  const key = endpoint.idempotencyKey ? givenKey || randomId() : undefined
  const keyLifetime = (key && client.keyLifetime) || Infinity
  const [startedAt, keyDeadline] = [clock.now(), new Deadline(keyLifetime, undefined)]
  const empty = method === 'GET' || client.emptyBody === 'none' ? undefined : '{}'
  const json = fields === undefined ? empty : JSON.stringify(fields)
  const { body = json, contentType = 'application/json' } = call.encoded ?? {}
  return {
    client,
    endpoint,
    method,
    url,
    /** The first identifier in the path, if any. */
    id: Object.values(call.path ?? {})[0],
    headers: {
      accept: 'application/json',
      ...settings.headers,
      ...options.headers,
      ...(body !== undefined && { 'content-type': contentType }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    fields: fields as unknown,
    body: body as string | undefined,
    idempotencyKey: key,
    isKeyGenerated: !isGiven,
    timeout,
    limit: call.once ? 0 : least('limit'),
    maxWait: least('maxWait'),
    totalTimeout,
    deadline: call.deadline ?? new Deadline(totalTimeout, options.signal),
    startedAt,
    /** Returns the key's remaining lifetime in ms, by real time or by the client's clock: whichever is shorter. */
    keyLeft: () => Math.min(keyDeadline.remaining, keyLifetime - (clock.now() - startedAt)),
    /** The fields that all hook events of this call contain. */
    event: { call: {}, operation, method, path: template, url, idempotencyKey: key },
    phase: 'request' as Phase,
    /** The combined outcome of the failed attempts: `unknown` if the server may have executed an attempt. */
    outcome: 'not-sent' as Outcome,
    /** The Authorization header of each attempt. The client removes these headers from its errors. */
    sent: [] as (string | undefined)[],
  }
}

type Path = EndpointDefinition['path']
const isPath = (value: unknown): value is Path =>
  typeof value === 'string' && /^\/[^\s?#\\]*$/.test(value) && !DOT_SEGMENT.test(value)
const isQuery = (value: unknown): value is Query => isObject(value)

const rawRequest = {
  /** HTTP method, such as `POST`. */
  method: oneOf(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /**
   * Path below the base URL, with the version prefix, such as `/api/v1/mfs/refunds`. Encode identifiers in the path
   * with `encodeURIComponent`. Segments `.` and `..` are not allowed, even if encoded. Do not put a secret into
   * the path, because logs, events and errors contain the path.
   */
  path: guarded<Path, string>('a path such as /api/v2/plans, without segments `.` and `..`', isPath),
  /** Query parameters: an object, or `URLSearchParams`. */
  query: optional(guarded('an object of names and values, or URLSearchParams', isQuery)),
  /** The body, which the client sends as JSON. */
  body: optional(anyJson),
  /** Idempotency key. With `retry: 'always'`, every retry sends the same key. Default: none. */
  idempotencyKey: optional(idempotencyKey),
  /**
   * Set `always` only if the server can safely execute the request twice: for a read, or with an idempotency key.
   * Default: `never`. In area S, `never` still allows a retry with a new token after a 401: a server that rejects a
   * token does not execute the request.
   */
  retry: optional(oneOf(['always', 'never'])),
}
/** A request to an operation for which the client has no method. */
export interface RawRequest extends Input<typeof rawRequest> {}
const rawRequestSchema = strict(rawRequest)

export const rawCall = (
  definition: Pick<EndpointDefinition, 'operation' | 'auth' | 'envelope'>,
  request: RawRequest,
  options: CallOptions | undefined,
): [EndpointDefinition, CallInput] => {
  const given = check(definition.operation, rawRequestSchema, request, 'request')
  const { method, path, query, body, idempotencyKey, retry = 'never' } = given
  if (method === 'GET' && body !== undefined)
    throw inputError(definition.operation, 'body', 'omitted for GET', body)
  const isRetried = retry === 'always'
  const hasKey = idempotencyKey !== undefined
  const endpoint: EndpointDefinition = {
    ...definition,
    method: 'POST',
    path,
    spec: '',
    retry: isRetried || hasKey ? 'always' : 'when-not-executed',
    idempotencyKey: hasKey,
    request: anyJson,
    response: anyJson,
    status: 200,
    acts: hasKey || !(isRetried || method === 'GET'),
    afterUnknown: {
      how: 'read-state',
      advice: hasKey ? 'the server acts once per key.' : 'Find out whether it did.',
    },
  }
  return [endpoint, { method, query, body, idempotencyKey, once: !isRetried, options }]
}

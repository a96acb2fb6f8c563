import type { KyInstance } from 'ky'
import type { Authorizer } from '../auth/authorizer.ts'
import { check } from '../check.ts'
import type { AuthKind, EndpointDefinition } from '../contract/endpoint.ts'
import { input, type Output } from '../contract/fields.ts'
import { isHeaderText, randomId } from '../contract/formats.ts'
import type { CallOptions, ClientSettings, callOptions } from './options.ts'
import { CLIENT_DEFAULTS, callOptionsSchema } from './options.ts'
import type { RateLimitGate } from './rate-limit.ts'

/** Returns the limits of one call, from the call's options and the client's options. */
const limitsOf = (settings: ClientSettings, options: Partial<Output<typeof callOptions>>) => {
  const least = (name: 'limit' | 'maxWait') =>
    Math.min(settings.retry[name] ?? CLIENT_DEFAULTS.retry[name], options.retry?.[name] ?? Infinity)
  return {
    signal: options.signal,
    timeout: options.timeout ?? settings.timeout,
    totalTimeout: options.totalTimeout ?? settings.totalTimeout,
    retries: least('limit'),
    maxWait: least('maxWait'),
    headers: { ...settings.headers, ...options.headers },
  }
}

/** The settings and objects that all calls of one client share. */
export interface ClientParts {
  readonly settings: ClientSettings
  readonly http: KyInstance
  /** The rate-limit gate, which delays calls unless `rateLimit` is `throw`. */
  readonly gate: RateLimitGate
  /** The header User-Agent, or nothing in a browser. */
  readonly agent: Readonly<Record<string, string>>
  readonly authorizers: Partial<Record<AuthKind, Authorizer>>
  /** The version prefix of paths. The option `apiPrefix` replaces this prefix. */
  readonly prefix: string
  /** What a success does that belongs to another charge than the request: see the option `onKeyReuse`. */
  readonly onKeyReuse?: 'throw' | 'report'
  /** How long the server keeps idempotency keys, in milliseconds. */
  readonly keyLifetime?: number | undefined
  /** The body of a request for which the specification defines no fields: `{}` or no body. */
  readonly emptyBody: 'object' | 'none'
}

/** Query parameters: names and values, or pairs such as those of `URLSearchParams`, in which a name may repeat. */
export type Query =
  | Readonly<Record<string, string | number | undefined>>
  | Iterable<readonly [name: string, value: string]>

/** The unchecked input of one call, from a client's method. */
export interface CallInput {
  /** The path parameters in order, with the names that the client's method uses. */
  readonly path?: Readonly<Record<string, unknown>>
  /** Query parameters, which are already checked. */
  readonly query?: Query | undefined
  readonly body?: unknown
  /** The schema that checks the body. Default: the endpoint's schema. */
  readonly schema?: EndpointDefinition['request']
  readonly idempotencyKey?: unknown
  readonly method?: string
  readonly asForm?: boolean
  /** If true, the call is not retried, even if its options allow retries. */
  readonly once?: boolean
  readonly options?: CallOptions | undefined
}

/** A checked request, which every attempt of a call sends. Attempts differ only in their authorization. */
export interface PreparedRequest {
  readonly endpoint: EndpointDefinition
  readonly method: string
  readonly url: string
  /** The checked fields of the body. */
  readonly fields: unknown
  readonly body: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
  readonly keyLifetime: number | undefined
  /** Whether the client generated the idempotency key. The client generates a new key for each call. */
  readonly isKeyGenerated: boolean
  readonly limits: ReturnType<typeof limitsOf>
}

/** A segment `.` or `..`, encoded or not, which runtimes and proxies resolve, so that a request leaves its path. */
export const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i

const identifier = input(
  'an identifier: a string that is not empty and has no segment `.` or `..`',
  (text) => text !== '' && !/\p{Cs}/u.test(text) && !DOT_SEGMENT.test(text),
)
/** An idempotency key: text that is valid in an HTTP header. */
export const idempotencyKey = input('a string of visible ASCII characters', isHeaderText)

/** Checks an identifier. `name` is the name of the method's parameter in error messages. */
export const checkIdentifier = (operation: string, name: string, value: unknown): string =>
  check(operation, identifier, value, name)

const pathOf = (endpoint: EndpointDefinition, path: CallInput['path']): string => {
  if (path === undefined) return endpoint.path
  const segments = Object.entries(path).map(([name, value]) =>
    encodeURIComponent(checkIdentifier(endpoint.operation, name, value)),
  )
  return endpoint.path.replace(/:\w+/g, () => segments.shift() ?? '')
}

const queryOf = (query: CallInput['query'] = {}): string => {
  const all = Symbol.iterator in query ? [...query] : Object.entries(query)
  const given = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]))
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/** Checks the input of a call and turns it into a request. Throws `InvalidRequestError` before any I/O. */
export const prepare = (
  client: ClientParts,
  endpoint: EndpointDefinition,
  call: CallInput,
): PreparedRequest => {
  const { operation } = endpoint
  const { asForm = false, method = endpoint.method, schema = endpoint.request } = call
  const { baseUrl, apiPrefix = client.prefix } = client.settings
  const given = pathOf(endpoint, call.path)
  const isVersioned = given.startsWith(`${client.prefix}/`)
  const path = isVersioned ? `${apiPrefix}${given.slice(client.prefix.length)}` : given
  const fields = schema && check(operation, schema, call.body, 'request')
  const options = call.options === undefined ? {} : check(operation, callOptionsSchema, call.options)
  const limits = limitsOf(client.settings, options)
  if (call.once) limits.retries = 0
  const isGiven = call.idempotencyKey !== undefined
  const givenKey = isGiven && check(operation, idempotencyKey, call.idempotencyKey, 'idempotencyKey')
  const key = endpoint.idempotencyKey ? givenKey || randomId() : undefined
  const empty = method === 'GET' || client.emptyBody === 'none' ? undefined : '{}'
  const json = fields === undefined ? empty : JSON.stringify(fields)
  const body = asForm ? new URLSearchParams(Object(fields)).toString() : json
  const contentType = asForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return {
    endpoint,
    method,
    url: `${baseUrl}${path}${queryOf(call.query)}`,
    fields,
    body,
    headers: {
      accept: 'application/json',
      ...client.agent,
      ...limits.headers,
      ...(body !== undefined && { 'content-type': contentType }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    idempotencyKey: key,
    keyLifetime: key === undefined ? undefined : client.keyLifetime,
    isKeyGenerated: key !== undefined && !isGiven,
    limits,
  }
}

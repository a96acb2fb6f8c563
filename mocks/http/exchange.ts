import type { EndpointDefinition } from '../../src/contract/endpoint.ts'
import { machineNow } from '../time/machine.ts'
import type { AreaRuntime, Operation } from './area.ts'
import type { FaultRequest } from './fault-schema.ts'
import type { IncomingRequest } from './response.ts'
import { type Located, nearestRoute, type OperationTarget } from './routes.ts'

/** The fields of a request body, or the reason why the body cannot be read. */
type ReadBody =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>>; readonly characters: number }
  | { readonly ok: false; readonly problem: string; readonly isTooLarge?: boolean }

/** The fields of a body without fields. */
const NO_FIELDS: Readonly<Record<string, unknown>> = {}

const JSON_TYPE = 'application/json'

const mediaType = (contentType: string | null): string =>
  (contentType?.split(';', 1)[0] ?? '').trim().toLowerCase()

/** The media type of an HTML form. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Returns whether a Content-Type belongs to an HTML form. */
export const isForm = (contentType: string | null): boolean => mediaType(contentType) === FORM_TYPE

/** Returns whether a Content-Type belongs to JSON. */
export const isJson = (contentType: string | null): boolean =>
  contentType === JSON_TYPE || mediaType(contentType) === JSON_TYPE

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Reads a body as a form if `allowsForm` is true, the Content-Type is that of a form, and the body does not start with
 * `{` (row 32). Reads any other body as JSON. An empty body has no fields (row 31).
 */
const readBody = (text: string, contentType: string | null, allowsForm: boolean): ReadBody => {
  const trimmed = text.trim()
  const characters = trimmed.length
  if (trimmed === '') return { ok: true, fields: NO_FIELDS, characters }
  if (allowsForm && !trimmed.startsWith('{') && isForm(contentType)) {
    return { ok: true, fields: Object.fromEntries(new URLSearchParams(trimmed)), characters }
  }
  try {
    const fields: unknown = JSON.parse(trimmed)
    return isObject(fields)
      ? { ok: true, fields, characters }
      : { ok: false, problem: 'The body is not a JSON object.' }
  } catch {
    // The error of `JSON.parse` is not shown, because the error quotes the body, which may contain a secret.
    return { ok: false, problem: 'The body is not valid JSON.' }
  }
}

/** The error for a body that is larger than the server accepts. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`)
  }
}

/** A request and the area that receives it. */
export interface Exchange {
  readonly request: IncomingRequest
  readonly area: AreaRuntime
  /** When the request arrived, in the machine's time. */
  readonly receivedAt: number
  /** The path below the base URL, without the query. */
  readonly path: string
  readonly query: string
  /** The token of `Authorization: Bearer …`. */
  readonly bearer: string | undefined
  /** The requested operation; absent if no operation has this path and method. */
  readonly target: OperationTarget | undefined
  /** The value of the Allow header, if the path exists but not with this method. */
  readonly allow: string | undefined
  readonly parameters: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
  readonly contentType: string | null
  /** The body; absent until it is read, and for a request without an operation. */
  body: ReadBody | undefined
}

/** Returns the fields of a body, or an empty object if the body was not read or is not valid. */
export const fieldsOf = ({ body }: Exchange): Readonly<Record<string, unknown>> =>
  body?.ok === true ? body.fields : NO_FIELDS

/** Returns whether a request has a valid body without fields. */
export const isEmpty = (exchange: Exchange): boolean =>
  exchange.body?.ok === true && Object.keys(exchange.body.fields).length === 0

/** Returns the route that is most similar to an unknown path. */
export const nearestRouteOf = ({ area, path, request }: Exchange): string =>
  nearestRoute(path, request.method, area.router.routes).route

/** Returns whether the sender of a request has disconnected. */
export const hasLeft = (request: IncomingRequest): boolean =>
  request.hasLeft === undefined ? request.signal?.aborted === true : request.hasLeft()

const bearerOf = (header: string | null): string | undefined => {
  if (header === null || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  return header.slice(7).trim() || undefined
}

/** Returns a request with what `locate` found for it. The body is not read. */
export const receive = (
  request: IncomingRequest,
  { area, path, query, match }: Located<AreaRuntime>,
): Exchange => ({
  request,
  area,
  receivedAt: machineNow(),
  path,
  query,
  bearer: bearerOf(request.headers.get('authorization')),
  target: match.kind === 'route' ? match.target : undefined,
  allow: match.kind === 'other-method' ? match.allow : undefined,
  parameters: match.kind === 'route' ? match.parameters : {},
  idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
  contentType: request.headers.get('content-type'),
  body: undefined,
})

/** Returns whether an operation also accepts form fields. Only the login accepts form fields (row 32). */
export const readsForm = ({ auth }: EndpointDefinition): boolean => auth === 'credentials'

/** Reads the body of a request to an operation. The promise rejects if the connection fails meanwhile. */
export const read = async (
  { request, contentType }: Exchange,
  target: OperationTarget,
): Promise<ReadBody> => {
  if (target.definition.method === 'GET') return { ok: true, fields: NO_FIELDS, characters: 0 }
  try {
    const text = await request.text()
    // Checks the encoding, because `text()` replaces invalid bytes and so could turn an invalid body into valid JSON.
    if (request.isUtf8?.() === false) return { ok: false, problem: 'The body is not UTF-8.' }
    return readBody(text, contentType, readsForm(target.definition))
  } catch (error) {
    if (error instanceof BodyTooLargeError) return { ok: false, problem: error.message, isTooLarge: true }
    throw error
  }
}

/** Returns the request in the form that the `when` of a fault receives. */
export const faultRequestOf = (exchange: Exchange, { definition }: OperationTarget): FaultRequest => {
  const { area, parameters, query, idempotencyKey } = exchange
  return {
    operation: definition.operation as Operation,
    fields: {
      ...area.correlationFields(parameters),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...Object.fromEntries(new URLSearchParams(query)),
      ...fieldsOf(exchange),
      ...parameters,
    },
  }
}

/** Returns operation, path, caller and idempotency key as one text; `undefined` if the request uses no key. */
export const keyScope = ({ target, path, bearer, idempotencyKey = '' }: Exchange): string | undefined =>
  target?.definition.idempotencyKey && idempotencyKey.trim() !== ''
    ? [target.definition.operation, path, bearer, idempotencyKey].join('\n')
    : undefined

import { machineNow } from '../domain/machine-time.ts'
import type { AreaRuntime, OperationTarget } from './area.ts'
import type { Located } from './locate.ts'
import type { IncomingRequest } from './response.ts'

/** A request and the area that receives it. */
export interface Exchange {
  readonly request: IncomingRequest
  readonly area: AreaRuntime
  /** When the request arrived, in the machine's time. */
  readonly receivedAt: number
  /** The path below the base URL, without the query. */
  readonly path: string
  readonly query: string
  readonly bearer: string | undefined
  /** The requested operation; absent if no operation has this path and method. */
  readonly target?: OperationTarget
}

/** The fields of a request body, or the reason why the body cannot be read. */
export type ReadBody =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string }

/** A request to an operation, with its body. */
export interface OperationExchange extends Exchange {
  readonly target: OperationTarget
  readonly parameters: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
  readonly contentType: string | null
  readonly body: ReadBody
}

/** Returns the token of `Authorization: Bearer …`. */
const bearerOf = ({ headers }: IncomingRequest): string | undefined => {
  const header = headers.get('authorization')
  if (header === null || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  return header.slice(7).trim() || undefined
}

/** Creates an `Exchange` from a request and the area that `locate` found for it. */
export const exchangeOf = (request: IncomingRequest, { area, path, query, match }: Located): Exchange => ({
  request,
  area,
  receivedAt: machineNow(),
  path,
  query,
  bearer: bearerOf(request),
  ...(match.kind === 'route' ? { target: match.target } : {}),
})

const mediaType = (contentType: string | null): string =>
  (contentType?.split(';', 1)[0] ?? '').trim().toLowerCase()

/** The media type of an HTML form. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Returns whether a Content-Type belongs to an HTML form. */
export const isForm = (contentType: string | null): boolean => mediaType(contentType) === FORM_TYPE

/** Returns whether a Content-Type belongs to JSON. */
export const isJson = (contentType: string | null): boolean => mediaType(contentType) === 'application/json'

/** Returns whether an operation also accepts form fields. Only the login accepts form fields (row 32). */
const readsForm = ({ definition }: OperationTarget): boolean => definition.auth === 'credentials'

/** Returns whether the conventions allow a Content-Type: JSON, or a form in a login request (rows 3 and 32). */
export const isAcceptedType = ({ contentType, target }: OperationExchange): boolean =>
  isJson(contentType) || (readsForm(target) && isForm(contentType))

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const readJson = (text: string): ReadBody => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value)
      ? { ok: true, fields: value }
      : { ok: false, problem: 'The body is not a JSON object.' }
  } catch {
    // The error of `JSON.parse` is not shown, because the error quotes the body, which may contain a secret.
    return { ok: false, problem: 'The body is not valid JSON.' }
  }
}

/**
 * Reads a body as a form if `allowsForm` is true, the Content-Type is that of a form, and the body does not start with
 * `{` (row 32). Reads any other body as JSON. An empty body has no fields (row 31).
 */
const readBody = (text: string, contentType: string | null, allowsForm: boolean): ReadBody => {
  const trimmed = text.trim()
  if (trimmed === '') return { ok: true, fields: {} }
  if (allowsForm && !trimmed.startsWith('{') && isForm(contentType)) {
    return { ok: true, fields: Object.fromEntries(new URLSearchParams(trimmed)) }
  }
  return readJson(trimmed)
}

/** Reads the headers and the body of a request to an operation. The promise rejects if reading the body fails. */
export const receive = async (
  exchange: Exchange,
  target: OperationTarget,
  parameters: OperationExchange['parameters'],
): Promise<OperationExchange> => {
  const { request } = exchange
  const contentType = request.headers.get('content-type')
  const text = target.definition.method === 'GET' ? '' : await request.text()
  return {
    ...exchange,
    target,
    parameters,
    idempotencyKey: request.headers.get('idempotency-key') ?? undefined,
    contentType,
    // Checks the encoding, because `text()` replaces invalid bytes and so could turn an invalid body into valid JSON.
    body:
      request.isUtf8?.() === false
        ? { ok: false, problem: 'The body is not UTF-8.' }
        : readBody(text, contentType, readsForm(target)),
  }
}

/** Returns the fields of a body, or an empty object if the body was not read or is not valid. */
export const fieldsOf = (body: ReadBody | undefined): Readonly<Record<string, unknown>> =>
  body?.ok === true ? body.fields : {}

/** The error for a body that is larger than the server accepts. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(most: number) {
    super(`The body is larger than ${most} bytes.`)
  }
}

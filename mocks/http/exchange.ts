import type { AreaRuntime, OperationTarget } from './area.ts'
import type { IncomingRequest } from './response.ts'

/** A body is larger than its server reads. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(most: number) {
    super(`The body is larger than ${most} bytes.`)
  }
}

/** The fields of a request body, or why it has none. */
export type ReadBody =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string }

const NO_FIELDS: ReadBody = { ok: true, fields: {} }
const NOT_JSON: ReadBody = { ok: false, problem: 'The body is not valid JSON.' }
/** A body of bytes that are not UTF-8, such as those of an older encoding: with letters replaced it would pass for JSON. */
export const NOT_UTF8: ReadBody = { ok: false, problem: 'The body is not UTF-8.' }
const NOT_AN_OBJECT: ReadBody = { ok: false, problem: 'The body is not a JSON object.' }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const readJson = (text: string): ReadBody => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { ok: true, fields: value } : NOT_AN_OBJECT
  } catch {
    // The platform's message quotes the text: it is not kept.
    return NOT_JSON
  }
}

/**
 * Reads JSON whatever its label says (row 3); no body is a body without fields (row 31). Where `form` is allowed, a body
 * that is labeled as a form and is not a JSON object is read as one (row 32).
 */
export const readBody = (text: string, contentType: string | null, form: boolean): ReadBody => {
  const trimmed = text.trim()
  if (trimmed === '') return NO_FIELDS
  if (form && !trimmed.startsWith('{') && isForm(contentType)) {
    return { ok: true, fields: Object.fromEntries(new URLSearchParams(trimmed)) }
  }
  return readJson(trimmed)
}

const mediaType = (contentType: string | null): string =>
  (contentType?.split(';', 1)[0] ?? '').trim().toLowerCase()

/** How a form of a page is labeled. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Whether a label is a form's. */
export const isForm = (contentType: string | null): boolean => mediaType(contentType) === FORM_TYPE

/** Whether a label is one that a strict server takes: JSON, or a form where `form` is allowed (row 3 ✎). */
export const isAcceptedType = (contentType: string | null, form: boolean): boolean => {
  const type = mediaType(contentType)
  return type === 'application/json' || type.endsWith('+json') || (form && isForm(contentType))
}

/** One request on its way through an area. */
export interface Exchange {
  readonly request: IncomingRequest
  readonly area: AreaRuntime
  /** Below the base URL, without its query. */
  readonly path: string
  readonly query: string
  readonly bearer: string | undefined
}

/** An exchange whose operation is known and whose body has come. */
export interface OperationExchange extends Exchange {
  readonly target: OperationTarget
  readonly parameters: Readonly<Record<string, string>>
  readonly idempotencyKey: string | undefined
  readonly contentType: string | null
  readonly body: ReadBody
}

/** The token of `Authorization: Bearer …`. */
export const bearerOf = (request: IncomingRequest): string | undefined => {
  const header = request.headers.get('authorization')
  if (header === null || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  const token = header.slice(7).trim()
  return token === '' ? undefined : token
}

/** The fields of a body, none when it could not be read. */
export const fieldsOf = (body: ReadBody): Readonly<Record<string, unknown>> => (body.ok ? body.fields : {})

/** Whether an operation reads form fields as well: the token path (row 32). */
export const readsForm = (target: OperationTarget): boolean => target.definition.auth === 'credentials'

/** Reads the headers and the body of a request whose operation is known. */
export const receive = async (
  exchange: Exchange,
  target: OperationTarget,
  parameters: Readonly<Record<string, string>>,
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
    body: request.isUtf8?.() === false ? NOT_UTF8 : readBody(text, contentType, readsForm(target)),
  }
}

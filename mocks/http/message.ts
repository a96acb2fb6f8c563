import type { Fields } from '../base/result.ts'
import { keepProcessAlive } from '../time/machine.ts'

/** Header names and values. */
export type HeaderFields = Readonly<Record<string, string>>

/** An HTTP response as plain data, which a transport can write without creating a stream. */
export interface ResponseData {
  readonly status: number
  readonly headers: HeaderFields
  /** The text of the body; empty if the response has no body. */
  readonly body: string
}

/** How a transport responds to a request. `kind` is `complete`, except for faults and aborted requests. */
export type MockResponse =
  | { readonly kind: 'complete'; readonly response: ResponseData }
  /** The connection closes before the response starts. The error of `fetch` has this `code`. */
  | { readonly kind: 'closed'; readonly code: string }
  /** No response is ever sent. */
  | { readonly kind: 'none' }
  /** The transport sends the headers and a `part` of the body, then closes the connection. */
  | { readonly kind: 'truncated'; readonly response: ResponseData; readonly part: string }

/** The address of a server. */
export interface ServerAddress {
  /** The origin that the client's Host header names, or the server's base URL if that host is not allowed. */
  readonly url: string
  /** The base URL at which payers reach the server, if the server's options set it. */
  readonly publicUrl?: string | undefined
}

/** The parts of a request that the mock reads. A `Request` of the Fetch API also has this type. */
export interface IncomingRequest {
  readonly method: string
  /** The absolute URL. */
  readonly url: string
  readonly headers: {
    get(name: string): string | null
    forEach(visit: (value: string, name: string) => void): void
  }
  readonly signal: AbortSignal | null
  /** The server's address as the client knows it; absent if the request did not come through a server. */
  readonly server?: ServerAddress
  /** Returns whether the sender has disconnected. If `hasLeft` is absent, the mock checks `signal`. */
  hasLeft?(): boolean
  /** Returns whether the body was valid UTF-8. Call `text()` first. Only requests through a server have `isUtf8`. */
  isUtf8?(): boolean
  text(): Promise<string>
}

/** Handles a request. Returns `undefined` for a URL that is not below a base URL of the mock. */
export type Handler = (request: IncomingRequest) => Promise<MockResponse> | undefined

/** The headers of an area whose responses have none of their own. */
export const NO_HEADERS: HeaderFields = {}

// Most responses share this object, because the request log keeps the headers.
const JSON_HEADERS: HeaderFields = { 'Content-Type': 'application/json' }

/** Returns a JSON response. */
export const jsonResponse = (status: number, body: unknown, headers = NO_HEADERS): ResponseData => ({
  status,
  headers: headers === NO_HEADERS ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
  body: JSON.stringify(body),
})

/** Creates a `MockResponse` that the transport sends in full. */
export const respondWith = (response: ResponseData): MockResponse => ({ kind: 'complete', response })

/** Returns whether a response with this status may have a body. */
export const mayHaveBody = (status: number): boolean =>
  status !== 101 && status !== 204 && status !== 205 && status !== 304

/** Returns whether an OPTIONS request is a CORS preflight. */
export const isPreflight = ({ headers }: IncomingRequest): boolean =>
  headers.get('origin') !== null && headers.get('access-control-request-method') !== null

/** Returns a preflight response that allows every request, because the mock has nothing to protect. */
export const preflightResponse = ({ headers }: IncomingRequest): ResponseData => ({
  status: 204,
  headers: {
    'Access-Control-Allow-Origin': headers.get('origin') ?? '*',
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers':
      headers.get('access-control-request-headers') ?? 'Authorization, Content-Type, Idempotency-Key',
    'Access-Control-Max-Age': '600',
    Vary: 'Origin, Access-Control-Request-Headers',
  },
  body: '',
})

const corsHeaders = (origin: string): HeaderFields => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Expose-Headers':
    'Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Date, Location, Allow',
  Vary: 'Origin',
})

/** Removes the body of a response to HEAD. Adds CORS headers if the request has an Origin header. */
export const withCorsAndHead = ({ method, headers }: IncomingRequest, sent: MockResponse): MockResponse => {
  if (sent.kind !== 'complete' && sent.kind !== 'truncated') return sent
  const origin = headers.get('origin')
  const isHead = method === 'HEAD'
  if (origin === null && !isHead) return sent
  // A response to HEAD has no body to truncate, so the connection is closed without a response.
  if (isHead && sent.kind === 'truncated') return { kind: 'closed', code: 'UND_ERR_SOCKET' }
  const { response } = sent
  return {
    ...sent,
    response: {
      status: response.status,
      headers: origin === null ? response.headers : { ...response.headers, ...corsHeaders(origin) },
      body: isHead ? '' : response.body,
    },
  }
}

/** Creates an error like the one that `fetch` of Node throws if the connection fails. */
const connectionError = (code: string, message: string, outer = 'fetch failed'): TypeError =>
  new TypeError(outer, { cause: Object.assign(new Error(message), { code }) })

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNRESET: 'read ECONNRESET',
  ECONNREFUSED: 'connect ECONNREFUSED',
  UND_ERR_SOCKET: 'other side closed',
}

/** Returns the error that `fetch` throws if the connection closes with this code. */
const closedError = (code: string): TypeError => connectionError(code, MESSAGES[code] ?? code)

/** Converts a response to a `Response` object. */
export const toResponse = ({ status, headers, body }: ResponseData): Response =>
  new Response(body === '' || !mayHaveBody(status) ? null : body, { status, headers })

/** Returns a `Response` whose body sends `part` and then fails, as if the connection closed. */
export const toTruncatedResponse = ({
  response: { status, headers, body },
  part,
}: Extract<MockResponse, { kind: 'truncated' }>): Response => {
  const encoder = new TextEncoder()
  let started = false
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (started) controller.error(connectionError('UND_ERR_SOCKET', 'other side closed', 'terminated'))
      else controller.enqueue(encoder.encode(part))
      started = true
    },
  })
  const length = String(encoder.encode(body).length)
  return new Response(stream, { status, headers: { ...headers, 'Content-Length': length } })
}

/** The fields of a request body, or the reason why the body cannot be read. */
export type ReadBody =
  | { readonly ok: true; readonly fields: Fields; readonly characters: number }
  | { readonly ok: false; readonly problem: string; readonly isTooLarge?: boolean }

/** The fields of a body without fields. */
export const NO_FIELDS: Fields = {}

/** Returns the fields of a body, or an empty object if the body was not read or is not valid. */
export const fieldsOf = ({ body }: { readonly body: ReadBody | undefined }): Fields =>
  body?.ok === true ? body.fields : NO_FIELDS

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

/** The error for a body that is larger than the server accepts. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'

  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`)
  }
}

/**
 * Reads a body as a form if `allowsForm` is true, the Content-Type is that of a form, and the body does not start with
 * `{` (row 32). Reads any other body as JSON. An empty body has no fields (row 31).
 */
export const readBody = (text: string, request: IncomingRequest, allowsForm: boolean): ReadBody => {
  const trimmed = text.trim()
  // Checks the encoding, because `text()` replaces invalid bytes and so could turn an invalid body into valid JSON.
  if (request.isUtf8?.() === false) return { ok: false, problem: 'The body is not UTF-8.' }
  const characters = trimmed.length
  if (trimmed === '') return { ok: true, fields: NO_FIELDS, characters }
  const isObject = trimmed.startsWith('{')
  if (allowsForm && !isObject && isForm(request.headers.get('content-type'))) {
    return { ok: true, fields: Object.fromEntries(new URLSearchParams(trimmed)), characters }
  }
  try {
    const fields: Fields = JSON.parse(trimmed)
    return isObject
      ? { ok: true, fields, characters }
      : { ok: false, problem: 'The body is not a JSON object.' }
  } catch {
    // The error of `JSON.parse` is not shown, because the error quotes the body, which may contain a secret.
    return { ok: false, problem: 'The body is not valid JSON.' }
  }
}

/** Returns whether the sender of a request has disconnected. */
export const hasLeft = (request: IncomingRequest): boolean =>
  request.hasLeft === undefined ? request.signal?.aborted === true : request.hasLeft()

/** A `fetch` that sends requests only to the mock. It does not use `this`. */
export type MockFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Creates a `fetch` that sends requests only to the mock. It rejects like the runtime's `fetch`: after an abort, with
 * the signal's reason; after a failed connection, with a TypeError whose cause has a `code`. The created `fetch` does
 * not follow redirects, because the payer's pages redirect to addresses outside the mock.
 */
export const createMockFetch = (handler: Handler, bases: () => readonly string[]): MockFetch => {
  // After the garbage collection of a `Request`, its caller could no longer abort the request.
  const running = new Set<object>()

  return async (input, init) => {
    const request = new Request(input, init)
    const { signal } = request
    if (signal.aborted) throw signal.reason
    // The handler reads the request's body, which may never end, so an abort must end the wait for the handler.
    let onAbort = (): void => undefined
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort)
    })
    const kept = { request, input, init }
    running.add(kept)
    try {
      const handling = handler(request)
      if (handling === undefined) {
        const { origin } = new URL(request.url)
        throw connectionError(
          'ENOTFOUND',
          `getaddrinfo ENOTFOUND ${origin}`,
          `fetch failed: this mock serves ${bases().join(' and ')}, not ${origin}`,
        )
      }
      const sent = await Promise.race([handling, aborted])
      if (signal.aborted) throw signal.reason
      switch (sent.kind) {
        case 'complete':
          return toResponse(sent.response)
        case 'closed':
          throw closedError(sent.code)
        case 'none':
          return await aborted.finally(keepProcessAlive())
        case 'truncated':
          return toTruncatedResponse(sent)
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      running.delete(kept)
    }
  }
}

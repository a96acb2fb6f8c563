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
  readonly headers: Iterable<readonly [string, string]> & { get(name: string): string | null }
  readonly signal: AbortSignal | null
  /** The server's address as the client knows it; absent if the request did not come through a server. */
  readonly server?: ServerAddress
  /** Returns whether the sender has disconnected. If `hasLeft` is absent, the mock checks `signal`. */
  hasLeft?(): boolean
  /** Returns whether the body was valid UTF-8. Call `text()` first. Only requests through a server have `isUtf8`. */
  isUtf8?(): boolean
  text(): Promise<string>
}

/** Returns a JSON response. */
export const jsonResponse = (status: number, body: unknown, headers: HeaderFields = {}): ResponseData => ({
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** Creates a `MockResponse` that the transport sends in full. */
export const respondWith = (response: ResponseData): MockResponse => ({ kind: 'complete', response })

/** Returns whether a response with this status may have a body. */
export const mayHaveBody = (status: number): boolean => ![101, 204, 205, 304].includes(status)

/** Returns whether a request is a CORS preflight. */
export const isPreflight = ({ method, headers }: IncomingRequest): boolean =>
  method === 'OPTIONS' &&
  headers.get('origin') !== null &&
  headers.get('access-control-request-method') !== null

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
export const connectionError = (code: string, message: string, outer = 'fetch failed'): TypeError =>
  new TypeError(outer, { cause: Object.assign(new Error(message), { code }) })

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNRESET: 'read ECONNRESET',
  ECONNREFUSED: 'connect ECONNREFUSED',
  UND_ERR_SOCKET: 'other side closed',
}

/** Returns the error that `fetch` throws if the connection closes with this code. */
export const closedError = (code: string): TypeError => connectionError(code, MESSAGES[code] ?? code)

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

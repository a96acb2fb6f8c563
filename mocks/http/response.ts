/** An answer as plain data: every transport writes it in its own way, without a detour through a stream. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body's text; empty for none. */
  readonly body: string
}

/** What a transport does with a request. All but `answer` come from faults. */
export type Reply =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The connection ends before a byte of an answer. `code` is what the caller's platform then says. */
  | { readonly kind: 'closed'; readonly code: string }
  /** Nothing ever comes. */
  | { readonly kind: 'silence' }
  /** The answer's headers and the first part of its body come, then the connection ends. */
  | { readonly kind: 'truncated'; readonly answer: Answer; readonly part: string }

/** The parts of a `Request` that the mock reads. Every `Request` is one. */
export interface IncomingRequest {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: { get(name: string): string | null }
  readonly signal: AbortSignal | null
  /** Whether the sender has left, where that is known without making a signal. */
  hasLeft?(): boolean
  /** Whether the body's bytes were UTF-8, once it is read, where that is known. */
  isUtf8?(): boolean
  text(): Promise<string>
}

/** An answer without a fault. */
export const replyWith = (answer: Answer): Reply => ({ kind: 'answer', answer })

/** An answer of JSON. */
export const jsonAnswer = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer => ({
  status,
  headers: { 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** A `Response` as an answer. */
export const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  headers: Object.fromEntries(response.headers),
  body: await response.text(),
})

const BODYLESS = new Set([101, 204, 205, 304])

/** Whether an answer of this status may carry a body. */
export const mayHaveBody = (status: number): boolean => !BODYLESS.has(status)

const EXPOSED = 'Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Location, Allow'

/** Whether a browser (or happy-dom) asks what it may send. */
export const isPreflight = (request: IncomingRequest): boolean =>
  request.method === 'OPTIONS' && request.headers.get('access-control-request-method') !== null

/** Says that everything may be sent: the mock holds nothing to protect. */
export const preflightAnswer = (request: IncomingRequest): Answer => ({
  status: 204,
  headers: {
    'Access-Control-Allow-Origin': request.headers.get('origin') ?? '*',
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers':
      request.headers.get('access-control-request-headers') ?? 'Authorization, Content-Type, Idempotency-Key',
    'Access-Control-Max-Age': '600',
    Vary: 'Origin, Access-Control-Request-Headers',
  },
  body: '',
})

/** Lets a page of another origin read the answer. */
export const withCors = (answer: Answer, origin: string | null): Answer =>
  origin === null
    ? answer
    : {
        ...answer,
        headers: {
          ...answer.headers,
          'Access-Control-Allow-Origin': origin,
          'Access-Control-Expose-Headers': EXPOSED,
          Vary: 'Origin',
        },
      }

/** The error of a connection that ended, as the platform's `fetch` words it. */
export const connectionError = (code: string, message: string, outer = 'fetch failed'): TypeError =>
  new TypeError(outer, { cause: Object.assign(new Error(message), { code }) })

const MESSAGES: Readonly<Record<string, string>> = {
  ECONNRESET: 'read ECONNRESET',
  ECONNREFUSED: 'connect ECONNREFUSED',
  UND_ERR_SOCKET: 'other side closed',
}

/** The error that a caller gets whose connection ended with this code. */
export const closedError = (code: string): TypeError => connectionError(code, MESSAGES[code] ?? code)

/** An answer as a `Response`. */
export const toResponse = ({ status, headers, body }: Answer): Response =>
  new Response(body === '' || !mayHaveBody(status) ? null : body, { status, headers })

/** An answer that breaks off after `part`: reading its body fails as it does when a socket is closed. */
export const toTruncatedResponse = ({ answer, part }: Extract<Reply, { kind: 'truncated' }>): Response => {
  const encoder = new TextEncoder()
  const bytes = encoder.encode(answer.body).length
  let started = false
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (started) controller.error(connectionError('UND_ERR_SOCKET', 'other side closed', 'terminated'))
      else controller.enqueue(encoder.encode(part))
      started = true
    },
  })
  return new Response(stream, {
    status: answer.status,
    headers: { ...answer.headers, 'Content-Length': String(bytes) },
  })
}

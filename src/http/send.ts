import type { KyInstance } from 'ky'
import ky from 'ky'
import { steadyClock } from '../clock.ts'
import type { Phase } from '../errors.ts'
import { type Deadline, Interrupted } from './deadline.ts'
import { type Failure, failureOf } from './failure.ts'

/** The parts of a response's headers that the client reads. */
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
  /** The body as a stream of bytes. Without a stream, the client may read more than `maxResponseBytes`. */
  readonly body?: unknown
  /** True if a wrapper of `fetch` has read the body. The client then calls `text` instead of reading `body`. */
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
   * JSON text, or form fields of a token request; absent when the request has no body. A request that must not be sent
   * twice has an empty `ArrayBuffer` in place of no body, because some runtimes resend requests without a body.
   */
  readonly body?: string | ArrayBuffer
  /** Aborts when the attempt's time ends or the caller aborts the call. */
  readonly signal: AbortSignal
  /** Always `manual`, because the client never follows redirects. */
  readonly redirect: 'manual'
  /** Only on Deno: the connection for a request that must not be sent twice. Pass `client` on to `fetch`. */
  readonly client?: object
  /** Only on Bun: a new connection for a request that must not be sent twice. Pass `keepalive` on to `fetch`. */
  readonly keepalive?: false
}

/** A `fetch` function from the runtime, undici, a worker or a mock. The client calls the function without `this`. */
export type FetchFunction = (url: string, request: FetchRequest) => Promise<FetchResponse>

/** A response whose body was read. */
export interface ReceivedResponse {
  readonly status: number
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The body. Undefined if the body is too large, or if the body of an error response did not arrive. */
  readonly text: string | undefined
}

/** How one attempt ended. */
export type Attempt =
  | { readonly kind: 'response'; readonly response: ReceivedResponse }
  | { readonly kind: 'failed'; readonly phase: Phase; readonly failure: Failure }

/** One attempt's request. `once`: the runtime must not resend the request. `most`: maximum response size in bytes. */
export interface AttemptRequest {
  readonly url: string
  readonly method: string
  readonly body: string | undefined
  readonly headers: Record<string, string>
  readonly timeout: number
  readonly once: boolean
  readonly most: number
}

/** Creates a client's ky instance. This package, not ky, handles retries, timeouts and statuses (decision 2). */
export const createHttp = (): KyInstance =>
  ky.create({ retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' })

interface Runtime {
  readonly Deno?: { createHttpClient?(options: object): { close(): void } }
}

/**
 * Opens a connection for one request, on Deno and Bun. The `fetch` of Deno (measured up to 2.9) and Bun (up to 1.3.12)
 * resends a POST when a reused connection closes without a response. The server may have executed the first POST.
 * Over HTTP/2, Deno also resends a POST after REFUSED_STREAM, which a proxy may send although its origin acted.
 */
const ownConnection = () => {
  if ('Bun' in globalThis) return { keepalive: false } as const
  try {
    const client = (globalThis as Runtime).Deno?.createHttpClient?.({ poolMaxIdlePerHost: 0, http2: false })
    return client && { client }
  } catch {
    // Deno may lack the permission or the flag for `createHttpClient`.
    return undefined
  }
}

const lowerCase = (headers: FetchHeaders): Record<string, string> => {
  const record: Record<string, string> = {}
  headers.forEach((value, name) => {
    record[name.toLowerCase()] = value
  })
  return record
}

/** Reads a body as text. Stops after `most` bytes and returns `undefined`, because 1 MB of gzip may inflate to 1 GB. */
const readText = async (response: FetchResponse, headers: Record<string, string>, most: number) => {
  const body = response.body as AsyncIterable<Uint8Array> | null | undefined
  const isSmall = Number(headers['content-length']) <= most && headers['content-encoding'] === undefined
  // If a wrapper of `fetch` has already read the body, only `response.text()` of that wrapper still returns the body.
  if (isSmall || response.bodyUsed || !body?.[Symbol.asyncIterator]) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const bytes of body) {
    size += bytes.length
    if (size > most) return undefined
    text += decoder.decode(bytes, { stream: true })
  }
  return text + decoder.decode()
}

/** Sends one attempt as a ky request, and reads the whole body. The promise never rejects. */
export const sendOnce = async (
  http: KyInstance,
  fetch: FetchFunction | undefined,
  { url, method, headers, body, timeout, most, once }: AttemptRequest,
  deadline: Deadline,
): Promise<Attempt> => {
  const startedAt = steadyClock.now()
  const connection = once ? ownConnection() : undefined
  // Node 26 and undici 8 resend a request without a body after REFUSED_STREAM, which does not prove that nobody acted.
  const content = body ?? (once && method !== 'GET' ? new ArrayBuffer(0) : undefined)
  let received: Omit<ReceivedResponse, 'text'> | undefined
  try {
    return await deadline.race(async (signal) => {
      // `fetch` gets headers, signal and body directly, because a ky request with these values is slower (decision 2).
      const rest = { headers, signal, ...(content !== undefined && { body: content }), ...connection }
      const send = fetch
        ? () => fetch(url, { method, redirect: 'manual', ...rest }) as Promise<Response>
        : (request: RequestInfo | URL) => globalThis.fetch(request, rest)
      const response: FetchResponse = await http(url, { method, fetch: send })
      // Without a status, the client cannot tell a success from a rejection.
      if (!Number.isInteger(response.status)) throw new TypeError('The response has no status.')
      const responseHeaders = lowerCase(response.headers)
      received = { status: response.status, headers: responseHeaders }
      const text = await readText(response, responseHeaders, most)
      return { kind: 'response', response: { ...received, text } }
    }, timeout)
  } catch (error) {
    const milliseconds = Math.round(steadyClock.now() - startedAt)
    const failure: Failure = error instanceof Interrupted ? error.by : failureOf(error, milliseconds)
    if (received === undefined) return { kind: 'failed', phase: 'request', failure }
    if (received.status >= 400 && failure.kind !== 'aborted')
      return { kind: 'response', response: { ...received, text: undefined } }
    // The response's headers have arrived, so the request was sent and the certificate was accepted.
    const isProof = failure.kind === 'connection' && { notSent: false, certificate: false }
    return { kind: 'failed', phase: 'response', failure: { ...failure, ...isProof } }
  } finally {
    try {
      connection?.client?.close()
    } catch {
      // `close` throws if the given `fetch` has already closed the connection.
    }
  }
}

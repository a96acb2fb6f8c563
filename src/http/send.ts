import type { KyInstance } from 'ky'
import ky from 'ky'
import type { Phase } from '../errors.ts'
import type { Deadline } from './deadline.ts'
import { Interrupted } from './deadline.ts'
import { classifyNetworkFailure } from './network-failure.ts'
import type { Failure } from './retry.ts'

/** The parts of a response's headers that the client reads. */
export interface FetchHeaders {
  /** Calls `visit` with the value and the name of each header. */
  forEach(visit: (value: string, name: string) => void): void
}

/** The parts of a response that the client reads. Every implementation of `fetch` provides them. */
export interface FetchResponse {
  /** HTTP status. */
  readonly status: number
  /** The response's headers. */
  readonly headers: FetchHeaders
  /** Reads the body as UTF-8 text. */
  text(): Promise<string>
}

/** The second argument of your `fetch`. It is a plain object: some implementations cannot read a `Request`. */
export interface FetchRequest {
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** All headers of the request, including Authorization. */
  readonly headers: Record<string, string>
  /** JSON text, or form fields of a token request; absent when the request has no body. */
  readonly body?: string
  /** Aborts when the attempt's time ends or the caller aborts the call. */
  readonly signal: AbortSignal
  /** Always `manual`, because the client never follows redirects. */
  readonly redirect: 'manual'
  /** Only on Deno: the connection for a request that must not be sent twice. Pass this value on to `fetch`. */
  readonly client?: object
}

/** A `fetch` function from the runtime, undici, a worker or a mock. The client calls the function without `this`. */
export type FetchFunction = (url: string, request: FetchRequest) => Promise<FetchResponse>

/** A response whose body was read. */
export interface ReceivedResponse {
  readonly status: number
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The body. Absent if the body of an error response did not arrive. */
  readonly text: string | undefined
}

/** How one attempt ended. */
export type Attempt =
  | { readonly kind: 'response'; readonly response: ReceivedResponse }
  | { readonly kind: 'failed'; readonly phase: Phase; readonly failure: Failure }

/** One attempt's request. `timeout` includes reading the body. `once`: the runtime must not resend the request. */
export interface AttemptRequest {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
  readonly timeout: number
  readonly once: boolean
}

/** Creates a client's ky instance. This package, not ky, handles retries, timeouts and statuses (decision 2). */
export const createHttp = (): KyInstance =>
  ky.create({ retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' })

interface DenoRuntime {
  createHttpClient(options: { readonly poolMaxIdlePerHost: number }): { close(): void }
}

const isDeno = (value: unknown): value is DenoRuntime =>
  typeof value === 'object' && value !== null && 'createHttpClient' in value

/**
 * Opens a connection for one request, on Deno only. Deno's fetch (measured up to 2.9) resends a POST when a reused
 * connection closes without a response, although the server may have executed the first POST.
 */
const ownConnection = () => {
  const deno: unknown = Reflect.get(globalThis, 'Deno')
  try {
    return isDeno(deno) ? deno.createHttpClient({ poolMaxIdlePerHost: 0 }) : undefined
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

/** Sends one attempt as a ky request, and reads the whole body. The promise never rejects. */
export const sendOnce = async (
  http: KyInstance,
  fetch: FetchFunction | undefined,
  { url, method, headers, body, timeout, once }: AttemptRequest,
  deadline: Deadline,
): Promise<Attempt> => {
  const connection = once ? ownConnection() : undefined
  const client = connection && { client: connection }
  let received: Omit<ReceivedResponse, 'text'> | undefined
  try {
    return await deadline.race(async (signal) => {
      // `fetch` gets these values directly, because a ky request that contains the values is slower (decision 2).
      const rest = { headers, signal, ...(body !== undefined && { body }), ...client }
      const send = fetch
        ? () => fetch(url, { method, redirect: 'manual', ...rest }) as Promise<Response>
        : (request: RequestInfo | URL) => globalThis.fetch(request, rest)
      const response: FetchResponse = await http(url, { method, fetch: send })
      // Without a status, the client cannot tell a success from a rejection.
      if (!Number.isInteger(response.status)) throw new TypeError('The response has no status.')
      received = { status: response.status, headers: lowerCase(response.headers) }
      return { kind: 'response', response: { ...received, text: await response.text() } }
    }, timeout)
  } catch (error) {
    const failure: Failure =
      error instanceof Interrupted ? error.by : { kind: 'connection', ...classifyNetworkFailure(error) }
    if (received === undefined) return { kind: 'failed', phase: 'request', failure }
    if (received.status >= 400 && failure.kind !== 'aborted')
      return { kind: 'response', response: { ...received, text: undefined } }
    // The response's headers have arrived, so the request was sent and the certificate was accepted.
    const isProof = failure.kind === 'connection' && { notSent: false, certificate: false }
    return { kind: 'failed', phase: 'response', failure: { ...failure, ...isProof } }
  } finally {
    try {
      connection?.close()
    } catch {
      // The given `fetch` has already closed the connection.
    }
  }
}

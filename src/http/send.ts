import type { KyInstance } from 'ky'
import ky from 'ky'
import type { Phase } from '../errors.ts'
import type { Deadline } from './deadline.ts'
import { Interrupted } from './deadline.ts'
import { classifyNetworkFailure } from './network-failure.ts'
import type { Failure } from './retry.ts'

/** The parts of a response's headers that the client reads. */
export interface FetchHeaders {
  /** Visits every value with its name. */
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

/** What a given `fetch` receives: plain values only, because other implementations cannot read the runtime's `Request`. */
export interface FetchRequest {
  /** HTTP method, such as `POST`. */
  readonly method: string
  /** Every header of the request, Authorization included. */
  readonly headers: Record<string, string>
  /** JSON text, or form fields of a token request; absent when nothing is sent. */
  readonly body?: string
  /** Aborted when the attempt's time is over or the caller aborts the call. */
  readonly signal: AbortSignal
  /** Redirects are never followed. */
  readonly redirect: 'manual'
  /** Only on Deno: the connection of a request that may be sent only once. Pass it on to `fetch`. */
  readonly client?: object
}

/** A `fetch`: the runtime's, undici's, a worker's or a mock's. It is called without a `this`. */
export type FetchFunction = (url: string, request: FetchRequest) => Promise<FetchResponse>

/** A response with its body read to the end. */
export interface ReceivedResponse {
  readonly status: number
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Absent when the body of an error response did not arrive: its status is enough. */
  readonly text: string | undefined
}

/** How one attempt ended. */
export type Attempt =
  | { readonly kind: 'response'; readonly response: ReceivedResponse }
  | { readonly kind: 'failed'; readonly phase: Phase; readonly failure: Failure }

/** The request of one attempt. `timeout` includes reading the body. `once`: the runtime must not resend it by itself. */
export interface AttemptRequest {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
  readonly timeout: number
  readonly once: boolean
}

/** Makes the ky instance of a client. Retries, timeouts and error statuses are this package's own: see decision 2. */
export const createHttp = (): KyInstance =>
  ky.create({ retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' })

interface DenoRuntime {
  createHttpClient(options: { readonly poolMaxIdlePerHost: number }): { close(): void }
}

const isDeno = (value: unknown): value is DenoRuntime =>
  typeof value === 'object' && value !== null && 'createHttpClient' in value

/**
 * Opens a connection for one request. Deno's fetch resends a POST when a reused connection closes without a response
 * (measured up to 2.9), and the server may have acted by then. Undefined on other runtimes.
 */
const ownConnection = () => {
  const deno: unknown = Reflect.get(globalThis, 'Deno')
  try {
    return isDeno(deno) ? deno.createHttpClient({ poolMaxIdlePerHost: 0 }) : undefined
  } catch {
    // Deno without the permission or the flag for it.
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

/** Sends one attempt as a ky request, and reads its whole body. Never rejects. */
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
      // All this goes along with ky's request, because a request that holds it costs more (decision 2).
      const rest = { headers, signal, ...(body !== undefined && { body }), ...client }
      const send = fetch
        ? () => fetch(url, { method, redirect: 'manual', ...rest }) as Promise<Response>
        : (request: RequestInfo | URL) => globalThis.fetch(request, rest)
      const response: FetchResponse = await http(url, { method, fetch: send })
      // Without a status, nothing distinguishes a success from a rejection.
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
    // A server that responded has received the request, whatever the code says.
    const isProof = failure.kind === 'connection' && { notSent: false, certificate: false }
    return { kind: 'failed', phase: 'response', failure: { ...failure, ...isProof } }
  } finally {
    try {
      connection?.close()
    } catch {
      // The given `fetch` closed it already.
    }
  }
}

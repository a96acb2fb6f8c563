import ky, { type KyInstance } from 'ky'
import { steadyClock } from '../clock.ts'
import type { Phase } from '../errors.ts'
import { Interrupted, type Interruption } from './deadline.ts'
import type { FetchHeaders, FetchResponse } from './options.ts'
import type { Call } from './prepare.ts'
import { type Headers, type ResponseHead, readHead } from './response-headers.ts'
import { type ConnectionFailure, classifyFailure } from './retry.ts'

export interface ReceivedResponse extends ResponseHead {
  /** The body. Undefined if the body is too large, or if the body of an error response did not arrive. */
  readonly text: string | undefined
}

/** An attempt without a complete response. `phase` is `response` if the response's headers arrived. */
export interface LostAttempt {
  readonly kind: 'lost'
  readonly phase: Phase
  readonly failure: ConnectionFailure | Interruption
}

/** Creates a ky instance. The client has its own retries and timeouts, so ky's are off (docs/decisions/0002). */
export const createHttp = (): KyInstance =>
  ky.create({ retry: 0, timeout: false, throwHttpErrors: false, redirect: 'manual' })

/**
 * On Deno and Bun, returns the `fetch` options that give a request its own connection. If a reused connection closes
 * without a response, their `fetch` resends a POST that the server may have executed (measured up to Deno 2.9 and Bun
 * 1.3.12). Over HTTP/2, Deno also resends a POST after REFUSED_STREAM, which a proxy may send after the server acted.
 */
const ownConnection = () => {
  if ('Bun' in globalThis) return { keepalive: false } as const
  try {
    const options = { poolMaxIdlePerHost: 0, http2: false }
    const client: { close(): void } = Reflect.get(globalThis, 'Deno')?.createHttpClient?.(options)
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

const isStream = (body: unknown): body is AsyncIterable<Uint8Array> => Symbol.asyncIterator in Object(body)

/** Reads a body as text. Stops after `maxBytes` and returns `undefined`, because 1 MB of gzip may inflate to 1 GB. */
const readText = async (response: FetchResponse, headers: Headers, maxBytes: number) => {
  const { body } = response
  const isSmall = Number(headers['content-length']) <= maxBytes && headers['content-encoding'] === undefined
  // If a wrapper of `fetch` has already read the body, only `response.text()` of that wrapper still returns the body.
  if (isSmall || response.bodyUsed || !isStream(body)) return response.text()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const bytes of body) {
    size += bytes.length
    if (size > maxBytes) return undefined
    text += decoder.decode(bytes, { stream: true })
  }
  return text + decoder.decode()
}

/** Sends one attempt of a call through ky, and reads the whole response. The promise never rejects. */
export const sendOnce = async (
  call: Call,
  headers: Record<string, string>,
): Promise<LostAttempt | ReceivedResponse> => {
  const { client, endpoint, url, method, deadline, timeout } = call
  const { fetch, maxResponseBytes, clock } = client.settings
  const startedAt = steadyClock.now()
  const freshConnection = endpoint.retry !== 'always'
  const connection = freshConnection ? ownConnection() : undefined
  // Node 26 and undici 8 resend a request without a body after REFUSED_STREAM, although the server may have acted.
  const body = call.body ?? (freshConnection && method !== 'GET' ? new ArrayBuffer(0) : undefined)
  let received: ResponseHead | undefined
  try {
    return await deadline.race(async (signal) => {
      // `fetch` gets headers, signal and body directly: a ky request with them is slower (docs/decisions/0002).
      const rest = { headers, signal, ...(body !== undefined && { body }), ...connection }
      const send = fetch
        ? () => fetch(url, { method, redirect: 'manual', ...rest }) as Promise<Response>
        : (request: RequestInfo | URL) => globalThis.fetch(request, rest)
      const response: FetchResponse = await client.http(url, { method, fetch: send })
      const { status } = response
      // Without a status, the client cannot tell a success from a rejection. The error's message contains this code.
      if (!Number.isInteger(status))
        throw Object.assign(new Error('no status'), { code: 'FETCH_RETURNED_NO_STATUS' })
      const head = lowerCase(response.headers)
      received = readHead(status, head, clock.now())
      return { ...received, text: await readText(response, head, maxResponseBytes) }
    }, timeout)
  } catch (error) {
    const milliseconds = Math.round(steadyClock.now() - startedAt)
    const failure = error instanceof Interrupted ? error.by : classifyFailure(error, milliseconds)
    if (received === undefined) return { kind: 'lost', phase: 'request', failure }
    if (received.status >= 400 && failure.kind !== 'aborted') return { ...received, text: undefined }
    // The response's headers have arrived, so the request was sent and the certificate was accepted.
    const sent = failure.kind === 'connection' ? { ...failure, notSent: false, certificate: false } : failure
    return { kind: 'lost', phase: 'response', failure: sent }
  } finally {
    try {
      connection?.client?.close()
    } catch {
      // `close` throws if the given `fetch` has already closed the connection.
    }
  }
}

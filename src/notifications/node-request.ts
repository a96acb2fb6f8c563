import { bytesOf } from './bytes.ts'
import { rememberParsedBody } from './parsed-body.ts'

/** The part of node:http's IncomingMessage that is used. */
export interface NodeRequest extends AsyncIterable<Uint8Array | string> {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Whether anything has read from the stream. */
  readonly readableDidRead?: boolean | undefined
  readonly body?: unknown
  readonly rawBody?: unknown
}

/** What a body parser left: `rawBody` where it keeps the bytes, `body` where it keeps its result. */
export interface LeftBody {
  readonly body?: unknown
  readonly rawBody?: unknown
}

const encoder = new TextEncoder()

const toBytes = (chunk: Uint8Array | string): Uint8Array =>
  typeof chunk === 'string' ? encoder.encode(chunk) : chunk

/** A copy of what a body parser kept raw, as bytes or text; `undefined` for anything else. */
const rawBytes = (value: unknown): Uint8Array<ArrayBuffer> | undefined => {
  const bytes = typeof value === 'string' ? encoder.encode(value) : bytesOf(value)
  return bytes === undefined ? undefined : Uint8Array.from(bytes)
}

/** The stream as a body that is read only as far as it is asked for. */
const streamOf = (request: NodeRequest): ReadableStream<Uint8Array> => {
  const iterator = request[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(toBytes(value))
      },
      // No `cancel`: ending the iterator would destroy the socket before "413" is answered.
    },
    { highWaterMark: 0 },
  )
}

const bodyOf = (
  request: NodeRequest,
  left: LeftBody,
): ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | undefined => {
  const raw = rawBytes(left.rawBody) ?? rawBytes(left.body)
  if (raw !== undefined) return raw
  const isConsumed = request.readableDidRead ?? left.body !== undefined
  return isConsumed ? undefined : streamOf(request)
}

const urlOf = ({ url = '/' }: NodeRequest): string => {
  const path = url.startsWith('/') ? url : '/'
  // Nothing of a delivery is decided by its address: the host that a sender claims is not repeated.
  return `http://localhost${path.replace(/^\/+/, '/')}`
}

/** A request of node:http as a web-standard one, with the body that its framework left. */
export const toRequest = (request: NodeRequest, left: LeftBody): Request => {
  const method = request.method ?? 'GET'
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    // HTTP/2 has pseudo-headers such as `:path`.
    if (value === undefined || name.startsWith(':')) continue
    for (const one of [value].flat()) headers.append(name, one)
  }
  if (method !== 'POST' && method !== 'PUT') return new Request(urlOf(request), { method: 'GET', headers })
  const body = bodyOf(request, left)
  const init: RequestInit & { duplex: 'half' } = { method, headers, duplex: 'half' }
  const converted = new Request(urlOf(request), body === undefined ? init : { ...init, body })
  if (body === undefined) rememberParsedBody(converted, left.body)
  return converted
}

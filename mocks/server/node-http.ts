import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import {
  BodyTooLargeError,
  type IncomingRequest,
  type MockResponse,
  mayHaveBody,
  type ResponseData,
  type ServerAddress,
} from '../http/message.ts'

/** A Node request over HTTP/1 or HTTP/2. */
export type NodeIncoming = IncomingMessage | Http2ServerRequest
/** A Node response over HTTP/1 or HTTP/2. */
export type NodeOutgoing = ServerResponse | Http2ServerResponse

// A BOM at the start is removed, as `text()` of a fetch Request does.
const strict = new TextDecoder('utf-8', { fatal: true })
const lenient = new TextDecoder()

/** Returns whether the sender aborted an HTTP/2 body. Node emits `end` even for an aborted body. */
const isAborted = (incoming: NodeIncoming): boolean =>
  'stream' in incoming && (incoming.stream.aborted || incoming.stream.rstCode !== 0)

/** Reads a body. Rejects if the body exceeds `most` bytes (`BodyTooLargeError`) or the sender disconnects. */
const readBytes = (incoming: NodeIncoming, most: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const parts: Uint8Array[] = []
    let size = 0
    let isSettled = false
    const fail = (error: () => Error): void => {
      if (!isSettled) reject(error())
      isSettled = true
    }
    const refuse = (): void => fail(() => new BodyTooLargeError(most))
    const onGone = (): void => fail(() => new Error('The sender disconnected before the end of the body.'))
    // Without this listener, an `error` event would end the process. After `error`, Node emits `close`.
    incoming.on('error', () => undefined)
    // Reads a body that is too large to its end, because some senders read the response only after they sent the body.
    incoming.on('data', (part: Uint8Array) => {
      size += part.length
      if (size <= most) parts.push(part)
      else refuse()
    })
    incoming.on('close', onGone).on('end', () => {
      if (isAborted(incoming)) onGone()
      else resolve(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts))
      isSettled = true
    })
    if (Number(incoming.headers['content-length'] ?? 0) > most) refuse()
    else if (incoming.destroyed) onGone()
  })

const isHttp2 = (outgoing: NodeOutgoing): outgoing is Http2ServerResponse => 'stream' in outgoing

/** Returns whether the sender has disconnected, or has canceled the stream in HTTP/2. */
const hasLeft = (outgoing: NodeOutgoing): boolean =>
  isHttp2(outgoing) ? outgoing.stream.destroyed || outgoing.stream.closed : outgoing.destroyed

/** Returns a signal that is aborted when the sender disconnects before the response has ended. */
const signalOf = (outgoing: NodeOutgoing): AbortSignal => {
  const controller = new AbortController()
  const onClose = (): void => {
    if (!outgoing.writableEnded) controller.abort()
  }
  outgoing.once('close', onClose)
  if (hasLeft(outgoing)) onClose()
  return controller.signal
}

/** The headers of a Node request. */
class NodeHeaders {
  readonly #fields: NodeIncoming['headers']

  constructor(fields: NodeIncoming['headers']) {
    this.#fields = fields
  }

  get(name: string): string | null {
    const value = this.#fields[name.toLowerCase()]
    return typeof value === 'object' ? value.join(', ') : (value ?? null)
  }

  forEach(visit: (value: string, name: string) => void): void {
    for (const name in this.#fields) {
      // HTTP/2 has pseudo-headers such as `:path`.
      if (!name.startsWith(':')) visit(this.get(name) ?? '', name)
    }
  }
}

// A class, because an object with closures takes a microsecond more for each request.
/** A Node request, as the mock's handler reads it. */
export class NodeRequest implements IncomingRequest {
  readonly method: string
  readonly url: string
  readonly headers: NodeHeaders
  readonly server: ServerAddress
  readonly #incoming: NodeIncoming
  readonly #outgoing: NodeOutgoing
  readonly #maxBodyBytes: number
  #signal: AbortSignal | undefined
  #isUtf8 = true

  constructor(
    url: string,
    server: ServerAddress,
    incoming: NodeIncoming,
    outgoing: NodeOutgoing,
    maxBodyBytes: number,
  ) {
    this.method = incoming.method ?? 'GET'
    this.url = url
    this.headers = new NodeHeaders(incoming.headers)
    this.server = server
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#maxBodyBytes = maxBodyBytes
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#outgoing)
    return this.#signal
  }

  hasLeft(): boolean {
    return hasLeft(this.#outgoing)
  }

  isUtf8(): boolean {
    return this.#isUtf8
  }

  async text(): Promise<string> {
    const bytes = await readBytes(this.#incoming, this.#maxBodyBytes)
    try {
      return strict.decode(bytes)
    } catch {
      this.#isUtf8 = false
      return lenient.decode(bytes)
    }
  }
}

/** Closes an HTTP/2 stream or an HTTP/1 connection. If `reset` is true, an HTTP/1 connection gets a TCP reset. */
const disconnect = (incoming: NodeIncoming, outgoing: NodeOutgoing, reset: boolean): void => {
  if (isHttp2(outgoing)) {
    // The code is not REFUSED_STREAM, because that means "not executed", and the mock may have executed the request.
    outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return
  }
  const { socket } = incoming
  if (reset && 'resetAndDestroy' in socket) socket.resetAndDestroy()
  else socket.destroy()
}

/** Writes status and headers. TypeScript needs two calls, because `writeHead` has two signatures. */
const writeHead = (
  outgoing: NodeOutgoing,
  { status, headers: given, body }: ResponseData,
  isHead: boolean,
): void => {
  const headers: Record<string, string> = { ...given }
  if (!isHead && mayHaveBody(status)) headers['Content-Length'] = String(Buffer.byteLength(body))
  if (isHttp2(outgoing)) outgoing.writeHead(status, headers)
  else outgoing.writeHead(status, headers)
}

/** Writes a response, or closes the connection. Does nothing if the client has disconnected. */
export const writeResponse = (incoming: NodeIncoming, outgoing: NodeOutgoing, sent: MockResponse): void => {
  if (hasLeft(outgoing)) return
  const isHead = incoming.method === 'HEAD'
  switch (sent.kind) {
    case 'complete':
      writeHead(outgoing, sent.response, isHead)
      outgoing.end(isHead ? '' : sent.response.body)
      return
    case 'closed':
      disconnect(incoming, outgoing, sent.code === 'ECONNRESET')
      return
    case 'none':
      return
    case 'truncated': {
      writeHead(outgoing, sent.response, false)
      const done = (): void => disconnect(incoming, outgoing, false)
      if (isHttp2(outgoing)) outgoing.stream.write(sent.part, done)
      else outgoing.write(sent.part, done)
    }
  }
}

/** Handles a failed request: responds with 413 to a too large body; disconnects after any other error. Never throws. */
export const writeFailure = (outgoing: NodeOutgoing, error: unknown): void => {
  if (!(error instanceof BodyTooLargeError) || outgoing.headersSent || hasLeft(outgoing)) {
    if (isHttp2(outgoing)) outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    else outgoing.destroy()
    return
  }
  const body = `${error.message}\n`
  writeHead(outgoing, { status: 413, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body }, true)
  outgoing.end(body)
}

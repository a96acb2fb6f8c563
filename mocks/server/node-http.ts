import type { IncomingMessage, ServerResponse } from 'node:http'
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { BodyTooLargeError } from '../http/exchange.ts'
import { type MockResponse, mayHaveBody, type ResponseData } from '../http/response.ts'

/** A Node request over HTTP/1 or HTTP/2. */
export type NodeIncoming = IncomingMessage | Http2ServerRequest
/** A Node response over HTTP/1 or HTTP/2. */
export type NodeOutgoing = ServerResponse | Http2ServerResponse

/** The text of a body, and whether its bytes are valid UTF-8. Invalid bytes are replaced in the text. */
export interface BodyText {
  readonly text: string
  readonly isUtf8: boolean
}

const strict = new TextDecoder('utf-8', { fatal: true })
const lenient = new TextDecoder()

const decoded = (bytes: Uint8Array): BodyText => {
  try {
    return { text: strict.decode(bytes), isUtf8: true }
  } catch {
    return { text: lenient.decode(bytes), isUtf8: false }
  }
}

/** Returns whether the sender aborted an HTTP/2 body. Node emits `end` even for an aborted body. */
const isAborted = (incoming: NodeIncoming): boolean =>
  'stream' in incoming && (incoming.stream.aborted || incoming.stream.rstCode !== 0)

/** Reads a body. Rejects if the body exceeds `most` bytes (`BodyTooLargeError`) or the sender disconnects. */
export const readText = (incoming: NodeIncoming, most: number): Promise<BodyText> =>
  new Promise((resolve, reject) => {
    const refuse = (): void => {
      // Reads the rest of the body, because some senders read the response only after they have sent the whole body.
      incoming.resume()
      reject(new BodyTooLargeError(most))
    }
    if (Number(incoming.headers['content-length'] ?? 0) > most) {
      refuse()
      return
    }
    const parts: Uint8Array[] = []
    let size = 0
    const onData = (part: Uint8Array): void => {
      size += part.length
      if (size <= most) parts.push(part)
      else end(refuse)
    }
    const onGone = (): void =>
      end(() => reject(new Error('The sender disconnected before the end of the body.')))
    const onEnd = (): void => {
      if (isAborted(incoming)) onGone()
      else end(() => resolve(decoded(Buffer.concat(parts, size))))
    }
    const end = (settle: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('aborted', onGone).off('close', onGone)
      settle()
    }
    // Without this listener, an `error` event would end the process. After `error`, Node emits `close`.
    incoming.on('error', () => undefined)
    incoming.on('data', onData).on('end', onEnd).on('aborted', onGone).on('close', onGone)
    if (incoming.destroyed) onGone()
  })

const isHttp2 = (outgoing: NodeOutgoing): outgoing is Http2ServerResponse => 'stream' in outgoing

/** Returns whether the sender has disconnected, or has canceled the stream in HTTP/2. */
export const hasLeft = (outgoing: NodeOutgoing): boolean =>
  isHttp2(outgoing) ? outgoing.stream.destroyed || outgoing.stream.closed : outgoing.destroyed

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
const writeHead = (outgoing: NodeOutgoing, status: number, headers: Record<string, string>): void => {
  if (isHttp2(outgoing)) outgoing.writeHead(status, headers)
  else outgoing.writeHead(status, headers)
}

const writeHeadOf = (
  outgoing: NodeOutgoing,
  { status, headers, body }: ResponseData,
  isHead: boolean,
): void =>
  writeHead(
    outgoing,
    status,
    isHead || !mayHaveBody(status)
      ? { ...headers }
      : { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
  )

/** Writes a response, or closes the connection. Does nothing if the client has disconnected. */
export const writeResponse = (incoming: NodeIncoming, outgoing: NodeOutgoing, sent: MockResponse): void => {
  if (hasLeft(outgoing)) return
  const isHead = incoming.method === 'HEAD'
  switch (sent.kind) {
    case 'complete':
      writeHeadOf(outgoing, sent.response, isHead)
      outgoing.end(isHead ? '' : sent.response.body)
      return
    case 'closed':
      disconnect(incoming, outgoing, sent.code === 'ECONNRESET')
      return
    case 'none':
      return
    case 'truncated': {
      writeHeadOf(outgoing, sent.response, false)
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
  writeHead(outgoing, 413, { 'Content-Type': 'text/plain; charset=utf-8' })
  outgoing.end(`${error.message}\n`)
}

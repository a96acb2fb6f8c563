import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { constants } from 'node:http2'
import { BodyTooLargeError } from '../http/exchange.ts'
import type { Answer, Reply } from '../http/response.ts'
import { mayHaveBody } from '../http/response.ts'

const isBrokenOff = (incoming: NodeIncoming): boolean =>
  'stream' in incoming && (incoming.stream.aborted || incoming.stream.rstCode !== 0)

/** A body, and whether its bytes are UTF-8, as JSON's are: those that are not are replaced. */
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

/**
 * Reads a request's body as UTF-8. Rejects with a `BodyTooLargeError` as soon as it is known to be larger than
 * `most` bytes, and when the sender leaves before its end. What comes after that is not kept.
 */
export const readText = (incoming: NodeIncoming, most: number): Promise<BodyText> =>
  new Promise((resolve, reject) => {
    const refuse = (): void => {
      // The rest flows by: a sender that is held up would not read the answer.
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
    const onGone = (): void => end(() => reject(new Error('The sender left before the end of the body.')))
    const onEnd = (): void => {
      // Over HTTP/2 a body that was broken off ends, too.
      if (isBrokenOff(incoming)) onGone()
      else end(() => resolve(decoded(Buffer.concat(parts, size))))
    }
    const end = (settle: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('aborted', onGone).off('close', onGone)
      // An `error` without a listener would end the process; here it comes with `close`.
      settle()
    }
    incoming.on('error', () => undefined)
    incoming.on('data', onData).on('end', onEnd).on('aborted', onGone).on('close', onGone)
    if (incoming.destroyed) onGone()
  })

/** A request as HTTP/1 or HTTP/2 of Node give it. */
export type NodeIncoming = IncomingMessage | Http2ServerRequest
/** What answers it. */
export type NodeOutgoing = ServerResponse | Http2ServerResponse

const isHttp2 = (outgoing: NodeOutgoing): outgoing is Http2ServerResponse => 'stream' in outgoing

/** Whether the sender of a request has left. An HTTP/2 answer does not say so itself: its stream does. */
export const hasLeft = (outgoing: NodeOutgoing): boolean =>
  isHttp2(outgoing) ? outgoing.stream.destroyed || outgoing.stream.closed : outgoing.destroyed

/** Ends the connection (HTTP/2: the stream) under a request. `reset` does it without a farewell. */
const breakOff = (incoming: NodeIncoming, outgoing: NodeOutgoing, reset: boolean): void => {
  if (isHttp2(outgoing)) {
    // Not REFUSED_STREAM: that would tell the client that nothing was executed.
    outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return
  }
  const { socket } = incoming
  if (reset && 'resetAndDestroy' in socket) socket.resetAndDestroy()
  else socket.destroy()
}

const headersOf = ({ status, headers, body }: Answer, isHead: boolean): Record<string, string | number> => {
  if (isHead || !mayHaveBody(status)) return { ...headers }
  return { ...headers, 'Content-Length': Buffer.byteLength(body) }
}

/** Types of both `writeHead`s differ in what else they take. */
const writeHead = (
  outgoing: NodeOutgoing,
  status: number,
  headers: Record<string, string | number>,
): void => {
  if (isHttp2(outgoing)) outgoing.writeHead(status, headers)
  else outgoing.writeHead(status, headers)
}

/** When no reply could be made: 413 for a body that nobody read, else the connection ends. It never throws. */
export const writeFailure = (outgoing: NodeOutgoing, error: unknown): void => {
  if (!(error instanceof BodyTooLargeError) || outgoing.headersSent || hasLeft(outgoing)) {
    if (isHttp2(outgoing)) outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    else outgoing.destroy()
    return
  }
  writeHead(outgoing, 413, { 'Content-Type': 'text/plain; charset=utf-8' })
  outgoing.end(`${error.message}\n`)
}

const write = (outgoing: NodeOutgoing, part: string, done: () => void): void => {
  if (isHttp2(outgoing)) outgoing.stream.write(part, done)
  else outgoing.write(part, done)
}

/** Does on a socket exactly what a reply says. Nothing is written to a client that has left. */
export const writeReply = (incoming: NodeIncoming, outgoing: NodeOutgoing, reply: Reply): void => {
  if (hasLeft(outgoing)) return
  const isHead = incoming.method === 'HEAD'
  switch (reply.kind) {
    case 'answer':
      writeHead(outgoing, reply.answer.status, headersOf(reply.answer, isHead))
      outgoing.end(isHead ? '' : reply.answer.body)
      return
    case 'closed':
      breakOff(incoming, outgoing, reply.code === 'ECONNRESET')
      return
    case 'silence':
      return
    case 'truncated':
      writeHead(outgoing, reply.answer.status, headersOf(reply.answer, false))
      write(outgoing, reply.part, () => breakOff(incoming, outgoing, false))
  }
}

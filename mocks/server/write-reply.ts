import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { constants } from 'node:http2'
import type { Answer, Reply } from '../http/answer.ts'
import { mayHaveBody } from '../http/answer.ts'
import { BodyTooLargeError } from '../http/request-body.ts'

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

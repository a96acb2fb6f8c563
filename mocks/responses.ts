import type { Answer, Reply } from './http/answer.ts'
import { mayHaveBody } from './http/answer.ts'

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

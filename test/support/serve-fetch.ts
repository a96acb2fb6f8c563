import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import { listen } from './listen.ts'

const toRequest = async (message: IncomingMessage): Promise<Request> => {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk)
  const headers = new Headers()
  for (const [name, text] of Object.entries(message.headers)) headers.set(name, String(text))
  const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
  return new Request(`http://${message.headers.host}${message.url}`, {
    method: message.method ?? 'GET',
    headers,
    ...body,
  })
}

/** Serves a fetch handler on a loopback port, for browsers and other processes. */
export const serveFetch = async (
  handler: (request: Request) => Promise<Response>,
): Promise<{ readonly url: string; close(): void }> => {
  const server = createServer((message, reply) => {
    toRequest(message)
      .then(handler)
      .then(async (response) => {
        reply.writeHead(response.status, Object.fromEntries(response.headers))
        reply.end(Buffer.from(await response.arrayBuffer()))
      })
      .catch((error: unknown) => {
        reply.writeHead(500).end(String(error))
      })
  })
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from './listen.ts'

const toRequest = async (message: IncomingMessage): Promise<Request> => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers)) headers.set(name, String(value))
  const body = (await text(message)) || null
  return new Request(`http://${headers.get('host')}${message.url}`, {
    method: message.method ?? 'GET',
    headers,
    body,
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

import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

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

/** Serves an answer of ours for each request of a browser. */
export const serve = async (
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
  const url = await listen(server)
  return {
    url,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

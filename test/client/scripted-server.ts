import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from 'vitest'

/** A request as the server received it. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What the server does with a request. */
export interface Script {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text, bytes, or a value sent as JSON; nothing for an empty body. */
  readonly body?: unknown
  /** `close`: the connection is closed instead of answering. `cut`: after half of the body. `stall`: the body never ends. `silent`: nothing is ever sent. */
  readonly fault?: 'close' | 'cut' | 'stall' | 'silent'
}

/** A server on a real socket that answers as told and remembers what it received. */
export interface ScriptedServer {
  readonly url: string
  readonly requests: Received[]
}

const bytesOf = (body: unknown): Uint8Array => {
  if (body === undefined) return new Uint8Array()
  if (body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}

const read = async (message: IncomingMessage): Promise<string> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of message) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks).toString('utf8')
}

const perform = (response: ServerResponse, { status = 200, headers, body, fault }: Script): void => {
  if (fault === 'silent') return
  if (fault === 'close') {
    response.destroy()
    return
  }
  const bytes = bytesOf(body)
  const type =
    typeof body === 'object' && !(body instanceof Uint8Array) ? { 'content-type': 'application/json' } : {}
  response.writeHead(status, { ...type, 'content-length': String(bytes.length), ...headers })
  if (fault === undefined) {
    response.end(bytes)
    return
  }
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => {
    if (fault === 'cut') response.destroy()
  })
}

const running = new Set<Server>()

afterEach(async () => {
  for (const server of running) {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
    running.delete(server)
  }
})

/** Starts a server; it ends with the test. `script` is a list (the last entry repeats) or a function of the request. */
export const startServer = async (
  script: readonly Script[] | ((request: Received, index: number) => Script | Promise<Script>),
): Promise<ScriptedServer> => {
  const requests: Received[] = []
  const server = createServer(async (message, response) => {
    const index = requests.length
    const entry = { method: message.method ?? '', url: message.url ?? '', headers: message.headers }
    const request: Received = { ...entry, body: await read(message) }
    requests.push(request)
    const answer =
      typeof script === 'function' ? await script(request, index) : (script[index] ?? script.at(-1))
    perform(response, answer ?? {})
  })
  running.add(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** An address where nothing listens. */
export const closedPort = async (): Promise<string> => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

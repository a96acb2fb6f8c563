import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { TOKEN } from './clients.ts'
import { serve } from './serve.ts'

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
  /** `close`: closes the connection instead of responding. `cut`: closes it after half of the body. `stall`: the body never ends. `silent`: sends nothing. */
  readonly fault?: 'close' | 'cut' | 'stall' | 'silent'
}

type ScriptOf = (request: Received, index: number) => Script | Promise<Script>

/** A server on a real socket that responds as told and remembers what it received. */
export interface ScriptedServer {
  readonly url: string
  readonly requests: Received[]
}

const bytesOf = (body: unknown): Uint8Array => {
  if (body === undefined) return new Uint8Array()
  if (body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
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

/** Starts a server; it ends with the test. `script` is a list (the last entry repeats) or a function of the request. */
export const startServer = async (script: readonly Script[] | ScriptOf): Promise<ScriptedServer> => {
  const requests: Received[] = []
  const url = await serve(async (message, response) => {
    const index = requests.length
    const entry = { method: message.method ?? '', url: message.url ?? '', headers: message.headers }
    const request: Received = { ...entry, body: await text(message) }
    requests.push(request)
    const next =
      typeof script === 'function' ? await script(request, index) : (script[index] ?? script.at(-1))
    perform(response, next ?? {})
  })
  return { url, requests }
}

/** Grants logins; the script responds to everything else, counting from 0. */
export const withLogin = (script: readonly Script[] | ((request: Received, index: number) => Script)) => {
  let index = -1
  return (request: Received): Script => {
    if (request.url === '/oauth/token') {
      return {
        body: { token_type: 'Bearer', expires_in: 3600, access_token: TOKEN, refresh_token: 'refresh-03' },
      }
    }
    index += 1
    return typeof script === 'function' ? script(request, index) : (script[index] ?? script.at(-1) ?? {})
  }
}

import { check, functionOption, inputError } from '../check.ts'
import { toBytes } from './parse.ts'
import { parsedBodies, toHeaders } from './read-delivery.ts'

// Body parsers set these fields of a request: the bytes in `rawBody`, and the parsed body in `body`.
interface ParsedBody {
  readonly body?: unknown
  readonly rawBody?: unknown
}
interface NodeRequest extends ParsedBody, AsyncIterable<Uint8Array | string> {
  readonly method?: string
  readonly url?: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly readableDidRead?: boolean
}
type HeaderValues = Readonly<Record<string, string>>
interface NodeResponse {
  statusCode: number
  readonly headersSent?: boolean
  setHeader(name: string, value: string): unknown
  end(): unknown
}
type FastifyRequest = ParsedBody & { readonly raw: NodeRequest }
type FastifyReply = { code(status: number): { headers(all: HeaderValues): { send(body: string): unknown } } }
type KoaContext = { readonly req: NodeRequest; readonly request: ParsedBody; set(all: HeaderValues): unknown }

/** A notification handler, or another function that returns a `Response` for a web-standard `Request`. */
export type FetchHandler = (request: Request) => Promise<Response>

/** A handler for node:http, Express 5, Fastify 5 and Koa. It recognizes the framework by its arguments. */
export type NodeHandler = (first: object, second?: object, third?: unknown) => Promise<unknown>

const has = <Shape extends object>(value: unknown, ...names: (keyof Shape)[]): value is Shape =>
  names.every((name) => name in Object(value))

/** Returns the request's body as a stream. The stream reads data only when its consumer needs it. */
const streamOf = (request: NodeRequest): ReadableStream<Uint8Array> => {
  const iterator = request[Symbol.asyncIterator]()
  // The stream has no `cancel` method, because `cancel` would close the socket before the 413 response is sent.
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await iterator.next()
    if (done === true) controller.close()
    else controller.enqueue(typeof value === 'string' ? new TextEncoder().encode(value) : value)
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

/** Converts a request of node:http to a web `Request`. If a body parser has read the body, uses the parser's result. */
const toRequest = (request: NodeRequest, parsed: ParsedBody): Request => {
  const headers = toHeaders(request.headers)
  // The handler does not use the URL's host, so the untrusted Host header is not copied.
  const url = `http://localhost/${/^\/+(.*)/.exec(request.url ?? '')?.[1] ?? ''}`
  const { method } = request
  if (method !== 'POST' && method !== 'PUT') return new Request(url, { method: 'GET', headers })
  const raw = toBytes(parsed.rawBody) ?? toBytes(parsed.body)
  const isRead = request.readableDidRead ?? parsed.body !== undefined
  const body = raw ?? (isRead ? null : streamOf(request))
  const init = { method, headers, body, duplex: 'half' }
  const converted = new Request(url, init)
  if (body === null) parsedBodies.set(converted, parsed.body)
  return converted
}

/**
 * Adapts a notification handler to servers built on node:http: `createServer`, Express, Nest, Fastify and Koa. The
 * adapter uses the body that a body parser kept, or else reads the body. To verify a signature, the handler needs raw
 * bytes or text: mount the route before `express.json()`, or use `express.raw({ type: () => true })`. If the setup is
 * wrong, the framework's error handling receives the error. With plain node:http, the response is 500.
 *
 * @throws {InvalidRequestError} when no handler is given.
 * @example app.post('/notifications', toNodeHandler(handler)) // Express, Fastify, or a router of Koa
 */
export const toNodeHandler = (handler: FetchHandler): NodeHandler => {
  check('toNodeHandler', functionOption<FetchHandler>(), handler, 'handler')
  const receive = async (request: NodeRequest, parsed: ParsedBody) => {
    const { status, headers } = await handler(toRequest(request, parsed))
    return { status, headers: Object.fromEntries(headers) }
  }

  return async (first, second, third) => {
    if (has<KoaContext>(first, 'req', 'request', 'set')) {
      const { status, headers } = await receive(first.req, first.request)
      first.set(headers)
      // Koa treats a null body as "no content" and would change a 200 to a 204.
      Object.assign(first, { status, body: '' })
      return
    }
    if (has<FastifyRequest>(first, 'raw') && has<FastifyReply>(second, 'code')) {
      const { status, headers } = await receive(first.raw, first)
      return second.code(status).headers(headers).send('')
    }
    if (!has<NodeRequest>(first, 'method', 'headers') || !has<NodeResponse>(second, 'setHeader', 'end')) {
      const rule = 'the request and response of node:http, Express or Fastify, or the Koa context'
      throw inputError('notifications.handler', 'request', rule, first)
    }
    const respond = (status: number, headers: HeaderValues) => {
      // The server's timeout or another middleware may already have sent a response.
      if (second.headersSent === true) return
      second.statusCode = status
      for (const [name, value] of Object.entries(headers)) second.setHeader(name, value)
      second.end()
    }
    try {
      const { status, headers } = await receive(first, first)
      return respond(status, headers)
    } catch (error) {
      // Express passes `next` as `third`. With plain node:http, a rejected promise would end the process.
      return typeof third === 'function' ? third(error) : respond(500, {})
    }
  }
}

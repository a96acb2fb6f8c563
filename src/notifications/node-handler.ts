import { InvalidRequestError } from '../errors.ts'
import { refuse, unless, whileReading } from '../transport/input-issues.ts'
import type { NodeRequest } from './node-request.ts'
import { toRequest } from './node-request.ts'
import type { NotificationHandler } from './notification-handler.ts'

/** The part of node:http's ServerResponse that is used. */
interface NodeResponse {
  statusCode: number
  /** Whether somebody has answered already: a time limit of the server, or of a middleware before this. */
  readonly headersSent?: boolean | undefined
  setHeader(name: string, value: string): unknown
  end(body?: string): unknown
}

/** The parts of Fastify's request and reply that are used. */
interface FastifyRequest {
  readonly raw: NodeRequest
  readonly body?: unknown
  readonly rawBody?: unknown
}
interface FastifyReply {
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(body: string): unknown
}

/** The part of Koa's context that is used. */
interface KoaContext {
  readonly req: NodeRequest
  readonly request: { readonly body?: unknown; readonly rawBody?: unknown }
  status: number
  body: unknown
  set(name: string, value: string): unknown
}

/** A handler for node:http, Express 5, Fastify 5 and Koa; what it is called with tells them apart. */
export type NodeHandler = (first: object, second?: object, third?: unknown) => Promise<unknown>

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isKoaContext = (value: unknown): value is KoaContext =>
  isObject(value) &&
  'req' in value &&
  'res' in value &&
  'request' in value &&
  'set' in value &&
  typeof value.set === 'function'

const isFastifyRequest = (value: unknown): value is FastifyRequest =>
  isObject(value) && 'raw' in value && isObject(value.raw) && 'headers' in value.raw

const isFastifyReply = (value: unknown): value is FastifyReply =>
  isObject(value) && 'code' in value && 'send' in value && typeof value.send === 'function'

const isNodeRequest = (value: unknown): value is NodeRequest =>
  isObject(value) && 'method' in value && 'headers' in value && isObject(value.headers)

const isNodeResponse = (value: unknown): value is NodeResponse =>
  isObject(value) && 'setHeader' in value && 'end' in value && typeof value.end === 'function'

const isNext = (value: unknown): value is (error: unknown) => unknown => typeof value === 'function'

const write = (
  response: NodeResponse,
  answer: { status: number; headers: Iterable<[string, string]> },
): void => {
  if (response.headersSent === true) return
  response.statusCode = answer.status
  for (const [name, value] of answer.headers) response.setHeader(name, value)
  response.end()
}

const answerKoa = async (handler: NotificationHandler, context: KoaContext): Promise<void> => {
  const { body, rawBody } = context.request
  const { status, headers } = await handler(toRequest(context.req, { body, rawBody }))
  context.status = status
  for (const [name, value] of headers) context.set(name, value)
  // Koa takes null for "no content" and would turn 200 into 204.
  context.body = ''
}

const answerFastify = async (
  handler: NotificationHandler,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> => {
  const { raw, body, rawBody } = request
  const { status, headers } = await handler(toRequest(raw, { body, rawBody }))
  reply.code(status)
  for (const [name, value] of headers) reply.header(name, value)
  reply.send('')
  return reply
}

const answerNode = async (
  handler: NotificationHandler,
  request: NodeRequest,
  response: NodeResponse,
  next: unknown,
): Promise<void> => {
  try {
    write(response, await handler(toRequest(request, request)))
  } catch (error) {
    // Bare node:http ends the process when a listener rejects; Express shows the error to its own handlers.
    if (isNext(next)) next(error)
    else write(response, { status: 500, headers: [] })
  }
}

const HANDLER = 'the handler that createNotificationHandler makes'
const REQUEST = 'the request and response of node:http, Express, Fastify, or the context of Koa'

/**
 * A notification handler for servers built on node:http: give it to `createServer`, to an Express or Nest route, to
 * Fastify, or to Koa. It reads the body itself, or takes what a body parser left: raw bytes, text, or an object. A
 * signature can be verified with raw bytes or text only, so mount it before `express.json()`, or with
 * `express.raw({ type: () => true })`.
 *
 * A mistake in the set-up reaches the framework's own error handling.
 *
 * @throws {InvalidRequestError} when no handler is given.
 * @example app.post('/notifications', toNodeHandler(handler)) // Express
 * @example fastify.post('/notifications', toNodeHandler(handler))
 * @example router.post('/notifications', toNodeHandler(handler)) // Koa
 */
export const toNodeHandler = (handler: NotificationHandler): NodeHandler => {
  if (typeof handler !== 'function') {
    refuse('toNodeHandler', unless(false, 'handler', HANDLER, handler))
  }
  return async (first, second, third) => {
    const answerOf = whileReading('notifications.handler', 'request', () => {
      if (isKoaContext(first)) return () => answerKoa(handler, first)
      if (isFastifyRequest(first) && isFastifyReply(second))
        return () => answerFastify(handler, first, second)
      if (isNodeRequest(first) && isNodeResponse(second)) {
        return () => answerNode(handler, first, second, third)
      }
      throw new InvalidRequestError('notifications.handler', [
        { field: 'request', rule: REQUEST, received: 'something else' },
      ])
    })
    return answerOf()
  }
}

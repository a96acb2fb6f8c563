import { check, inputIssue } from '../check.ts'
import type { Clock } from '../clock.ts'
import { steadyClock, withTimeout } from '../clock.ts'
import { InvalidRequestError } from '../errors.ts'
import { createMemoryStore } from './dedupe.ts'
import type { HandlerSettings, NotificationHandlerOptions, Report } from './options.ts'
import { handlerOptionsSchema } from './options.ts'
import type { MerchantNotification } from './parse.ts'
import { bodyError, isRequest, parseBody, parseObject } from './parse.ts'
import type { Work } from './process-once.ts'
import { createProcessOnce } from './process-once.ts'
import type { Delivery } from './verifiers.ts'

/** A web-standard fetch handler that receives deliveries. */
export type NotificationHandler = (request: Request) => Promise<Response>

const STATUSES = { processed: 200, duplicate: 200, failed: 500, 'in-progress': 503, unavailable: 503 }
const METHODS = ['POST', 'PUT']

/** Requests whose body other code has read. `parsed` is the result of the body parser, if there was one. */
export const parsedBodies = new WeakMap<Request, { readonly parsed: unknown }>()

/** Returns all bytes of a stream. Returns undefined if there are more than `maxBytes`. */
const readAll = async (reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number) => {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.byteLength
    if (length > maxBytes) return undefined
    chunks.push(value)
  }
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}

/** Why a delivery cannot be read. */
type Unreadable = { readonly status: 400 | 408 | 413; readonly error: InvalidRequestError }

/** Reads a body. Stops reading when the body is too large, or takes too long in real time. */
const readBody = async (
  request: Request,
  { maxBytes, timeouts }: HandlerSettings,
): Promise<Uint8Array<ArrayBuffer> | Unreadable> => {
  const tooLarge = { status: 413, error: bodyError('more', `at most ${maxBytes} bytes`) } as const
  if (Number(request.headers.get('content-length')) > maxBytes) return tooLarge
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  try {
    reader = request.body?.getReader()
    if (reader === undefined) return new Uint8Array()
    return (await withTimeout(readAll(reader, maxBytes), timeouts.read, 'The body')) ?? tooLarge
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError'
      ? { status: 408, error: bodyError('a part of it', `complete within ${timeouts.read} ms`) }
      : { status: 400, error: bodyError('a body that broke off or was read before', 'readable') }
  } finally {
    reader?.cancel().catch(() => undefined)
  }
}

const parseParsed = (parsed: unknown): MerchantNotification => {
  if (parsed !== undefined) return parseObject(parsed)
  const message =
    'body must be unread, or the result of a body parser. Other code read the request before the handler and kept ' +
    'nothing: mount the notification route first'
  const issue = { field: 'body', rule: 'unread or parsed', received: 'nothing', message }
  throw new InvalidRequestError('notifications.handler', [issue])
}

const readDelivery = async (request: Request, settings: HandlerSettings): Promise<Delivery | Unreadable> => {
  const { headers } = request
  const kept = parsedBodies.get(request)
  const bytes = kept === undefined ? await readBody(request, settings) : undefined
  if (bytes !== undefined && 'status' in bytes) return bytes
  try {
    const notification =
      bytes === undefined ? parseParsed(kept?.parsed) : await parseBody(bytes, headers.get('content-type'))
    return { notification, headers, bytes }
  } catch (error) {
    if (error instanceof InvalidRequestError) return { status: 400, error }
    throw error
  }
}

// Errors of these operations mean a wrong setup. They get no 400, because senders do not retry after a 400.
const SETUP = ['notifications.handler', 'notifications.verify']
const isSetupError = (error: unknown): boolean =>
  error instanceof InvalidRequestError && SETUP.includes(error.operation)

/**
 * Creates a handler that receives notifications and runs your code once for each notificationId, even if it is
 * delivered again. The handler reads and verifies a delivery, claims its id, runs your code, and commits the id. (S8)
 *
 * | Response | When |
 * |---|---|
 * | 200 | your code succeeded, now or for an earlier delivery; or the type is unknown and `onUnknown` is missing |
 * | 400, 405 | the body is not a notification; the method is neither POST nor PUT |
 * | 401 | the verifier refused |
 * | 408, 413 | the body took longer than `timeouts.read`; the body is larger than `maxBytes` |
 * | 500 | your code threw; the next delivery runs your code again |
 * | 503 | another delivery is in progress, a time limit was exceeded, or the verifier or the store failed |
 *
 * The handler commits the id after your code returns. If the process dies before the commit, your code runs again for
 * the next delivery: use one transaction, or make your code idempotent.
 *
 * The handler rejects only for a mistake in the setup: with `InvalidRequestError`, when middleware has read the body
 * and kept nothing, or has not kept the raw bytes that a signature covers.
 *
 * @throws {InvalidRequestError} when `verify` or a listener is missing, or an option breaks its rule.
 * @example
 * const handler = createNotificationHandler({
 *   verify: lookupVerifier(subscriptions),
 *   onSubscription: ({ subscriptionId, status }) => store.setStatus(subscriptionId, status),
 *   onPayment: ({ paymentId, status }) => store.book(paymentId, status),
 * })
 * export { handler as POST } // or app.post('/notifications', toNodeHandler(handler))
 */
export const createNotificationHandler = (options: NotificationHandlerOptions): NotificationHandler =>
  createHandlerWithClock(steadyClock, options)

/** Creates a notification handler whose leases and waits use the given clock, for tests of this package. */
export const createHandlerWithClock = (waits: Clock, options: NotificationHandlerOptions) => {
  const settings = check('createNotificationHandler', handlerOptionsSchema, options)
  const { verify, onSubscription, onPayment, onUnknown, onUnexpected, clock, timeouts } = settings
  const report: Report = (what) => {
    const notify = async () => onUnexpected?.(what)
    notify().catch(() => undefined)
  }
  const store = settings.dedupe ?? createMemoryStore(waits, clock)
  const processOnce = createProcessOnce(settings, store, waits, report)

  /** Verifies a delivery. Returns undefined if the delivery is genuine, otherwise the HTTP status of the response. */
  const refuse = async (delivery: Delivery): Promise<401 | 503 | undefined> => {
    if (verify === 'none') return undefined
    const { notification } = delivery
    try {
      const asked = (async () => verify(delivery))()
      if ((await withTimeout(asked, timeouts.verify, 'The verifier')) === true) return undefined
    } catch (error) {
      report({ kind: 'verification-failed', notification, error })
      if (isSetupError(error)) throw error
      return 503
    }
    report({ kind: 'refused', notification })
    return 401
  }

  const process = async (notification: MerchantNotification): Promise<number> => {
    const once = async (work: Work) => STATUSES[await processOnce(notification, work)]
    switch (notification.type) {
      case 'SUBSCRIPTION':
        return once(async (signal) => onSubscription(notification, { signal }))
      case 'SUBSCRIPTION_PAYMENT':
        return once(async (signal) => onPayment(notification, { signal }))
      case 'UNKNOWN':
        if (onUnknown !== undefined) return once(async (signal) => onUnknown(notification, { signal }))
        report({ kind: 'unknown-kind', notification })
        return 200
    }
  }

  const receive = async (request: Request): Promise<number> => {
    if (!METHODS.includes(request.method)) return 405
    const delivery = await readDelivery(request, settings)
    if ('notification' in delivery) return (await refuse(delivery)) ?? process(delivery.notification)
    const { status, error } = delivery
    report({ kind: 'invalid-message', error })
    if (isSetupError(error)) throw error
    return status
  }

  return async (request: Request): Promise<Response> => {
    if (!isRequest(request)) {
      const rule = 'a web-standard Request (for Express, Fastify, Koa and node:http, use toNodeHandler)'
      throw new InvalidRequestError('notifications.handler', [inputIssue('request', rule, request)])
    }
    const status = await receive(request)
    const headers = new Headers({ 'cache-control': 'no-store' })
    if (status === 405) headers.set('allow', METHODS.join(', '))
    if (status === 503) headers.set('retry-after', '5')
    // The response has no body, because anyone can send a request.
    return new Response(null, { status, headers })
  }
}

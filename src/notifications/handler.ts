import { check, inputIssue } from '../check.ts'
import type { Clock } from '../clock.ts'
import { steadyClock, withTimeout } from '../clock.ts'
import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import { createMemoryStore } from './dedupe.ts'
import type { HandlerSettings, NotificationHandlerOptions, Report } from './options.ts'
import { handlerOptionsSchema } from './options.ts'
import type { MerchantNotification } from './parse.ts'
import { bodyError, decodeUtf8, isRequest, parseBody, parseObject, SAFE } from './parse.ts'
import type { Work } from './process-once.ts'
import { createProcessOnce } from './process-once.ts'
import type { Delivery } from './verifiers.ts'

/** A web-standard fetch handler that receives deliveries. */
export type NotificationHandler = (request: Request) => Promise<Response>

const STATUSES = { processed: 200, duplicate: 200, failed: 500, 'in-progress': 503, unavailable: 503 }
const METHODS = ['POST', 'PUT']
/** The number of bytes that are decoded in one step. */
const STEP = 64

const ignore = (): void => undefined

/** Requests whose body other code has read, with the result of the body parser, if there was one. */
export const parsedBodies = new WeakMap<Request, unknown>()

/** Why a delivery cannot be read. */
type Unreadable = { readonly status: 400 | 408 | 413 | 415; readonly error: InvalidRequestError }

const unreadable = (status: Unreadable['status'], found: string, rule: string): Unreadable => ({
  status,
  error: bodyError(found, rule),
})

/** Reads a stream within `timeouts.read`. Stops reading after `maxBytes`, and then returns undefined. */
const readAll = async (
  body: ReadableStream<Uint8Array> | null,
  { maxBytes, timeouts }: HandlerSettings,
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  if (!body) return new Uint8Array()
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  const read = async (): Promise<boolean> => {
    while (length <= maxBytes) {
      const { done, value } = await reader.read()
      if (done) return true
      length += value.byteLength
      chunks.push(value)
    }
    return false
  }
  try {
    if (!(await withTimeout(read(), timeouts.read, 'The body'))) return undefined
  } finally {
    reader.cancel().catch(ignore)
  }
  const bytes = new Uint8Array(length)
  for (const chunk of chunks) {
    bytes.set(chunk, bytes.length - length)
    length -= chunk.byteLength
  }
  return bytes
}

/** Returns the decoder of a Content-Encoding. Returns undefined if this runtime has no such decoder. */
const decoderFor = (encoding: string): DecompressionStream | undefined => {
  const name = encoding.trim().toLowerCase()
  const format = { 'x-gzip': 'gzip', br: 'brotli' }[name] ?? name
  try {
    return new DecompressionStream(format as CompressionFormat)
  } catch {
    return undefined
  }
}

/** Decodes a body in small steps, because Deno and workerd decode a whole step before the first byte can be read. */
const decode = (bytes: Uint8Array<ArrayBuffer>, decoder: DecompressionStream, settings: HandlerSettings) => {
  const writer = decoder.writable.getWriter()
  const write = async () => {
    for (let at = 0; at < bytes.length; at += STEP) await writer.write(bytes.subarray(at, at + STEP))
    await writer.close()
  }
  // The reader receives the same error.
  write().catch(ignore)
  return readAll(decoder.readable, settings)
}

/** Reads and decodes a body. Stops when the body is too large, or takes too long in real time. */
const readBody = async ({ headers, body }: Request, settings: HandlerSettings) => {
  const { maxBytes, timeouts } = settings
  const tooLarge = unreadable(413, 'more', `at most ${maxBytes} bytes`)
  if (Number(headers.get('content-length')) > maxBytes) return tooLarge
  try {
    const bytes = await readAll(body, settings)
    const encoding = headers.get('content-encoding')
    // A proxy or a body parser may have decoded the body and kept the header. Encoded bytes are not valid UTF-8.
    if (bytes === undefined || encoding === null || decodeUtf8(bytes) !== undefined) return bytes ?? tooLarge
    const decoder = decoderFor(encoding)
    if (decoder === undefined) return unreadable(415, 'another encoding', 'encoded with gzip, deflate or br')
    return (await decode(bytes, decoder, settings)) ?? tooLarge
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError'
      ? unreadable(408, 'a part of it', `complete within ${timeouts.read} ms`)
      : unreadable(400, 'a body that broke off or cannot be decoded', 'readable')
  }
}

const parseParsed = (parsed: unknown): MerchantNotification => {
  if (parsed !== undefined) return parseObject(parsed)
  const message =
    'body must be unread, or the result of a body parser. Other code read the request before the handler and kept ' +
    'nothing: mount the notification route first, or pass request.clone() to the other code'
  const issue = { field: 'body', rule: 'unread or parsed', received: 'nothing', message }
  throw new InvalidRequestError('notifications.handler', [issue])
}

const readDelivery = async (request: Request, settings: HandlerSettings): Promise<Delivery | Unreadable> => {
  const { headers } = request
  const isRead = parsedBodies.has(request) || request.bodyUsed || request.body?.locked
  const bytes = isRead ? undefined : await readBody(request, settings)
  if (bytes !== undefined && 'status' in bytes) return bytes
  try {
    const notification =
      bytes === undefined
        ? parseParsed(parsedBodies.get(request))
        : await parseBody(bytes, headers.get('content-type'))
    return { notification, headers, bytes }
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error
    const isRounded = (issue: InputIssue) => issue.received === 'number' && issue.rule.endsWith(SAFE)
    if (bytes !== undefined || !error.issues.some(isRounded)) return { status: 400, error }
    // The body parser rounded an id, and the sender's number was exact. So the setup must change.
    return { status: 400, error: new InvalidRequestError('notifications.handler', error.issues) }
  }
}

// Errors of these operations mean a wrong setup. The handler rejects: senders do not retry after a 400.
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
 * | 401 | the verifier returned false |
 * | 408, 413 | the body took longer than `timeouts.read`; the decoded body is larger than `maxBytes` |
 * | 415 | the Content-Encoding is not gzip, deflate or br, or this runtime cannot decode br |
 * | 500 | your code threw; the next delivery runs your code again |
 * | 503 | another delivery is in progress, a time limit was exceeded, or the verifier or the store failed |
 *
 * The handler commits the id after your code returns. If the process dies before the commit, your code runs again for
 * the next delivery: use one transaction, or make your code idempotent.
 *
 * The handler rejects only for a mistake in the setup, with `InvalidRequestError`: other code has read the body and
 * kept nothing, has rounded an id, or has not kept the bytes that a signature covers.
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
    notify().catch(ignore)
  }
  const store = settings.dedupe ?? createMemoryStore(waits, clock)
  const processOnce = createProcessOnce(settings, store, waits, report)

  /** Verifies a delivery. Returns undefined if the delivery is genuine, otherwise the HTTP status of the response. */
  const refuse = async (delivery: Delivery): Promise<401 | 503 | undefined> => {
    if (verify === 'none') return undefined
    const { notification } = delivery
    try {
      const asked = (async () => verify(delivery))()
      const isGenuine: unknown = await withTimeout(asked, timeouts.verify, 'The verifier')
      if (isGenuine === true) return undefined
      // A verifier may lack a `return`. The sender would not retry after a 401.
      if (isGenuine !== false) throw new TypeError('verify must return true or false')
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
    if (status === 415) headers.set('accept-encoding', 'gzip, deflate')
    if (status === 503) headers.set('retry-after', '5')
    // The response has no body, because anyone can send a request.
    return new Response(null, { status, headers })
  }
}

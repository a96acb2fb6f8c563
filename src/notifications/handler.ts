import { check, inputError } from '../check.ts'
import { type Clock, exportedWait, steadyClock, waitAtMost } from '../clock.ts'
import { isObject } from '../contract/fields.ts'
import type { PaymentDetails, SubscriptionDetails } from '../contract/subscriptions.ts'
import { createMemoryStore } from './dedupe.ts'
import type {
  Delivery,
  NotificationContext,
  NotificationHandlerOptions,
  Report,
  Verified,
} from './options.ts'
import { handlerOptionsSchema } from './options.ts'
import { type MerchantNotification, toBytes } from './parse.ts'
import { createProcessOnce } from './process-once.ts'
import { type HeaderFields, isSetupError, readDelivery, toHeaders, type Unreadable } from './read-delivery.ts'

/** A delivered notification as plain data that a queue can store. */
export interface QueuedDelivery {
  /** Headers, like `request.headers` of node:http: at least Content-Type, Content-Encoding and the signature header. */
  readonly headers?: HeaderFields | null | undefined
  /** The body, unchanged because a signature may cover it. Pass text if your queue stores jobs as JSON. */
  readonly body: string | Uint8Array
}

/**
 * The result of a delivery, and the status of the response:
 *
 * - `processed` (200): your code succeeded, or you have no listener for the message's type or status.
 * - `duplicate` (200): your code succeeded for an earlier delivery of the same notification.
 * - `in-progress` (503): another delivery of the notification is in progress, your code exceeded `lease.limit`, or the
 *   dedupe store's `claim` failed.
 * - `unverified` (503): the verifier threw, returned no valid result, or exceeded its time limit.
 * - `refused` (401): the verifier returned false.
 * - `invalid`: the body is not a notification (400), arrived too slowly (408), is larger than `maxBytes` (413), or has
 *   an unknown Content-Encoding (415).
 * - `failed` (500): your code threw. The next delivery runs your code again.
 */
export type DeliveryResult =
  | 'processed'
  | 'duplicate'
  | 'in-progress'
  | 'unverified'
  | 'refused'
  | 'invalid'
  | 'failed'

/** The result of `handler.process`. */
export interface ProcessedDelivery {
  /** Run the job again after `in-progress`, `unverified` and `failed`. */
  readonly result: DeliveryResult
  /** Milliseconds until the job's next run: a whole number from 1 000 to 3 600 000. Absent if no run should follow. */
  readonly retryAfterMs?: number
  /** Absent after `invalid`. After `unverified`, `refused` or `duplicate`, the notification may be forged. */
  readonly notification?: MerchantNotification
  /** After `unverified` and `failed`: the thrown error (see `nextStep`). After `invalid`: why the body is invalid. */
  readonly error?: unknown
}

/** A web-standard fetch handler for deliveries, with a method `process` for deliveries from a queue. */
export interface NotificationHandler {
  /** Processes the delivery in a request. The response has no body. */
  (request: Request): Promise<Response>
  /**
   * Processes a delivery from a queue: verifies the delivery, and runs your code once for each notification. Your
   * web server only has to add the delivery to the queue before responding 2xx.
   *
   * @throws {InvalidRequestError} if the setup is wrong, or `body` is neither text nor bytes
   * @example
   * const { result, retryAfterMs } = await handler.process(job.data)
   * if (retryAfterMs !== undefined) await job.moveToDelayed(Date.now() + retryAfterMs, token) // BullMQ
   */
  process(delivery: QueuedDelivery): Promise<ProcessedDelivery>
}

const STATUSES: Readonly<Record<DeliveryResult, number>> = {
  processed: 200,
  duplicate: 200,
  'in-progress': 503,
  unverified: 503,
  refused: 401,
  invalid: 400,
  failed: 500,
}
const METHODS = ['POST', 'PUT']
const RETRY_AFTER = 5_000
/** Returns the pause before a redelivery, in ms: the error's `retryAfterMs`, or 5 s if that is missing or below 1 s. */
const pauseAfter = (error: unknown): number => {
  const named = Number(Object(error).retryAfterMs)
  return exportedWait(named >= 1000 ? named : undefined) ?? RETRY_AFTER
}

/** Returns the notification with the API's `paymentId`: a message with `ab-1` must not book payment `AB-1` again. */
const withPaymentIdOf = (
  lookup: PaymentDetails | undefined,
  given: MerchantNotification,
): MerchantNotification =>
  given.type === 'SUBSCRIPTION_PAYMENT' &&
  String(lookup?.paymentId).toUpperCase() === given.paymentId.toUpperCase()
    ? { ...given, paymentId: String(lookup?.paymentId) }
    : given

/**
 * Creates a handler that receives notifications and runs your code once for each notification, even after a
 * redelivery. The handler reads and verifies a delivery, claims the notification's id in the dedupe store, runs your
 * code, and marks the id as processed. (S8)
 *
 * `DeliveryResult` lists the statuses of the responses. A 503 has the header Retry-After. The handler responds 405 to
 * methods other than POST and PUT. To process deliveries in a job queue, use the handler's method `process`.
 *
 * If the process dies before the id is marked, a later delivery runs your code again. So your code must be idempotent.
 *
 * The handler rejects with `InvalidRequestError` only if the setup is wrong. For example, a body parser did not keep
 * the raw bytes that the signature covers, or rounded an id.
 *
 * @throws {InvalidRequestError} when `verify` or a listener is missing, or an option is invalid.
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
export const createHandlerWithClock = (
  waits: Clock,
  options: NotificationHandlerOptions,
): NotificationHandler => {
  const settings = check('createNotificationHandler', handlerOptionsSchema, options)
  const { verify, onSubscription, onPayment, onUnknown, onUnexpected, clock, timeouts } = settings
  const report: Report = (what) => {
    const notify = async () => onUnexpected?.(what)
    notify().catch(() => undefined)
  }
  const once = createProcessOnce(settings, settings.dedupe ?? createMemoryStore(waits, clock), waits, report)

  const askVerifier = async (delivery: Delivery): Promise<boolean | Verified> => {
    if (verify === 'none') return true
    const asked = (async () => verify(delivery))()
    const verdict = await waitAtMost(asked, timeouts.verify, undefined, 'The verifier')
    if (typeof verdict === 'boolean' || isObject(verdict?.lookup)) return verdict
    // A missing `return` in `verify` must not cause a 401, because senders do not retry after a 401.
    throw new TypeError('verify must return true or false')
  }

  const callListener = async (
    notification: MerchantNotification,
    // `lookup` is the payment if the type is `SUBSCRIPTION_PAYMENT`, or else the subscription.
    context: NotificationContext<PaymentDetails & SubscriptionDetails>,
  ): Promise<unknown> => {
    if (notification.type === 'SUBSCRIPTION') return onSubscription(notification, context)
    if (notification.type === 'SUBSCRIPTION_PAYMENT') return onPayment(notification, context)
    return onUnknown?.(notification, context)
  }

  const receive = async (delivery: Delivery | Unreadable): Promise<ProcessedDelivery> => {
    if ('error' in delivery) {
      const { error } = delivery
      report({ kind: 'invalid-message', error })
      if (isSetupError(error)) throw error
      return { result: 'invalid', error }
    }
    const { notification } = delivery
    // A duplicate must not cost a lookup in the API.
    if (verify !== 'none' && (await once.isProcessed(notification)))
      return { result: 'duplicate', notification }
    let verdict: boolean | Verified
    try {
      verdict = await askVerifier(delivery)
    } catch (error) {
      report({ kind: 'verification-failed', notification, error })
      if (isSetupError(error)) throw error
      return { result: 'unverified', retryAfterMs: pauseAfter(error), notification, error }
    }
    if (verdict === false) {
      report({ kind: 'refused', notification })
      return { result: 'refused', notification }
    }
    if (notification.type === 'UNKNOWN' && onUnknown === undefined) {
      report({ kind: 'unknown-kind', notification })
      return { result: 'processed', notification }
    }
    const { lookup } = Object(verdict) as { lookup?: PaymentDetails & SubscriptionDetails }
    const verified = withPaymentIdOf(lookup, notification)
    const outcome = await once.process(verified, (signal) => callListener(verified, { signal, lookup }))
    if (outcome.result === 'processed' || outcome.result === 'duplicate')
      return { ...outcome, notification: verified }
    const error = outcome.result === 'failed' ? outcome.error : undefined
    return { ...outcome, notification: verified, retryAfterMs: pauseAfter(error) }
  }

  const respond = (status: number, retryAfterMs = RETRY_AFTER): Response => {
    const headers = new Headers({ 'cache-control': 'no-store' })
    if (status === 405) headers.set('allow', METHODS.join(', '))
    if (status === 415) headers.set('accept-encoding', 'gzip, deflate')
    if (status === 503) headers.set('retry-after', String(Math.ceil(retryAfterMs / 1000)))
    // Anyone can send a request, so the response has no body with details.
    return new Response(null, { status, headers })
  }

  const handler = async (request: Request): Promise<Response> => {
    if (!METHODS.includes(request.method)) return respond(405)
    const delivery = await readDelivery(request, settings)
    const { result, retryAfterMs } = await receive(delivery)
    return respond('status' in delivery ? delivery.status : STATUSES[result], retryAfterMs)
  }

  const process = async ({ headers: fields, body }: QueuedDelivery): Promise<ProcessedDelivery> => {
    const bytes = toBytes(body)
    if (bytes === undefined) {
      const rule = 'the unchanged body as text or bytes (text if jobs are stored as JSON)'
      throw inputError('notifications.handler', 'body', rule, body)
    }
    const headers = toHeaders(fields, (name) => report({ kind: 'header-omitted', name }))
    const request = new Request('http://localhost/', { method: 'POST', headers, body: bytes })
    return receive(await readDelivery(request, settings))
  }

  return Object.assign(handler, { process })
}

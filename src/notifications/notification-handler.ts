import { withTimeout } from '../auth/timeout.ts'
import type { Clock } from '../clock.ts'
import { InvalidRequestError } from '../errors.ts'
import { refuse, unless, whileReading } from '../transport/input-issues.ts'
import { createCarefulStore } from './careful-store.ts'
import type { NotificationHandlerOptions } from './handler-options.ts'
import { settingsOf } from './handler-options.ts'
import { memoryDedupeTimedBy } from './memory-dedupe.ts'
import type { Notification } from './notification.ts'
import type { Processed, Work } from './processing.ts'
import { createProcessing } from './processing.ts'
import { readRequest } from './read-request.ts'
import { safeListener } from './report.ts'
import { steadyClock } from './steady-clock.ts'

/** Receives deliveries: a web-standard fetch handler. */
export type NotificationHandler = (request: Request) => Promise<Response>

const METHODS = ['POST', 'PUT']

const STATUS_OF: Readonly<Record<Processed, number>> = { done: 200, failed: 500, busy: 503, unavailable: 503 }

/** Answers say a status and nothing else: whoever posts here may be anyone. */
const answer = (status: number): Response => {
  const headers = new Headers({ 'cache-control': 'no-store' })
  if (status === 405) headers.set('allow', METHODS.join(', '))
  if (status === 503) headers.set('retry-after', '5')
  return new Response(null, { status, headers })
}

const REQUEST =
  'a web-standard Request (for Express, Fastify, Koa and node:http, wrap the handler in toNodeHandler)'

// A request may come from another implementation of fetch, where `instanceof Request` fails.
const isRequest = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'method' in value &&
  typeof value.method === 'string' &&
  'headers' in value &&
  'arrayBuffer' in value

const workFor = (notification: Notification, options: NotificationHandlerOptions): Work | undefined => {
  switch (notification.type) {
    case 'SUBSCRIPTION':
      return (signal) => options.onSubscription(notification, { signal })
    case 'SUBSCRIPTION_PAYMENT':
      return (signal) => options.onPayment(notification, { signal })
    case 'UNKNOWN': {
      const { onUnknown } = options
      return onUnknown === undefined ? undefined : (signal) => onUnknown(notification, { signal })
    }
  }
}

/**
 * Receives notifications (S8) and runs your code once for each notificationId, however often and in whatever order
 * they are delivered. Deliveries are read, verified, claimed, processed and committed, in this order.
 *
 * | Answer | When |
 * |---|---|
 * | 200 | your code succeeded, now or for an earlier delivery; or an unknown kind without `onUnknown` |
 * | 400 | the body is no notification |
 * | 401 | the verifier refused |
 * | 405 | neither POST nor PUT |
 * | 408 | the body did not come to its end within `timeouts.read` |
 * | 413 | more than `maxBytes` |
 * | 500 | your code threw; the next delivery is processed |
 * | 503 | it is being processed elsewhere, or takes too long, or verifier or store cannot tell; deliver again |
 *
 * Success is committed after your code returns. A process that dies in between leaves a message that is processed again:
 * let your code do its work in one transaction, or do no harm when repeated.
 *
 * Rejects with `InvalidRequestError` only for a mistake in the set-up that a delivery cannot be blamed for: a signature
 * is to be verified and the raw body is gone, or something has read the body and left nothing of it.
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
  createHandlerTimedBy(steadyClock, options)

/** The same with another clock for leases and waits, for tests of this package. */
export const createHandlerTimedBy = (
  waits: Clock,
  options: NotificationHandlerOptions,
): NotificationHandler => {
  const { verify, onUnexpected, dedupe, clock, maxBytes, timeouts, lease, remember, patience } =
    settingsOf(options)
  const report = safeListener(onUnexpected)
  const process = createProcessing({
    store: createCarefulStore({
      store: dedupe ?? memoryDedupeTimedBy(waits, { clock }),
      timeout: timeouts.store,
      leaseDuration: lease.duration,
      remember,
      report,
    }),
    clock: waits,
    lease,
    patience,
    report,
  })

  const verified = async (
    request: Request,
    notification: Notification,
    bytes: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<200 | 401 | 503> => {
    if (verify === 'none') return 200
    const ask = async () => verify({ notification, headers: request.headers, bytes })
    try {
      if ((await withTimeout(ask(), timeouts.verify, 'The verifier')) === true) return 200
    } catch (error) {
      report({ kind: 'verification-failed', notification, error })
      if (error instanceof InvalidRequestError && error.operation === 'notifications.verify') throw error
      return 503
    }
    report({ kind: 'refused', notification })
    return 401
  }

  return async (request) => {
    const issues = () => unless(isRequest(request), 'request', REQUEST, request)
    refuse('notifications.handler', whileReading('notifications.handler', 'request', issues))
    if (!METHODS.includes(request.method)) return answer(405)
    const read = await readRequest(request, { maxBytes, timeout: timeouts.read })
    if ('error' in read) {
      report({ kind: 'invalid-message', error: read.error })
      if (read.status === undefined) throw read.error
      return answer(read.status)
    }
    const { notification, bytes } = read
    const status = await verified(request, notification, bytes)
    if (status !== 200) return answer(status)
    const work = workFor(notification, options)
    if (work !== undefined) return answer(STATUS_OF[await process(notification, work)])
    if (notification.type === 'UNKNOWN') report({ kind: 'unknown-kind', notification })
    return answer(200)
  }
}

import type { Clock } from '../clock.ts'
import { InvalidRequestError } from '../errors.ts'
import { systemClock } from '../system-clock.ts'
import type { DedupeStore } from './dedupe-store.ts'
import type { Lease } from './lease.ts'
import { memoryDedupe } from './memory-dedupe.ts'
import type {
  Notification,
  PaymentNotification,
  SubscriptionNotification,
  UnknownNotification,
} from './notification.ts'
import type { Processed, Work } from './processing.ts'
import { createProcessing } from './processing.ts'
import { kindOf } from './read-message.ts'
import { readRequest } from './read-request.ts'
import type { NotificationReport } from './report.ts'
import { safeReport } from './report.ts'
import type { Verifier } from './verification.ts'

/** What your code is given besides the notification. */
export interface NotificationContext {
  /** Aborted when your code should stop: its time is over, or another process may have taken the message over. */
  readonly signal: AbortSignal
}

/** Your code for one kind of notification. It succeeds by returning, and asks for another delivery by throwing. */
export type NotificationListener<Kind extends Notification> = (
  notification: Kind,
  context: NotificationContext,
) => unknown

/** Options of `createNotificationHandler`. Times in milliseconds. */
export interface NotificationHandlerOptions {
  /**
   * How to know that a message comes from the platform: `hmacVerifier`, `lookupVerifier`, a function of yours, or the
   * word `'none'`. Required, since the specification shows no signing and anyone can post.
   */
  readonly verify: Verifier | 'none'
  /** A subscription was authorised or cancelled. */
  readonly onSubscription: NotificationListener<SubscriptionNotification>
  /** A payment succeeded or failed. */
  readonly onPayment: NotificationListener<PaymentNotification>
  /** A type or status that this version does not know; without it such messages are reported and answered 200. */
  readonly onUnknown?: NotificationListener<UnknownNotification> | undefined
  /** Where processed ids are remembered; this process's memory by default. */
  readonly dedupe?: DedupeStore | undefined
  /** Hears everything that did not go as it should, with the errors that answers never show. */
  readonly onUnexpected?: ((report: NotificationReport) => unknown) | undefined
  /** The largest body read; 65 536 bytes by default, many times a message. */
  readonly maxBytes?: number | undefined
  /**
   * How long a claim holds without a sign of life (`duration`, 60 s by default: what a crashed process delays a message
   * by), and how long your code may run in all (`limit`, 10 minutes by default).
   */
  readonly lease?: Partial<Lease> | undefined
  /** How long processed ids are remembered; 7 days by default. */
  readonly remember?: number | undefined
  /** How long a duplicate waits for the delivery in progress before it is answered 503; 10 s by default. */
  readonly patience?: number | undefined
  /**
   * What the ages of remembered ids are told by when no `dedupe` is given; the machine's time by default. Leases and
   * waits always run on real time, so that a test may give the mock's clock here and move it.
   */
  readonly clock?: Clock | undefined
}

/** Receives deliveries: a web-standard fetch handler. */
export type NotificationHandler = (request: Request) => Promise<Response>

const DAY = 86_400_000
const DEFAULTS = {
  maxBytes: 65_536,
  lease: { duration: 60_000, limit: 600_000 },
  remember: 7 * DAY,
  patience: 10_000,
} as const satisfies Partial<NotificationHandlerOptions>

const METHODS = ['POST', 'PUT']

const STATUS_OF: Readonly<Record<Processed, number>> = { done: 200, failed: 500, busy: 503, unavailable: 503 }

/** Answers say a status and nothing else: whoever posts here may be anyone. */
const answer = (status: number): Response => {
  const headers = new Headers({ 'cache-control': 'no-store' })
  if (status === 405) headers.set('allow', METHODS.join(', '))
  if (status === 503) headers.set('retry-after', '5')
  return new Response(null, { status, headers })
}

const checked = (options: NotificationHandlerOptions): NotificationHandlerOptions => {
  const { verify, onSubscription, onPayment } = options
  const issues = []
  if (typeof verify !== 'function' && verify !== 'none') {
    issues.push({ field: 'verify', rule: "a verifier, or the word 'none'", received: kindOf(verify) })
  }
  for (const [field, listener] of Object.entries({ onSubscription, onPayment })) {
    if (typeof listener !== 'function') issues.push({ field, rule: 'a function', received: kindOf(listener) })
  }
  if (issues.length > 0) throw new InvalidRequestError('notifications.handler', issues)
  return options
}

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
 * | 413 | more than `maxBytes` |
 * | 500 | your code threw; the next delivery is processed |
 * | 503 | it is being processed elsewhere, or takes too long, or verifier or store cannot tell; deliver again |
 *
 * Success is committed after your code returns. A process that dies in between leaves a message that is processed again:
 * let your code do its work in one transaction, or do no harm when repeated.
 *
 * Rejects with `InvalidRequestError` only for a mistake in the set-up that a delivery cannot be blamed for: a signature
 * is to be verified and the raw body is gone.
 *
 * @throws {InvalidRequestError} when `verify` or a listener is missing.
 * @example
 * const handler = createNotificationHandler({
 *   verify: lookupVerifier(subscriptions),
 *   onSubscription: ({ subscriptionId, status }) => store.setStatus(subscriptionId, status),
 *   onPayment: ({ paymentId, status }) => store.book(paymentId, status),
 * })
 * export { handler as POST } // or app.post('/notifications', toNodeHandler(handler))
 */
export const createNotificationHandler = (options: NotificationHandlerOptions): NotificationHandler =>
  createHandlerTimedBy(systemClock, options)

/** The same with another clock for leases and waits, for tests of this package. */
export const createHandlerTimedBy = (
  waits: Clock,
  options: NotificationHandlerOptions,
): NotificationHandler => {
  const { verify, onUnexpected } = checked(options)
  const { maxBytes = DEFAULTS.maxBytes, clock = systemClock } = options
  const report = safeReport(onUnexpected)
  const process = createProcessing({
    store: options.dedupe ?? memoryDedupe({ clock }),
    clock: waits,
    lease: {
      duration: options.lease?.duration ?? DEFAULTS.lease.duration,
      limit: options.lease?.limit ?? DEFAULTS.lease.limit,
    },
    remember: options.remember ?? DEFAULTS.remember,
    patience: options.patience ?? DEFAULTS.patience,
    report,
  })

  const verified = async (
    request: Request,
    notification: Notification,
    bytes: Uint8Array<ArrayBuffer> | undefined,
  ): Promise<200 | 401 | 503> => {
    if (verify === 'none') return 200
    try {
      if ((await verify({ notification, headers: request.headers, bytes })) === true) return 200
    } catch (error) {
      report({ kind: 'verification-failed', notification, error })
      if (error instanceof InvalidRequestError && error.operation === 'notifications.verify') throw error
      return 503
    }
    report({ kind: 'refused', notification })
    return 401
  }

  return async (request) => {
    if (!METHODS.includes(request.method)) return answer(405)
    const read = await readRequest(request, maxBytes)
    if ('status' in read) {
      report({ kind: 'invalid-message', error: read.error })
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

import { UnrecoverableError } from 'bullmq'
import type { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { ApiError, nextStep, renewalKey } from 'mandatekit'
import type { NotificationHandler, NotificationHandlerOptions } from 'mandatekit/notifications'
import { reconcile } from 'mandatekit/notifications'
import type { Books } from './books.ts'
import { chargeKey, type Jobs, jobFor, type QueueName, type Queues } from './queues.ts'
import { Later } from './settle.ts'

/** The objects that all jobs of a worker share. */
export interface Shop {
  readonly books: Books
  readonly queues: Queues
  readonly subscriptions: SubscriptionsClient
  readonly gateway: GatewayClient
  readonly notifications: NotificationHandler
  /** Clients for jobs that send many requests. The clients wait for the rate limit instead of throwing an error. */
  readonly patient: { readonly subscriptions: SubscriptionsClient; readonly gateway: GatewayClient }
  /** How long the gateway keeps an idempotency key, in milliseconds. */
  readonly keyLifetime: number
  /** How many renewals fit into an hour. */
  readonly renewalsPerHour: number
}

/** Runs a job. A job may run many times, even twice at once. `signal` aborts when the worker loses the job's lock. */
export type Run<Data> = (data: Data, shop: Shop, signal: AbortSignal) => Promise<unknown>
type Runs = { readonly [Queue in QueueName]: { readonly [Job in keyof Jobs[Queue]]: Run<Jobs[Queue][Job]> } }

const QUARTER_OF_AN_HOUR = 900_000
const DAY = 86_400_000

/**
 * Records the time of a charge's first request, and returns the charge. Throws if a request with this key could charge
 * the payer again. A person must then ask the provider whether the charge exists.
 */
const intendSend = ({ books, keyLifetime }: Shop, key: string) => {
  const charge = books.intendSend(key)
  if (charge.id !== null) return charge
  // The gateway must keep the key until the request ends, so the limit is less than the key's lifetime.
  const isTooOld = Date.now() - (charge.sent_at ?? 0) > 0.9 * keyLifetime
  if (isTooOld) books.markUnclear(key)
  if (isTooOld || charge.status === 'unclear')
    throw new UnrecoverableError(`A person must ask the provider whether the charge ${key} exists.`)
  return charge
}

/**
 * Returns the order id of an authorized subscription. A notification contains neither the order id nor the requestID.
 * So if the caller does not pass the requestID as `known`, this function reads it in the subscription's details.
 */
const orderOf = async (shop: Shop, subscriptionId: string, known?: string): Promise<string | undefined> => {
  const { books, queues, subscriptions } = shop
  const linked = books.subscription(subscriptionId)?.order_id
  if (linked !== undefined) return linked
  const requestID = known ?? (await subscriptions.details(subscriptionId)).requestID
  const orderId = requestID === undefined ? undefined : books.orderOfRequest(requestID)
  if (orderId === undefined) {
    console.log('The subscription belongs to no order of this shop:', subscriptionId)
    return undefined
  }
  // The record of a subscription exists, with `enabled: 0`, before the payer authorizes it. So the verified notification
  // may still be invented, and only the request's status proves that the payer has authorized the subscription.
  const { invoice_id } = books.order(orderId)
  const request = invoice_id === null ? undefined : await subscriptions.status(invoice_id)
  if (request?.status !== 'SUCCEEDED' || request.subscriptionId === null)
    throw new Error(`The payer has not authorized the subscription of the order ${orderId}.`)
  books.match(request.subscriptionId, orderId)
  // If the order already has another subscription, `match` returns true. The payer must not pay for both.
  if (books.match(subscriptionId, orderId)) await queues.add(jobFor.cancel(subscriptionId))
  return orderId
}

type Listeners = Pick<NotificationHandlerOptions, 'onSubscription' | 'onPayment'>
/**
 * Creates the listeners of the notification handler. `shop` is a function, because the handler is created before the
 * shop that contains it. The listeners use the ids of the API's record (`lookup`), because an invented notification may
 * contain another form of an id, for example with other letter case.
 */
export const listenersFor = (shop: () => Shop): Listeners => ({
  onSubscription: async ({ subscriptionId, status }, { lookup }) => {
    const id = lookup?.id ?? subscriptionId
    const orderId = await orderOf(shop(), id, lookup?.requestID)
    // Not only a `cancel` job ends a subscription: the payer or the provider can also cancel it.
    if (orderId !== undefined && status === 'CANCELLED') shop().books.cancelled(id)
  },
  onPayment: async ({ paymentId, subscriptionId, status }, { lookup }) => {
    const id = lookup?.subscriptionId ?? subscriptionId
    if ((await orderOf(shop(), id)) !== undefined) shop().books.book(paymentId, id, status)
  },
})

/** Reads the status of a subscription's cancellation. Returns undefined if the API has no cancellation. */
const readCancellation = async ({ subscriptions }: Shop, subscriptionId: string, signal: AbortSignal) => {
  if ((await subscriptions.details(subscriptionId, { signal })).enabled === 0) return 'PROCESSED'
  try {
    return (await subscriptions.cancellation(subscriptionId, { signal })).status
  } catch (error) {
    if (error instanceof ApiError && error.verdict === 'not-found') return undefined
    throw error
  }
}

export const jobs: Runs = {
  subscriptions: {
    /** If no earlier run stored a url, sends a new request, because a retry would need an idempotency key. */
    subscribe: async ({ orderId }, { books, subscriptions }, signal) => {
      const { url, amount, start, end } = books.order(orderId)
      if (url !== null || end === null) return
      const requestID = books.intendSubscribe(orderId)
      // A request whose response was lost expires, because the payer never gets its url. If the payer authorizes it
      // anyway, `orderOf` finds the order by the requestID, and cancels the second subscription of the order.
      const userReturnURL = `https://shop.example/return?order=${orderId}`
      const wish = { requestID, start, end, cycle: 'DAILY' as const, amount: `${amount}.00`, userReturnURL }
      const result = await subscriptions.subscribe(wish, { signal })
      books.subscribed(orderId, result.invoiceID, result.url)
    },

    /** A cancel call has no idempotency key. If an earlier run sent the call, this run first reads the result. */
    cancel: async ({ subscriptionId }, shop, signal) => {
      const { books, subscriptions } = shop
      const { cancelled, cancel_sent } = books.subscription(subscriptionId) ?? {}
      if (cancelled === 1) return
      let status = cancel_sent === 1 ? await readCancellation(shop, subscriptionId, signal) : undefined
      if (status === undefined) {
        books.intendCancel(subscriptionId)
        status = (await subscriptions.cancel(subscriptionId, { signal })).status
      }
      // The provider charges the payer until the cancellation is PROCESSED, so the job runs again later.
      if (/^(?:pending|processing)$/i.test(status))
        throw new Later(QUARTER_OF_AN_HOUR, `The cancellation is ${status}.`)
      // For example, the provider has REJECTED the cancellation. A person must find out why.
      if (!/^processed$/i.test(status)) throw new UnrecoverableError(`The cancellation is ${status}.`)
      books.cancelled(subscriptionId)
    },

    /**
     * Verifies a delivery that the web server has only stored, and processes each notification once. The job of an
     * invented notification would run forever, so it waits longer before each run, and fails after a day. If the
     * notification was genuine, `reconcile` finds what it reported.
     */
    notification: async ({ receivedAt, ...delivery }, { notifications }) => {
      const { result, retryAfterMs, error } = await notifications.process(delivery)
      if (retryAfterMs === undefined) return result
      // If every job would fail, `settle` pauses the whole queue. After any other error, such as a 404 for a record
      // that the API cannot read yet, only this job waits.
      if (nextStep(error).step === 'pause-queue') throw error
      const age = Date.now() - receivedAt
      if (age > DAY) throw new UnrecoverableError(`The notification is still ${result} after a day.`)
      throw new Later(Math.max(retryAfterMs, age / 10), `The notification is ${result}.`)
    },
  },

  gateway: {
    /** The idempotency key is the job's id, so the gateway charges only once, even if the job runs again. */
    charge: async ({ orderId }, shop, signal) => {
      const { msisdn, amount } = shop.books.order(orderId)
      const { key, id } = intendSend(shop, chargeKey(orderId))
      if (id !== null || msisdn === null) return
      const redirect_uri = `https://shop.example/paid?order=${orderId}`
      const wish = { msisdn, amount, currency: 'BDT', redirect_uri }
      shop.books.charged(key, await shop.gateway.charge(wish, { idempotencyKey: key, signal }))
    },

    /** A confirm call has no idempotency key. If an earlier run sent the call, this run first reads the charge. */
    confirm: async ({ orderId, otp, attempt }, { books, gateway }, signal) => {
      const { key, id, status, confirmation_id, confirm_sent, confirm_try } = books.charge(chargeKey(orderId))
      if (id === null || confirmation_id === null || status !== 'pending_confirmation') return
      // The gateway has already rejected this code.
      if (attempt !== confirm_try) return
      const read = confirm_sent === 1 ? (await gateway.status(id, { signal })).status : status
      if (read !== 'pending_confirmation') return books.settled(id, read)
      books.intendConfirm(key)
      try {
        const confirmed = await gateway.confirm(confirmation_id, { otp, chargeId: id }, { signal })
        if (confirmed.status === undefined) throw new Later(1_000, 'The response had no status.')
        return books.settled(id, confirmed.status)
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 400 || error.verdict !== 'refused') throw error
        // A wrong code does not fail the job. The shop's page asks the payer again, and adds a job for the next try.
        return books.wrongCode(key, attempt)
      }
    },

    /** Every run uses the same idempotency key: it consists of the mandate, due date and attempt in the job's data. */
    renew: async ({ mandateId, dueDate, attempt }, shop, signal) => {
      const { key, id } = intendSend(shop, renewalKey(mandateId, dueDate, attempt))
      if (id !== null) return
      shop.books.charged(key, await shop.gateway.renew(mandateId, { dueDate, attempt }, { signal }))
    },

    poll: async ({ chargeId }, { books, gateway }, signal) => {
      const { status } = await gateway.status(chargeId, { signal })
      // The gateway itself retries the charge, perhaps a day later. With a second charge, the payer could pay twice.
      if (status === 'pending_retry') throw new Later(QUARTER_OF_AN_HOUR, 'The charge is pending_retry.')
      books.settled(chargeId, status)
    },
  },

  nightly: {
    /**
     * Records all due renewals, and adds a job for every recorded request without a result. Each run plans everything
     * up to today, because BullMQ's scheduler does not make up for missed runs.
     */
    plan: async ({ today = new Date().toISOString().slice(0, 10) }, { books, queues, renewalsPerHour }) => {
      books.planRenewals(today)
      await queues.add(...books.openJobs())
      // Redis keeps all jobs in memory, so it gets only the renewals of the next hour. The others stay in the database.
      const waiting = await queues.gateway.getJobCountByTypes('prioritized', 'waiting', 'delayed')
      if (waiting > renewalsPerHour / 2) return
      for (const page of books.openRenewals(renewalsPerHour)) await queues.add(...page)
    },

    /**
     * Finds changes that no notification reported, such as changes by people at the provider. Checks only the charges
     * that were sent since the last complete run, because each check is a request.
     */
    reconcile: async (_, shop, signal) => {
      const { books, patient } = shop
      const started = Date.now()
      // The payers of these orders may have authorized a subscription, although no notification arrived.
      for (const { id, invoice_id } of books.unmatched()) {
        if (invoice_id === null) continue
        const { status, subscriptionId } = await patient.subscriptions.status(invoice_id, { signal })
        if (status === 'SUCCEEDED' && subscriptionId !== null) books.match(subscriptionId, id)
      }
      const found: Record<string, number> = {}
      for await (const difference of reconcile({
        ...patient,
        expected: books.expected(books.lastRun('reconcile')),
        signal,
      })) {
        found[difference.kind] = (found[difference.kind] ?? 0) + 1
        // For example, a payment failed first and then succeeded. `book` ignores a reversal: a person must handle it.
        if (difference.kind === 'payment-missing' || difference.kind === 'payment-differs')
          books.book(difference.paymentId, difference.subscriptionId, difference.payment.status)
        if (difference.kind === 'cancellation-missing') books.cancelled(difference.subscriptionId)
        if (difference.kind === 'charge-differs') books.settled(difference.chargeId, difference.status)
      }
      // The job only counts differences of other kinds, because they may be temporary. If two nightly runs in a row
      // find the same difference, a person should look at it.
      books.ran('reconcile', started)
      return found
    },
  },
}

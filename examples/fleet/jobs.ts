import type { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { isMandateKitError, nextStep, renewalKey } from 'mandatekit'
import type { NotificationHandler } from 'mandatekit/notifications'
import { reconcile } from 'mandatekit/notifications'
import type { Books } from './books.ts'
import type { Jobs, QueueName, Queues } from './queues.ts'
import { jobFor } from './queues.ts'

/** What the jobs of one worker share. */
export interface Shop {
  readonly books: Books
  readonly queues: Queues
  readonly subscriptions: SubscriptionsClient
  readonly gateway: GatewayClient
  readonly notifications: NotificationHandler
  /** Clients for jobs of many requests, which wait for the rate limit by themselves. */
  readonly patient: { readonly subscriptions: SubscriptionsClient; readonly gateway: GatewayClient }
}

/** Thrown by a job that has to wait: the same job runs again later, and no attempt is used up. */
export class Later extends Error {
  readonly afterMs: number
  constructor(afterMs: number, why: string) {
    super(why)
    this.afterMs = afterMs
  }
}

/** One job. It may run any number of times, also twice at once. The signal aborts when another worker has the job. */
export type Run<Data> = (data: Data, shop: Shop, signal: AbortSignal) => Promise<unknown>
type Runs = { readonly [Queue in QueueName]: { readonly [Job in keyof Jobs[Queue]]: Run<Jobs[Queue][Job]> } }

const QUARTER_OF_AN_HOUR = 900_000

/**
 * Returns the order of a subscription. A notification contains only a subscription id: the requestID in the details
 * names the order. The lost response of a subscribe call had the invoice id, so nothing else leads to its order.
 */
export const orderOf = async ({ books, queues, subscriptions }: Shop, subscriptionId: string) => {
  const known = books.subscription(subscriptionId)?.order_id
  if (known !== undefined) return known
  const { requestID } = await subscriptions.details(subscriptionId)
  const orderId = requestID === undefined ? undefined : books.orderOfRequest(requestID)
  if (orderId === undefined) return undefined
  if (books.match(subscriptionId, orderId)) {
    // The payer has authorized two requests of one order, and would pay twice.
    books.wantCancel(subscriptionId)
    await queues.add(jobFor.cancel(subscriptionId))
  }
  return orderId
}

export const jobs: Runs = {
  subscriptions: {
    /** A subscribe call has no key. So each run without a known result sends a new requestID. */
    subscribe: async ({ orderId }, { books, subscriptions }, signal) => {
      const { url, amount, start, end } = books.order(orderId)
      if (url !== null || end === null) return
      const requestID = books.intendSubscribe(orderId)
      // After an unknown outcome, the server may have a request that nobody can authorize, because its url is lost.
      // It expires. If it gets a notification nevertheless, its requestID leads to this order.
      const userReturnURL = `https://shop.example/return?order=${orderId}`
      const wish = { requestID, start, end, cycle: 'DAILY' as const, amount: `${amount}.00`, userReturnURL }
      const result = await subscriptions.subscribe(wish, { signal })
      books.subscribed(orderId, result.invoiceID, result.url)
    },

    /** A cancel call has no key. If an earlier run sent one, this run reads first whether it was executed. */
    cancel: async ({ subscriptionId }, { books, subscriptions }, signal) => {
      const { cancelled, cancel_sent } = books.subscription(subscriptionId) ?? {}
      if (cancelled === 1) return
      const isDone =
        cancel_sent === 1 && (await subscriptions.details(subscriptionId, { signal })).enabled === 0
      if (!isDone) {
        books.intendCancel(subscriptionId)
        await subscriptions.cancel(subscriptionId, { signal })
      }
      books.cancelled(subscriptionId)
    },

    /** The web server has only stored the delivery. Verification and processing once happen here. */
    notification: async (delivery, { notifications }) => {
      const { result, retryAfterMs, error } = await notifications.process(delivery)
      // With the error of the API, the worker can pause the queue for all jobs.
      if (isMandateKitError(error) && retryAfterMs !== undefined) throw error
      if (retryAfterMs !== undefined) throw new Later(retryAfterMs, `The notification is ${result}.`)
      return result
    },
  },

  gateway: {
    /** The key is the order's id: whatever number of runs, the gateway makes one charge. */
    charge: async ({ orderId }, { books, gateway }, signal) => {
      const { msisdn, amount } = books.order(orderId)
      if (books.charge(orderId).id !== null || msisdn === null) return
      const redirect_uri = `https://shop.example/paid?order=${orderId}`
      const wish = { msisdn, amount, currency: 'BDT', redirect_uri }
      const made = await gateway.charge(wish, { idempotencyKey: orderId, signal })
      books.charged(orderId, made)
    },

    /** A confirm call has no key. If an earlier run sent one, this run reads first what became of the charge. */
    confirm: async ({ orderId, otp }, { books, gateway }, signal) => {
      const { key, id, status, confirmation_id, confirm_sent } = books.charge(orderId)
      if (id === null || confirmation_id === null || status !== 'pending_confirmation') return
      const read = confirm_sent === 1 ? (await gateway.status(id, { signal })).status : status
      if (read !== 'pending_confirmation') return books.settled(id, read)
      books.intendConfirm(key)
      const confirmed = await gateway.confirm(confirmation_id, { otp, chargeId: id }, { signal })
      if (confirmed.status === undefined) throw new Later(1_000, 'The response had no status: read it.')
      return books.settled(id, confirmed.status)
    },

    /** The key is made of the mandate, the due date and the attempt. All three are in the job, and never change. */
    renew: async ({ mandateId, dueDate, attempt }, { books, gateway }, signal) => {
      const { key, id } = books.charge(renewalKey(mandateId, dueDate, attempt))
      if (id !== null) return
      const renewal = await gateway.renew(mandateId, { dueDate, attempt }, { signal })
      books.charged(key, renewal)
    },

    poll: async ({ chargeId }, { books, gateway }, signal) => {
      const { status } = await gateway.status(chargeId, { signal })
      // A retry of the gateway can take a day. Charging again instead could charge twice.
      if (status === 'pending_retry') throw new Later(QUARTER_OF_AN_HOUR, 'The charge is pending_retry.')
      books.settled(chargeId, status)
    },
  },

  nightly: {
    /**
     * Writes down what is due, and adds the job of every intention that is open. Run it often, because BullMQ's
     * scheduler does not catch up on ticks that it missed: each run plans everything up to today.
     */
    plan: async ({ today = new Date().toISOString().slice(0, 10) }, { books, queues }) => {
      books.planRenewals(today)
      await queues.add(...books.openJobs())
    },

    /** Finds what notifications did not bring, and what people changed at the provider. */
    reconcile: async (_, shop, signal) => {
      const { books, patient } = shop
      // The payer may have authorized a request, and the notification was lost.
      for (const { invoice_id } of books.unmatched()) {
        if (invoice_id === null) continue
        const { status, subscriptionId } = await patient.subscriptions.status(invoice_id, { signal })
        if (status === 'SUCCEEDED' && subscriptionId !== null) await orderOf(shop, subscriptionId)
      }
      const found: Record<string, number> = {}
      let failure: unknown
      for await (const difference of reconcile({ ...patient, expected: books.expected(), signal })) {
        if (difference.kind === 'unchecked' && nextStep(difference.error).step !== 'fail')
          failure = difference.error
        found[difference.kind] = (found[difference.kind] ?? 0) + 1
        if (difference.kind === 'payment-missing')
          books.book(difference.paymentId, difference.subscriptionId, difference.payment.status)
        if (difference.kind === 'cancellation-missing') books.cancelled(difference.subscriptionId)
        if (difference.kind === 'charge-differs') books.settled(difference.chargeId, difference.status)
      }
      // Some lookups failed for a short time. With their error, the job runs again later.
      if (failure !== undefined) throw failure
      // A person looks at other kinds that two nights find.
      return found
    },
  },
}

import { type GatewayClient, isMandateKitError, type SubscriptionsClient } from 'mandatekit'
import { createNotificationHandler, lookupVerifier, type NotificationHandler } from 'mandatekit/notifications'

/** The result of `charge` or `sellPlan`. */
export type Result<Success> =
  | ({ readonly kind: 'done' } & Success)
  /** Nothing was created, so the shop can try again. */
  | { readonly kind: 'try-again'; readonly why: string }
  /** The charge or plan may exist, so the shop checks before it tries again. */
  | { readonly kind: 'unclear'; readonly why: string }

export interface Order {
  readonly id: string
  readonly msisdn: string
  readonly amount: number
}

const failed = (error: unknown): Exclude<Result<unknown>, { kind: 'done' }> => {
  if (!isMandateKitError(error)) throw error
  return { kind: error.outcome === 'unknown' ? 'unclear' : 'try-again', why: error.code }
}

/** Creates a shop that sells a daily plan and single orders. The tests call this shop. */
export const createShop = (subscriptions: SubscriptionsClient, gateway: GatewayClient) => {
  const paid: string[] = []

  const receive: NotificationHandler = createNotificationHandler({
    verify: lookupVerifier(subscriptions),
    onPayment: ({ paymentId, status }) => {
      if (status === 'SUCCEEDED_PAYMENT') paid.push(paymentId)
    },
    onSubscription: () => undefined,
  })

  return {
    receive,
    /** Returns the ids of the successful payments that notifications reported. No id occurs twice. */
    paid: (): readonly string[] => paid,

    /** Requests a plan and returns the page where the customer authorizes it. */
    async sellPlan(requestID: string): Promise<Result<{ url: string; invoiceID: string }>> {
      try {
        const { url, invoiceID } = await subscriptions.subscribe({
          requestID,
          start: '2027-01-01',
          end: '2027-12-31',
          cycle: 'DAILY',
          amount: '5.00',
          userReturnURL: 'https://shop.example/return',
        })
        return { kind: 'done', url, invoiceID }
      } catch (error) {
        return failed(error)
      }
    },

    /** Returns the due dates of a plan's unpaid payments. */
    async unpaidDays(invoiceID: string): Promise<string[]> {
      const { subscriptionId } = await subscriptions.status(invoiceID)
      const days: string[] = []
      for await (const payment of subscriptions.allPayments(String(subscriptionId))) {
        if (payment.status !== 'SUCCEEDED_PAYMENT') days.push(payment.dueDate)
      }
      return days
    },

    /** Charges a customer. The idempotency key contains the order's id, so an order is never charged twice. */
    async charge({ id, msisdn, amount }: Order): Promise<Result<{ chargeId: string; url: string }>> {
      try {
        const charge = await gateway.charge(
          { msisdn, amount, currency: 'BDT', redirect_uri: 'https://shop.example/paid' },
          { idempotencyKey: `order-${id}` },
        )
        return { kind: 'done', chargeId: charge.id, url: charge.confirmation_url }
      } catch (error) {
        return failed(error)
      }
    },
  }
}

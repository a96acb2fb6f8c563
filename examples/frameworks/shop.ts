import type { MerchantNotification, NotificationHandler } from 'mandatekit/notifications'
import { createNotificationHandler, hmacVerifier, isNewer } from 'mandatekit/notifications'

/** A shop that keeps its books in memory; yours keeps them in a database, in one transaction per notification. */
export interface Shop {
  readonly receive: NotificationHandler
  /** Status of each payment, by paymentId. */
  readonly payments: ReadonlyMap<string, string>
  /** The newest message of each subscription, by subscriptionId. */
  readonly subscriptions: ReadonlyMap<string, MerchantNotification>
}

/** What every framework's example shares: the handler. Each example only mounts it. */
export const openShop = (secret: string): Shop => {
  const payments = new Map<string, string>()
  const subscriptions = new Map<string, MerchantNotification>()
  const receive = createNotificationHandler({
    // If the provider does not sign: lookupVerifier(new SubscriptionsClient({ … })).
    verify: hmacVerifier({ header: 'x-signature', secrets: secret }),
    onPayment: ({ paymentId, status }) => {
      payments.set(paymentId, status)
      console.log(`payment ${paymentId}: ${status}`)
    },
    onSubscription: (notification) => {
      const { subscriptionId, status } = notification
      if (!isNewer(notification, subscriptions.get(subscriptionId))) return
      subscriptions.set(subscriptionId, notification)
      console.log(`subscription ${subscriptionId}: ${status}`)
    },
    // Several processes share what was processed through `dedupe`: see mandatekit/stores.
    onUnexpected: (report) => console.error(report.kind, 'error' in report ? report.error : ''),
  })
  return { receive, payments, subscriptions }
}

import type { MerchantNotification, NotificationHandler } from 'mandatekit/notifications'
import { createNotificationHandler, hmacVerifier, isNewer } from 'mandatekit/notifications'

/** A shop with all data in memory. In production, use a database and one transaction for each notification. */
export interface Shop {
  readonly receive: NotificationHandler
  /** Status of each payment, by paymentId. */
  readonly payments: ReadonlyMap<string, string>
  /** The newest notification of each subscription, by subscriptionId. */
  readonly subscriptions: ReadonlyMap<string, MerchantNotification>
}

/** Creates a shop. Each example mounts the shop's notification handler `receive`. */
export const openShop = (secret: string): Shop => {
  const payments = new Map<string, string>()
  const subscriptions = new Map<string, MerchantNotification>()
  const receive = createNotificationHandler({
    // If the provider does not sign notifications, use lookupVerifier(new SubscriptionsClient({ … })).
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
    // If several processes receive notifications, pass a shared store as `dedupe` (see mandatekit/stores).
    onUnexpected: (report) => console.error(report.kind, 'error' in report ? report.error : ''),
  })
  return { receive, payments, subscriptions }
}

import type { Cancellation, PaymentDetails, SubscriptionDetails } from '../contract/subscriptions.ts'
import { methodIssues, refuse, whileReading } from '../transport/input-issues.ts'
import { isNotFound } from './not-found.ts'
import type { Notification } from './notification.ts'
import type { Verifier } from './verification.ts'
import { checkDelivery } from './verification.ts'

/** The reads that `lookupVerifier` makes; a `SubscriptionsClient` has them. */
export interface LookupClient {
  /** The subscription (S-d). */
  details(subscriptionId: string): PromiseLike<Pick<SubscriptionDetails, 'id'>>
  /** The record of its cancellation (S-f). */
  cancellation(subscriptionId: string): PromiseLike<Pick<Cancellation, 'subscriptionID'>>
  /** One payment (S-h). */
  payment(paymentId: string): PromiseLike<Pick<PaymentDetails, 'subscriptionId' | 'status'>>
}

const READS = ['details', 'cancellation', 'payment'] as const satisfies (keyof LookupClient)[]

const matches = async (client: LookupClient, notification: Notification): Promise<boolean> => {
  const { subscriptionId } = notification
  if (notification.type === 'SUBSCRIPTION_PAYMENT') {
    const payment = await client.payment(notification.paymentId)
    return (
      payment.subscriptionId === subscriptionId && payment.status.trim().toUpperCase() === notification.status
    )
  }
  const { id } = await client.details(subscriptionId)
  if (id !== subscriptionId) return false
  if (notification.type !== 'SUBSCRIPTION' || notification.status !== 'CANCELLED') return true
  return (await client.cancellation(subscriptionId)).subscriptionID === subscriptionId
}

/**
 * Verifies a message by asking the API: for a payment, that it exists with this subscription and status; otherwise that
 * the subscription exists, and for CANCELLED that a cancellation does. What the API does not know is refused (401); when
 * the API cannot be asked (unreachable, limited, or it refuses our own credentials) the delivery is answered 503.
 *
 * It proves what a message says, not who says it: whoever knows a true fact can send it again under a new
 * notificationId. Let your code do no harm when told the same fact twice.
 *
 * @throws {InvalidRequestError} when the client is none that can read subscriptions.
 * @example createNotificationHandler({ verify: lookupVerifier(subscriptions), onPayment, onSubscription })
 */
export const lookupVerifier = (client: LookupClient): Verifier => {
  whileReading('lookupVerifier', 'client', () => {
    refuse('lookupVerifier', methodIssues('client', 'a SubscriptionsClient', READS, client))
  })
  return async (delivery) => {
    checkDelivery(delivery)
    const { notification } = delivery
    try {
      return await matches(client, notification)
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }
}

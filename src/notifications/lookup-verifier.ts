import type { Cancellation, PaymentDetails, SubscriptionDetails } from '../contract/subscriptions.ts'
import { isMandateKitError } from '../errors.ts'
import type { Notification } from './notification.ts'
import type { Verifier } from './verification.ts'

/** The reads that `lookupVerifier` makes; a `SubscriptionsClient` has them. */
export interface LookupClient {
  details(subscriptionId: string): PromiseLike<Pick<SubscriptionDetails, 'id'>>
  cancellation(subscriptionId: string): PromiseLike<Pick<Cancellation, 'subscriptionID'>>
  payment(paymentId: string): PromiseLike<Pick<PaymentDetails, 'subscriptionId' | 'status'>>
}

/**
 * Whether the API itself said, with a code of its own, that there is no such thing. Anything else leaves the question
 * open: a bare 404 may come from a proxy or a mistaken base URL, and refusing would lose true messages.
 */
const isNotFound = (error: unknown): boolean => {
  if (!isMandateKitError(error) || error.phase === 'login') return false
  if (error.code === 'invalid_request') return true
  if (error.code !== 'api_error' || error.outcome !== 'rejected') return false
  return 'errorCode' in error && error.errorCode !== undefined && 'status' in error && error.status !== 403
}

const matches = async (client: LookupClient, notification: Notification): Promise<boolean> => {
  const { subscriptionId } = notification
  if (notification.type === 'SUBSCRIPTION_PAYMENT') {
    const payment = await client.payment(notification.paymentId)
    return payment.subscriptionId === subscriptionId && payment.status === notification.status
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
 * @example createNotificationHandler({ verify: lookupVerifier(subscriptions), onPayment, onSubscription })
 */
export const lookupVerifier =
  (client: LookupClient): Verifier =>
  async ({ notification }) => {
    try {
      return await matches(client, notification)
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }

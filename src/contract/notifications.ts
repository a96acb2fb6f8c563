import { type Field, type Output, response } from './fields.ts'
import { openText, text } from './response-fields.ts'

/** Types of notifications (S8). */
export type KnownNotificationType = 'SUBSCRIPTION' | 'SUBSCRIPTION_PAYMENT'
/** Statuses of a SUBSCRIPTION message. `parseNotification` reads `CANCELED` as `CANCELLED` (Events, note 1). */
export type KnownSubscriptionNotificationStatus = 'CANCELLED' | 'SUCCEEDED'
/** Statuses of a SUBSCRIPTION_PAYMENT message (Events). */
export type KnownPaymentNotificationStatus = 'SUCCEEDED_PAYMENT' | 'FAILED_PAYMENT'

const STATUSES = ['CANCELLED', 'SUCCEEDED', 'SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'] as const

const notification = {
  /** Unique identifier of the notification. A repeated delivery has the same identifier. (S8) */
  notificationId: text,
  /** `SUBSCRIPTION`, `SUBSCRIPTION_PAYMENT`, or a type that the provider adds later. (S8) */
  type: openText<KnownNotificationType>('SUBSCRIPTION', 'SUBSCRIPTION_PAYMENT'),
  /** New status of the subscription or payment. `CANCELED` means the same as `CANCELLED`. (S8; Events, note 1) */
  status: openText<KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus>(...STATUSES),
  /** Identifier of the subscription. (S8) */
  subscriptionId: text,
  /** Identifier of the payment. It is an empty string if the type is SUBSCRIPTION. (S8) */
  paymentId: text,
  /** Time of the change: UNIX time in whole seconds, as text. (S8) */
  timestamp: text,
}
/** A notification message as the server sends it: every field is text. (S8) */
export interface NotificationMessage extends Output<typeof notification> {}
/** Schema of a notification message. (S8) */
export const notificationSchema: Field<NotificationMessage> = response(notification)

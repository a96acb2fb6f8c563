import type { Open } from './fields.ts'
import { answer, openText, text } from './fields.ts'

/** Kinds of notification (S8). */
export type KnownNotificationType = 'SUBSCRIPTION' | 'SUBSCRIPTION_PAYMENT'
/** Statuses of a SUBSCRIPTION message; a received `CANCELED` is the same as `CANCELLED` (Events, note 1). */
export type KnownSubscriptionNotificationStatus = 'CANCELLED' | 'SUCCEEDED'
/** Statuses of a SUBSCRIPTION_PAYMENT message. */
export type KnownPaymentNotificationStatus = 'SUCCEEDED_PAYMENT' | 'FAILED_PAYMENT'

/** A notification message as it is on the wire (S8). */
export type NotificationMessage = {
  /** Unique identifier of the notification; a redelivery has the same one (S8). */
  readonly notificationId: string
  /** `SUBSCRIPTION` or `SUBSCRIPTION_PAYMENT`; any other text may come (S8). */
  readonly type: Open<KnownNotificationType>
  /** What happened, depending on `type`; a cancellation may be written `CANCELED`, too (S8; Events, note 1). */
  readonly status: Open<KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus>
  /** The subscription concerned (S8). */
  readonly subscriptionId: string
  /** The payment, for type SUBSCRIPTION_PAYMENT; an empty text for type SUBSCRIPTION (S8). */
  readonly paymentId: string
  /** When it happened: UNIX time in whole seconds, as text (S8). */
  readonly timestamp: string
}

/** A notification message as it is on the wire: every field is text (S8). */
export const notificationSchema = answer<NotificationMessage>({
  notificationId: text,
  type: openText<KnownNotificationType>(),
  status: openText<KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus>(),
  subscriptionId: text,
  paymentId: text,
  timestamp: text,
})

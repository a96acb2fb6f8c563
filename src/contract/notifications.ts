import type * as z from 'zod/mini'
import { answer, openText, text } from './fields.ts'

/** Kinds of notification (S8). */
export type KnownNotificationType = 'SUBSCRIPTION' | 'SUBSCRIPTION_PAYMENT'
/** Statuses of a SUBSCRIPTION message; a received `CANCELED` is the same as `CANCELLED` (Events, note 1). */
export type KnownSubscriptionNotificationStatus = 'CANCELLED' | 'SUCCEEDED'
/** Statuses of a SUBSCRIPTION_PAYMENT message. */
export type KnownPaymentNotificationStatus = 'SUCCEEDED_PAYMENT' | 'FAILED_PAYMENT'

/** A notification message as it is on the wire: every field is text (S8). */
export const notificationSchema = answer({
  notificationId: text,
  type: openText<KnownNotificationType>(),
  status: openText<KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus>(),
  subscriptionId: text,
  paymentId: text,
  timestamp: text,
})

/** A notification message as it is on the wire (S8). */
export type NotificationMessage = z.infer<typeof notificationSchema>

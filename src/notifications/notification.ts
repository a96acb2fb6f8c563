import type {
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../contract/notifications.ts'

/** What every notification carries (S8). */
interface NotificationFacts {
  /** Unique identifier of the notification; a redelivery has the same one. */
  readonly notificationId: string
  /** The subscription concerned. */
  readonly subscriptionId: string
  /** When the change happened, as the sender's `timestamp` says; whole seconds. */
  readonly occurredAt: Date
  /** The message as it was received, with fields this package does not know. */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A subscription was authorised (`SUCCEEDED`) or ended (`CANCELLED`, also received as `CANCELED`). */
export interface SubscriptionNotification extends NotificationFacts {
  readonly type: 'SUBSCRIPTION'
  readonly status: KnownSubscriptionNotificationStatus
  readonly paymentId: null
}

/** A payment of a subscription succeeded or failed. */
export interface PaymentNotification extends NotificationFacts {
  readonly type: 'SUBSCRIPTION_PAYMENT'
  readonly status: KnownPaymentNotificationStatus
  readonly paymentId: string
}

/** A type, or a status of a known type, that this version does not know. Nothing is guessed about it. */
export interface UnknownNotification extends NotificationFacts {
  readonly type: 'UNKNOWN'
  /** `type` as received. */
  readonly receivedType: string
  /** `status` as received. */
  readonly status: string
  readonly paymentId: string | null
}

/** A notification message (S8), told apart by `type`. */
export type Notification = SubscriptionNotification | PaymentNotification | UnknownNotification

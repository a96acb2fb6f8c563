import type {
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../contract/notifications.ts'

/** What every notification carries (S8). */
interface NotificationFacts {
  /** Unique identifier of the notification; a redelivery has the same one (S8). */
  readonly notificationId: string
  /** The subscription concerned (S8). */
  readonly subscriptionId: string
  /** When the change happened, as the sender's `timestamp` says; whole seconds (S8). */
  readonly occurredAt: Date
  /** The message as it was received, with fields this package does not know (S8). */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A subscription was authorised (`SUCCEEDED`) or ended (`CANCELLED`, also received as `CANCELED`). */
export interface SubscriptionNotification extends NotificationFacts {
  /** Tells this message from the others (S8). */
  readonly type: 'SUBSCRIPTION'
  /** `SUCCEEDED`: authorised; `CANCELLED`: ended, in either spelling (Events, note 1). */
  readonly status: KnownSubscriptionNotificationStatus
  /** No payment is concerned: received as an empty text, null or not at all (S8). */
  readonly paymentId: null
}

/** A payment of a subscription succeeded or failed. */
export interface PaymentNotification extends NotificationFacts {
  /** Tells this message from the others (S8). */
  readonly type: 'SUBSCRIPTION_PAYMENT'
  /** `SUCCEEDED_PAYMENT`: paid; `FAILED_PAYMENT`: not paid (Events). */
  readonly status: KnownPaymentNotificationStatus
  /** Identifier of the payment, for `payment` (S8). */
  readonly paymentId: string
}

/** A type, or a status of a known type, that this version does not know. Nothing is guessed about it. */
export interface UnknownNotification extends NotificationFacts {
  /** Tells this message from the others; what came is in `receivedType` (S8). */
  readonly type: 'UNKNOWN'
  /** `type` as received (S8). */
  readonly receivedType: string
  /** `status` as received (S8). */
  readonly status: string
  /** `paymentId` as received; null when it was empty, null or missing (S8). */
  readonly paymentId: string | null
}

/** A notification message (S8), told apart by `type`. */
export type Notification = SubscriptionNotification | PaymentNotification | UnknownNotification

import type {
  KnownNotificationType,
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../../../src/contract/notifications.ts'
import type { KnownPaymentStatus, SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'

/** The merchant and the user that own an access token. */
export interface Merchant {
  readonly clientId: string
  readonly username: string
}

/** The JSON of a payment (S6). */
export interface PaymentBody {
  /** Identifier of the payment: an integer. Pass this integer to `payer.reverse`. */
  readonly paymentId: number
  /** Cycle of the subscription: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
  readonly cycle: string
  /** The due date, `YYYY-MM-DD`. A retry has the due date of the first attempt (row 24). */
  readonly dueDate: string
  /** The reversed amount, as text such as `"25.00"`; null until `payer.reverse` is called (row 13). */
  readonly reverseTransactionAmount: string | null
  /** Time of the reversal, `YYYY-MM-DD HH:MM:SS` in `subscriptions.timeZone` (row 14); null without a reversal. */
  readonly reverseTransactionDate: string | null
  /** Identifier of the reversal's transaction; null without a reversal (row 13). */
  readonly reverseTransactionId: string | null
  /** `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT`; `payer.setPayments` sets the status of future payments (row 26). */
  readonly status: KnownPaymentStatus
  /** Identifier of the payment's subscription. */
  readonly subscriptionId: string
  /** When the payment was made, `YYYY-MM-DD HH:MM:SS` in `subscriptions.timeZone` (row 14). */
  readonly transactionDate: string
  /** Identifier of the transaction; a failed payment also has one (row 24). */
  readonly transactionId: string
  /** The next due date, `YYYY-MM-DD`. If no payment follows: see option `nextPaymentDateAfterEnd` (row 25). */
  readonly nextPaymentDate: string | null
}

/** The JSON of a notification (S8). */
export interface NotificationBody {
  /** Unique identifier of the notification. A retried delivery has the same identifier. */
  readonly notificationId: string
  /** `SUBSCRIPTION` or `SUBSCRIPTION_PAYMENT` (row 48). */
  readonly type: KnownNotificationType
  /** A subscription is `SUCCEEDED` or `CANCELLED`, a payment `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT` (row 48). */
  readonly status: KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus
  /** Identifier of the subscription. */
  readonly subscriptionId: string
  /** The paymentId as text; empty for type `SUBSCRIPTION`. */
  readonly paymentId: string
  /** Time of the event: UNIX time in whole seconds, as text, such as `"1796040000"`. */
  readonly timestamp: string
}

/** The data of the page on which the payer authorizes or declines a request. */
export interface AuthorizationView {
  /** Identifier of the request: the `invoiceID` that `subscribe` returned. */
  readonly invoiceId: string
  /** Name of the request's merchant, from the option `subscriptions.merchants`. */
  readonly merchant: string
  /** The amount per cycle: decimal text as in the request, such as `25.00`. */
  readonly amount: string
  /** How often the amount is paid: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
  readonly cycle: string
  /** First day of the subscription, `YYYY-MM-DD`. */
  readonly start: string
  /** Last day of the subscription, `YYYY-MM-DD`. */
  readonly end: string
  /** The first due dates, at most five, as `YYYY-MM-DD`. */
  readonly nextPayments: readonly string[]
  /** Status of the request: `INITIALIZED`, `SUCCEEDED`, `FAILED`, `EXPIRED` or `CANCELLED` (row 10). */
  readonly status: string
  /** The URL to which the payer returns: `userReturnURL` with `invoiceID` added. */
  readonly returnUrl: string
}

/** A subscription, as `mock.state.subscriptions()` returns it. */
export interface SubscriptionState {
  /** Identifier of the request: the `invoiceID` that `subscribe` returned. */
  readonly invoiceId: string
  /** Identifier of the subscription. Before the authorization, a status response may omit it (row 11). */
  readonly subscriptionId: string
  /** Status of the request: `INITIALIZED`, `SUCCEEDED`, `FAILED`, `EXPIRED` or `CANCELLED` (row 10). */
  readonly requestStatus: string
  /** Client id of the merchant that created the request; `request.clientID` may name another merchant (row 21). */
  readonly clientId: string
  /** The request (S1). */
  readonly request: SubscriptionRequestBody
  /** When the request was created: milliseconds since 1970, in the mock's time. */
  readonly createdAt: number
  /** When the payer authorized the request, in milliseconds since 1970; undefined before the authorization. */
  readonly authorizedAt: number | undefined
  /** When a cancellation was processed, in milliseconds since 1970; undefined if none was processed (row 27). */
  readonly cancelledAt: number | undefined
  /** The day of the next payment, `YYYY-MM-DD`; undefined if no payment follows. */
  readonly nextDueDate: string | undefined
  /** True from the authorization until the subscription ends or is canceled. */
  readonly active: boolean
}

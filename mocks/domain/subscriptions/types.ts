import type {
  KnownNotificationType,
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../../../src/contract/notifications.ts'
import type { KnownPaymentStatus, SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'

/** The merchant and user of an access token. */
export interface Merchant {
  readonly clientId: string
  readonly username: string
}

/** S6. */
export interface PaymentBody {
  /** Identifier of the payment: an integer, as `payer.reverse` takes it. */
  readonly paymentId: number
  /** Cycle of the subscription: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
  readonly cycle: string
  /** The due date, `YYYY-MM-DD`; for a retry, that of the first attempt (row 24). */
  readonly dueDate: string
  /** The reversed amount, as text such as `"25.00"`; null until `payer.reverse` (row 13). */
  readonly reverseTransactionAmount: string | null
  /** When it was reversed, `YYYY-MM-DD HH:MM:SS` in the zone of `subscriptions.timeZone` (row 14); null without a reversal. */
  readonly reverseTransactionDate: string | null
  /** Identifier of the reversal's transaction; null without a reversal (row 13). */
  readonly reverseTransactionId: string | null
  /** `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT`, as `payer.setPayments` scripts it (row 26). */
  readonly status: KnownPaymentStatus
  /** Its subscription. */
  readonly subscriptionId: string
  /** When it was made, `YYYY-MM-DD HH:MM:SS` in the zone of `subscriptions.timeZone` (row 14). */
  readonly transactionDate: string
  /** Identifier of the transaction; a failed payment also has one (row 24). */
  readonly transactionId: string
  /** The due date one cycle later, `YYYY-MM-DD`; after the last one see `subscriptions.nextPaymentDateAfterEnd` (row 25). */
  readonly nextPaymentDate: string | null
}

/** S8 on the wire. */
export interface NotificationBody {
  /** Unique identifier of the notification; a repeated delivery has the same one. */
  readonly notificationId: string
  /** `SUBSCRIPTION` or `SUBSCRIPTION_PAYMENT` (row 48). */
  readonly type: KnownNotificationType
  /** What happened: `SUCCEEDED` or `CANCELLED` of a subscription, `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT` of a payment (row 48). */
  readonly status: KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus
  /** The subscription. */
  readonly subscriptionId: string
  /** The paymentId as text; empty for type `SUBSCRIPTION`. */
  readonly paymentId: string
  /** When it happened: UNIX time in whole seconds, as text, such as `"1796040000"`. */
  readonly timestamp: string
}

/** What the authorization page shows. */
export interface AuthorizationView {
  /** Identifier of the request: the `invoiceID` of subscribe. */
  readonly invoiceId: string
  /** Name of the merchant that the request belongs to, as in `subscriptions.merchants`. */
  readonly merchant: string
  /** What is paid each cycle: decimal text as in the request, such as `25.00`. */
  readonly amount: string
  /** How often it is paid: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
  readonly cycle: string
  /** First day, `YYYY-MM-DD`. */
  readonly start: string
  /** Last day, `YYYY-MM-DD`. */
  readonly end: string
  /** The first due dates, at most five, as `YYYY-MM-DD`. */
  readonly nextPayments: readonly string[]
  /** Status of the request: `INITIALIZED`, `SUCCEEDED`, `FAILED`, `EXPIRED` or `CANCELLED` (row 10). */
  readonly status: string
  /** `userReturnURL` with `invoiceID` added: where the payer goes afterwards. */
  readonly returnUrl: string
}

/** A subscription, as tests see it. */
export interface SubscriptionState {
  /** Identifier of the request: the `invoiceID` of subscribe. */
  readonly invoiceId: string
  /** Identifier of the subscription. It exists before the payer authorizes, even if the status call omits it (row 11). */
  readonly subscriptionId: string
  /** Status of the request: `INITIALIZED`, `SUCCEEDED`, `FAILED`, `EXPIRED` or `CANCELLED` (row 10). */
  readonly requestStatus: string
  /** Client id of its merchant: that of the token, even if `request.clientID` differs (row 21). */
  readonly clientId: string
  /** The request (S1). */
  readonly request: SubscriptionRequestBody
  /** When it was created: milliseconds since 1970, in the mock's time. */
  readonly createdAt: number
  /** When the payer authorized it, in milliseconds since 1970; undefined until then. */
  readonly authorizedAt: number | undefined
  /** When its cancellation was processed, in milliseconds since 1970; undefined until then (row 27). */
  readonly cancelledAt: number | undefined
  /** The day of the next payment, `YYYY-MM-DD`; undefined if none follows. */
  readonly nextDueDate: string | undefined
  /** Whether it is authorized and has neither ended nor been canceled. */
  readonly active: boolean
}

import type {
  KnownNotificationType,
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../../../src/contract/notifications.ts'
import type { KnownPaymentStatus, SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'
import type { Sequence } from '../paged-list.ts'
import type { Fields, Result } from '../result.ts'
import type { PaymentScript, SeedSubscription, SeedToken } from './options.ts'

/** A merchant as area S knows it after a bearer check. */
export interface Merchant {
  readonly clientId: string
  readonly username: string
}

/** S7 on the wire. */
export interface TokenBody {
  readonly token_type: string
  readonly expires_in: number
  readonly access_token: string
  readonly refresh_token: string
}

/** S2 without the envelope. */
export interface SubscribeBody {
  readonly url: string
  readonly invoiceID: string
}

/** S3 without the envelope. `subscriptionId` can be left out by an option. */
export interface RequestStatusBody {
  readonly invoiceId: string
  readonly status: string
  readonly subscriptionId?: string
  readonly createdAt: string
}

/** S4 without the envelope. */
export interface SubscriptionDetailsBody {
  readonly id: string
  readonly amount: number
  readonly cycle: string
  readonly enabled: number
  readonly createdDate: string
  readonly startDate: string
  readonly endDate: string
  readonly nextPaymentDate: string | null
  readonly requestID: string
}

/** S5 without the envelope. */
export interface CancellationBody {
  readonly id: number
  readonly subscriptionID: string
  readonly requestID: number
  readonly status: string
}

/** S6. */
export interface PaymentBody {
  /** Identifier of the payment: an integer, as `payer.reverse` takes it. */
  readonly paymentId: number
  /** Cycle of the subscription: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
  readonly cycle: string
  /** The day it was due, `YYYY-MM-DD`; of a further try, the day of the first (row 24). */
  readonly dueDate: string
  /** What was given back, as text such as `"25.00"`; null until `payer.reverse` (row 13). */
  readonly reverseTransactionAmount: string | null
  /** When it was given back, `YYYY-MM-DD HH:MM:SS` in the zone of `subscriptions.timeZone` (row 14); null without a reversal. */
  readonly reverseTransactionDate: string | null
  /** Identifier of the reversal's transaction; null without a reversal (row 13). */
  readonly reverseTransactionId: string | null
  /** `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT`, as `payer.setPayments` scripts it (row 26). */
  readonly status: KnownPaymentStatus
  /** The subscription that it belongs to. */
  readonly subscriptionId: string
  /** When it was tried, `YYYY-MM-DD HH:MM:SS` in the zone of `subscriptions.timeZone` (row 14). */
  readonly transactionDate: string
  /** Identifier of the transaction; a payment that failed has one, too (row 24). */
  readonly transactionId: string
  /** The due day one cycle later, `YYYY-MM-DD`; `subscriptions.nextPaymentDateAfterEnd` says what stands there when none follows (row 25). */
  readonly nextPaymentDate: string | null
}

/** S8 on the wire. */
export interface NotificationBody {
  /** Unique identifier of the notification; a further delivery has the same one. */
  readonly notificationId: string
  /** `SUBSCRIPTION` or `SUBSCRIPTION_PAYMENT` (row 48). */
  readonly type: KnownNotificationType
  /** What happened: `SUCCEEDED` or `CANCELLED` of a subscription, `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT` of a payment (row 48). */
  readonly status: KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus
  /** The subscription concerned. */
  readonly subscriptionId: string
  /** The payment, its integer as text; an empty text for type `SUBSCRIPTION`. */
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
  /** What is paid each cycle: decimal text as it was asked for, such as `25.00`. */
  readonly amount: string
  /** How often is paid: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. */
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

/** Area S. Every operation settles the timeline first. */
export interface SubscriptionsDomain {
  /** S-a, and the refresh grant at the same path. */
  token(fields: Fields): Result<TokenBody>
  /** Bearer check: the merchant of a living access token. */
  merchant(accessToken: string | undefined): Result<Merchant>
  /** S-b */
  subscribe(merchant: Merchant, fields: Fields): Result<SubscribeBody>
  /** S-c */
  status(merchant: Merchant, invoiceId: string): Result<RequestStatusBody>
  /** S-d */
  details(merchant: Merchant, subscriptionId: string): Result<SubscriptionDetailsBody>
  /** S-e */
  cancel(merchant: Merchant, subscriptionId: string): Result<CancellationBody>
  /** S-f; the identifier may also be the cancellation's id or requestID. */
  cancellation(merchant: Merchant, id: string): Result<CancellationBody>
  /** S-g; `page` and `perPage` as they arrived in the query. */
  payments(
    merchant: Merchant,
    subscriptionId: string,
    query: { page?: string; perPage?: string },
  ): Result<{ subscriptionPayments: readonly PaymentBody[] }>
  /** S-h */
  payment(merchant: Merchant, paymentId: string): Result<PaymentBody>

  // The payer
  authorization(invoiceId: string): Result<AuthorizationView>
  authorize(invoiceId: string, options?: { payments?: readonly PaymentScript[] }): Result<AuthorizationView>
  decline(invoiceId: string): Result<AuthorizationView>
  /** Outcomes of the payments to come, of a request or a subscription. */
  script(id: string, payments: readonly PaymentScript[]): Result<void>
  reverse(paymentId: string): Result<PaymentBody>

  // The test author
  /** Whether a text is an access or refresh token of this mock. */
  isToken(text: string): boolean
  expireTokens(): void
  revokeTokens(): void
  /**
   * Adds subscriptions and tokens that nobody asked for through the API.
   *
   * @throws Error when a seed is impossible: a bad date or cycle, an unknown merchant, an identifier in use. Then none
   * is added.
   */
  add(seeds: {
    readonly subscriptions?: readonly SeedSubscription[]
    readonly tokens?: readonly SeedToken[]
  }): readonly SubscriptionState[]
  /** As new; what the options say exists from the start exists again. */
  reset(): void
  /** Copies of the state, newest last. */
  subscriptions(): readonly SubscriptionState[]
  /** Copies of the payments of a subscription, oldest first; of all when no id is given. */
  paymentsOf(subscriptionId?: string): readonly PaymentBody[]
  readonly subscriptionList: Sequence<SubscriptionState>
  readonly paymentList: Sequence<PaymentBody>
  /** Plain data that `restore` takes back (structured-clone safe). */
  snapshot(): unknown
  restore(snapshot: unknown): void
}

/** A subscription as a test author sees it. */
export interface SubscriptionState {
  /** Identifier of the request: the `invoiceID` of subscribe. */
  readonly invoiceId: string
  /** Identifier of the subscription; it exists before the payer has authorized, whatever the status call shows (row 11). */
  readonly subscriptionId: string
  /** Status of the request: `INITIALIZED`, `SUCCEEDED`, `FAILED`, `EXPIRED` or `CANCELLED` (row 10). */
  readonly requestStatus: string
  /** The merchant that it belongs to: that of the token, whatever `request.clientID` says (row 21). */
  readonly clientId: string
  /** What was asked for (S1). */
  readonly request: SubscriptionRequestBody
  /** When it was asked for: milliseconds since 1970, in the mock's time. */
  readonly createdAt: number
  /** When the payer authorized it, in milliseconds since 1970; undefined until then. */
  readonly authorizedAt: number | undefined
  /** When its cancellation was processed, in milliseconds since 1970; undefined until then (row 27). */
  readonly cancelledAt: number | undefined
  /** The day of the next payment, `YYYY-MM-DD`; undefined when none is to be expected. */
  readonly nextDueDate: string | undefined
  /** Whether it is authorized, and has neither ended nor been cancelled. */
  readonly active: boolean
}

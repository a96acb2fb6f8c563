import type { KnownChargeStatus } from '../../src/contract/gateway.ts'
import type {
  KnownNotificationType,
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../../src/contract/notifications.ts'
import type { KnownPaymentStatus, SubscriptionRequestBody } from '../../src/contract/subscriptions.ts'
import type { Result } from './result.ts'
import type { Sequence } from './sequence.ts'
import type { SeedSubscription, SeedToken } from './subscriptions/seeds.ts'

/*
 * The seams of the mock's domain. Implementations: timeline.ts, subscriptions/, gateway/. Users: mocks/http and the
 * control surface. All times are milliseconds since 1970-01-01T00:00:00Z.
 */

/** Time of one mock, and what falls due in it. Entries are data, so that a snapshot can hold them. */
export interface Timeline {
  /** Time of the entry being run, else the time now. */
  now(): number
  /** Plans `kind` for `id` at `at`; the function given back unplans it. Entries of one time run in the order planned. */
  schedule(at: number, kind: string, id: string): () => void
  /** Says what runs when an entry of this kind falls due. One handler a kind. */
  on(kind: string, handler: (id: string, at: number) => void): void
  /** Runs everything that is due by now, in time order, each at its own time. */
  settle(): void
  /** What is planned of a kind, in no order: after a restore its planner finds there how to unplan it. */
  planned(kind: string): readonly { readonly id: string; readonly unplan: () => void }[]
}

/** A merchant as area S knows it after a bearer check. */
export interface Merchant {
  readonly clientId: string
  readonly username: string
}

/** Fields of a request's body as they arrived, form or JSON: the domain checks presence, types and rules. */
export type Fields = Readonly<Record<string, unknown>>

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

/** Outcome of one scripted payment. */
export type PaymentScript = 'succeed' | 'fail'

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

/** G1 on the wire. */
export interface ChargeBody {
  /** Identifier of the charge, such as `ch_1`. */
  readonly id: string
  /** The payer's mobile number, as it was given. */
  readonly msisdn: string
  /** What is charged: the whole number that was given, never scaled (row 60). */
  readonly amount: number
  /** Currency code, such as `BDT`. */
  readonly currency: string
  /** `pending_confirmation`, `pending_retry`, `succeeded`, `failed` or `expired`. */
  readonly status: KnownChargeStatus
  /** `PENDING`, `RETRYING`, `SUCCEEDED`, `INSUFFICIENT_FUNDS`, `WALLET_BLOCKED` or `EXPIRED` (row 62). */
  readonly outcome: string
  /** Identifier of the confirmation, such as `conf_1`, as `payer.confirm` takes it. */
  readonly confirmation_id: string
  /** The page where the payer gives the code. */
  readonly confirmation_url: string
  /** When it was created: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
}

/** A stored event of area G (G3). */
export interface GatewayEvent {
  /** Identifier, such as `evt_00000001`; it goes on counting when the gateway's reset clears the events (row 80). */
  readonly id: string
  /** What happened to the charge; a renewal begins with `charge.renewed`, not `charge.created` (row 80). */
  readonly type: `charge.${'created' | 'confirmed' | 'succeeded' | 'failed' | 'pending_retry' | 'expired' | 'renewed'}`
  /** When it happened: ISO 8601 in UTC, such as `2026-11-28T12:00:00.000Z` (row 81). */
  readonly created_at: string
  /** The charge as it stood then. */
  readonly data: ChargeBody
}

/** What the one-time-code page shows. */
export interface ConfirmationView {
  readonly confirmationId: string
  /** The number with its middle digits masked. */
  readonly maskedMsisdn: string
  readonly amount: number
  readonly currency: string
  readonly status: ChargeBody['status']
  /** `redirect_uri` as the merchant gave it. */
  readonly redirectUri: string
}

/** A test number of the reference table. */
export interface TestNumber {
  readonly msisdn: string
  readonly behavior: string
  readonly description: string
  readonly outcome: string
}

/** A charge, and where it comes from. */
export interface ListedCharge extends ChargeBody {
  /** The charge that this one renews. */
  readonly renews: string | undefined
  /** The key that made it. */
  readonly idempotencyKey: string | undefined
}

/** The answer of a keyed operation: `replayed` when the key had executed before; `body` is then the first one, unchanged. */
export interface Keyed<Body> {
  readonly body: Body
  readonly replayed: boolean
}

/** Area G. Every operation settles the timeline first. */
export interface GatewayDomain {
  /** Whether `Authorization: Bearer <key>` holds a configured key. */
  authenticate(key: string | undefined): Result<{ readonly credential: string }>
  reference(): { readonly otp: string; readonly test_numbers: readonly TestNumber[] }
  charge(credential: string, key: string | undefined, fields: Fields): Result<Keyed<ChargeBody>>
  confirm(confirmationId: string, fields: Fields): Result<ChargeBody>
  status(id: string): Result<ChargeBody>
  renew(credential: string, key: string | undefined, id: string, fields: Fields): Result<Keyed<ChargeBody>>
  /** Clears charges, events and keys; limiter and allowlist stay. */
  reset(): void

  // The payer
  confirmation(confirmationId: string): Result<ConfirmationView>
  setBehavior(msisdn: string, behavior: string): Result<void>

  // The test author
  /** As new: also what `reset` keeps. */
  restart(): void
  charges(): readonly ChargeBody[]
  readonly chargeList: Sequence<ListedCharge>
  events(): readonly GatewayEvent[]
  snapshot(): unknown
  restore(snapshot: unknown): void
}

/** A request limiter: asks whether a call may pass now, and tells what the headers say. */
export interface Limiter {
  take(bucket: string): {
    readonly allowed: boolean
    readonly limit: number
    readonly remaining: number
    /** When the window ends, or the next call may pass. */
    readonly resetAt: number
  }
  reset(): void
  /** Plain data that `restore` takes back (structured-clone safe). */
  snapshot(): unknown
  restore(snapshot: unknown): void
}

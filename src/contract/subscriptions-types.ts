import type { Open } from './fields.ts'
import type { CYCLES } from './formats.ts'

/** Payment cycles (S1). */
export type KnownCycle = (typeof CYCLES)[number]
/** A payment cycle as a server may send it: the known ones, or one that came later. */
export type Cycle = Open<KnownCycle>
/** Request statuses this package knows; the specification shows INITIALIZED alone. */
export type KnownRequestStatus = 'INITIALIZED' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED' | 'CANCELLED'
/** Cancellation statuses this package knows; the specification shows PROCESSED alone. */
export type KnownCancellationStatus = 'PROCESSED' | 'PROCESSING'
/** Payment statuses (S6). */
export type KnownPaymentStatus = 'SUCCEEDED_PAYMENT' | 'FAILED_PAYMENT'

/** Body of a login: a password grant (S-a). */
export type TokenRequest = {
  /** Always `password` (S-a). */
  grant_type: 'password'
  /** The merchant application's identifier (S-a). */
  client_id: string
  /** The merchant application's secret (S-a). */
  client_secret: string
  /** The user that logs in (S-a). */
  username: string
  /** The user's password (S-a). */
  password: string
}

/** Input of subscribe (S1). */
export type SubscriptionRequest = {
  /** The merchant application's identifier, as the platform issued it (S1). */
  clientID: string
  /** Your own identifier of this request; an error carries it, and `details` gives it back (S1). */
  requestID: string
  /** First day, a calendar day as `YYYY-MM-DD`, such as `2026-12-01`; after 23:30 today is not accepted (S1). */
  start: string
  /** Last day as `YYYY-MM-DD`, on or after `start` and at most 730 days away (S1; Limits). */
  end: string
  /** Absolute URL to which the payer's browser returns, with `invoiceID` in its query: see `invoiceIdFrom` (S1). */
  userReturnURL: string
  /** How often the payer pays: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS` (S1). */
  cycle: KnownCycle
  /** Paid each cycle: decimal text above zero, such as `"25.00"`; sent as given, since numbers round (S1). */
  amount: string
}

/** What every answer of area S carries (Errors). */
export type Envelope = {
  /** `00`; an answer with any other code is no result but an `ApiError` (S2). */
  readonly errorCode: string
  /** What the code means, in words (S2). */
  readonly errorMessage: string
}

/** Answer of subscribe (S2). */
export type SubscribeResult = Envelope & {
  /** The page where the payer authorises the subscription: send the payer there (S2; S rule 1). */
  readonly url: string
  /** Identifier of the request, for `status` and `waitForStatus`: keep it (S2). */
  readonly invoiceID: string
}

/** State of a subscription request (S3). */
export type RequestStatus = Envelope & {
  /** Identifier of the request: the `invoiceID` of subscribe (S3). */
  readonly invoiceId: string
  /** `INITIALIZED` until the payer has decided; any other text may come, see `KnownRequestStatus` (S3). */
  readonly status: Open<KnownRequestStatus>
  /** Identifier of the subscription, for every later call; null while none is known: received as `""`, `"NA"`, null or not at all (S3). */
  readonly subscriptionId: string | null
  /** When the request was made: `YYYY-MM-DD HH:MM:SS` without a zone, see `toInstant` (S3). */
  readonly createdAt: string
}

/** A subscription (S4). */
export type SubscriptionDetails = Envelope & {
  /** Identifier of the subscription (S4). */
  readonly id: string
  /** Paid each cycle, as a number such as `25`; decimal text is read as one, too (S4). */
  readonly amount: number
  /** How often the payer pays: `DAILY`, `WEEKLY`, `FIFTEEN_DAYS`, or one that came later (S4). */
  readonly cycle: Cycle
  /** Numeric flag whose values the specification does not explain; the mock gives 1 while payments are to be expected, else 0; booleans are read as 1 and 0 (S4). */
  readonly enabled: number
  /** When it was created: ISO 8601 in UTC with microseconds, such as `2026-11-28T12:00:00.000000Z` (S4). */
  readonly createdDate: string
  /** First day, `YYYY-MM-DD` (S4). */
  readonly startDate: string
  /** Last day, `YYYY-MM-DD` (S4). */
  readonly endDate: string
  /** When the next payment is due: `YYYY-MM-DD HH:MM:SS` without a zone, see `toInstant`; null when none was named (S4). */
  readonly nextPaymentDate: string | null
  /** Your own identifier of the request that it came from (S4). */
  readonly requestID: string
}

/** Record of a cancellation (S5). */
export type Cancellation = Envelope & {
  /** Identifier of the record: an integer, or text where a number would change it (S5). */
  readonly id: number | string
  /** The subscription that was cancelled (S5). */
  readonly subscriptionID: string
  /** Identifier of the cancellation's request, not yours of subscribe: an integer, or text where a number would change it (S5). */
  readonly requestID: number | string
  /** `PROCESSED` once it is done; any other text may come, see `KnownCancellationStatus` (S5). */
  readonly status: Open<KnownCancellationStatus>
}

/** A payment of a subscription (S6). */
export type Payment = {
  /** Identifier of the payment: an integer, or text where a number would change it, such as one of many digits (S6). */
  paymentId: number | string
  /** Cycle of the subscription: `DAILY`, `WEEKLY`, `FIFTEEN_DAYS`, or one that came later (S6). */
  cycle: Cycle
  /** The day it was due, `YYYY-MM-DD` (S6). */
  dueDate: string
  /** What was given back, as text such as `"25.00"`; null when nothing was: also received as `""`, zero or not at all (S6). */
  reverseTransactionAmount: string | null
  /** When it was given back, in the server's form; null without a reversal (S6). */
  reverseTransactionDate: string | null
  /** Identifier of the reversal's transaction; null without a reversal (S6). */
  reverseTransactionId: string | null
  /** `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT`; any other text may come (S6). */
  status: Open<KnownPaymentStatus>
  /** The subscription that it belongs to (S6). */
  subscriptionId: string
  /** When the transaction was made: `YYYY-MM-DD HH:MM:SS` without a zone, see `toInstant` (S6). */
  transactionDate: string
  /** Identifier of the transaction (S6). */
  transactionId: string
  /** The day the next payment is due, `YYYY-MM-DD`; null when none was named (S6). */
  nextPaymentDate: string | null
}

/** A payment with the envelope of its answer (S-h). */
export type PaymentDetails = Readonly<Payment> & Envelope

/** A page of payments (S-g). */
export type PaymentList = Envelope & {
  /** The payments of this page, none when the server has no more; null is read as none (S-g). */
  readonly subscriptionPayments: Payment[]
}

/** Answer of a login (S7). */
export type Token = {
  /** How the token is sent: `Bearer` (S7). */
  readonly token_type: string
  /** Lifetime of the access token, in seconds (S7). */
  readonly expires_in: number
  /** The secret that lets calls in; the client sends it by itself (S7). */
  readonly access_token: string
  /** The secret that may give a new token; used with `refresh: 'refresh_token'` alone (S7). */
  readonly refresh_token: string
}

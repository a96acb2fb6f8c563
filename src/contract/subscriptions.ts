import type { EndpointDefinition } from './endpoint.ts'
import { endpoint } from './endpoint.ts'
import type { Field, Input, Open, Output, Shape } from './fields.ts'
import {
  absentableText,
  decimal,
  filledText,
  flag,
  input,
  inputDate,
  inputUrl,
  integerId,
  listOf,
  oneOf,
  openText,
  optional,
  refined,
  response,
  reversedAmount,
  strict,
  text,
  wholeNumber,
} from './fields.ts'
import { CYCLES, dayNumber, isAmountText } from './formats.ts'

/** Payment cycles (S1). */
export type KnownCycle = (typeof CYCLES)[number]
/** A payment cycle as a server may send it: a known one, or one added later. */
export type Cycle = Open<KnownCycle>
/** Request statuses that this package knows. The specification shows only INITIALIZED. */
export type KnownRequestStatus = 'INITIALIZED' | 'SUCCEEDED' | 'FAILED' | 'EXPIRED' | 'CANCELLED'
/** Cancellation statuses that this package knows. The specification shows only PROCESSED. */
export type KnownCancellationStatus = 'PROCESSED' | 'PROCESSING'
/** Payment statuses (S6). */
export type KnownPaymentStatus = 'SUCCEEDED_PAYMENT' | 'FAILED_PAYMENT'

const tokenRequest = {
  /** Always `password`. (S-a) */
  grant_type: oneOf(['password']),
  /** The merchant application's identifier. (S-a) */
  client_id: filledText(),
  /** The merchant application's secret. (S-a) */
  client_secret: filledText(),
  /** The user that logs in. (S-a) */
  username: filledText(),
  /** The user's password. (S-a) */
  password: filledText(),
}
/** Body of a login: a password grant. (S-a) */
export type TokenRequest = Input<typeof tokenRequest>
/** Checks the body of a login. */
export const tokenRequestSchema = strict(tokenRequest)

const subscriptionRequest = {
  /** The merchant application's identifier, issued by the payment provider. (S1) */
  clientID: filledText(),
  /** Your own identifier of this request. Errors carry it, and `details` returns it. (S1) */
  requestID: filledText(),
  /** First day: a calendar date such as `2026-12-01`. After 23:30, today is not accepted. (S1) */
  start: inputDate,
  /** Last day: a calendar date on or after `start`, at most 730 days away. (S1; Limits) */
  end: inputDate,
  /** Absolute URL to which the payer's browser returns with `invoiceID` in the query: see `invoiceIdFrom`. (S1) */
  userReturnURL: inputUrl,
  /** How often the payer pays: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. (S1) */
  cycle: oneOf(CYCLES),
  /** Amount per cycle: decimal text above zero, such as `"25.00"`. A string, because numbers round. (S1) */
  amount: input(
    'a decimal string above zero such as "25.00" (a string, because numbers round)',
    isAmountText,
  ),
}
/** Input of subscribe. (S1) */
export type SubscriptionRequest = Input<typeof subscriptionRequest>
/** A subscription request as it is on the wire. (S1) */
export type SubscriptionRequestBody = Output<typeof subscriptionRequest>
/** Checks a subscription request. (S1) */
export const subscriptionRequestSchema: Field<SubscriptionRequestBody, SubscriptionRequest> = refined(
  strict(subscriptionRequest),
  ({ start, end }) => (dayNumber(end) ?? 0) >= (dayNumber(start) ?? 0),
  'end',
  'a date on or after start',
)

/** Number of a page. (Limits, Pagination) */
export const pageNumber = optional(wholeNumber(1))
/** Records per page. (Limits, Pagination) */
export const pageSize = optional(wholeNumber(1, 100))
/** Checks the query of the payment list. (Limits, Pagination) */
export const pageQuerySchema = strict({ page: pageNumber, per_page: pageSize })

const envelope = {
  /** `00`. A response with any other code becomes an `ApiError`. (S2) */
  errorCode: text,
  /** Explanation of the code. (S2) */
  errorMessage: text,
}
/** The fields of every response of area S. (Errors) */
export type Envelope = Output<typeof envelope>
/** Reads `errorCode` and `errorMessage`. Success is exactly the text `00`. */
export const envelopeSchema: Field<Envelope> = response(envelope)

/** A response with `errorCode` and `errorMessage`. */
const enveloped = <const Fields extends Shape>(fields: Fields): Field<Output<Fields> & Envelope> =>
  response({ ...fields, ...envelope }) as Field<Output<Fields> & Envelope>

const token = {
  /** How the token is sent: `Bearer`. (S7) */
  token_type: text,
  /** Lifetime of the access token, in seconds. (S7) */
  expires_in: decimal,
  /** The secret that authorizes calls. The client sends it by itself. (S7) */
  access_token: text,
  /** The secret that may be exchanged for a new token. Used only with `refresh: 'refresh_token'`. (S7) */
  refresh_token: text,
}
/** Response of a login. (S7) */
export type Token = Output<typeof token>
/** Reads the response of a login. (S7) */
export const tokenSchema: Field<Token> = response(token)

const subscribeResult = {
  /** The page where the payer authorizes the subscription. Send the payer there. (S2; S rule 1) */
  url: text,
  /** Identifier of the request, for `status` and `waitForStatus`. Keep it. (S2) */
  invoiceID: text,
}
/** Response of subscribe. (S2) */
export type SubscribeResult = Output<typeof subscribeResult> & Envelope
/** Reads the response of subscribe. (S2) */
export const subscribeResultSchema: Field<SubscribeResult> = enveloped(subscribeResult)

const requestStatus = {
  /** Identifier of the request: the `invoiceID` of subscribe. (S3) */
  invoiceId: text,
  /** `INITIALIZED` until the payer has decided. Any other text is possible: see `KnownRequestStatus`. (S3) */
  status: openText<KnownRequestStatus>(),
  /** Identifier of the subscription, for every later call. Null while none is known: `""`, `"NA"`, null or missing. (S3) */
  subscriptionId: absentableText,
  /** Creation time: `YYYY-MM-DD HH:MM:SS` without a zone, see `toInstant`. (S3) */
  createdAt: text,
}
/** State of a subscription request. (S3) */
export type RequestStatus = Output<typeof requestStatus> & Envelope
/** Reads the state of a subscription request. (S3) */
export const requestStatusSchema: Field<RequestStatus> = enveloped(requestStatus)

const subscriptionDetails = {
  /** Identifier of the subscription. (S4) */
  id: text,
  /** Amount per cycle, as a number such as `25`. Decimal text is read as a number. (S4) */
  amount: decimal,
  /** How often the payer pays: `DAILY`, `WEEKLY`, `FIFTEEN_DAYS`, or one added later. (S4) */
  cycle: openText<KnownCycle>(),
  /** Numeric flag. The specification does not explain its values; the mock gives 1 while active, else 0. Booleans are read as 1 and 0. (S4) */
  enabled: flag,
  /** Creation time: ISO 8601 in UTC with microseconds, such as `2026-11-28T12:00:00.000000Z`. (S4) */
  createdDate: text,
  /** First day, `YYYY-MM-DD`. (S4) */
  startDate: text,
  /** Last day, `YYYY-MM-DD`. (S4) */
  endDate: text,
  /** When the next payment is due: `YYYY-MM-DD HH:MM:SS` without a zone, see `toInstant`. Null when missing or empty. (S4) */
  nextPaymentDate: absentableText,
  /** Your own identifier of the subscription request. (S4) */
  requestID: text,
}
/** A subscription. (S4) */
export type SubscriptionDetails = Output<typeof subscriptionDetails> & Envelope
/** Reads a subscription. (S4) */
export const subscriptionDetailsSchema: Field<SubscriptionDetails> = enveloped(subscriptionDetails)

const cancellation = {
  /** Identifier of the record: an integer, or text where a number would change it. (S5) */
  id: integerId,
  /** The subscription that was canceled. (S5) */
  subscriptionID: text,
  /** Identifier of the cancellation request, not yours of subscribe: an integer, or text where a number would change it. (S5) */
  requestID: integerId,
  /** `PROCESSED` when it is done. Any other text is possible: see `KnownCancellationStatus`. (S5) */
  status: openText<KnownCancellationStatus>(),
}
/** Record of a cancellation. (S5) */
export type Cancellation = Output<typeof cancellation> & Envelope
/** Reads the response of both cancel operations. (S5) */
export const cancellationSchema: Field<Cancellation> = enveloped(cancellation)

const payment = {
  /** Identifier of the payment: an integer, or text where a number would change it, for example many digits. (S6) */
  paymentId: integerId,
  /** Cycle of the subscription: `DAILY`, `WEEKLY`, `FIFTEEN_DAYS`, or one added later. (S6) */
  cycle: openText<KnownCycle>(),
  /** Due date, `YYYY-MM-DD`. (S6) */
  dueDate: text,
  /** Amount reversed, as text such as `"25.00"`. Null without a reversal: also for `""`, zero and a missing field. (S6) */
  reverseTransactionAmount: reversedAmount,
  /** Reversal time in the server's form. Null without a reversal. (S6) */
  reverseTransactionDate: absentableText,
  /** Identifier of the reversal's transaction. Null without a reversal. (S6) */
  reverseTransactionId: absentableText,
  /** `SUCCEEDED_PAYMENT`, `FAILED_PAYMENT`, or any other text. (S6) */
  status: openText<KnownPaymentStatus>(),
  /** The subscription that it belongs to. (S6) */
  subscriptionId: text,
  /** Time of the transaction: `YYYY-MM-DD HH:MM:SS` without a zone, see `toInstant`. (S6) */
  transactionDate: text,
  /** Identifier of the transaction. (S6) */
  transactionId: text,
  /** Next due date, `YYYY-MM-DD`. Null when missing or empty. (S6) */
  nextPaymentDate: absentableText,
}
/** A payment of a subscription. (S6) */
export type Payment = Output<typeof payment>
/** Reads one record of the payment list. (S6) */
export const paymentSchema: Field<Payment> = response(payment)

/** A payment with the envelope of its response. (S-h) */
export type PaymentDetails = Payment & Envelope
/** Reads the response of the payment operation: S6 with the envelope. */
export const paymentDetailsSchema: Field<PaymentDetails> = enveloped(payment)

const paymentList = {
  /** The payments of this page; empty when the server has no more. Null is read as empty. (S-g) */
  subscriptionPayments: listOf(paymentSchema),
}
/** A page of payments. (S-g) */
export type PaymentList = Output<typeof paymentList> & Envelope
/** Reads a page of payments. (S-g) */
export const paymentListSchema: Field<PaymentList> = enveloped(paymentList)

/** The version prefix of area S's operations (Versioning). The token path has none. */
export const SUBSCRIPTIONS_API_PREFIX = '/api/v1.0'

const COMMON = { method: 'POST', auth: 'token', status: 200, envelope: true } as const

/** An operation behind a login. */
const authorized = <const Definition extends Omit<EndpointDefinition, keyof typeof COMMON>>(
  definition: Definition,
): typeof COMMON & Definition => ({ ...COMMON, ...definition })

/** The eight operations of area S, each defined once. */
export const subscriptionsContract = {
  /** Exchanges credentials for a bearer token. A rejected login is never retried, because failures lock the account. */
  login: endpoint({
    operation: 'subscriptions.login',
    method: 'POST',
    path: '/oauth/token',
    spec: 'S-a',
    auth: 'credentials',
    retry: 'when-not-sent',
    request: tokenRequestSchema,
    response: tokenSchema,
    status: 200,
    envelope: 'optional',
    needs: ['access_token'],
    afterUnknown: 'Call again after a pause, because repeated failures lock the account.',
    afterRejected:
      'Later calls fail without a request until the credentials change, login() is called or the cool-down (loginCooldown) ends.',
  }),
  /** Creates a subscription request. It has no idempotency key, so it cannot be retried safely. */
  subscribe: authorized({
    operation: 'subscriptions.subscribe',
    path: '/api/v1.0/subscribe',
    spec: 'S-b',
    retry: 'when-not-executed',
    request: subscriptionRequestSchema,
    response: subscribeResultSchema,
    needs: ['url', 'invoiceID'],
    reference: 'requestID',
    afterUnknown:
      'The API has no lookup by requestID: before you subscribe again, compare details().requestID of the subscriptions that notifications name.',
  }),
  /** Reads the state of a request by its invoice identifier. */
  status: authorized({
    operation: 'subscriptions.status',
    path: '/api/v1.0/subscribe/:invoiceId/status',
    spec: 'S-c',
    retry: 'always',
    response: requestStatusSchema,
    needs: ['status'],
    afterWait:
      'The request may still change. Wait again or read it later, and do not subscribe again meanwhile.',
  }),
  /** Reads a subscription. */
  details: authorized({
    operation: 'subscriptions.details',
    path: '/api/v1.0/subscription/:subscriptionId',
    spec: 'S-d',
    retry: 'always',
    response: subscriptionDetailsSchema,
    needs: ['id'],
  }),
  /** Cancels a subscription. Canceling again does no harm, but the response to the first call may be lost. */
  cancel: authorized({
    operation: 'subscriptions.cancel',
    path: '/api/v1.0/subscription/:subscriptionId/cancel',
    spec: 'S-e',
    retry: 'when-not-executed',
    response: cancellationSchema,
    proof: ['status'],
    afterUnknown:
      'Call cancellation(subscriptionId) to see whether it was canceled; canceling again gives the same record.',
  }),
  /** Reads the record of a cancellation. */
  cancellation: authorized({
    operation: 'subscriptions.cancellation',
    path: '/api/v1.0/subscription/cancel/:subscriptionId',
    spec: 'S-f',
    retry: 'always',
    response: cancellationSchema,
    needs: ['status'],
  }),
  /** Lists the payments of a subscription, one page per call. */
  payments: authorized({
    operation: 'subscriptions.payments',
    path: '/api/v1.0/subscription/:subscriptionId/payments',
    spec: 'S-g',
    retry: 'always',
    query: pageQuerySchema,
    response: paymentListSchema,
    needs: ['subscriptionPayments'],
  }),
  /** Reads one payment. */
  payment: authorized({
    operation: 'subscriptions.payment',
    path: '/api/v1.0/subscription/payment/:paymentId',
    spec: 'S-h',
    retry: 'always',
    response: paymentDetailsSchema,
    needs: ['status'],
  }),
} as const

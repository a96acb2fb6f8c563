import type { EndpointDefinition } from './endpoint.ts'
import type { Field, Input, Open, Output, Shape } from './fields.ts'
import {
  filledText,
  input,
  inputDate,
  inputUrl,
  listOf,
  oneOf,
  optional,
  refined,
  response,
  strict,
  wholeNumber,
} from './fields.ts'
import { CYCLES, isAmountText } from './formats.ts'
import * as wire from './response-fields.ts'

/** Payment cycles (S1). */
export type KnownCycle = (typeof CYCLES)[number]
/** A payment cycle in a response: a `KnownCycle`, or a value that this package does not know. */
export type Cycle = Open<KnownCycle>
/** Subscription request statuses that this package knows. The specification shows only INITIALIZED. */
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
  /** Name of the user who logs in. (S-a) */
  username: filledText(),
  /** The user's password. (S-a) */
  password: filledText(),
}
/** Body of a login request: an OAuth 2.0 password grant. (S-a) */
export interface TokenRequest extends Input<typeof tokenRequest> {}
/** Checks the body of a login request. */
export const tokenRequestSchema: Field<TokenRequest, TokenRequest> = strict(tokenRequest)

const subscriptionRequest = {
  /** The merchant application's identifier, issued by the payment provider. (S1) */
  clientID: filledText(),
  /** Your own identifier of this request. The subscription's details contain it. (S1)
   * @remarks If `subscribe` fails, the error contains it too. */
  requestID: filledText(),
  /** First day: a calendar date such as `2026-12-01`. After 23:30, the server rejects today's date. (S1) */
  start: inputDate,
  /** Last day: on or after `start`. At most 730 days after `start`, or after today if `start` is past. (S1; Limits) */
  end: inputDate,
  /** Absolute URL of your return page. The server adds `invoiceID` to the query. (S1) @remarks See `invoiceIdFrom`. */
  userReturnURL: inputUrl,
  /** How often the payer pays: `DAILY`, `WEEKLY` or `FIFTEEN_DAYS`. (S1) */
  cycle: oneOf(CYCLES),
  /** Amount per cycle: a decimal above zero, as text such as `"25.00"`. (S1) @remarks The client never rounds it. */
  amount: input('a decimal string above zero such as "25.00"', isAmountText, {
    pattern: '^\\d+(?:\\.\\d+)?$',
  }),
}
/** Input of a subscription request. (S1) */
export interface SubscriptionRequest extends Input<typeof subscriptionRequest> {}
/** The body of a subscription request as the client sends it. (S1) */
export interface SubscriptionRequestBody extends Output<typeof subscriptionRequest> {}
/** Checks a subscription request. (S1) */
export const subscriptionRequestSchema: Field<SubscriptionRequestBody, SubscriptionRequest> = refined(
  strict(subscriptionRequest),
  ({ start, end }) => end >= start,
  'end',
  'a date on or after start',
)

/** Page number, starting at 1. (Limits, Pagination) */
export const pageNumber = optional(wholeNumber(1))
/** Number of records per page, from 1 to 100. (Limits, Pagination) */
export const pageSize = optional(wholeNumber(1, 100))
/** Checks the query parameters of `payments`. (Limits, Pagination) */
export const pageQuerySchema = strict({ page: pageNumber, per_page: pageSize })

const envelope = {
  /** `00` means success. (S2) @remarks For any other code, the client throws an `ApiError`. */
  errorCode: wire.text,
  /** Explanation of `errorCode`. (S2) */
  errorMessage: wire.text,
}
/** The fields that every response of area S contains. (Errors) */
export interface Envelope extends Output<typeof envelope> {}
/** Schema of `errorCode` and `errorMessage`. */
export const envelopeSchema: Field<Envelope> = /* @__PURE__ */ response(envelope)

const enveloped = <const Fields extends Shape>(fields: Fields) => response({ ...fields, ...envelope })

const token = {
  /** Type of the token: `Bearer`. (S7) */
  token_type: wire.text,
  /** Lifetime of the access token, in seconds. (S7) */
  expires_in: wire.integer,
  /** The secret token that authorizes calls. (S7) @remarks The client sends this token automatically. */
  access_token: wire.text,
  /** The secret refresh token. (S7) @remarks See the option `refresh`. */
  refresh_token: wire.text,
}
/** Response to a login. (S7) */
export interface Token extends Output<typeof token> {}
/** Schema of the response to a login. (S7) */
export const tokenSchema: Field<Token> = response(token)

const subscribeResult = {
  /** URL to which you send the payer: the page where the payer authorizes the subscription. (S2; S rule 1) */
  url: wire.urlOnWire,
  /** Identifier of the request. Store it, because you need it to read the status. (S2) @remarks See `waitForStatus`. */
  invoiceID: wire.text,
}
/** Response to a subscription request. (S2) */
export interface SubscribeResult extends Output<typeof subscribeResult>, Envelope {}
/** Schema of the response to a subscription request. (S2) */
export const subscribeResultSchema: Field<SubscribeResult> = enveloped(subscribeResult)

const requestStatus = {
  /** Identifier of the request: the `invoiceID` that subscribe returned. (S3) */
  invoiceId: wire.text,
  /** `INITIALIZED` while the payer can still authorize the request. (S3) @remarks See `KnownRequestStatus`. */
  status: wire.openText<KnownRequestStatus>('INITIALIZED', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED'),
  /** Identifier of the subscription, for later calls. (S3) @remarks Null if the value is missing, `""` or `"NA"`. */
  subscriptionId: wire.absentable(wire.text),
  /** Creation time: `YYYY-MM-DD HH:MM:SS` without a time zone. (S3) @remarks See `toInstant`. */
  createdAt: wire.timeText,
}
/** State of a subscription request. (S3) */
export interface RequestStatus extends Output<typeof requestStatus>, Envelope {}
/** Schema of the state of a subscription request. (S3) */
export const requestStatusSchema: Field<RequestStatus> = enveloped(requestStatus)

const subscriptionDetails = {
  /** Identifier of the subscription. (S4) */
  id: wire.text,
  /** Amount per cycle, as a number such as `25`. (S4) @remarks If the server sends text, the client converts it. */
  amount: wire.decimal,
  /** How often the payer pays: `DAILY`, `WEEKLY`, `FIFTEEN_DAYS`, or any other text. (S4) */
  cycle: wire.openText(...CYCLES),
  /** Numeric flag, not explained in the specification. The mock sends 1 for active subscriptions, otherwise 0. (S4) */
  enabled: wire.flag,
  /** Creation time: ISO 8601 in UTC with microseconds, such as `2026-11-28T12:00:00.000000Z`. (S4) */
  createdDate: wire.instantText,
  /** First day, `YYYY-MM-DD`. (S4) */
  startDate: wire.dateText,
  /** Last day, `YYYY-MM-DD`. (S4) */
  endDate: wire.dateText,
  /** Time of the next payment: `YYYY-MM-DD HH:MM:SS` without a time zone. (S4) @remarks Null if no payment follows. */
  nextPaymentDate: wire.absentable(wire.timeText),
  /** Your own identifier of the subscription request. (S4) */
  requestID: wire.text,
}
/** A subscription. (S4) */
export interface SubscriptionDetails extends Output<typeof subscriptionDetails>, Envelope {}
/** Schema of a subscription. (S4) */
export const subscriptionDetailsSchema: Field<SubscriptionDetails> = enveloped(subscriptionDetails)

const cancellation = {
  /** Identifier of the cancellation. (S5) @remarks The client does not convert text such as `007` to 7. */
  id: wire.integerId,
  /** Identifier of the canceled subscription. (S5) */
  subscriptionID: wire.text,
  /** Identifier of the cancellation request, not the `requestID` of your subscription request. (S5)
   * @remarks The client does not convert text such as `007` to 7. */
  requestID: wire.integerId,
  /** `PROCESSED` when the cancellation is done, otherwise text such as `PROCESSING`. (S5) */
  status: wire.openText<KnownCancellationStatus>('PROCESSED', 'PROCESSING'),
}
/** Record of a cancellation. (S5) */
export interface Cancellation extends Output<typeof cancellation>, Envelope {}
/** Schema of the response to `cancel` or `cancellation`. (S5) */
export const cancellationSchema: Field<Cancellation> = enveloped(cancellation)

const payment = {
  /** Identifier of the payment. (S6) @remarks The client does not convert text such as `007` to 7. */
  paymentId: wire.integerId,
  /** Cycle of the subscription: `DAILY`, `WEEKLY`, `FIFTEEN_DAYS`, or any other text. (S6) */
  cycle: wire.openText(...CYCLES),
  /** Due date of the payment, `YYYY-MM-DD`. (S6) */
  dueDate: wire.dateText,
  /** Reversed amount; null if there was no reversal. (S6)
   * @remarks The client converts numbers to text, and zero and `""` to null. */
  reverseTransactionAmount: wire.reversedAmount,
  /** Time of the reversal, in the server's format; null if the payment was not reversed. (S6) */
  reverseTransactionDate: wire.nullableText,
  /** Identifier of the reversal's transaction; null if the payment was not reversed. (S6) */
  reverseTransactionId: wire.nullableText,
  /** Status of the payment: `SUCCEEDED_PAYMENT`, `FAILED_PAYMENT`, or any other text. (S6) */
  status: wire.openText<KnownPaymentStatus>('SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'),
  /** Identifier of the payment's subscription. (S6) */
  subscriptionId: wire.text,
  /** Time of the transaction: `YYYY-MM-DD HH:MM:SS` without a time zone. (S6) @remarks See `toInstant`. */
  transactionDate: wire.timeText,
  /** Identifier of the transaction. (S6) */
  transactionId: wire.text,
  /** Due date of the next payment, `YYYY-MM-DD`. (S6) @remarks Null if there is none. */
  nextPaymentDate: wire.absentable(wire.dateText),
}
/** A payment of a subscription. (S6) */
export interface Payment extends Output<typeof payment> {}
/** Schema of one record of the payment list. (S6) */
export const paymentSchema: Field<Payment> = response(payment)

/** A payment with `errorCode` and `errorMessage`. (S-h) */
export interface PaymentDetails extends Payment, Envelope {}
/** Schema of the response to `payment`. (S-h) */
export const paymentDetailsSchema: Field<PaymentDetails> = enveloped(payment)

const paymentList = {
  /** The payments of one page. After the last page, the list is empty. (S-g) @remarks Null becomes an empty list. */
  subscriptionPayments: listOf(paymentSchema),
}
/** A page of payments. (S-g) */
export interface PaymentList extends Output<typeof paymentList>, Envelope {}
/** Schema of a page of payments. (S-g) */
export const paymentListSchema: Field<PaymentList> = enveloped(paymentList)

/** The version prefix of area S's paths. The path of the login has no prefix. (Specification, Versioning) */
export const SUBSCRIPTIONS_API_PREFIX = '/api/v1.0'

const COMMON = { method: 'POST', auth: 'token', status: 200, envelope: true } as const

const authorizedEndpoint = <const Definition extends Omit<EndpointDefinition, keyof typeof COMMON>>(
  definition: Definition,
): typeof COMMON & Definition => ({ ...COMMON, ...definition })

/** The eight operations of area S. */
export const subscriptionsContract = {
  /** Logs in with credentials. Repeated failures lock the account. @remarks A rejected login is not retried. */
  login: {
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
    requiredFields: ['access_token'],
    afterRejected: 'Calls now fail until loginCooldown (15 minutes by default) ends or login() succeeds.',
  },
  /**
   * Creates a subscription request. There is no idempotency key, so a retry may create a second request.
   * @remarks The client retries only if the server provably did not act.
   */
  subscribe: authorizedEndpoint({
    operation: 'subscriptions.subscribe',
    path: '/api/v1.0/subscribe',
    spec: 'S-b',
    retry: 'when-not-executed',
    request: subscriptionRequestSchema,
    response: subscribeResultSchema,
    requiredFields: ['url', 'invoiceID'],
    createdFields: ['url', 'invoiceID'],
    referenceField: 'requestID',
    acts: true,
    afterUnknown: {
      how: 'subscribe-again',
      advice:
        'The url is lost, so no payer can authorize this request. Subscribe again with a new requestID.',
    },
  }),
  /** Reads the state of a subscription request by its `invoiceID`. */
  status: authorizedEndpoint({
    operation: 'subscriptions.status',
    path: '/api/v1.0/subscribe/:invoiceId/status',
    spec: 'S-c',
    retry: 'always',
    response: requestStatusSchema,
    requiredFields: ['status'],
    identityFields: ['invoiceId'],
    afterWait: 'The request may still change, so do not subscribe again. Read its status later.',
  }),
  /** Reads a subscription. */
  details: authorizedEndpoint({
    operation: 'subscriptions.details',
    path: '/api/v1.0/subscription/:subscriptionId',
    spec: 'S-d',
    retry: 'always',
    response: subscriptionDetailsSchema,
    requiredFields: ['id'],
    identityFields: ['id'],
  }),
  /**
   * Cancels a subscription. If the response is lost, you can safely cancel again.
   * @remarks The client retries only if the server provably did not act.
   */
  cancel: authorizedEndpoint({
    operation: 'subscriptions.cancel',
    path: '/api/v1.0/subscription/:subscriptionId/cancel',
    spec: 'S-e',
    retry: 'when-not-executed',
    response: cancellationSchema,
    successFields: ['status'],
    identityFields: ['subscriptionID'],
    createdFields: ['subscriptionID', 'status'],
    acts: true,
    afterUnknown: {
      how: 'read-subscription',
      advice: 'Call cancellation(subscriptionId) to see whether the subscription was canceled.',
    },
  }),
  /** Reads the record of a cancellation. */
  cancellation: authorizedEndpoint({
    operation: 'subscriptions.cancellation',
    path: '/api/v1.0/subscription/cancel/:subscriptionId',
    spec: 'S-f',
    retry: 'always',
    response: cancellationSchema,
    requiredFields: ['status'],
    // A server may also find a cancellation by the identifiers that the cancellation itself has.
    identityFields: ['subscriptionID', 'id', 'requestID'],
  }),
  /** Lists the payments of a subscription, one page per call. */
  payments: authorizedEndpoint({
    operation: 'subscriptions.payments',
    path: '/api/v1.0/subscription/:subscriptionId/payments',
    spec: 'S-g',
    retry: 'always',
    query: pageQuerySchema,
    response: paymentListSchema,
    requiredFields: ['subscriptionPayments'],
    recordsField: 'subscriptionPayments',
    identityFields: ['subscriptionId'],
  }),
  /** Reads one payment. */
  payment: authorizedEndpoint({
    operation: 'subscriptions.payment',
    path: '/api/v1.0/subscription/payment/:paymentId',
    spec: 'S-h',
    retry: 'always',
    response: paymentDetailsSchema,
    requiredFields: ['status'],
    identityFields: ['paymentId'],
  }),
} as const satisfies Readonly<Record<string, EndpointDefinition>>

import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import type { FieldsOf } from './fields.ts'
import {
  absentableText,
  answer,
  decimal,
  flag,
  input,
  inputDay,
  integerId,
  listOf,
  oneOf,
  openText,
  optionalCount,
  reversedAmount,
  text,
} from './fields.ts'
import { CYCLES, dayNumber, isAbsoluteUrl, isAmountText } from './formats.ts'
import type {
  Cancellation,
  Envelope,
  KnownCancellationStatus,
  KnownCycle,
  KnownPaymentStatus,
  KnownRequestStatus,
  Payment,
  PaymentDetails,
  PaymentList,
  RequestStatus,
  SubscribeResult,
  SubscriptionDetails,
  SubscriptionRequest,
  Token,
  TokenRequest,
} from './subscriptions-types.ts'

export type * from './subscriptions-types.ts'

const filled = (value: string): boolean => value.trim().length > 0

/** Body of a login (S-a): a password grant. */
export const tokenRequestSchema = z.strictObject({
  grant_type: oneOf('password', ['password']),
  client_id: input('text that is not empty', filled),
  client_secret: input('text that is not empty', filled),
  username: input('text that is not empty', filled),
  password: input('text that is not empty', filled),
} satisfies FieldsOf<TokenRequest>)

/** Body of a renewal by refresh token: the same path as S-a; the specification does not show it. */
export const refreshRequestSchema = z.strictObject({
  grant_type: oneOf('refresh_token', ['refresh_token']),
  client_id: input('text that is not empty', filled),
  client_secret: input('text that is not empty', filled),
  refresh_token: input('text that is not empty', filled),
})

/** Fields of a subscription request (S1). */
export const subscriptionRequestSchema = z
  .strictObject({
    clientID: input('text that is not empty', filled),
    requestID: input('text that is not empty', filled),
    start: inputDay,
    end: inputDay,
    userReturnURL: input('an absolute URL such as https://shop.example/return', isAbsoluteUrl),
    cycle: oneOf('one of DAILY, WEEKLY, FIFTEEN_DAYS', CYCLES),
    amount: input('decimal text above zero such as "25.00" (text, since numbers round)', isAmountText),
  } satisfies FieldsOf<SubscriptionRequest>)
  .check(
    z.refine(({ start, end }) => (dayNumber(end) ?? 0) >= (dayNumber(start) ?? 0), {
      error: 'a day on or after start',
      path: ['end'],
      params: { received: 'an earlier day' },
    }),
  )

/** Query of the payment list (Limits, Pagination). */
export const pageQuerySchema = z.strictObject({
  page: optionalCount('a whole number from 1'),
  per_page: optionalCount('a whole number from 1 to 100', 100),
})

/** `errorCode` and `errorMessage`, which every area S answer carries; success is exactly the text `00`. */
export const envelopeSchema = answer<Envelope>({ errorCode: text, errorMessage: text })

/** Answer of a login (S7). */
export const tokenSchema = answer<Token>({
  token_type: text,
  expires_in: decimal,
  access_token: text,
  refresh_token: text,
})

/** Answer of subscribe (S2). */
export const subscribeResultSchema = answer<SubscribeResult>({
  url: text,
  invoiceID: text,
  errorCode: text,
  errorMessage: text,
})

/** Answer of the status operation (S3). */
export const requestStatusSchema = answer<RequestStatus>({
  invoiceId: text,
  status: openText<KnownRequestStatus>(),
  subscriptionId: absentableText,
  createdAt: text,
  errorCode: text,
  errorMessage: text,
})

/** Answer of the details operation (S4). */
export const subscriptionDetailsSchema = answer<SubscriptionDetails>({
  id: text,
  amount: decimal,
  cycle: openText<KnownCycle>(),
  enabled: flag,
  createdDate: text,
  startDate: text,
  endDate: text,
  nextPaymentDate: absentableText,
  requestID: text,
  errorCode: text,
  errorMessage: text,
})

/** Answer of both cancel operations (S5). */
export const cancellationSchema = answer<Cancellation>({
  id: integerId,
  subscriptionID: text,
  requestID: integerId,
  status: openText<KnownCancellationStatus>(),
  errorCode: text,
  errorMessage: text,
})

const paymentFields = {
  paymentId: integerId,
  cycle: openText<KnownCycle>(),
  dueDate: text,
  reverseTransactionAmount: reversedAmount,
  reverseTransactionDate: absentableText,
  reverseTransactionId: absentableText,
  status: openText<KnownPaymentStatus>(),
  subscriptionId: text,
  transactionDate: text,
  transactionId: text,
  nextPaymentDate: absentableText,
} satisfies FieldsOf<Payment>

/** One record of the payment list (S6). */
export const paymentSchema = answer<Payment>(paymentFields)

/** Answer of the payment details operation: S6 with the envelope. */
export const paymentDetailsSchema = answer<PaymentDetails>({
  ...paymentFields,
  errorCode: text,
  errorMessage: text,
})

/** Answer of the payment list operation (S-g). */
export const paymentListSchema = answer<PaymentList>({
  subscriptionPayments: listOf(paymentSchema),
  errorCode: text,
  errorMessage: text,
})

/** The version prefix of area S's operations (Versioning); the token path has none. */
export const SUBSCRIPTIONS_API_PREFIX = '/api/v1.0'

const READ_AGAIN = 'Reading again is safe.'

/** The eight operations of area S, each defined once. */
export const subscriptionsContract = {
  /** Trades credentials for a bearer token. Never repeated by itself: failures lock the account. */
  login: endpoint({
    operation: 'subscriptions.login',
    method: 'POST',
    path: '/oauth/token',
    spec: 'S-a',
    auth: 'credentials',
    repeatable: 'when-not-sent',
    idempotencyKey: false,
    request: tokenRequestSchema,
    response: tokenSchema,
    status: 200,
    envelope: 'optional',
    needs: ['access_token'],
    proof: ['access_token'],
    afterUnknown: 'Call again after a pause: repeated failures lock the account.',
    afterRejected:
      'Later calls fail without a request until the credentials change, login() is called or the cool-down (loginCooldown) has passed.',
  }),
  /** Creates a recurring payment request. There is no key to repeat it safely by. */
  subscribe: endpoint({
    operation: 'subscriptions.subscribe',
    method: 'POST',
    path: '/api/v1.0/subscribe',
    spec: 'S-b',
    auth: 'token',
    repeatable: 'when-not-executed',
    idempotencyKey: false,
    request: subscriptionRequestSchema,
    response: subscribeResultSchema,
    status: 200,
    envelope: true,
    needs: ['url', 'invoiceID'],
    proof: ['url', 'invoiceID'],
    reference: 'requestID',
    afterUnknown:
      'There is no lookup by requestID: before subscribing again, compare details().requestID of the subscriptions that notifications name.',
  }),
  /** Reads the state of a request by its invoice identifier. */
  status: endpoint({
    operation: 'subscriptions.status',
    method: 'POST',
    path: '/api/v1.0/subscribe/:invoiceId/status',
    spec: 'S-c',
    auth: 'token',
    repeatable: 'always',
    idempotencyKey: false,
    response: requestStatusSchema,
    status: 200,
    envelope: true,
    needs: ['status'],
    proof: ['status'],
    afterUnknown: READ_AGAIN,
    afterWait:
      'The request may still change: wait again or read it later, and do not subscribe again meanwhile.',
  }),
  /** Reads a subscription. */
  details: endpoint({
    operation: 'subscriptions.details',
    method: 'POST',
    path: '/api/v1.0/subscription/:subscriptionId',
    spec: 'S-d',
    auth: 'token',
    repeatable: 'always',
    idempotencyKey: false,
    response: subscriptionDetailsSchema,
    status: 200,
    envelope: true,
    needs: ['id'],
    proof: ['id'],
    afterUnknown: READ_AGAIN,
  }),
  /** Cancels a subscription. Repeating it is harmless to the payer, but the answer of the first may be lost. */
  cancel: endpoint({
    operation: 'subscriptions.cancel',
    method: 'POST',
    path: '/api/v1.0/subscription/:subscriptionId/cancel',
    spec: 'S-e',
    auth: 'token',
    repeatable: 'when-not-executed',
    idempotencyKey: false,
    response: cancellationSchema,
    status: 200,
    envelope: true,
    needs: [],
    proof: ['status'],
    afterUnknown:
      'cancellation(subscriptionId) tells whether it was cancelled; cancelling again gives the same record.',
  }),
  /** Reads the record of a cancellation. */
  cancellation: endpoint({
    operation: 'subscriptions.cancellation',
    method: 'POST',
    path: '/api/v1.0/subscription/cancel/:subscriptionId',
    spec: 'S-f',
    auth: 'token',
    repeatable: 'always',
    idempotencyKey: false,
    response: cancellationSchema,
    status: 200,
    envelope: true,
    needs: ['status'],
    proof: ['status'],
    afterUnknown: READ_AGAIN,
  }),
  /** Lists the payments of a subscription, a page at a time. */
  payments: endpoint({
    operation: 'subscriptions.payments',
    method: 'POST',
    path: '/api/v1.0/subscription/:subscriptionId/payments',
    spec: 'S-g',
    auth: 'token',
    repeatable: 'always',
    idempotencyKey: false,
    query: pageQuerySchema,
    response: paymentListSchema,
    status: 200,
    envelope: true,
    needs: ['subscriptionPayments'],
    proof: ['subscriptionPayments'],
    afterUnknown: READ_AGAIN,
  }),
  /** Reads one payment. */
  payment: endpoint({
    operation: 'subscriptions.payment',
    method: 'POST',
    path: '/api/v1.0/subscription/payment/:paymentId',
    spec: 'S-h',
    auth: 'token',
    repeatable: 'always',
    idempotencyKey: false,
    response: paymentDetailsSchema,
    status: 200,
    envelope: true,
    needs: ['status'],
    proof: ['status'],
    afterUnknown: READ_AGAIN,
  }),
} as const

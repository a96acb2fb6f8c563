export type { ApiKeySource } from './auth/api-key.ts'
export type { Credentials, CredentialsSource } from './auth/credentials.ts'
export type { TokenRecord } from './auth/token-record.ts'
export type { TokenStore } from './auth/token-store.ts'
export { createMemoryTokenStore } from './auth/token-store.ts'
export type { Clock } from './clock.ts'
export type {
  Area,
  AuthKind,
  EndpointDefinition,
  ParametersOf,
  Repeatable,
  RequestOf,
  ResponseOf,
  ResponseSchema,
} from './contract/endpoint.ts'
export type { Open } from './contract/fields.ts'
export type {
  Charge,
  ChargeRequest,
  ConfirmRequest,
  GatewayErrorBody,
  GatewayErrorDetail,
  KnownChargeOutcome,
  KnownChargeStatus,
  Reference,
  RenewRequest,
} from './contract/gateway.ts'
export {
  chargeRequestSchema,
  chargeSchema,
  confirmRequestSchema,
  gatewayContract,
  gatewayErrorSchema,
  renewRequestSchema,
} from './contract/gateway.ts'
export type {
  Cancellation,
  Cycle,
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
} from './contract/subscriptions.ts'
export {
  cancellationSchema,
  envelopeSchema,
  pageQuerySchema,
  paymentDetailsSchema,
  paymentListSchema,
  paymentSchema,
  requestStatusSchema,
  subscribeResultSchema,
  subscriptionDetailsSchema,
  subscriptionRequestSchema,
  subscriptionsContract,
  tokenSchema,
} from './contract/subscriptions.ts'
export type {
  AnyMandateKitError,
  ApiErrorFacts,
  ErrorFacts,
  InputIssue,
  MandateKitErrorCode,
  Outcome,
  Phase,
  RateLimit,
} from './errors.ts'
export {
  AbortedError,
  ApiError,
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  isMandateKitError,
  LockedOutError,
  MandateKitError,
  RateLimitError,
  TimeoutError,
  UnexpectedResponseError,
} from './errors.ts'
export type { ChargeOptions, ChargeState, ConfirmInput, GatewayClientOptions } from './gateway.ts'
export { GatewayClient } from './gateway.ts'
export type { Health } from './health.ts'
export { toInstant } from './instant.ts'
export type { PageOptions } from './page-options.ts'
export type { RenewalInput } from './renewal.ts'
export { renewalKey } from './renewal-key.ts'
export { invoiceIdFrom } from './return-url.ts'
export type { SubscribeInput, SubscriptionsClientOptions } from './subscriptions.ts'
export { SubscriptionsClient } from './subscriptions.ts'
export { systemClock } from './system-clock.ts'
export type { CallOptions } from './transport/call-options.ts'
export type { Answered, CallPromise, CallResponse } from './transport/call-promise.ts'
export type { ClientOptions, RetryOptions } from './transport/client-options.ts'
export { CLIENT_DEFAULTS } from './transport/client-options.ts'
export type { FetchAnswer, FetchFunction, FetchRequest, HeaderReader } from './transport/fetch-function.ts'
export type {
  CallFacts,
  FailureFacts,
  Hooks,
  RequestFacts,
  ResponseFacts,
  RetryFacts,
  TokenRenewedFacts,
  UnexpectedReport,
} from './transport/hooks.ts'
export type { WaitOptions } from './transport/polling.ts'
export type { RepeatReason } from './transport/repeat.ts'

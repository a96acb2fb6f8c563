export type { ApiKeySource } from './auth/authorizer.ts'
export type { Credentials, CredentialsSource } from './auth/credentials.ts'
export type { TokenRecord } from './auth/token-record.ts'
export { createMemoryTokenStore, type TokenStore } from './auth/token-store.ts'
export { type Clock, systemClock } from './clock.ts'
export type { FindOut } from './contract/endpoint.ts'
export type { Charge, ChargeRequest, Reference } from './contract/gateway.ts'
export type {
  Cancellation,
  Cycle,
  Payment,
  PaymentDetails,
  PaymentList,
  RequestStatus,
  SubscribeResult,
  SubscriptionDetails,
  SubscriptionRequest,
  Token,
} from './contract/subscriptions.ts'
export type { Verdict } from './contract/verdict.ts'
export { monthlyDueDate, toInstant } from './dates.ts'
export {
  AbortedError,
  type AnyMandateKitError,
  ApiError,
  type ApiErrorDetails,
  AuthenticationError,
  ConnectionError,
  type ErrorDetails,
  type InputIssue,
  InvalidRequestError,
  isMandateKitError,
  KeyReusedError,
  LockedOutError,
  MandateKitError,
  type MandateKitErrorCode,
  type Outcome,
  type Phase,
  type RateLimit,
  RateLimitError,
  TimeoutError,
  UnexpectedResponseError,
} from './errors.ts'
export type {
  ChargeOptions,
  ChargeState,
  ConfirmInput,
  GatewayClientOptions,
  Health,
} from './gateway-client.ts'
export { GatewayClient } from './gateway-client.ts'
export type { CallPromise, CallResponse, WithResponse } from './http/call.ts'
export type {
  CallEvent,
  FailureEvent,
  Hooks,
  Logger,
  LogLevel,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  TokenRenewedEvent,
  UnexpectedReport,
} from './http/observe.ts'
export type {
  CallOptions,
  ClientChanges,
  ClientOptions,
  FetchFunction,
  FetchRequest,
  FetchResponse,
  RetryOptions,
} from './http/options.ts'
export { CLIENT_DEFAULTS } from './http/options.ts'
export type { WaitOptions } from './http/poll.ts'
export type { RawRequest } from './http/prepare.ts'
export { type NextStep, type NextStepOptions, nextStep, type PauseReason } from './next-step.ts'
export { type RenewalInput, renewalKey } from './renewal-key.ts'
export { invoiceIdFrom } from './return-url.ts'
export type { PageOptions, SubscribeInput, SubscriptionsClientOptions } from './subscriptions-client.ts'
export { SubscriptionsClient } from './subscriptions-client.ts'

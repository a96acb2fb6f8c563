export type {
  Area,
  AuthKind,
  EndpointDefinition,
  RequestOf,
  ResponseOf,
  RetryPolicy,
} from './endpoint.ts'
export type { Field, Input, Open, Output, Shape } from './fields.ts'
export type {
  ConfirmRequest,
  GatewayErrorBody,
  GatewayErrorDetail,
  KnownChargeOutcome,
  KnownChargeStatus,
  RenewRequest,
} from './gateway.ts'
export {
  chargeRequestSchema,
  chargeSchema,
  confirmRequestSchema,
  GATEWAY_API_PREFIX,
  gatewayContract,
  gatewayErrorSchema,
  renewRequestSchema,
} from './gateway.ts'
export { notificationSchema } from './notifications.ts'
export type {
  Envelope,
  KnownCancellationStatus,
  KnownCycle,
  KnownPaymentStatus,
  KnownRequestStatus,
  SubscriptionRequestBody,
  TokenRequest,
} from './subscriptions.ts'
export {
  cancellationSchema,
  envelopeSchema,
  pageQuerySchema,
  paymentDetailsSchema,
  paymentListSchema,
  paymentSchema,
  requestStatusSchema,
  SUBSCRIPTIONS_API_PREFIX,
  subscribeResultSchema,
  subscriptionDetailsSchema,
  subscriptionRequestSchema,
  subscriptionsContract,
  tokenRequestSchema,
  tokenSchema,
} from './subscriptions.ts'

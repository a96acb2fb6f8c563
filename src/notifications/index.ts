export type {
  KnownNotificationType,
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
  NotificationMessage,
} from '../contract/notifications.ts'
export { notificationSchema } from '../contract/notifications.ts'
export type {
  Difference,
  Expected,
  ExpectedCharge,
  ExpectedPayment,
  ExpectedSubscription,
  GatewayReader,
  ReconcileOptions,
  Reconciliation,
  ReconciliationProgress,
  SubscriptionState,
  SubscriptionsReader,
} from '../reconcile/reconcile.ts'
export { reconcile } from '../reconcile/reconcile.ts'
export type { Claim, DedupeStore, MemoryDedupeStore, MemoryDedupeStoreOptions } from './dedupe.ts'
export { createMemoryDedupeStore } from './dedupe.ts'
export type { DeliveryResult, NotificationHandler, ProcessedDelivery, QueuedDelivery } from './handler.ts'
export { createNotificationHandler } from './handler.ts'
export { type FetchHandler, type NodeHandler, toNodeHandler } from './node.ts'
export type {
  Delivery,
  Lease,
  Lookup,
  NotificationContext,
  NotificationHandlerOptions,
  NotificationListener,
  NotificationReport,
  NotificationTimeouts,
  Verified,
  Verifier,
} from './options.ts'
export type {
  MerchantNotification,
  NotificationInput,
  OrderedNotification,
  PaymentNotification,
  SubscriptionNotification,
  UnknownNotification,
} from './parse.ts'
export { isNewer, parseNotification } from './parse.ts'
export type { HeaderFields } from './read-delivery.ts'
export type {
  HmacVerifierOptions,
  LookupCall,
  LookupClient,
  LookupVerifierOptions,
  SignatureEncoding,
} from './verifiers.ts'
export { hmacVerifier, lookupVerifier } from './verifiers.ts'

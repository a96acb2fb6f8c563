export type {
  KnownNotificationType,
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
  NotificationMessage,
} from '../contract/notifications.ts'
export { notificationSchema } from '../contract/notifications.ts'
export type {
  Believed,
  BelievedCharge,
  BelievedPayment,
  BelievedSubscription,
  Difference,
  GatewayReader,
  ReconcileOptions,
  Reconciliation,
  ReconciliationProgress,
  SubscriptionsReader,
} from '../reconciliation/index.ts'
export { reconcile } from '../reconciliation/index.ts'
export type { Claim, DedupeStore } from './dedupe-store.ts'
export type {
  NotificationContext,
  NotificationHandlerOptions,
  NotificationListener,
  NotificationTimeouts,
} from './handler-options.ts'
export type { HmacVerifierOptions, SignatureEncoding } from './hmac-verifier.ts'
export { hmacVerifier } from './hmac-verifier.ts'
export type { Ordered } from './is-newer.ts'
export { isNewer } from './is-newer.ts'
export type { Lease } from './lease.ts'
export type { LookupClient } from './lookup-verifier.ts'
export { lookupVerifier } from './lookup-verifier.ts'
export type { MemoryDedupe, MemoryDedupeOptions } from './memory-dedupe.ts'
export { memoryDedupe } from './memory-dedupe.ts'
export type { NodeHandler } from './node-handler.ts'
export { toNodeHandler } from './node-handler.ts'
export type {
  Notification,
  PaymentNotification,
  SubscriptionNotification,
  UnknownNotification,
} from './notification.ts'
export type { NotificationHandler } from './notification-handler.ts'
export { createNotificationHandler } from './notification-handler.ts'
export type { NotificationInput } from './parse-notification.ts'
export { parseNotification } from './parse-notification.ts'
export type { NotificationReport } from './report.ts'
export type { Delivery, Verifier } from './verification.ts'

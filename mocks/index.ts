import type { HttpHandler } from 'msw'
import { http } from 'msw'
import { createMock as createCoreMock } from './core.ts'
import { internalsOf } from './internals.ts'
import type { Mock as CoreMock } from './mock-types.ts'
import { createMswHandlers } from './msw-handlers.ts'
import type { MockOptions } from './options.ts'

/** A mock of both APIs, with handlers for MSW. */
export interface Mock extends CoreMock {
  /** For `setupServer(...mock.handlers)` or `setupWorker(...mock.handlers)`, MSW 2.12 or 3. */
  readonly handlers: HttpHandler[]
}

/**
 * Makes a mock of both APIs, with one MSW handler for each base URL. Other hosts are untouched; handlers of your own,
 * given to `server.use`, win.
 *
 * @throws TypeError or RangeError when an option does not exist or makes no sense; the message names it.
 * @example
 * const mock = createMock()
 * const server = setupServer(...mock.handlers)
 */
export const createMock = (options: MockOptions = {}): Mock => {
  const mock = createCoreMock(options)
  const { handler, ownBases } = internalsOf(mock)
  return Object.assign(mock, { handlers: createMswHandlers(http, handler, ownBases) })
}
export type { Area } from '../src/contract/endpoint.ts'
export type { Signing } from './delivery/signing.ts'
export type {
  DeliveryOptions,
  DeliveryRecord,
  NotificationHandler,
  Notifications,
  NotificationTarget,
} from './delivery/types.ts'
export type {
  AuthorisationView,
  ChargeBody,
  GatewayEvent,
  NotificationBody,
  PaymentBody,
  PaymentScript,
  SubscriptionState,
} from './domain/api.ts'
export type { MockClock } from './domain/clock.ts'
export type { Duration, DurationParts } from './domain/duration.ts'
export type { BehaviourName, NumberTable } from './domain/gateway/behaviours.ts'
export { behaviours, testNumbers } from './domain/gateway/behaviours.ts'
export type { GatewayOptions, RollingLimit } from './domain/gateway/options.ts'
export { gatewayDefaults, strictGatewayDefaults } from './domain/gateway/options.ts'
export type { SeedCharge } from './domain/gateway/seeds.ts'
export type { ChargeOutcome, Resolution } from './domain/gateway/transitions.ts'
export type { Refusal, RefusalReason } from './domain/result.ts'
export type {
  ErrorCodes,
  MerchantOptions,
  Rules,
  SubscriptionsOptions,
} from './domain/subscriptions/options.ts'
export {
  defaultMerchant,
  strictSubscriptionsDefaults,
  subscriptionsDefaults,
} from './domain/subscriptions/options.ts'
export type { PointInTime, SeedSubscription, SeedToken } from './domain/subscriptions/seeds.ts'
export { MockRefusedError } from './errors.ts'
export type { Fault, FaultEffect, FaultKind, FaultStep } from './http/fault-types.ts'
export type { Operation } from './http/operations.ts'
export type { LoggedRequest, RequestLog } from './http/request-log.ts'
export type { Variant, VariantForm } from './http/variants.ts'
export type { MockFetch } from './mock-fetch.ts'
export type {
  Faults,
  GatewayClientOptions,
  Mock as CoreMock,
  MockSnapshot,
  MockState,
  Payer,
  SubscriptionsClientOptions,
} from './mock-types.ts'
export type { AreaHttpOptions, MockOptions, NotifyOptions, SubscriptionsHttpOptions } from './options.ts'
export {
  gatewayHttpDefaults,
  mockDefaults,
  strictHttpDefaults,
  subscriptionsHttpDefaults,
} from './options.ts'

import { GATEWAY_API_PREFIX } from '../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../src/contract/subscriptions.ts'
import type { MockParts } from './assemble.ts'
import { createParts, withInternals } from './assemble.ts'
import type { MockClock } from './domain/clock.ts'
import type { ListedCharge } from './domain/gateway/types.ts'
import type { Sequence } from './domain/paged-list.ts'
import { createMockFetch } from './fetch.ts'
import type { Operation } from './http/area.ts'
import { withoutSecrets } from './http/redact.ts'
import { explain } from './http/request-log.ts'
import type { MockOptions, ReadOptions } from './options.ts'
import { readOptions } from './options.ts'
import { payerOf } from './payer.ts'
import { restoreAll, snapshotOf } from './snapshot.ts'
import type { Mock } from './types.ts'

/** The clock, and the deliveries that it keeps in step: what arose before an advance is delivered before it. */
const clockOf = ({ clock, deliveries }: MockParts): MockClock => ({
  now: clock.now,
  async set(time) {
    deliveries.refuseReceivers('clock.set')
    await clock.set(time)
    await deliveries.flush()
  },
  async advance(duration) {
    deliveries.refuseReceivers('clock.advance')
    const before = deliveries.underWay()
    if (before !== undefined) await before
    await clock.advance(duration)
    await deliveries.flush()
  },
  async sleep(milliseconds, signal) {
    const over = deliveries.sleepBegins()
    try {
      await clock.sleep(milliseconds, signal)
    } finally {
      over()
    }
  },
})

const clientOptionsOf = (
  { subscriptions, gateway, addresses }: MockParts,
  options: ReadOptions,
  clock: MockClock,
): Mock['clientOptions'] => {
  const [merchant] = subscriptions.options.merchants
  const user = merchant?.users[0]
  const prefix = (area: 'subscriptions' | 'gateway', standard: string) => {
    const { apiPrefix } = options[area].http
    return apiPrefix === standard ? {} : { apiPrefix }
  }
  const time = { now: clock.now, sleep: clock.sleep }
  return {
    get subscriptions() {
      return {
        baseUrl: addresses.current('subscriptions'),
        credentials: {
          clientId: merchant?.clientId ?? '',
          clientSecret: merchant?.clientSecret ?? '',
          username: user?.username ?? '',
          password: user?.password ?? '',
        },
        clock: time,
        ...prefix('subscriptions', SUBSCRIPTIONS_API_PREFIX),
      }
    },
    get gateway() {
      return {
        baseUrl: addresses.current('gateway'),
        apiKey: gateway.options.apiKeys[0] ?? '',
        clock: time,
        ...prefix('gateway', GATEWAY_API_PREFIX),
      }
    },
  }
}

const routeOf =
  ({ areas }: MockParts) =>
  (operation: Operation): string => {
    const route = areas
      .flatMap(({ router }) => router.routes)
      .find(({ target }) => target.definition.operation === operation)
    return `${route?.methods[0] ?? ''} ${route?.path ?? ''}`
  }

/** A key is the merchant's own text: nobody knows what it is made of. */
const withoutSecretKeys = ({ gateway, secrets }: MockParts): Sequence<ListedCharge> => ({
  bounds: gateway.domain.chargeList.bounds,
  read: (from, to) =>
    gateway.domain.chargeList.read(from, to).map((charge) => ({
      ...charge,
      idempotencyKey: charge.idempotencyKey && withoutSecrets(charge.idempotencyKey, secrets),
    })),
})

const resetAll = (parts: MockParts): void => {
  parts.clock.reset()
  parts.ids.reset()
  parts.deliveries.reset()
  parts.subscriptions.domain.reset()
  parts.gateway.domain.restart()
  for (const limiter of parts.limiters) limiter.reset()
  parts.faults.clear()
  parts.log.clear()
  parts.outage.isDown = false
}

/**
 * Makes a mock of both APIs, without MSW: give `mock.fetch` to a client, or the mock to `startMockServer`.
 *
 * @throws TypeError or RangeError when an option does not exist or makes no sense; the message names it.
 * @example
 * const mock = createMock({ clock: new Date('2026-12-01T00:00:00Z') })
 * const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })
 */
export const createMock = (given: MockOptions = {}): Mock => {
  const options = readOptions(given)
  const parts = createParts(options)
  const { subscriptions, gateway, deliveries, faults, log, addresses, handler, outage } = parts
  const clock = clockOf(parts)
  for (const { to, ...delivery } of options.subscriptions.http.notify) deliveries.connect(to, delivery)
  const ownBases = [options.subscriptions.http.baseUrl, options.gateway.http.baseUrl]

  const mock: Mock = {
    fetch: createMockFetch(handler, () => [...new Set(addresses.bases().map(({ url }) => url))]),
    clientOptions: clientOptionsOf(parts, options, clock),
    clock,
    payer: payerOf(parts),
    state: {
      subscriptions: subscriptions.domain.subscriptions,
      payments: subscriptions.domain.paymentsOf,
      charges: gateway.domain.charges,
      events: gateway.domain.events,
    },
    notifications: deliveries,
    faults,
    requests: log,
    tokens: { expire: subscriptions.domain.expireTokens, revoke: subscriptions.domain.revokeTokens },
    outage: {
      start() {
        outage.isDown = true
      },
      end() {
        outage.isDown = false
      },
    },
    add: subscriptions.domain.add,
    reset: () => resetAll(parts),
    snapshot: () => snapshotOf(parts),
    restore: (snapshot) => restoreAll(parts, snapshot),
    explain: (operation) => explain(log, operation, routeOf(parts)),
  }
  const lists = {
    subscriptions: subscriptions.domain.subscriptionList,
    payments: subscriptions.domain.paymentList,
    charges: withoutSecretKeys(parts),
    requests: log,
    notifications: deliveries.list,
  }
  return withInternals(mock, {
    handler,
    ownBases,
    attach: addresses.attach,
    faults,
    lists,
    outage,
    clock: parts.clock,
  })
}

export type { Area } from '../src/contract/endpoint.ts'
export type { KnownCycle } from '../src/contract/subscriptions.ts'

export type {
  DeliveryOptions,
  DeliveryRecord,
  NotificationReceiver,
  Notifications,
  NotificationTarget,
  Signing,
} from './delivery/types.ts'
export type { Rules } from './domain/check-options.ts'
export type { MockClock } from './domain/clock.ts'
export type { Duration, DurationParts } from './domain/duration.ts'
export type { BehaviorName, NumberTable } from './domain/gateway/behaviors.ts'
export { behaviors, testNumbers } from './domain/gateway/behaviors.ts'
export type { GatewayOptions, RollingLimit } from './domain/gateway/options.ts'
export { gatewayDefaults, strictGatewayDefaults } from './domain/gateway/options.ts'
export type { SeedCharge } from './domain/gateway/seeds.ts'
export type { ChargeOutcome, Resolution } from './domain/gateway/transitions.ts'
export type { ChargeBody, GatewayEvent } from './domain/gateway/types.ts'
export type { Refusal, RefusalReason } from './domain/result.ts'
export { MockRefusedError } from './domain/result.ts'
export type {
  ErrorCodes,
  MerchantOptions,
  PointInTime,
  SeedSubscription,
  SeedToken,
  SubscriptionsOptions,
} from './domain/subscriptions/options.ts'
export {
  defaultMerchant,
  strictSubscriptionsDefaults,
  subscriptionsDefaults,
} from './domain/subscriptions/options.ts'
export type {
  AuthorizationView,
  NotificationBody,
  PaymentBody,
  SubscriptionState,
} from './domain/subscriptions/types.ts'
export type { MockFetch } from './fetch.ts'
export type { Operation } from './http/area.ts'
export type { Fault, FaultEffect, FaultKind, FaultStep } from './http/fault-schema.ts'
export type { LoggedRequest, RequestLog } from './http/request-log.ts'
export type { Variant, VariantForm } from './http/subscriptions-area.ts'
export type { AreaHttpOptions, MockOptions, NotifyOptions, SubscriptionsHttpOptions } from './options.ts'
export {
  gatewayHttpDefaults,
  mockDefaults,
  strictHttpDefaults,
  subscriptionsHttpDefaults,
} from './options.ts'
export type {
  Faults,
  GatewayClientConfig,
  Mock,
  MockSnapshot,
  MockState,
  Payer,
  SubscriptionsClientConfig,
} from './types.ts'

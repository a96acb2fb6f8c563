import type { Deliveries, ListedNotification } from './delivery/deliveries.ts'
import { createDeliveries } from './delivery/deliveries.ts'
import type { ManagedClock } from './domain/clock.ts'
import { createClock } from './domain/clock.ts'
import { createGatewayDomain } from './domain/gateway/domain.ts'
import type { GatewayOptions } from './domain/gateway/options.ts'
import { gatewayOptions } from './domain/gateway/options.ts'
import type { GatewayDomain, ListedCharge } from './domain/gateway/types.ts'
import type { Ids } from './domain/ids.ts'
import { createIds, withDigits } from './domain/ids.ts'
import type { Limiter } from './domain/limiter.ts'
import { createFixedWindowLimiter, createRollingLimiter } from './domain/limiter.ts'
import type { Sequence } from './domain/paged-list.ts'
import { createSubscriptionsDomain } from './domain/subscriptions/domain.ts'
import type { SubscriptionsOptions } from './domain/subscriptions/options.ts'
import { subscriptionsOptions } from './domain/subscriptions/options.ts'
import type { PaymentBody, SubscriptionState, SubscriptionsDomain } from './domain/subscriptions/types.ts'
import type { AreaRuntime } from './http/area.ts'
import type { FaultPlan } from './http/faults.ts'
import { createFaultPlan } from './http/faults.ts'
import { createGatewayArea } from './http/gateway-area.ts'
import type { Handler } from './http/handler.ts'
import { createHandler } from './http/handler.ts'
import type { Base } from './http/locate.ts'
import { normalizedBase } from './http/locate.ts'
import type { Secrets } from './http/redact.ts'
import type { LoggedRequest, WritableRequestLog } from './http/request-log.ts'
import { createRequestLog } from './http/request-log.ts'
import type { Variant } from './http/subscriptions-area.ts'
import { createSubscriptionsArea, createVary } from './http/subscriptions-area.ts'
import type { ReadOptions } from './options.ts'
import { createPageHandler, createPages } from './pages/handler.ts'

/** What the adapters of this package use of a mock. */
export interface MockInternals {
  readonly handler: Handler
  /** The base URLs of the options, area S first. */
  readonly ownBases: readonly string[]
  /**
   * Both areas answer below this URL as well, and the URLs that the mock hands out begin with it, until the function
   * given back is called.
   */
  attach(url: string): () => void
  readonly faults: Pick<FaultPlan, 'armed'>
  /** What the mock holds, to be read in stretches. */
  readonly lists: {
    readonly subscriptions: Sequence<SubscriptionState>
    readonly payments: Sequence<PaymentBody>
    readonly charges: Sequence<ListedCharge>
    readonly requests: Sequence<LoggedRequest>
    readonly notifications: Sequence<ListedNotification>
  }
  readonly outage: { readonly isDown: boolean }
  readonly clock: Pick<ManagedClock, 'standsStill' | 'fromOutside'>
}

// In the global registry, so that a mock of the package's CommonJS copy can be given to the ESM copy's server.
const INTERNALS = Symbol.for('mandatekit.mock')

/** Gives a mock its internals, out of its users' sight. */
export const withInternals = <Mock extends object>(mock: Mock, internals: MockInternals): Mock =>
  Object.defineProperty(mock, INTERNALS, { value: internals })

/** The internals of a mock. Throws a TypeError for what is none. */
export const internalsOf = (mock: object): MockInternals => {
  const holder: { readonly [INTERNALS]?: MockInternals } = mock
  const internals = holder[INTERNALS]
  if (internals === undefined) throw new TypeError('This is not a mock that createMock made.')
  return internals
}

/** Where a mock answers, and which addresses it hands out. */
export interface Addresses {
  /** Where the areas answer now. */
  bases(): readonly Base[]
  /** The base URL that area S, or G, hands out now. */
  current(area: AreaRuntime['name']): string
  /** Both areas answer at this URL, too, and hand it out, until the function given back is called. */
  attach(url: string): () => void
}

/** Keeps the addresses of a mock: those of its options, and those of servers in front of it. */
export const createAddresses = (
  own: Readonly<Record<AreaRuntime['name'], string>>,
  areas: () => readonly AreaRuntime[],
): Addresses => {
  let servers: readonly { readonly url: string }[] = []
  let bases: readonly Base[] | undefined

  const serve = (next: readonly { readonly url: string }[]): void => {
    servers = next
    bases = undefined
  }

  return {
    bases() {
      bases ??= areas().flatMap((area) =>
        [own[area.name], ...servers.map(({ url }) => url)].map((url) => ({ url, area })),
      )
      return bases
    },
    current: (area) => servers.at(-1)?.url ?? own[area],
    attach(url) {
      const server = { url: normalizedBase('url', url) }
      serve([...servers, server])
      return () => serve(servers.filter((other) => other !== server))
    },
  }
}

/** What a mock is made of. */
export interface MockParts {
  readonly clock: ManagedClock
  readonly ids: Ids
  readonly deliveries: Deliveries
  readonly subscriptions: { readonly domain: SubscriptionsDomain; readonly options: SubscriptionsOptions }
  readonly gateway: { readonly domain: GatewayDomain; readonly options: GatewayOptions }
  readonly limiters: readonly Limiter[]
  readonly faults: FaultPlan
  readonly log: WritableRequestLog
  readonly addresses: Addresses
  readonly areas: readonly AreaRuntime[]
  readonly handler: Handler
  readonly outage: { isDown: boolean }
  /** What nothing that people look at may show. */
  readonly secrets: Secrets
}

const secretsOf = (subscriptions: SubscriptionsOptions, gateway: GatewayOptions): readonly string[] => [
  ...gateway.apiKeys,
  ...subscriptions.tokens.flatMap(({ accessToken, refreshToken = '' }) => [accessToken, refreshToken]),
  ...subscriptions.merchants.flatMap(({ clientSecret, users }) => [
    clientSecret,
    ...users.map(({ password }) => password),
  ]),
]

/** Identifiers of these kinds are numbers to a client that is tested with them (row 44). */
const NUMBERED = ['invoice', 'subscription']

const isNumbered = (variant: Variant): boolean =>
  typeof variant !== 'function' && variant.includes('number-ids')

/** Puts a mock together. Nothing is shared with another. */
export const createParts = (options: ReadOptions): MockParts => {
  let deliveries: Deliveries | undefined
  const clock = createClock({
    clock: options.clock,
    sleep: options.sleep,
    afterStep: () => deliveries?.underWay(),
  })
  const { timeline } = clock
  const { now } = timeline
  const ids = createIds(options.seed)
  const outbox = createDeliveries({ timeline, random: () => ids.random('delivery'), size: options.logSize })
  deliveries = outbox

  const chosen = {
    subscriptions: subscriptionsOptions(options.rules, options.subscriptions.domain),
    gateway: gatewayOptions(options.rules, options.gateway.domain),
  }
  const areas: AreaRuntime[] = []
  const addresses = createAddresses(
    { subscriptions: options.subscriptions.http.baseUrl, gateway: options.gateway.http.baseUrl },
    () => areas,
  )
  const { variant } = options.subscriptions.http
  const vary = createVary(variant)
  const subscriptions = createSubscriptionsDomain({
    timeline,
    callersNow: clock.callersNow,
    ids: isNumbered(variant) ? withDigits(ids, NUMBERED) : ids,
    rules: options.rules,
    options: options.subscriptions.domain,
    baseUrl: () => addresses.current('subscriptions'),
    notify: outbox.publish,
  })
  const gateway = createGatewayDomain({
    timeline,
    ids,
    rules: options.rules,
    options: options.gateway.domain,
    baseUrl: () => addresses.current('gateway'),
  })

  const limitsNow = options.rateLimitTime === 'machine' ? clock.machineNow : now
  const limiterOf = <Limit>(limit: Limit | false, create: (limit: Limit) => Limiter): Limiter | undefined =>
    limit === false ? undefined : create(limit)
  const subscriptionsLimiter = limiterOf(chosen.subscriptions.rateLimit, (limit) =>
    createFixedWindowLimiter({ ...limit, now: limitsNow }),
  )
  const gatewayLimiter = limiterOf(chosen.gateway.rateLimit, (limit) =>
    createRollingLimiter({ ...limit, now: limitsNow }),
  )
  const outage = { isDown: false }
  areas.push(
    createSubscriptionsArea({
      domain: subscriptions,
      limiter: subscriptionsLimiter,
      now: limitsNow,
      options: chosen.subscriptions,
      vary,
      apiPrefix: options.subscriptions.http.apiPrefix,
      checksContentType: options.subscriptions.http.contentType === 'json',
      refusesUnknownFields: chosen.subscriptions.unknownFields === 'refuse',
    }),
    createGatewayArea({
      domain: gateway,
      limiter: gatewayLimiter,
      now: limitsNow,
      options: chosen.gateway,
      apiPrefix: options.gateway.http.apiPrefix,
      checksContentType: options.gateway.http.contentType === 'json',
      refusesUnknownFields: chosen.gateway.unknownFields === 'refuse',
      isDown: () => outage.isDown,
    }),
  )

  const faults = createFaultPlan(() => ids.random('fault'))
  const secrets: Secrets = {
    configured: secretsOf(chosen.subscriptions, chosen.gateway),
    isToken: subscriptions.isToken,
  }
  const log = createRequestLog(options.logSize, secrets)
  return {
    clock,
    ids,
    deliveries: outbox,
    subscriptions: { domain: subscriptions, options: chosen.subscriptions },
    gateway: { domain: gateway, options: chosen.gateway },
    limiters: [subscriptionsLimiter, gatewayLimiter].filter((limiter) => limiter !== undefined),
    faults,
    log,
    addresses,
    areas,
    outage,
    secrets,
    handler: createHandler({
      bases: addresses.bases,
      faults,
      log,
      now,
      pages: createPageHandler(createPages({ subscriptions, gateway })),
    }),
  }
}

import { createDeliveries, type Deliveries } from './delivery/deliveries.ts'
import { createClock, type ManagedClock, type MockClock } from './domain/clock.ts'
import { type Duration, toInstantMilliseconds, toMilliseconds } from './domain/duration.ts'
import { createGatewayDomain } from './domain/gateway/domain.ts'
import type { GatewayOptions } from './domain/gateway/options.ts'
import type { ListedCharge } from './domain/gateway/types.ts'
import { createIds, withDigits } from './domain/ids.ts'
import { createFixedWindowLimiter, createRollingLimiter } from './domain/limiter.ts'
import { createAlarm, machineNow } from './domain/machine-time.ts'
import type { AreaRuntime } from './http/area.ts'
import { createFaultPlan } from './http/faults.ts'
import { createGatewayArea } from './http/gateway-area.ts'
import { createHandler, type PageHandler } from './http/handler.ts'
import type { Base } from './http/locate.ts'
import { type Secrets, withoutSecrets } from './http/redact.ts'
import { createRequestLog } from './http/request-log.ts'
import type { ServerAddress } from './http/response.ts'
import { createSubscriptionsArea, createVary, type Variant } from './http/subscriptions-area.ts'
import type { MockOptions, ReadOptions } from './options.ts'
import { createSubscriptions } from './subscriptions/operations.ts'
import type { SubscriptionsOptions } from './subscriptions/options.ts'
import { newSubscriptionsState } from './subscriptions/state.ts'
import type { MockSnapshot } from './types.ts'

// The symbol is global, because the ESM build and the CommonJS build must read each other's mocks.
const INTERNALS = Symbol.for('mandatekit.mock')

/** Stores the internal parts of a mock in a hidden property of the mock. */
export const withInternals = <Mock extends object>(mock: Mock, parts: MockParts): Mock =>
  Object.defineProperty(mock, INTERNALS, { value: parts })

/** Returns the internal parts of a mock. Throws a TypeError if the object is not a mock. */
export const internalsOf = (mock: object): MockParts => {
  const holder: { readonly [INTERNALS]?: MockParts } = mock
  const parts = holder[INTERNALS]
  if (parts === undefined) throw new TypeError('This mock was not made by createMock.')
  return parts
}

/**
 * Keeps the base URLs from the options and the URLs of the running servers.
 *
 * @param hasOwn returns whether the caller's options set the base URL of an area
 */
const createAddresses = (
  own: Readonly<Record<AreaRuntime['name'], string>>,
  hasOwn: (area: AreaRuntime['name']) => boolean,
  areas: readonly AreaRuntime[],
) => {
  let servers: readonly ServerAddress[] = []
  let bases: readonly Base[] | undefined
  /** The address to which the client sent the current request. */
  let requested: ServerAddress | undefined

  const serve = (next: typeof servers): void => {
    servers = next
    bases = undefined
  }

  return {
    /** Returns the base URLs of both areas. */
    bases(): readonly Base[] {
      bases ??= areas.flatMap((area) =>
        [own[area.name], ...servers.flatMap(({ url, publicUrl = url }) => [url, publicUrl])].map((url) => ({
          url,
          area,
        })),
      )
      return bases
    },
    /** Returns the base URL at which clients in this process reach an area. */
    current: (area: AreaRuntime['name']): string => servers.at(-1)?.url ?? own[area],
    /** Returns the base URL that an area uses in the links of its responses, such as the link to the payer's page. */
    forPayers(area: AreaRuntime['name']): string {
      const { publicUrl, url } = requested ?? servers.at(-1) ?? {}
      return publicUrl ?? (hasOwn(area) ? own[area] : url) ?? own[area]
    },
    isServed: (): boolean => servers.length > 0,
    /** Runs `act` for a request that a client sent to `address`. */
    during<Value>(address: ServerAddress | undefined, act: () => Value): Value {
      requested = address
      try {
        return act()
      } finally {
        requested = undefined
      }
    },
    /** Adds a server. Returns a function that removes the server. */
    attach(server: ServerAddress): () => void {
      serve([...servers, server])
      return () => serve(servers.filter((other) => other !== server))
    },
  }
}

const NOT_MOVED =
  'The clock was not moved, because a receiver did not respond in time. A receiver must respond before it moves the clock. If a receiver is slow, call mock.notifications.flush() before you move the clock.'

/** Creates the public clock. `clock.set` and `clock.advance` wait until all due deliveries have ended. */
const mockClock = (clock: ManagedClock, deliveries: Deliveries, freeze: () => void): MockClock => ({
  now: clock.now,
  async set(time) {
    if (toInstantMilliseconds(time) < clock.now()) freeze()
    await clock.set(time)
    await deliveries.notifications.flush()
  },
  async advance(duration) {
    const [before, lateCount] = [deliveries.underWay(), deliveries.lateCount()]
    if (before !== undefined) await before
    // Without this check, a receiver that moves the clock could cause an endless chain of deliveries to itself.
    if (deliveries.lateCount() !== lateCount) throw new Error(NOT_MOVED)
    await clock.advance(duration)
    await deliveries.notifications.flush()
  },
  async sleep(milliseconds, signal) {
    const sleepEnds = deliveries.sleepBegins()
    try {
      await clock.sleep(milliseconds, signal)
    } finally {
      sleepEnds()
    }
  },
})

const secretsOf = (subscriptions: SubscriptionsOptions, gateway: GatewayOptions): readonly string[] => [
  ...gateway.apiKeys,
  ...subscriptions.tokens.flatMap(({ accessToken, refreshToken = '' }) => [accessToken, refreshToken]),
  ...subscriptions.merchants.flatMap(({ clientSecret, users }) => [
    clientSecret,
    ...users.map(({ password }) => password),
  ]),
]

/** Returns whether the mock sends invoice and subscription identifiers as numbers (row 44). */
const hasNumberIds = (variant: Variant): boolean =>
  typeof variant !== 'function' && variant.includes('number-ids')
const NUMBERED_KINDS = ['invoice', 'subscription']

/** With `rateLimit: false`, responses still have rate-limit headers, with this limit (Limits, area S; row 42). */
const UNLIMITED = { limit: 1_000_000_000, windowMs: 60_000 }
const ID_LENGTH = 20

/** While a server runs and the clock is not frozen, a delivery that waits for `flush()` starts within this time. */
const LONGEST_HOLD_MS = 1_000

/** The internal parts of a mock. */
export type MockParts = ReturnType<typeof createParts>

/**
 * Creates the internal parts of a mock. Two mocks share no state.
 *
 * @param given the options that the caller passed, without defaults
 */
export const createParts = (options: ReadOptions, given: MockOptions) => {
  const alarm = createAlarm(() => {
    deliveries.runDue()
    setAlarm()
  })
  const setAlarm = (): void => {
    const wait = clock.untilNext()
    if (wait !== undefined) alarm.within(wait)
  }
  const clock = createClock({
    clock: options.clock,
    sleep: options.sleep,
    afterStep: () => deliveries.underWay(),
    onEarlier: setAlarm,
  })
  const { timeline } = clock
  const ids = createIds(options.seed)
  const deliveries = createDeliveries({
    timeline,
    random: () => ids.random('delivery'),
    newId: (kind) => ids.text(kind, ID_LENGTH),
    size: options.logSize,
    receivers: options.subscriptions.notify,
    onHeld: () => alarm.within(LONGEST_HOLD_MS),
  })

  const { variant } = options.subscriptions
  const vary = createVary(variant)
  const areas: AreaRuntime[] = []
  const own = { subscriptions: options.subscriptions.baseUrl, gateway: options.gateway.baseUrl }
  const addresses = createAddresses(own, (area) => given[area]?.baseUrl !== undefined, areas)
  const state = { subscriptions: newSubscriptionsState() }
  const subscriptions = {
    options: options.subscriptions,
    domain: createSubscriptions({
      state: () => state.subscriptions,
      timeline,
      ids: hasNumberIds(variant) ? withDigits(ids, NUMBERED_KINDS) : ids,
      options: options.subscriptions,
      baseUrl: () => addresses.forPayers('subscriptions'),
      notify: deliveries.publish,
    }),
  }
  const gateway = {
    options: options.gateway,
    domain: createGatewayDomain({
      timeline,
      ids,
      options: options.gateway,
      baseUrl: () => addresses.forPayers('gateway'),
    }),
  }

  const now = options.rateLimitTime === 'machine' ? machineNow : timeline.now
  const perMinute = options.subscriptions.rateLimit
  const rolling = options.gateway.rateLimit
  const limiterParts = (area: AreaRuntime['name']) => ({
    now,
    // While the clock is frozen, no rate-limit window in the mock's time ends. If a client exceeded the limit, its
    // retries in real time would be refused forever.
    isOff: () => clock.standsStill && addresses.isServed() && given[area]?.rateLimit === undefined,
  })
  const subscriptionsLimiter = createFixedWindowLimiter({
    ...(perMinute || UNLIMITED),
    ...limiterParts('subscriptions'),
  })
  const gatewayLimiter =
    rolling === false ? undefined : createRollingLimiter({ ...rolling, ...limiterParts('gateway') })

  /** The areas that are down. */
  const outages = new Set<AreaRuntime['name']>()
  areas.push(
    createSubscriptionsArea({
      domain: subscriptions.domain,
      limiter: subscriptionsLimiter,
      now,
      options: options.subscriptions,
      vary,
      apiPrefix: options.subscriptions.apiPrefix,
      checksContentType: options.subscriptions.contentType === 'json',
      refusesUnknownFields: options.subscriptions.unknownFields === 'refuse',
      refusesRunningKeys: false,
      isDown: () => outages.has('subscriptions'),
    }),
    createGatewayArea({
      domain: gateway.domain,
      limiter: gatewayLimiter,
      now,
      options: options.gateway,
      apiPrefix: options.gateway.apiPrefix,
      checksContentType: options.gateway.contentType === 'json',
      refusesUnknownFields: options.gateway.unknownFields === 'refuse',
      refusesRunningKeys: options.gateway.keyInFlight === 'conflict',
      isDown: () => outages.has('gateway'),
    }),
  )

  const faults = createFaultPlan(() => ids.random('fault'), options.faults)
  /** The secrets that neither the log nor the panel may show. */
  const secrets: Secrets = {
    configured: secretsOf(options.subscriptions, options.gateway),
    isToken: subscriptions.domain.isToken,
  }
  const log = createRequestLog(options.logSize, secrets)
  const domains = { subscriptions: subscriptions.domain, gateway: gateway.domain }
  // The mock loads the code of the payer's pages when a browser opens the first page.
  const pages: PageHandler = async (...page) =>
    (await import('./pages/handler.ts')).createPages(domains)(...page)
  const time = mockClock(clock, deliveries, subscriptions.domain.freeze)
  const { chargeList } = gateway.domain
  subscriptions.domain.seed()
  return {
    /** The data of the mock. A reset or restore replaces it. */
    state,
    clock,
    ids,
    deliveries,
    subscriptions,
    gateway,
    limiters: gatewayLimiter === undefined ? [subscriptionsLimiter] : [subscriptionsLimiter, gatewayLimiter],
    faults,
    log,
    areas,
    outages,
    /** The base URLs that the options set: first for area S, then for area G. */
    ownBases: [own.subscriptions, own.gateway],
    addresses,
    /**
     * Registers a running server. While a server runs and the clock is not frozen, a timer runs the due events. The
     * returned function removes the server. When the last server is removed, deliveries stop until
     * `deliveries.accept()` is called or another server is registered.
     */
    attach(server: ServerAddress): () => void {
      const detach = addresses.attach(server)
      const follow = (): void => alarm.turn(addresses.isServed() && !clock.standsStill)
      follow()
      setAlarm()
      deliveries.resume()
      return () => {
        detach()
        follow()
        if (!addresses.isServed()) deliveries.stop()
      }
    },
    handler: createHandler({
      bases: addresses.bases,
      during: addresses.during,
      faults,
      log,
      now: timeline.now,
      pages,
    }),
    /** The public clock of the mock. */
    time,
    /** Moves the clock and the expiry of access tokens, so that clients with their own clock can still use tokens. */
    async moveClock(move: { readonly by: Duration } | { readonly to: string }): Promise<void> {
      const length = 'by' in move ? toMilliseconds(move.by) : toInstantMilliseconds(move.to) - time.now()
      const { shiftTokenExpiry } = subscriptions.domain
      shiftTokenExpiry(length)
      try {
        await ('by' in move ? time.advance(move.by) : time.set(move.to))
      } catch (error) {
        shiftTokenExpiry(-length)
        throw error
      }
    },
    /** The snapshots that the panel has saved, by name, each with the mock's time. */
    snapshots: new Map<string, { readonly snapshot: MockSnapshot; readonly at: number }>(),
    /** The lists that the panel reads page by page. */
    lists: {
      subscriptions: subscriptions.domain.subscriptionList,
      payments: subscriptions.domain.paymentList,
      charges: {
        bounds: chargeList.bounds,
        // The merchant chooses the idempotency key, so the key may contain a secret.
        read: (from: number, to: number, isWanted: (charge: ListedCharge) => boolean = () => true) =>
          chargeList.read(from, to).flatMap((charge) => {
            if (!isWanted(charge)) return []
            const { idempotencyKey: key } = charge
            return { ...charge, idempotencyKey: key && withoutSecrets(key, secrets) }
          }),
      },
      requests: log,
      notifications: deliveries.list,
    },
  }
}

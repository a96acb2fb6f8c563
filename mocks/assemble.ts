import type { Area } from '../src/contract/endpoint.ts'
import { createIds, withDigits } from './base/ids.ts'
import { createOutbox, type Outbox } from './delivery/outbox.ts'
import { createGateway } from './gateway/operations.ts'
import type { GatewayOptions } from './gateway/options.ts'
import type { LimitContext } from './http/area.ts'
import { createFaultPlan } from './http/faults.ts'
import { createGatewayArea } from './http/gateway-area.ts'
import type { ServerAddress } from './http/message.ts'
import { createPipeline, type PageHandler, type PipelineOptions } from './http/pipeline.ts'
import { type Secrets, withoutSecrets } from './http/redact.ts'
import { createRequestLog } from './http/request-log.ts'
import { createAddresses } from './http/routes.ts'
import { createSubscriptionsArea, hasNumberIds } from './http/subscriptions-area.ts'
import type { MockOptions, ReadOptions } from './options.ts'
import { newState, type State } from './state.ts'
import { createSubscriptions } from './subscriptions/operations.ts'
import type { SubscriptionsOptions } from './subscriptions/options.ts'
import { createClock, type ManagedClock, type MockClock } from './time/clock.ts'
import { createAlarm, machineNow } from './time/machine.ts'

// The symbol is global, because the ESM build and the CommonJS build must read each other's mocks.
const INTERNALS = Symbol.for('mandatekit.mock')

/** Stores the internal parts of a mock in a hidden property: a function, because `inspect` would show an object's secrets. */
export const withInternals = <Mock extends object>(mock: Mock, internals: MockInternals): Mock =>
  Object.defineProperty(mock, INTERNALS, { value: () => internals })

/** Returns the internal parts of a mock. Throws a TypeError if the object is not a mock. */
export const internalsOf = (mock: object): MockInternals => {
  const holder: { readonly [INTERNALS]?: () => MockInternals } = mock
  const internals = holder[INTERNALS]?.()
  if (internals === undefined) throw new TypeError('This mock was not made by createMock.')
  return internals
}

const NOT_MOVED =
  'The clock was not moved, because a receiver did not respond in time. A receiver must respond before it moves the clock. If a receiver is slow, call mock.notifications.flush() before you move the clock.'

/** Creates the public clock. `clock.set` and `clock.advance` wait until all due deliveries have ended. */
const mockClock = (clock: ManagedClock, outbox: Outbox): MockClock => {
  const moved = async (move: () => Promise<void>): Promise<void> => {
    const [before, lateCount] = [outbox.underWay(), outbox.lateCount()]
    if (before !== undefined) await before
    // Without this check, a receiver that moves the clock could cause an endless chain of deliveries to itself.
    if (outbox.lateCount() !== lateCount) throw new Error(NOT_MOVED)
    await outbox.deliverDuring(move)
  }
  return {
    now: clock.now,
    set: (time) => moved(() => clock.set(time)),
    advance: (duration) => moved(() => clock.advance(duration)),
    async sleep(milliseconds, signal) {
      const sleepEnds = outbox.sleepBegins()
      try {
        await clock.sleep(milliseconds, signal)
      } finally {
        sleepEnds()
      }
    },
  }
}

const secretsOf = (subscriptions: SubscriptionsOptions, gateway: GatewayOptions): readonly string[] => [
  ...gateway.apiKeys,
  ...subscriptions.tokens.flatMap(({ accessToken, refreshToken = '' }) => [accessToken, refreshToken]),
  ...subscriptions.merchants.flatMap(({ clientSecret, users }) => [
    clientSecret,
    ...users.map(({ password }) => password),
  ]),
]

/** The identifiers that the variant `number-ids` changes to numbers (row 44). */
const NUMBERED_KINDS = ['invoice', 'subscription']

const ID_LENGTH = 20

/** While a server runs and the clock is not frozen, a delivery that waits for `flush()` starts within this time. */
const MAX_HOLD_MS = 1_000

/** The internal parts of a mock. */
export type MockInternals = ReturnType<typeof createInternals>

/**
 * Creates the internal parts of a mock. Two mocks share no state.
 *
 * @param given the options that the caller passed, without defaults
 */
export const createInternals = (options: ReadOptions, given: MockOptions) => {
  const blank = (): State => newState(options.clock)
  const state = blank()
  const alarm = createAlarm(() => {
    outbox.runDue()
    setAlarm()
  })
  const setAlarm = (): void => {
    const wait = clock.untilNext()
    if (wait !== undefined) alarm.within(wait)
  }
  const clock = createClock(state, {
    sleep: options.sleep,
    afterStep: () => outbox.underWay(),
    beforeSetBack() {
      subscriptions.domain.freeze()
      gateway.domain.freeze()
    },
    onEarlier: setAlarm,
  })
  const { agenda } = clock
  const ids = createIds(options.seed, state)
  const outbox = createOutbox({
    state,
    agenda,
    random: () => ids.random('delivery'),
    newId: (kind) => ids.text(kind, ID_LENGTH),
    size: options.logSize,
    receivers: options.subscriptions.notify,
    onHeld: () => alarm.within(MAX_HOLD_MS),
  })

  const own = { subscriptions: options.subscriptions.baseUrl, gateway: options.gateway.baseUrl }
  const addresses = createAddresses(own, given)
  const subscriptions = {
    options: options.subscriptions,
    domain: createSubscriptions({
      state,
      agenda,
      ids: hasNumberIds(options.subscriptions.variant) ? withDigits(ids, NUMBERED_KINDS) : ids,
      options: options.subscriptions,
      baseUrl: addresses.forPayers,
      notify: outbox.publish,
    }),
  }
  const gateway = {
    options: options.gateway,
    domain: createGateway({
      state,
      agenda,
      ids,
      options: options.gateway,
      baseUrl: addresses.forPayers,
    }),
  }
  const seed = (): void => {
    subscriptions.domain.seed()
    gateway.domain.seed()
  }

  // While the clock is frozen, no rate-limit window in the mock's time ends. If a client exceeded the limit, its retries
  // in real time would be refused forever.
  const limitsOf = (area: Area): LimitContext => ({
    state,
    now: options.rateLimitTime === 'machine' ? machineNow : agenda.now,
    isOff: state.clock.frozen && given[area]?.rateLimit === undefined ? addresses.isServed : undefined,
  })
  const areas = {
    subscriptions: createSubscriptionsArea(
      subscriptions.domain,
      options.subscriptions,
      limitsOf('subscriptions'),
    ),
    gateway: createGatewayArea(gateway.domain, options.gateway, limitsOf('gateway')),
  }

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
  const running: PipelineOptions['running'] = new Map()
  const time = mockClock(clock, outbox)
  seed()
  return {
    clock,
    rules: options.rules,
    ids,
    outbox,
    subscriptions,
    gateway,
    faults,
    log,
    areas,
    /** The areas that are down. */
    outages: () => state.outages,
    /** Returns the state after everything that is due has happened. */
    currentState(): State {
      agenda.runDue()
      return state
    },
    /** Replaces the state: by that of a snapshot, or by a new one, to which the seeds of the options are added. */
    replaceState(next?: State): void {
      Object.assign(state, next ?? blank())
      running.clear()
      clock.startOver()
      outbox.startOver()
      if (next !== undefined) return
      outbox.reconnect()
      seed()
    },
    /** The base URLs that the options set: first for area S, then for area G. */
    ownBases: [own.subscriptions, own.gateway],
    addresses,
    /**
     * Registers a running server. While a server runs and the clock is not frozen, a timer runs the due events. The
     * returned function removes the server. When the last server is removed, deliveries stop until
     * `outbox.accept()` is called or another server is registered.
     */
    attach(server: ServerAddress): () => void {
      const detach = addresses.attach(server)
      const follow = (): void => alarm.turn(addresses.isServed() && !clock.isFrozen())
      follow()
      setAlarm()
      outbox.resume()
      return () => {
        detach()
        follow()
        if (!addresses.isServed()) outbox.stop()
      }
    },
    handler: createPipeline({ areas, addresses, state, faults, log, now: agenda.now, pages, running }),
    /** Returns a text without the mock's secrets. */
    hide: (text: string) => withoutSecrets(text, secrets),
    /** The public clock of the mock. */
    time,
    /** The lists that the panel reads page by page. */
    lists: {
      subscriptions: subscriptions.domain.subscriptionList,
      payments: subscriptions.domain.paymentList,
      charges: gateway.domain.chargeList,
      requests: log,
      notifications: outbox.list,
    },
  }
}

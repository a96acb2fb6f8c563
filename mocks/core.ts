import { filledText, input, oneOf, optional } from '../src/contract/fields.ts'
import { GATEWAY_API_PREFIX } from '../src/contract/gateway.ts'
import { SUBSCRIPTIONS_API_PREFIX } from '../src/contract/subscriptions.ts'
import { createInternals, type MockInternals, withInternals } from './assemble.ts'
import { also, check, rule, strict } from './base/fields.ts'
import { MockRefusedError, valueOrThrow } from './base/result.ts'
import type { Operation } from './http/area.ts'
import { createMockFetch } from './http/message.ts'
import { explain } from './http/request-log.ts'
import { type MockOptions, type ReadOptions, readMockOptions } from './options.ts'
import type { Comparison } from './probe/compare.ts'
import type { Fetch, RecordingSink, RecordOptions } from './probe/record.ts'
import type { Recording } from './probe/recording.ts'
import { snapshotOf, stateOf } from './state.ts'
import { paymentScripts } from './subscriptions/options.ts'
import { duration, pointInTime, toInstantMilliseconds, toMilliseconds } from './time/duration.ts'
import { machineNow } from './time/machine.ts'
import type { Mock, MockControl, MockSnapshot, Payer } from './types.ts'

const clientOptionsOf = (
  { subscriptions, gateway, addresses, time: { now, sleep } }: MockInternals,
  options: ReadOptions,
): Mock['clientOptions'] => {
  const [merchant] = subscriptions.options.merchants
  const user = merchant?.users[0]
  const common = (area: 'subscriptions' | 'gateway', prefix: string) => {
    const { apiPrefix } = options[area]
    const changed = apiPrefix === prefix ? {} : { apiPrefix }
    return { baseUrl: addresses.current(area), clock: { now, sleep }, ...changed }
  }
  return {
    // Getters, because the base URL changes when a server starts or stops.
    get subscriptions() {
      return {
        ...common('subscriptions', SUBSCRIPTIONS_API_PREFIX),
        credentials: {
          clientId: merchant?.clientId ?? '',
          clientSecret: merchant?.clientSecret ?? '',
          username: user?.username ?? '',
          password: user?.password ?? '',
        },
      }
    },
    get gateway() {
      return { ...common('gateway', GATEWAY_API_PREFIX), apiKey: gateway.options.apiKeys[0] ?? '' }
    },
  }
}

const routeOf =
  ({ areas }: MockInternals) =>
  (operation: Operation): string => {
    const route = Object.values(areas)
      .flatMap(({ router }) => router.routes)
      .find(({ definition }) => definition.operation === operation)
    return `${route?.methods[0] ?? ''} ${route?.path ?? ''}`
  }

const outageOptions = strict({ area: optional(oneOf(['subscriptions', 'gateway'])) }, 'option')

/**
 * Creates a mock of both APIs, without MSW handlers. Pass `mock.fetch` to a client, or the mock to `startMockServer`.
 *
 * @throws TypeError if an option is unknown or invalid; the error lists the allowed options or values
 * @example
 * const mock = createMock({ clock: new Date('2026-12-01T00:00:00Z') })
 * const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })
 */
export const createMock = (given: MockOptions = {}): Mock => {
  const options = readMockOptions(given)
  const internals = createInternals(options, given)
  const { subscriptions, gateway, outbox, faults, log, addresses, handler, outages } = internals

  const snapshot = (): MockSnapshot => structuredClone(snapshotOf(internals.currentState()))
  const restore = (saved: MockSnapshot): void =>
    internals.replaceState(stateOf(saved, internals.currentState()))

  const mock: Mock = {
    fetch: createMockFetch(handler, () => [...new Set(addresses.bases.map(({ url }) => url))]),
    clientOptions: clientOptionsOf(internals, options),
    clock: internals.time,
    payer: payerOf(internals),
    state: {
      subscriptions: subscriptions.domain.subscriptions,
      payments: subscriptions.domain.paymentsOf,
      charges: gateway.domain.charges,
      events: gateway.domain.events,
    },
    notifications: outbox.notifications,
    faults,
    requests: log,
    tokens: { expire: subscriptions.domain.expireTokens, revoke: subscriptions.domain.revokeTokens },
    outage: {
      start(given = {}) {
        const { area = 'gateway' } = check(outageOptions, given, 'outage.start: ')
        outages().add(area)
      },
      end(given = {}) {
        const { area } = check(outageOptions, given, 'outage.end: ')
        if (area === undefined) outages().clear()
        else outages().delete(area)
      },
    },
    add: subscriptions.domain.add,
    reset() {
      internals.replaceState()
      faults.reset()
      log.clear()
    },
    snapshot,
    restore,
    control: controlOf(internals, { snapshot, restore }),
    explain: (operation) => explain(log, operation, routeOf(internals)),
  }
  return withInternals(mock, internals)
}

/**
 * Wraps a `fetch`, and passes the request and response of each API call to `sink`, without secrets or phone numbers.
 * Requests outside the API are not recorded. If `sink` fails, the next call rejects before it is sent.
 *
 * @example
 * const fetch = record(globalThis.fetch, (recording) => appendFile('recordings.jsonl', `${JSON.stringify(recording)}\n`))
 * const gateway = new GatewayClient({ baseUrl, apiKey, fetch })
 */
export const record = (fetch: Fetch, sink: RecordingSink, options: RecordOptions = {}): Fetch => {
  const recorder = import('./probe/record.ts').then(({ createRecorder }) =>
    createRecorder(fetch, sink, { clock: { now: machineNow }, ...options }),
  )
  return async (input, init) => (await recorder)(input, init)
}

/**
 * Replays recordings on a new mock with the given options, and returns how the recorded server differs from the mock.
 * The mock accepts the placeholders with which `record` replaced credentials and codes.
 *
 * @example const { differences } = await compareWithMock(recordings, options)
 */
export const compareWithMock = async (
  recordings: readonly Recording[],
  options: MockOptions = {},
): Promise<Comparison> => {
  const { compareRecordings } = await import('./probe/compare.ts')
  return compareRecordings(recordings, readMockOptions(options), createMock)
}

export type { Area } from '../src/contract/endpoint.ts'
export type { KnownCycle } from '../src/contract/subscriptions.ts'
export type { Rules } from './base/fields.ts'
export type { Refusal, RefusalReason } from './base/result.ts'
export { MockRefusedError } from './base/result.ts'
export type {
  DeliveryOptions,
  DeliveryRecord,
  NotificationReceiver,
  Notifications,
  NotificationTarget,
  SentNotification,
  Signing,
} from './delivery/types.ts'
export type { BehaviorName, ChargeOutcome, NumberTable, Resolution } from './gateway/behaviors.ts'
export { behaviors, testNumbers } from './gateway/behaviors.ts'
export type { GatewayOptions, RollingLimit, SeedCharge } from './gateway/options.ts'
export { gatewayDefaults, strictGatewayDefaults } from './gateway/options.ts'
export type { ChargeBody } from './gateway/state.ts'
export type { GatewayEvent } from './gateway/views.ts'
export type { Operation } from './http/area.ts'
export type {
  Fault,
  FaultEffect,
  FaultKind,
  FaultRequest,
  FaultSequence,
  FaultStep,
  FaultTarget,
} from './http/fault-schema.ts'
export type { MockFetch } from './http/message.ts'
export type { LoggedRequest, RequestLog } from './http/request-log.ts'
export type { Variant, VariantForm } from './http/subscriptions-area.ts'
export type { AreaHttpOptions, MockOptions, NotifyOptions, SubscriptionsHttpOptions } from './options.ts'
export {
  gatewayHttpDefaults,
  mockDefaults,
  subscriptionsHttpDefaults,
} from './options.ts'
export type { Comparison, Difference, Skipped } from './probe/compare.ts'
export type { Fetch, RecordingSink, RecordOptions } from './probe/record.ts'
export type { Recording } from './probe/recording.ts'
export type { Hidden } from './probe/redact.ts'
export type { NotificationBody } from './subscriptions/billing.ts'
export type {
  ErrorCodes,
  MerchantOptions,
  PaymentScript,
  SeedSubscription,
  SeedToken,
  SubscriptionsOptions,
} from './subscriptions/options.ts'
export {
  defaultMerchant,
  strictSubscriptionsDefaults,
  subscriptionsDefaults,
} from './subscriptions/options.ts'
export type { AuthorizationView, PaymentBody, SubscriptionState } from './subscriptions/views.ts'
export type { MockClock } from './time/clock.ts'
export type { Duration, DurationParts, PointInTime } from './time/duration.ts'
export type {
  Faults,
  GatewayClientConfig,
  Mock,
  MockControl,
  MockSnapshot,
  MockState,
  NumberedFault,
  NumberedReceiver,
  Payer,
  SavedSnapshot,
  SubscriptionsClientConfig,
} from './types.ts'

const authorizeOptions = strict({ payments: optional(paymentScripts) }, 'option')

/** Accepts an identifier and refuses a URL, because callers often pass the `url` of a response by mistake. */
const identifier = (words: string) => input(`${words}, not its URL`, (value) => !/^https?:\/\//i.test(value))

const text = filledText()

const invoiceID = identifier('the invoiceID of a subscription request')
const eitherId = identifier('the invoiceID or subscriptionId of a subscription')
const confirmation = identifier('the confirmation_id of a charge')

const paymentId = rule<string | number>(
  'the paymentId of a payment',
  (value) => typeof value === 'string' || Number.isSafeInteger(value),
)

const payerOf = ({ subscriptions, gateway }: MockInternals): Payer => ({
  authorize(given, options = {}) {
    const invoiceId = check(invoiceID, given, 'payer.authorize: ', 'invoiceId')
    const { payments } = check(authorizeOptions, options, 'payer.authorize: ')
    return valueOrThrow(
      'payer.authorize',
      subscriptions.domain.authorize(invoiceId, payments && { payments }),
    )
  },
  setPayments(given, scripts) {
    const id = check(eitherId, given, 'payer.setPayments: ', 'id')
    const payments = check(paymentScripts, scripts, 'payer.setPayments: ', 'payments')
    valueOrThrow('payer.setPayments', subscriptions.domain.script(id, payments))
  },
  cancel(given) {
    const id = check(eitherId, given, 'payer.cancel: ', 'id')
    return valueOrThrow('payer.cancel', subscriptions.domain.end(id))
  },
  decline(given) {
    const invoiceId = check(invoiceID, given, 'payer.decline: ', 'invoiceId')
    return valueOrThrow('payer.decline', subscriptions.domain.decline(invoiceId))
  },
  confirm(given, otp = gateway.options.otp) {
    const confirmationId = check(confirmation, given, 'payer.confirm: ', 'confirmationId')
    return valueOrThrow('payer.confirm', gateway.domain.confirm(confirmationId, { otp }))
  },
  setBehavior(number, behavior) {
    const msisdn = check(text, number, 'payer.setBehavior: ', 'msisdn')
    valueOrThrow(
      'payer.setBehavior',
      gateway.domain.setBehavior(msisdn, check(text, behavior, 'payer.setBehavior: ', 'behavior')),
    )
  },
  reverse(given) {
    const payment = check(paymentId, given, 'payer.reverse: ', 'paymentId')
    return valueOrThrow('payer.reverse', subscriptions.domain.reverse(String(payment)))
  },
})

const moveSchema = also(
  strict({ by: optional(duration), to: optional(pointInTime) }, 'option'),
  'either { by } or { to }',
  ({ by, to }) => (by === undefined) !== (to === undefined),
)

const notFound = (action: string, message: string): MockRefusedError =>
  new MockRefusedError(`control.${action}`, { reason: 'not_found', message })

const controlOf = (
  { time, subscriptions, faults, outbox }: MockInternals,
  { snapshot, restore }: Pick<Mock, 'snapshot' | 'restore'>,
): MockControl => {
  const saved = new Map<string, { readonly snapshot: MockSnapshot; readonly at: number }>()

  return {
    async moveClock(move) {
      const { by = 0, to } = check(moveSchema, move, 'control.moveClock: ')
      const length = to === undefined ? toMilliseconds(by) : toInstantMilliseconds(to) - time.now()
      const { shiftTokenExpiry } = subscriptions.domain
      shiftTokenExpiry(length)
      try {
        await (to === undefined ? time.advance(length) : time.set(to))
      } catch (error) {
        shiftTokenExpiry(-length)
        throw error
      }
    },
    faults: {
      list: () =>
        faults.active.map(({ number, fault, left }) => ({
          number,
          fault,
          left: Number.isFinite(left) ? left : 'always',
        })),
      remove(number) {
        const fault = faults.active.find((one) => one.number === number)
        if (fault === undefined) {
          throw notFound('faults.remove', 'This fault has already been used up or removed.')
        }
        fault.remove()
      },
    },
    receivers: {
      list: () =>
        outbox
          .receivers()
          .map(({ number, to, options: { headers: _headers, signing: _signing, ...options } }) => ({
            number,
            ...(to === undefined ? {} : { to }),
            ...options,
          })),
      disconnect(number) {
        if (!outbox.disconnect(number)) throw notFound('receivers.disconnect', 'There is no such receiver.')
      },
    },
    snapshots: {
      list: () => [...saved].map(([name, { at }]) => ({ name, at: new Date(at) })),
      save: (name) => void saved.set(name, { snapshot: snapshot(), at: time.now() }),
      restore(name) {
        const found = saved.get(name)
        if (found === undefined) throw notFound('snapshots.restore', `There is no snapshot ${name}.`)
        restore(found.snapshot)
      },
      delete(name) {
        if (!saved.delete(name)) throw notFound('snapshots.delete', `There is no snapshot ${name}.`)
      },
    },
  }
}

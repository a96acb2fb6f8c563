import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Mock } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import * as main from '../../src/index.ts'
import * as notifications from '../../src/notifications/index.ts'
import * as stores from '../../src/stores/index.ts'
import { oddValues, SECRET } from './odd-values.ts'

/** Something that a user calls, with arguments that are as they should be. */
interface Callable {
  readonly call: (...given: never[]) => unknown
  readonly good: readonly (() => unknown)[]
}

const REQUEST = {
  requestID: 'r-1',
  start: '2026-12-01',
  end: '2027-11-30',
  cycle: 'DAILY',
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
}
const CHARGE = {
  msisdn: '+8801700000001',
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/',
}
const MESSAGE = {
  notificationId: 'n-1',
  type: 'SUBSCRIPTION',
  status: 'SUCCEEDED',
  subscriptionId: 's-1',
  paymentId: '',
  timestamp: '1796032800',
}

const callOptions = () => ({ timeout: 1000 })
const deliveryOf = () =>
  new Request('https://shop.example/', { method: 'POST', body: JSON.stringify(MESSAGE) })
const deliveryFor = (bytes: Uint8Array | undefined) => ({
  notification: notifications.parseNotification(MESSAGE),
  headers: new Headers(),
  bytes,
})
const incomingOf = () =>
  Object.assign(Readable.from([JSON.stringify(MESSAGE)]), { method: 'POST', headers: {} })
const listeners = () => ({
  verify: 'none' as const,
  onSubscription: () => undefined,
  onPayment: () => undefined,
})
const keyv = () => new Map<string, unknown>()
const redis = () => async () => null

/** How often the world outside was asked. */
let sent = 0

const worldOf = (mock: Mock) => {
  const fetch: typeof mock.fetch = (...given) => {
    sent += 1
    return mock.fetch(...given)
  }
  return {
    subscriptions: new main.SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch }),
    gateway: new main.GatewayClient({ ...mock.clientOptions.gateway, fetch }),
    fetch,
    mock,
  }
}
const { subscriptions, gateway, fetch, mock } = worldOf(
  createMock({
    clock: new Date('2026-11-28T12:00:00Z'),
    gateway: { rateLimit: false },
    subscriptions: { rateLimit: false },
  }),
)

const id = () => 'id-1'
const methods = (client: object) =>
  Object.getOwnPropertyNames(Object.getPrototypeOf(client)).filter((name) => name !== 'constructor')

const ofSubscriptions: Record<string, readonly (() => unknown)[]> = {
  login: [callOptions],
  subscribe: [() => REQUEST, callOptions],
  status: [id, callOptions],
  details: [id, callOptions],
  cancel: [id, callOptions],
  cancellation: [id, callOptions],
  payments: [id, () => ({ page: 1 }), callOptions],
  allPayments: [id, () => ({ page: 1 }), callOptions],
  payment: [id, callOptions],
  waitForStatus: [id, callOptions],
}
const ofGateway: Record<string, readonly (() => unknown)[]> = {
  health: [callOptions],
  reference: [callOptions],
  charge: [() => CHARGE, callOptions],
  confirm: [id, () => ({ otp: '123456' }), callOptions],
  status: [id, callOptions],
  renew: [id, () => ({ cycle: '2026-12-01' }), callOptions],
  reset: [callOptions],
  waitForCharge: [id, callOptions],
}

const isIterator = (value: unknown): value is AsyncIterator<unknown> =>
  typeof value === 'object' && value !== null && 'next' in value && typeof value.next === 'function'

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

const methodsOf = (owner: object, name: string, table: typeof ofGateway): Record<string, Callable> =>
  Object.fromEntries(
    Object.entries(table).map(([method, good]) => [
      `${name}.${method}`,
      { call: (...given: never[]) => Reflect.get(owner, method).apply(owner, given), good },
    ]),
  )

const made: Record<string, Callable> = {
  ...methodsOf(subscriptions, 'SubscriptionsClient', ofSubscriptions),
  ...methodsOf(gateway, 'GatewayClient', ofGateway),
  'a notification handler': {
    call: notifications.createNotificationHandler(listeners()),
    good: [deliveryOf],
  },
  'a verifier by HMAC': {
    call: notifications.hmacVerifier({ header: 'x-signature', secrets: 's' }),
    good: [() => deliveryFor(new Uint8Array())],
  },
  'a verifier by look-up': {
    call: notifications.lookupVerifier(subscriptions),
    good: [() => deliveryFor(undefined)],
  },
  'a handler for node:http': {
    call: notifications.toNodeHandler(notifications.createNotificationHandler(listeners())),
    good: [incomingOf, () => ({ setHeader: () => undefined, end: () => undefined })],
  },
}

const exported: Record<string, Callable> = {
  SubscriptionsClient: {
    call: (...given) => Reflect.construct(main.SubscriptionsClient, given),
    good: [() => ({ ...mock.clientOptions.subscriptions, fetch })],
  },
  GatewayClient: {
    call: (...given) => Reflect.construct(main.GatewayClient, given),
    good: [() => ({ ...mock.clientOptions.gateway, fetch })],
  },
  createMemoryTokenStore: { call: main.createMemoryTokenStore, good: [] },
  isMandateKitError: { call: main.isMandateKitError, good: [() => new Error('x')] },
  renewalKey: { call: main.renewalKey, good: [() => 'ch_1', () => '2026-12-01', () => 1] },
  toInstant: { call: main.toInstant, good: [() => '2026-12-01', () => 'UTC'] },
  invoiceIdFrom: { call: main.invoiceIdFrom, good: [() => '/return?invoiceID=1'] },
  createNotificationHandler: { call: notifications.createNotificationHandler, good: [listeners] },
  toNodeHandler: { call: notifications.toNodeHandler, good: [() => async () => new Response()] },
  hmacVerifier: { call: notifications.hmacVerifier, good: [() => ({ header: 'x-signature', secrets: 's' })] },
  lookupVerifier: { call: notifications.lookupVerifier, good: [() => subscriptions] },
  memoryDedupe: { call: notifications.memoryDedupe, good: [() => ({ limit: 10 })] },
  isNewer: {
    call: notifications.isNewer,
    good: [() => notifications.parseNotification(MESSAGE), () => null],
  },
  parseNotification: { call: notifications.parseNotification, good: [() => MESSAGE] },
  reconcile: { call: notifications.reconcile, good: [() => ({ believed: [], gateway })] },
  createKeyvTokenStore: { call: stores.createKeyvTokenStore, good: [keyv, () => ({ prefix: 'a' })] },
  createKeyvDedupeStore: { call: stores.createKeyvDedupeStore, good: [keyv, () => ({ prefix: 'a' })] },
  createRedisTokenStore: { call: stores.createRedisTokenStore, good: [redis, () => ({ lockTime: 1000 })] },
  createRedisDedupeStore: { call: stores.createRedisDedupeStore, good: [redis, () => ({ prefix: 'a' })] },
}

/** Made by the package, not by its users. */
const isErrorClass = (value: unknown): boolean =>
  typeof value === 'function' &&
  (value === main.MandateKitError || value.prototype instanceof main.MandateKitError)

const isPromiseOrGenerator = (answer: unknown): boolean => answer instanceof Promise || isIterator(answer)

/** What a call throws or rejects with. */
const failureOf = async (work: () => unknown): Promise<unknown> => {
  try {
    const answer = await work()
    if (isIterable(answer)) await answer[Symbol.asyncIterator]().next()
    else if (isIterator(answer)) await answer.next()
    return undefined
  } catch (error) {
    return error
  }
}

describe('whatever is given to what is exported', () => {
  test('every function is looked at here', () => {
    const functions = Object.entries({ ...main, ...notifications, ...stores }).filter(
      ([, value]) => typeof value === 'function' && !isErrorClass(value),
    )
    expect(functions.map(([name]) => name).toSorted()).toEqual(Object.keys(exported).toSorted())
    expect(methods(subscriptions).toSorted()).toEqual(Object.keys(ofSubscriptions).toSorted())
    expect(methods(gateway).toSorted()).toEqual(Object.keys(ofGateway).toSorted())
  })

  test.each(Object.entries({ ...exported, ...made }))(
    '%s works, or fails by naming field, rule and kind, before any request, without the value',
    async (_, { call, good }) => {
      const odd = fc.constantFrom(...oddValues)
      const places = [...good, () => undefined].map((make) =>
        fc.oneof(
          { weight: 1, arbitrary: fc.constant(['what is right', make] as const) },
          { weight: 2, arbitrary: odd },
        ),
      )
      const singly = good.flatMap((_right, place) =>
        oddValues.map((value) => [
          [...good, () => undefined].map((make, at) =>
            at === place ? value : (['what is right', make] as const),
          ),
        ]),
      )
      await fc.assert(
        fc.asyncProperty(fc.tuple(...places), async (given) => {
          const before = sent
          const values = given.map(([, make]) => make())
          const error = await failureOf(() => call(...(values as never[])))
          if (error === undefined) return
          expect(error, String(error)).toSatisfy(main.isMandateKitError)
          if (!(error instanceof main.InvalidRequestError)) return
          expect(sent).toBe(before)
          for (const { field, rule, received } of error.issues) {
            expect([field, rule, received].every((words) => /\w/.test(words))).toBe(true)
          }
          expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(SECRET)
          expect(JSON.stringify(error)).not.toContain(SECRET)
        }),
        { numRuns: singly.length + 200, examples: singly as never },
      )
    },
  )

  test.each(Object.entries({ ...exported, ...made }))('%s takes what is right', async (_, { call, good }) => {
    const error = await failureOf(() => call(...(good.map((make) => make()) as never[])))
    expect(error).not.toBeInstanceOf(main.InvalidRequestError)
    if (error !== undefined) expect(error).toSatisfy(main.isMandateKitError)
  })

  test.each(Object.entries(made))(
    '%s rejects, and never throws before it gave a promise',
    async (_, { call }) => {
      for (const [, make] of oddValues) {
        const answer = call(...([make(), make(), make()] as never[]))
        expect(answer).toSatisfy(isPromiseOrGenerator)
        const error = await failureOf(() => answer)
        if (error !== undefined) expect(error).toSatisfy(main.isMandateKitError)
      }
    },
  )
})

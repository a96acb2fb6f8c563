import { describe, expect, test, vi } from 'vitest'
import { ApiError, AuthenticationError, ConnectionError, InvalidRequestError } from '../../src/errors.ts'
import { type LookupClient, lookupVerifier } from '../../src/notifications/index.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { delivery, payment, subscription } from '../support/messages.ts'
import { clientsOf, ORDER, openMock } from '../support/mock-clients.ts'
import { openReceiver } from '../support/receiver.ts'

const known: LookupClient = {
  details: async (id) => ({ id }),
  cancellation: async (subscriptionID) => ({ subscriptionID }),
  payment: async () => ({ subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }),
}

const statusOf = (message: unknown, client: Partial<LookupClient> = {}): Promise<number> =>
  openReceiver({ verify: lookupVerifier({ ...known, ...client }) }).deliver(message)

const facts = {
  operation: 'x',
  phase: 'response',
  outcome: 'rejected',
  attempts: 1,
  retryable: false,
} as const
const apiError = (status: number, errorCode = '02') => new ApiError('x', { ...facts, status, errorCode })
const fails = (error: Error) => () => Promise.reject(error)
const impossible = new InvalidRequestError('subscriptions.payment', [])

test('a payment that the API has with this subscription and status passes', async () => {
  const read = vi.fn(known.payment)
  expect(await statusOf(payment(), { payment: read })).toBe(200)
  expect(read).toHaveBeenCalledExactlyOnceWith('42')
})

test.each<[string, unknown, Partial<LookupClient>]>([
  ['a payment of another subscription', payment({ subscriptionId: 'sub-2' }), {}],
  ...['042', '+42', '42.0', '42%20'].map((paymentId): [string, unknown, Partial<LookupClient>] => [
    `a payment under another form of its identifier, ${paymentId},`,
    payment({ paymentId }),
    { payment: async () => ({ paymentId: 42, subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }) },
  ]),
  ['a payment of an impossible identifier', payment({ paymentId: '..' }), { payment: fails(impossible) }],
  [
    'the cancellation of another subscription',
    subscription(),
    { cancellation: async () => ({ subscriptionID: 'sub-2' }) },
  ],
])('%s receives 401', async (_what, message, client) => {
  expect(await statusOf(message, client)).toBe(401)
})

test.each<[string, unknown, Partial<LookupClient>]>([
  ['payment', payment(), { payment: fails(apiError(404)) }],
  ['payment, by HTTP 200', payment(), { payment: fails(apiError(200)) }],
  ['subscription', subscription(), { details: fails(apiError(404)) }],
  ['cancellation', subscription(), { cancellation: fails(apiError(404)) }],
  [
    'payment of no subscription',
    payment(),
    { payment: async () => ({ status: 'SUCCEEDED_PAYMENT' }) as never },
  ],
])('case 64: a record that the API does not know yet receives 503: %s', async (_what, message, client) => {
  expect(await statusOf(message, client)).toBe(503)
})

test('case 65: either the record or enabled 0 proves a cancellation', async () => {
  const unknown = { cancellation: fails(apiError(404)) }
  const details = (enabled: number) => async (id: string) => ({ id, enabled })
  expect(await statusOf(subscription(), { ...unknown, details: details(0) })).toBe(200)
  expect(await statusOf(subscription(), { ...unknown, details: details(1) })).toBe(503)
  expect(await statusOf(subscription(), { details: details(1) })).toBe(200)
})

test.each([
  ['42', 42],
  ['007', '007'],
  ['AB-1', 'ab-1'],
])('a payment %s whose record has the identifier %s passes', async (sent, paymentId) => {
  const read = async () => ({ paymentId, subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' as const })
  expect(await statusOf(payment({ paymentId: sent }), { payment: read })).toBe(200)
})

test('a payment with the status in another case passes', async () => {
  const read = async () => ({ subscriptionId: 'sub-1', status: 'succeeded_payment' })
  expect(await statusOf(payment(), { payment: read })).toBe(200)
})

test('a subscription passes when it exists, and CANCELLED when the cancellation exists', async () => {
  const cancellation = vi.fn(known.cancellation)
  expect(await statusOf(subscription({ status: 'SUCCEEDED' }), { cancellation })).toBe(200)
  expect(cancellation).not.toHaveBeenCalled()
  expect(await statusOf(subscription({ status: 'CANCELED' }), { cancellation })).toBe(200)
  expect(cancellation).toHaveBeenCalledOnce()
})

test.each<[string, Error]>([
  ['unreachable', new ConnectionError('x', { ...facts, outcome: 'not-sent' })],
  ['failing', apiError(500, '99')],
  ['rejecting the credentials', new AuthenticationError('x', { ...facts, status: 401, errorCode: '401' })],
  ['a proxy without a code', new ApiError('x', { ...facts, status: 404 })],
  ['failing in another way', new Error('x')],
  ['refusing with 409', apiError(409, 'no')],
])('an API that is %s gives 503', async (_what, error) => {
  const { deliver, kinds } = openReceiver({ verify: lookupVerifier({ ...known, payment: fails(error) }) })
  expect(await deliver(payment())).toBe(503)
  expect(kinds()).toEqual(['verification-failed'])
})

test.each<[string, unknown, object]>([
  ['payment', payment(), { subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }],
  ['subscription', subscription(), { id: 'sub-1' }],
])('a listener receives the %s that was read', async (_what, message, record) => {
  const listener = vi.fn()
  const { deliver } = openReceiver({
    verify: lookupVerifier(known),
    onPayment: listener,
    onSubscription: listener,
  })
  expect(await deliver(message)).toBe(200)
  expect(listener.mock.lastCall?.[1]).toMatchObject({ lookup: record, signal: expect.any(AbortSignal) })
})

test('a verifier of your own may return a record, or true, or anything else for a 503', async () => {
  const listener = vi.fn()
  const deliver = (verify: () => unknown) =>
    openReceiver({ verify: verify as never, onPayment: listener }).deliver(payment())
  expect(await deliver(() => ({ lookup: { paymentId: 7 } }))).toBe(200)
  expect(listener.mock.lastCall?.[1]).toMatchObject({ lookup: { paymentId: 7 } })
  expect(await deliver(() => true)).toBe(200)
  expect(listener.mock.lastCall?.[1].lookup).toBeUndefined()
  expect(await deliver(() => ({ lookup: true }))).toBe(503)
  expect(await deliver(() => ({}))).toBe(503)
})

/** The time in the messages. */
const SENT_AT = Date.parse('2026-11-30T10:00:00Z')
const MINUTE = 60_000

describe('case 95: a record that is late does not contradict its message', () => {
  const processAt = async (age: number, message: unknown, client: Partial<LookupClient>) => {
    const verify = lookupVerifier({ ...known, ...client }, { clock: new ManualClock(SENT_AT + age) })
    const body = JSON.stringify(message)
    return openReceiver({ verify }).handler.process({ headers: {}, body })
  }
  const paymentOf = (status: string) => async () => ({ subscriptionId: 'sub-1', status })

  test.each(['PENDING_PAYMENT', 'PROCESSING', ' scheduled ', ''])(
    'a payment that is still %j gives 503 with a wait that grows with its age, however old it is',
    async (status) => {
      const client = { payment: paymentOf(status) }
      for (const [age, retryAfterMs] of [
        [-MINUTE, 5_000],
        [1_000, 5_000],
        [10 * MINUTE, MINUTE],
        [3 * 24 * 60 * MINUTE, 3_600_000],
      ] as const)
        expect(await processAt(age, payment(), client)).toMatchObject({ result: 'unverified', retryAfterMs })
    },
  )

  test.each([
    ['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'],
    ['FAILED_PAYMENT', 'succeeded_payment '],
  ])('a message %s with the record %j gives 503 for an hour, and then 401', async (status, recorded) => {
    const results = []
    for (const age of [-MINUTE, 0, 59 * MINUTE, 60 * MINUTE, 60 * MINUTE + 1])
      results.push((await processAt(age, payment({ status }), { payment: paymentOf(recorded) })).result)
    expect(results).toEqual(['unverified', 'unverified', 'unverified', 'unverified', 'refused'])
  })

  test('identifiers that differ only in letter case are one identifier', async () => {
    const client: Partial<LookupClient> = {
      payment: async () => ({ subscriptionId: 'SUB-1', status: 'SUCCEEDED_PAYMENT' }),
      details: async () => ({ id: 'Sub-1', enabled: 1 }),
      cancellation: async () => ({ subscriptionID: 'sUB-1' }),
    }
    expect(await statusOf(payment(), client)).toBe(200)
    expect(await statusOf(subscription(), client)).toBe(200)
    expect(await statusOf(payment({ subscriptionId: 'sub-11' }), client)).toBe(401)
  })

  test.each([
    ['REFUSED', 1, 503],
    ['PROCESSING', 1, 503],
    ['REFUSED', 0, 200],
    ['processed', 1, 200],
  ])('a cancellation that is %s while enabled is %i gives %i', async (status, enabled, expected) => {
    const client: Partial<LookupClient> = {
      details: async (id) => ({ id, enabled }),
      cancellation: async (subscriptionID) => ({ subscriptionID, status }),
    }
    expect(await statusOf(subscription(), client)).toBe(expected)
  })

  test('the mock reports a cancellation as canceled only after it is processed', async () => {
    const { mock, subscriptions } = openMock({ subscriptions: { cancelDelay: { hours: 2 } } })
    const { invoiceID } = await subscriptions.subscribe(ORDER)
    mock.payer.authorize(invoiceID)
    const { subscriptionId } = await subscriptions.status(invoiceID)
    const verify = lookupVerifier(subscriptions, { clock: mock.clock })
    const deliver = () => openReceiver({ verify }).deliver(subscription({ subscriptionId }))
    await subscriptions.cancel(subscriptionId ?? '')
    expect(await deliver()).toBe(503)
    await mock.clock.advance({ hours: 3 })
    expect(await deliver()).toBe(200)
  })
})

describe("case 102: invented messages do not use up the merchant's own calls", () => {
  const invented = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      payment({ notificationId: `n-${index}`, paymentId: String(900_000 + index) }),
    )
  const lookups = (mock: ReturnType<typeof openMock>['mock']) =>
    mock.requests.of('subscriptions.payment').length

  test('700 messages make lookups for at most half of the window, and a cancellation works meanwhile', async () => {
    const { mock, subscriptions } = openMock({
      subscriptions: { rateLimit: { limit: 100, windowMs: 60_000 } },
    })
    const { invoiceID } = await subscriptions.subscribe(ORDER)
    mock.payer.authorize(invoiceID)
    const { subscriptionId = '' } = await subscriptions.status(invoiceID)
    const { deliver } = openReceiver({ verify: lookupVerifier(subscriptions, { clock: mock.clock }) })
    const work = invented(700).map((message) => deliver(message))
    expect(await subscriptions.cancel(subscriptionId ?? '')).toMatchObject({ status: 'PROCESSED' })
    expect(new Set(await Promise.all(work))).toEqual(new Set([503]))
    expect(lookups(mock)).toBe(50)
    expect(await subscriptions.details(subscriptionId ?? '')).toMatchObject({ enabled: 0 })
    await mock.clock.advance({ minutes: 1 })
    await Promise.all(invented(200).map((message) => deliver(message)))
    expect(lookups(mock)).toBe(100)
  })

  test('the lookups of several processes leave a quarter of the window', async () => {
    const { mock } = openMock({ subscriptions: { rateLimit: { limit: 100, windowMs: 60_000 } } })
    const receivers = Array.from({ length: 4 }, () => {
      const { subscriptions } = clientsOf(mock)
      return openReceiver({ verify: lookupVerifier(subscriptions, { clock: mock.clock }) })
    })
    for (const message of invented(50)) await Promise.all(receivers.map(({ deliver }) => deliver(message)))
    expect(lookups(mock)).toBeGreaterThan(60)
    expect(lookups(mock)).toBeLessThanOrEqual(80)
  })

  test('beyond the limit, the response names the time until the window ends, and no lookup is made', async () => {
    const clock = new ManualClock(SENT_AT)
    const read = vi.fn(async () => ({ subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }))
    const rateLimit = { limit: 3, remaining: 2, resetAt: new Date(SENT_AT + 20_000) }
    const client: Partial<LookupClient> = {
      payment: () =>
        Object.assign(read(), {
          withResponse: async () => ({
            data: await read.mock.results.at(-1)?.value,
            response: { rateLimit },
          }),
        }),
    }
    const { handler } = openReceiver({ verify: lookupVerifier({ ...known, ...client }, { clock }) })
    const retryAfter = async (notificationId: string) =>
      (await handler(delivery(payment({ notificationId })))).headers.get('retry-after')
    expect([await retryAfter('a'), await retryAfter('b')]).toEqual([null, '20'])
    expect(read).toHaveBeenCalledOnce()
    clock.jump(20_000)
    expect(await retryAfter('b')).toBeNull()
  })

  test('at most four lookups run at once, and others wait for their turn', async () => {
    let running = 0
    let most = 0
    const client: Partial<LookupClient> = {
      payment: async () => {
        running += 1
        most = Math.max(most, running)
        await settled()
        running -= 1
        return { subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }
      },
    }
    const { deliver } = openReceiver({ verify: lookupVerifier({ ...known, ...client }) })
    const statuses = await Promise.all(invented(30).map((message) => deliver(message)))
    expect(statuses).toEqual(Array.from({ length: 30 }, () => 200))
    expect(most).toBe(4)
  })

  test('while four lookups hang, another message receives 503 without a lookup', async () => {
    const read = vi.fn(() => new Promise<never>(() => undefined))
    const { deliver } = openReceiver({
      verify: lookupVerifier({ ...known, payment: read }),
      timeouts: { verify: 2_500 },
    })
    const [first, ...others] = invented(6)
    expect(await Promise.all([first, ...others].map((message) => deliver(message)))).toEqual(
      Array.from({ length: 6 }, () => 503),
    )
    expect(read).toHaveBeenCalledTimes(4)
  })

  test('after your own calls used three quarters of a window, at most four lookups find it out', async () => {
    const { mock, subscriptions } = openMock({
      subscriptions: { rateLimit: { limit: 100, windowMs: 60_000 } },
    })
    const { invoiceID } = await subscriptions.subscribe(ORDER)
    for (let call = 0; call < 80; call += 1) await subscriptions.status(invoiceID)
    const { deliver } = openReceiver({ verify: lookupVerifier(subscriptions, { clock: mock.clock }) })
    await Promise.all(invented(100).map((message) => deliver(message)))
    expect(lookups(mock)).toBeLessThanOrEqual(4)
    await Promise.all(Array.from({ length: 10 }, () => subscriptions.status(invoiceID)))
  })
})

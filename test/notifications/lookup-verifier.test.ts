import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ApiError, AuthenticationError, ConnectionError, InvalidRequestError } from '../../src/errors.ts'
import { type LookupClient, lookupVerifier } from '../../src/notifications/index.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { delivery, payment, subscription } from '../support/messages.ts'
import { clientsOf, ORDER, openMock } from '../support/mock-clients.ts'
import { openReceiver } from '../support/receiver.ts'

type Answers = Partial<LookupClient>

/** A client whose payment has these fields, and whose other records agree with every message. */
const paid = (fields: object = {}): Answers => ({
  payment: async () => ({ subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT', ...fields }),
})
const known = {
  details: async (id) => ({ id }),
  cancellation: async (subscriptionID) => ({ subscriptionID }),
  ...paid(),
} as LookupClient

const enabled = (value: number, more: Answers = {}): Answers => ({
  details: async (id) => ({ id, enabled: value }),
  ...more,
})
const cancelled = (fields: object): Answers => ({
  cancellation: async (subscriptionID) => ({ subscriptionID, ...fields }),
})
const inState = (status: string) => cancelled({ status })

const facts = {
  operation: 'x',
  phase: 'response',
  outcome: 'rejected',
  attempts: 1,
  retryable: false,
} as const
const apiError = (status: number, errorCode = '02') => new ApiError('x', { ...facts, status, errorCode })
const fails = (error: Error) => () => Promise.reject(error)
const missing = fails(apiError(404))
const impossible = fails(new InvalidRequestError('subscriptions.payment', []))
const unreachable = new ConnectionError('x', { ...facts, outcome: 'not-sent' })
const foreign = new ApiError('x', { ...facts, status: 404 })
const rejected = new AuthenticationError('x', { ...facts, status: 401, errorCode: '401' })

const verifying = (client: Answers, clock?: ManualClock) =>
  openReceiver({ verify: lookupVerifier({ ...known, ...client }, { clock }) })

/** A message, what the API has, and the response. */
const verdicts: readonly (readonly [string, 200 | 401 | 503, object, Answers])[] = [
  ['a payment with the same subscription and status', 200, payment(), {}],
  ['a payment whose record has a number as its identifier', 200, payment(), paid({ paymentId: 42 })],
  ['a payment 007 as the record has it', 200, payment({ paymentId: '007' }), paid({ paymentId: '007' })],
  ['a payment in other letter case', 200, payment({ paymentId: 'AB-1' }), paid({ paymentId: 'ab-1' })],
  ['a payment with the status in another case', 200, payment(), paid({ status: 'succeeded_payment' })],
  ['case 95: a payment of SUB-1 for sub-1', 200, payment(), paid({ subscriptionId: 'SUB-1' })],
  ['case 95: a subscription Sub-1', 200, subscription(), { details: async () => ({ id: 'Sub-1' }) }],
  ['case 95: a cancellation of sUB-1', 200, subscription(), cancelled({ subscriptionID: 'sUB-1' })],
  ['case 65: a cancellation by its record alone', 200, subscription(), enabled(1)],
  ['case 65: a cancellation by enabled 0', 200, subscription(), enabled(0, { cancellation: missing })],
  ['case 95: a refused cancellation with enabled 0', 200, subscription(), enabled(0, inState('REFUSED'))],
  ['case 95: a processed cancellation', 200, subscription(), enabled(1, inState('processed'))],
  ['payment 42 under the form 042', 401, payment({ paymentId: '042' }), paid({ paymentId: 42 })],
  ['payment 42 under the form +42', 401, payment({ paymentId: '+42' }), paid({ paymentId: 42 })],
  ['payment 42 under the form 42.0', 401, payment({ paymentId: '42.0' }), paid({ paymentId: 42 })],
  ['payment 42 under the form 42%20', 401, payment({ paymentId: '42%20' }), paid({ paymentId: 42 })],
  ['a payment of another subscription', 401, payment({ subscriptionId: 'sub-11' }), {}],
  ['a payment of an impossible identifier', 401, payment({ paymentId: '..' }), { payment: impossible }],
  ['a record of another subscription', 401, subscription(), { details: async () => ({ id: 'sub-2' }) }],
  ['a cancellation of another subscription', 401, subscription(), cancelled({ subscriptionID: 'sub-2' })],
  ['case 64: an unknown payment', 503, payment(), { payment: missing }],
  ['case 64: an unknown payment, by HTTP 200', 503, payment(), { payment: fails(apiError(200)) }],
  ['case 64: an unknown subscription', 503, subscription(), { details: missing }],
  ['case 64: an unknown cancellation', 503, subscription(), { cancellation: missing }],
  ['case 65: a cancellation without a proof', 503, subscription(), enabled(1, { cancellation: missing })],
  ['case 64: a payment without a subscription', 503, payment(), paid({ subscriptionId: undefined })],
  ['case 95: a refused cancellation', 503, subscription(), enabled(1, inState('REFUSED'))],
  ['case 95: a cancellation in progress', 503, subscription(), enabled(1, inState('PROCESSING'))],
  ['a payment of an API that is unreachable', 503, payment(), { payment: fails(unreachable) }],
  ['a payment of an API that fails', 503, payment(), { payment: fails(apiError(500, '99')) }],
  ['a payment of an API that rejects the credentials', 503, payment(), { payment: fails(rejected) }],
  ['a payment behind a proxy without a code', 503, payment(), { payment: fails(foreign) }],
  ['a payment of an API that refuses with 409', 503, payment(), { payment: fails(apiError(409, 'no')) }],
  ['a payment whose lookup fails in another way', 503, payment(), { payment: fails(new Error('x')) }],
]
test.each(verdicts)('%s receives %i', async (_what, status, message, client) => {
  const { deliver, kinds } = verifying(client)
  expect(await deliver(message)).toBe(status)
  expect(kinds()).toEqual({ 200: [], 401: ['refused'], 503: ['verification-failed'] }[status])
})

test.each([
  ['a payment', payment(), ['payment 42']],
  ['a subscription that began', subscription({ status: 'SUCCEEDED' }), ['details sub-1']],
  ['a cancellation', subscription({ status: 'CANCELED' }), ['details sub-1', 'cancellation sub-1']],
])('%s costs only the lookups that prove it', async (_what, message, lookups) => {
  const seen: string[] = []
  const noted = (name: keyof LookupClient) => (id: string) => {
    seen.push(`${name} ${id}`)
    return known[name](id)
  }
  const client = { payment: noted('payment'), details: noted('details'), cancellation: noted('cancellation') }
  expect(await verifying(client as Answers).deliver(message)).toBe(200)
  expect(seen).toEqual(lookups)
})

test('a listener receives the id of a payment as the record has it, so that one payment has one id', async () => {
  const { deliver, onPayment } = verifying(paid({ paymentId: 'ab-1' }))
  for (const paymentId of ['ab-1', 'AB-1'])
    expect(await deliver(payment({ paymentId, notificationId: paymentId }))).toBe(200)
  expect(onPayment.mock.calls.map(([notification]) => notification.paymentId)).toEqual(['ab-1', 'ab-1'])
})

test.each([
  ['payment', payment(), { subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }],
  ['subscription', subscription(), { id: 'sub-1' }],
])('a listener receives the %s that was read', async (_what, message, lookup) => {
  const { deliver, onPayment, onSubscription } = verifying({})
  expect(await deliver(message)).toBe(200)
  const context = [...onPayment.mock.calls, ...onSubscription.mock.calls][0]?.[1]
  expect(context).toMatchObject({ lookup, signal: expect.any(AbortSignal) })
})

/** The time in the messages. */
const SENT_AT = Date.parse('2026-11-30T10:00:00Z')
const MINUTE = 60_000

describe('case 95: a record that is late does not contradict its message', () => {
  const processAt = async (age: number, message: unknown, client: Answers) =>
    verifying(client, new ManualClock(SENT_AT + age)).handler.process({ body: JSON.stringify(message) })

  test.each(['PENDING_PAYMENT', 'PROCESSING', ' scheduled ', ''])(
    'a payment that is still %j gives 503 with a wait that grows with its age, however old it is',
    async (status) => {
      for (const [age, retryAfterMs] of [
        [-MINUTE, 5_000],
        [1_000, 5_000],
        [10 * MINUTE, MINUTE],
        [3 * 24 * 60 * MINUTE, 3_600_000],
      ] as const)
        expect(await processAt(age, payment(), paid({ status }))).toMatchObject({
          result: 'unverified',
          retryAfterMs,
        })
    },
  )

  test.each([
    ['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'],
    ['FAILED_PAYMENT', 'succeeded_payment '],
  ])('a message %s with the record %j gives 503 for an hour, and then 401', async (status, recorded) => {
    const ages = [-MINUTE, 0, 59 * MINUTE, 60 * MINUTE, 60 * MINUTE + 1]
    const work = ages.map((age) => processAt(age, payment({ status }), paid({ status: recorded })))
    const results = (await Promise.all(work)).map(({ result }) => result)
    expect(results).toEqual(['unverified', 'unverified', 'unverified', 'unverified', 'refused'])
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

  /** A subscription of a mock that allows 100 calls a minute, and receivers that verify messages with it. */
  const openLimited = async () => {
    // A lookup waits 2 s for its turn. On a busy machine, lookups would run out of this time.
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { mock, subscriptions } = openMock({
      subscriptions: { rateLimit: { limit: 100, windowMs: MINUTE } },
    })
    const { invoiceID } = await subscriptions.subscribe(ORDER)
    mock.payer.authorize(invoiceID)
    const { subscriptionId } = await subscriptions.status(invoiceID)
    const receive = (client = subscriptions) =>
      openReceiver({ verify: lookupVerifier(client, { clock: mock.clock }) }).deliver
    const lookups = () => mock.requests.of('subscriptions.payment').length
    return { mock, subscriptions, invoiceID, subscriptionId: subscriptionId ?? '', receive, lookups }
  }

  test('700 messages make lookups for at most half of the window, and a cancellation works meanwhile', async () => {
    const { mock, subscriptions, subscriptionId, receive, lookups } = await openLimited()
    const deliver = receive()
    const work = invented(700).map((message) => deliver(message))
    expect(await subscriptions.cancel(subscriptionId)).toMatchObject({ status: 'PROCESSED' })
    expect(new Set(await Promise.all(work))).toEqual(new Set([503]))
    expect(lookups()).toBe(50)
    expect(await subscriptions.details(subscriptionId)).toMatchObject({ enabled: 0 })
    await mock.clock.advance({ minutes: 1 })
    await Promise.all(invented(200).map((message) => deliver(message)))
    expect(lookups()).toBe(100)
  })

  test('the lookups of several processes leave a quarter of the window', async () => {
    const { mock, receive, lookups } = await openLimited()
    const receivers = Array.from({ length: 4 }, () => receive(clientsOf(mock).subscriptions))
    for (const message of invented(50)) await Promise.all(receivers.map((deliver) => deliver(message)))
    expect(lookups()).toBeGreaterThan(60)
    expect(lookups()).toBeLessThanOrEqual(80)
  })

  test('after your own calls used three quarters of a window, at most four lookups find it out', async () => {
    const { subscriptions, invoiceID, receive, lookups } = await openLimited()
    for (let call = 0; call < 78; call += 1) await subscriptions.status(invoiceID)
    const deliver = receive()
    await Promise.all(invented(100).map((message) => deliver(message)))
    expect(lookups()).toBeLessThanOrEqual(4)
    await Promise.all(Array.from({ length: 10 }, () => subscriptions.status(invoiceID)))
  })

  test('beyond the limit, the response names the time until the window ends, and no lookup is made', async () => {
    const clock = new ManualClock(SENT_AT)
    const read = vi.fn(async () => ({ subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }))
    const rateLimit = { limit: 3, remaining: 2, resetAt: new Date(SENT_AT + 20_000) }
    const withResponse = async () => ({
      data: await read.mock.results.at(-1)?.value,
      response: { rateLimit },
    })
    const { handler } = verifying({ payment: () => Object.assign(read(), { withResponse }) }, clock)
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
    const { deliver } = verifying({
      payment: async () => {
        running += 1
        most = Math.max(most, running)
        await settled()
        running -= 1
        return { subscriptionId: 'sub-1', status: 'SUCCEEDED_PAYMENT' }
      },
    })
    const statuses = await Promise.all(invented(30).map((message) => deliver(message)))
    expect(statuses).toEqual(Array.from({ length: 30 }, () => 200))
    expect(most).toBe(4)
  })

  test('while four lookups hang, another message receives 503 after two seconds without a lookup', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const read = vi.fn(() => new Promise<never>(() => undefined))
    const { deliver } = verifying({ payment: read })
    const statuses: number[] = []
    for (const message of invented(6)) void deliver(message).then((status) => statuses.push(status))
    await settled()
    vi.advanceTimersByTime(2_000)
    await vi.waitFor(() => expect(statuses).toEqual([503, 503]))
    expect(read).toHaveBeenCalledTimes(4)
  })
})

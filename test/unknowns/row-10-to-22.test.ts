import { expect } from 'vitest'
import { defaultMerchant, MockRefusedError } from '../../mocks/core.ts'
import type { Duration } from '../../mocks/time/duration.ts'
import { invoiceIdFrom } from '../../src/index.ts'
import type { OpenMock } from '../mock/open.ts'
import { ORDER, S, strictOr, test, testCases } from './set-up.ts'

/** The statuses of requests with these fields. */
const subscribing =
  (...requests: readonly object[]) =>
  async ({ subscribe }: OpenMock) => {
    const statuses: number[] = []
    for (const fields of requests) statuses.push((await subscribe(fields)).status)
    return statuses
  }

/** The statuses of three requests later: one was authorized, and one declined. */
const statusesAfter =
  (duration: Duration) =>
  async ({ mock, subscribe }: OpenMock) => {
    for (let count = 0; count < 3; count += 1) await subscribe()
    const [one, two] = mock.state.subscriptions()
    mock.payer.authorize(one?.invoiceId ?? '')
    mock.payer.decline(two?.invoiceId ?? '')
    await mock.clock.advance(duration)
    return mock.state.subscriptions().map(({ requestStatus }) => requestStatus)
  }

testCases('row 10: a request is INITIALIZED, then SUCCEEDED, FAILED, or EXPIRED a day or the TTL later', [
  [{}, statusesAfter({ hours: 23, minutes: 59 }), ['SUCCEEDED', 'FAILED', 'INITIALIZED']],
  [{}, statusesAfter({ hours: 24 }), ['SUCCEEDED', 'FAILED', 'EXPIRED']],
  [S({ requestTtl: { minutes: 5 } }), statusesAfter({ minutes: 5 }), ['SUCCEEDED', 'FAILED', 'EXPIRED']],
  [S({ requestTtl: false }), statusesAfter({ days: 400 }), ['SUCCEEDED', 'FAILED', 'INITIALIZED']],
])

const filled = expect.stringMatching(/./)

/** The subscriptionId of a response before the authorization, as the client reads it, and after the authorization. */
const subscriptionIds = async ({ mock, subscribe, s, subscriptions }: OpenMock) => {
  const { invoiceID } = (await subscribe()).json
  const raw = (await s(`/api/v1.0/subscribe/${invoiceID}/status`)).json.subscriptionId
  const read = (await subscriptions.status(invoiceID)).subscriptionId
  mock.payer.authorize(invoiceID)
  return [raw, read, (await subscriptions.status(invoiceID)).subscriptionId]
}

testCases(
  'row 11: the subscriptionId is issued at once, or after authorization, and clients then read null',
  [
    [{}, subscriptionIds, [filled, filled, filled]],
    [S({ pendingSubscriptionId: 'NA' }), subscriptionIds, ['NA', null, filled]],
    [S({ pendingSubscriptionId: '' }), subscriptionIds, ['', null, filled]],
    [S({ pendingSubscriptionId: 'omit' }), subscriptionIds, [undefined, null, filled]],
  ],
)

/** `enabled` before the authorization, on the last day, and after it. */
const enabled = async ({ mock, subscribe, s }: OpenMock) => {
  const { invoiceID } = (await subscribe({ end: '2026-12-02' })).json
  const path = `/api/v1.0/subscription/${mock.state.subscriptions()[0]?.subscriptionId}`
  const before = (await s(path)).json.enabled
  mock.payer.authorize(invoiceID)
  await mock.clock.set('2026-12-02T23:59:59Z')
  const last = (await s(path)).json.enabled
  await mock.clock.set('2026-12-03T00:00:00Z')
  return [before, last, (await s(path)).json.enabled]
}

testCases('row 12: enabled is 1 while payments are expected, else 0, or the values of the option', [
  [{}, enabled, [0, 1, 0]],
  [S({ enabledValues: { active: 0, inactive: 2 } }), enabled, [2, 0, 2]],
])

test('row 13: reversal fields are null, and text after a reversal, which is possible once', async (open) => {
  const { mock, s, subscription } = await open()
  await subscription({ cycle: 'DAILY' }, ['succeed', 'fail'])
  await mock.clock.advance({ days: 2 })
  const [paymentId = 0, failed = 0] = mock.state.payments().map((each) => each.paymentId)
  const payment = async () => (await s(`/api/v1.0/subscription/payment/${paymentId}`)).json
  const fields = { reverseTransactionAmount: null, reverseTransactionDate: null, reverseTransactionId: null }
  expect(await payment()).toMatchObject(fields)
  mock.payer.reverse(paymentId)
  expect(await payment()).toMatchObject({
    status: 'SUCCEEDED_PAYMENT',
    reverseTransactionAmount: '25.00',
    reverseTransactionDate: '2026-12-03 06:00:00',
    reverseTransactionId: filled,
  })
  for (const id of [paymentId, failed]) expect(() => mock.payer.reverse(id)).toThrow(MockRefusedError)
})

/** When a request was created, and its payment due and made, for a start on 2 December. */
const timesOf = async ({ s, subscription, mock }: OpenMock) => {
  const { invoiceId, subscriptionId } = await subscription({ start: '2026-12-02', end: '2026-12-02' })
  const { createdAt } = (await s(`/api/v1.0/subscribe/${invoiceId}/status`)).json
  const { nextPaymentDate } = (await s(`/api/v1.0/subscription/${subscriptionId}`)).json
  await mock.clock.advance({ days: 2 })
  const timestamp = Number(mock.notifications.all().at(-1)?.timestamp)
  return [createdAt, nextPaymentDate, new Date(timestamp * 1_000).toISOString()]
}
const evening = { clock: '2026-12-01T18:10:00Z' }

testCases('row 14: naive times are in UTC, or in the zone of the option', [
  [evening, timesOf, ['2026-12-01 18:10:00', '2026-12-02 12:00:00', '2026-12-02T12:00:00.000Z']],
  [
    { ...evening, ...S({ timeZone: 'Asia/Dhaka' }) },
    timesOf,
    ['2026-12-02 00:10:00', '2026-12-02 12:00:00', '2026-12-02T06:00:00.000Z'],
  ],
])

const at = (time: string, subscriptions: object = {}) => ({ clock: `2026-12-01T${time}Z`, subscriptions })

testCases(
  'row 15: a start today is accepted until 23:30:00 or the time of the option, in its zone (case 30)',
  [
    [[at('23:30:00'), at('23:30:00.999')], subscribing({}), [200]],
    [[at('23:30:01'), at('23:59:59')], subscribing({}, { start: '2026-12-02' }), [422, 200]],
    [at('20:00:00', { startCutoff: '20:00:00' }), subscribing({}), [200]],
    [at('20:00:01', { startCutoff: '20:00:00' }), subscribing({}), [422]],
    [at('23:59:59', { startCutoff: false }), subscribing({}), [200]],
    // 17:30 in UTC is 23:30 in Dhaka.
    [at('17:30:00', { timeZone: 'Asia/Dhaka' }), subscribing({}), [200]],
    [at('17:30:01', { timeZone: 'Asia/Dhaka' }), subscribing({}), [422]],
    [
      at('23:45:00'),
      async ({ subscribe, mock }) => {
        await subscribe()
        return mock.explain('subscriptions.subscribe')
      },
      expect.stringMatching(/2026-12-02/),
    ],
  ],
)

testCases(
  'row 16: a start in the past is accepted without charging the past, or refused under strict rules',
  [
    [
      {},
      async ({ mock, subscription }) => {
        await subscription({ start: '2026-11-01', cycle: 'DAILY' })
        await mock.clock.advance({ days: 1 })
        return mock.state.payments().map(({ dueDate }) => dueDate)
      },
      ['2026-12-01'],
    ],
    [strictOr(S({ pastStart: 'refuse' })), subscribing({ start: '2026-11-30' }, {}), [422, 200]],
  ],
)

const [start, leap] = ['2026-12-11', '2028-02-29']

testCases('row 17: an end before the start is refused, and the same day is accepted', [
  [{}, subscribing({ start, end: '2026-12-10' }, { start, end: start }), [422, 200]],
])

testCases('row 18: 730 days count from the start, or from today, or as many as the option says (case 32)', [
  [{}, subscribing({ start, end: '2028-12-10' }, { start, end: '2028-12-11' }), [200, 422]],
  [{}, subscribing({ start: leap, end: '2030-02-28' }, { start: leap, end: '2030-03-01' }), [200, 422]],
  [
    S({ maxEnd: { from: 'today', days: 730 } }),
    subscribing({ start, end: '2028-11-30' }, { start, end: '2028-12-01' }),
    [200, 422],
  ],
  [
    S({ maxEnd: { from: 'start', days: 10 } }),
    subscribing({ start, end: '2026-12-21' }, { start, end: '2026-12-22' }),
    [200, 422],
  ],
  [S({ maxEnd: false }), subscribing({ start, end: '2099-01-01' }), [200]],
])

const amounts = (...values: readonly unknown[]) => subscribing(...values.map((amount) => ({ amount })))

testCases(
  'row 19: an amount is decimal text above zero, sent as given, with two decimals under strict rules',
  [
    [{}, amounts('25', '25.00', '0.001', '25.123'), Array(4).fill(200)],
    [{}, amounts('0', '0.00', '-1', '1e3', '1,00', '', 25, '9'.repeat(400)), Array(8).fill(422)],
    [strictOr(S({ amountPattern: /^\d+(\.\d\d)?$/ })), amounts('25.123', '25.12'), [422, 200]],
    [
      {},
      async ({ subscriptions, mock, s }) => {
        await subscriptions.subscribe({ ...ORDER, amount: '10.00' })
        const { subscriptionId } = mock.state.subscriptions()[0] ?? {}
        const { amount } = (await s(`/api/v1.0/subscription/${subscriptionId}`)).json
        return [mock.requests.of('subscriptions.subscribe')[0]?.body, amount]
      },
      [expect.objectContaining({ amount: '10.00' }), 10],
    ],
  ],
)

/** Statuses, codes and whether the invoices differ. */
const twice = async ({ subscribe }: OpenMock) => {
  const [first, second] = [await subscribe(), await subscribe()]
  return [second.status, second.json.errorCode, first.json.invoiceID === second.json.invoiceID]
}

testCases('row 20: a requestID is accepted again with a new invoice, or refused under strict rules', [
  [{}, twice, [200, '00', false]],
  [strictOr(S({ duplicateRequest: 'refuse' })), twice, [409, '03', false]],
  [{ rules: 'strict' }, subscribing({}, { requestID: 'order-2' }), [200, 200]],
])

const merchants = [defaultMerchant, { ...defaultMerchant, clientId: 'another' }]
const clients = async ({ subscribe }: OpenMock) => {
  const responses = [await subscribe({ clientID: 'another' }), await subscribe({ clientID: 'nobody' })]
  return [...responses, await subscribe()].map(({ json }) => json.errorCode)
}

testCases(
  'row 21: another merchant’s clientID is refused under strict rules, and an unissued one always (case 85)',
  [
    [S({ merchants }), clients, ['00', '05', '00']],
    [
      [{ rules: 'strict', ...S({ merchants }) }, S({ merchants, clientMismatch: 'refuse' })],
      clients,
      ['05', '05', '00'],
    ],
  ],
)

test('row 22: invoiceID joins the query of the return URL, and the helper reads it', async (open) => {
  const { mock, subscribe } = await open()
  for (const [userReturnURL, expected] of [
    ['https://a.example/r?b=2&a=%20x#top?x', 'https://a.example/r?b=2&a=%20x&invoiceID=<id>#top?x'],
    ['https://shop.example', 'https://shop.example?invoiceID=<id>'],
    ['https://shop.example/r?invoiceID=old&a=?b', 'https://shop.example/r?a=?b&invoiceID=<id>'],
    ['myshop://back', 'myshop://back?invoiceID=<id>'],
  ] as const) {
    const { invoiceID } = (await subscribe({ userReturnURL })).json
    const { returnUrl } = mock.payer.authorize(invoiceID)
    expect(returnUrl).toBe(expected.replace('<id>', invoiceID))
    expect(invoiceIdFrom(returnUrl)).toBe(invoiceID)
  }
})

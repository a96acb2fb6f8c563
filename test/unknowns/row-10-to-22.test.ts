import { expect } from 'vitest'
import { defaultMerchant, MockRefusedError } from '../../mocks/core.ts'
import { invoiceIdFrom } from '../../src/index.ts'
import { ORDER, openStrict, test } from './set-up.ts'

test('row 10: a request is INITIALIZED, then SUCCEEDED, FAILED, CANCELLED, or EXPIRED after a day', async (open) => {
  const { mock, subscribe, s } = await open()
  const ids: string[] = []
  for (let count = 0; count < 4; count += 1) ids.push((await subscribe()).json.invoiceID)
  const [first = '', second = '', third = '', fourth = ''] = ids
  const statusOf = async (id: string) => (await s(`/api/v1.0/subscribe/${id}/status`)).json.status
  expect(await statusOf(first)).toBe('INITIALIZED')
  mock.payer.authorize(first)
  mock.payer.decline(second)
  await s(`/api/v1.0/subscription/${mock.state.subscriptions()[2]?.subscriptionId}/cancel`)
  await mock.clock.advance({ hours: 23, minutes: 59 })
  expect(await Promise.all(ids.map(statusOf))).toEqual(['SUCCEEDED', 'FAILED', 'CANCELLED', 'INITIALIZED'])
  await mock.clock.advance({ minutes: 1 })
  expect(await statusOf(fourth)).toBe('EXPIRED')
  for (const id of [third, fourth]) expect(() => mock.payer.authorize(id)).toThrow(MockRefusedError)

  const quick = await open({ subscriptions: { requestTtl: { minutes: 5 } } })
  await quick.subscribe()
  await quick.mock.clock.advance({ minutes: 5 })
  expect(quick.mock.state.subscriptions()[0]?.requestStatus).toBe('EXPIRED')
  const patient = await open({ subscriptions: { requestTtl: false } })
  await patient.subscribe()
  await patient.mock.clock.advance({ days: 400 })
  expect(patient.mock.state.subscriptions()[0]?.requestStatus).toBe('INITIALIZED')
})

test('row 11: the subscriptionId is issued at once, or after authorization in one of three ways, which clients read as null', async (open) => {
  const { mock, subscribe, subscriptions } = await open()
  const { invoiceID } = (await subscribe()).json
  const { subscriptionId } = await subscriptions.status(invoiceID)
  expect(subscriptionId).toBe(mock.state.subscriptions()[0]?.subscriptionId)

  for (const pendingSubscriptionId of ['NA', '', 'omit'] as const) {
    const other = await open({ subscriptions: { pendingSubscriptionId } })
    const { invoiceID: id } = (await other.subscribe()).json
    const raw = (await other.s(`/api/v1.0/subscribe/${id}/status`)).json
    expect(raw.subscriptionId).toBe(pendingSubscriptionId === 'omit' ? undefined : pendingSubscriptionId)
    expect((await other.subscriptions.status(id)).subscriptionId).toBeNull()
    other.mock.payer.authorize(id)
    expect((await other.subscriptions.status(id)).subscriptionId).toMatch(/./)
  }
})

test('row 12: enabled is 1 while payments are expected, else 0, or the values of the option', async (open) => {
  const { s, subscription, subscribe, mock, subscriptions } = await open()
  const { subscriptionId } = await subscription({ end: '2026-12-02' })
  const enabled = async (id = subscriptionId) => (await s(`/api/v1.0/subscription/${id}`)).json.enabled
  expect(await enabled()).toBe(1)
  await mock.clock.set('2026-12-02T23:59:59Z')
  expect(await enabled()).toBe(1)
  await mock.clock.set('2026-12-03T00:00:00Z')
  expect(await enabled()).toBe(0)
  await subscribe()
  expect(await enabled(mock.state.subscriptions().at(-1)?.subscriptionId)).toBe(0)
  expect((await subscriptions.details(subscriptionId)).enabled).toBe(0)

  const other = await open({ subscriptions: { enabledValues: { active: 0, inactive: 2 } } })
  expect((await other.subscriptions.details((await other.subscription()).subscriptionId)).enabled).toBe(0)
})

test('row 13: reversal fields are null, and text after a reversal, which is possible once', async (open) => {
  const { mock, s, subscription } = await open()
  await subscription({ cycle: 'DAILY' }, ['succeed', 'fail'])
  await mock.clock.advance({ days: 2 })
  const [first, second] = mock.state.payments()
  const payment = async () => (await s(`/api/v1.0/subscription/payment/${first?.paymentId}`)).json
  const fields = { reverseTransactionAmount: null, reverseTransactionDate: null, reverseTransactionId: null }
  expect(await payment()).toMatchObject(fields)
  mock.payer.reverse(first?.paymentId ?? 0)
  expect(await payment()).toMatchObject({
    status: 'SUCCEEDED_PAYMENT',
    reverseTransactionAmount: '25.00',
    reverseTransactionDate: '2026-12-03 06:00:00',
    reverseTransactionId: expect.stringMatching(/./),
  })
  for (const payment of [first, second]) {
    expect(() => mock.payer.reverse(payment?.paymentId ?? 0)).toThrow(MockRefusedError)
  }
})

test('row 14: naive times are in UTC, or in the zone of the option', async (open) => {
  const clock = '2026-12-01T18:10:00Z'
  const utc = await open({ clock })
  const dhaka = await open({ clock, subscriptions: { timeZone: 'Asia/Dhaka' } })
  for (const [{ s, subscribe, subscription, mock }, created, paid] of [
    [utc, '2026-12-01 18:10:00', '2026-12-02T12:00:00.000Z'],
    [dhaka, '2026-12-02 00:10:00', '2026-12-02T06:00:00.000Z'],
  ] as const) {
    const { json } = await subscribe({ start: '2026-12-02' })
    expect((await s(`/api/v1.0/subscribe/${json.invoiceID}/status`)).json.createdAt).toBe(created)
    const { subscriptionId } = await subscription({ start: '2026-12-02', cycle: 'DAILY', end: '2026-12-02' })
    const { nextPaymentDate } = (await s(`/api/v1.0/subscription/${subscriptionId}`)).json
    expect(nextPaymentDate).toBe('2026-12-02 12:00:00')
    await mock.clock.advance({ days: 2 })
    const [message] = mock.notifications.all().filter(({ type }) => type === 'SUBSCRIPTION_PAYMENT')
    expect(new Date(Number(message?.timestamp) * 1_000).toISOString()).toBe(paid)
  }
})

test('row 15: a subscription can start today until 23:30:00 or the time of the option, in its zone (case 30)', async (open) => {
  const statusAt = async (time: string, options = {}) => {
    const { subscribe } = await open({ clock: `2026-12-01T${time}Z`, subscriptions: options })
    return (await subscribe()).status
  }
  expect(await statusAt('23:30:00')).toBe(200)
  expect(await statusAt('23:30:00.999')).toBe(200)
  expect(await statusAt('23:30:01')).toBe(422)
  expect(await statusAt('23:59:59')).toBe(422)
  expect(await statusAt('20:00:00', { startCutoff: '20:00:00' })).toBe(200)
  expect(await statusAt('20:00:01', { startCutoff: '20:00:00' })).toBe(422)
  expect(await statusAt('23:59:59', { startCutoff: false })).toBe(200)
  // 17:30 in UTC is 23:30 in Dhaka, where the day then ends at 18:00 in UTC.
  expect(await statusAt('17:30:00', { timeZone: 'Asia/Dhaka' })).toBe(200)
  expect(await statusAt('17:30:01', { timeZone: 'Asia/Dhaka' })).toBe(422)
  const { subscribe, mock } = await open({ clock: '2026-12-01T23:45:00Z' })
  expect((await subscribe({ start: '2026-12-02' })).status).toBe(200)
  await subscribe()
  expect(mock.explain('subscriptions.subscribe')).toMatch(/2026-12-02.*/)
})

test('row 16: a start in the past is accepted without charging the past, or refused under strict rules', async (open) => {
  const past = { start: '2026-11-01', cycle: 'DAILY' }
  const { mock, subscription } = await open()
  await subscription(past)
  await mock.clock.advance({ days: 1 })
  expect(mock.state.payments().map(({ dueDate }) => dueDate)).toEqual(['2026-12-01'])
  for (const refusing of await openStrict(open, { subscriptions: { pastStart: 'refuse' } })) {
    expect((await refusing.subscribe({ start: '2026-11-30' })).status).toBe(422)
    expect((await refusing.subscribe()).status).toBe(200)
  }
  expect((await (await open()).subscriptions.subscribe({ ...ORDER, start: '2026-11-01' })).errorCode).toBe(
    '00',
  )
})

test('row 17: an end before the start is refused, and the same day is accepted', async (open) => {
  const { subscribe } = await open()
  expect((await subscribe({ start: '2026-12-02', end: '2026-12-01' })).status).toBe(422)
  expect((await subscribe({ start: '2026-12-02', end: '2026-12-02' })).status).toBe(200)
})

test('row 18: 730 days count from the start, or from today (case 32)', async (open) => {
  const order = { start: '2026-12-11' }
  const fromStart = await open()
  expect((await fromStart.subscribe({ ...order, end: '2028-12-10' })).status).toBe(200)
  expect((await fromStart.subscribe({ ...order, end: '2028-12-11' })).status).toBe(422)
  const fromToday = await open({ subscriptions: { maxEnd: { from: 'today', days: 730 } } })
  expect((await fromToday.subscribe({ ...order, end: '2028-11-30' })).status).toBe(200)
  expect((await fromToday.subscribe({ ...order, end: '2028-12-01' })).status).toBe(422)
  const leap = { start: '2028-02-29' }
  expect((await fromStart.subscribe({ ...leap, end: '2030-02-28' })).status).toBe(200)
  expect((await fromStart.subscribe({ ...leap, end: '2030-03-01' })).status).toBe(422)
  const short = await open({ subscriptions: { maxEnd: { from: 'start', days: 10 } } })
  expect((await short.subscribe({ ...order, end: '2026-12-21' })).status).toBe(200)
  expect((await short.subscribe({ ...order, end: '2026-12-22' })).status).toBe(422)
  const unlimited = await open({ subscriptions: { maxEnd: false } })
  expect((await unlimited.subscribe({ ...order, end: '2099-01-01' })).status).toBe(200)
})

test('row 19: an amount is decimal text above zero, sent as given, and strict rules allow two decimals at most', async (open) => {
  const { subscribe, subscriptions, mock, s } = await open()
  for (const amount of ['25', '25.00', '0.001', '25.123'])
    expect((await subscribe({ amount })).status).toBe(200)
  for (const amount of ['0', '0.00', '-1', '1e3', '1,00', '', 25, '9'.repeat(400)])
    expect((await subscribe({ amount })).status).toBe(422)
  for (const refusing of await openStrict(open, { subscriptions: { amountPattern: /^\d+(\.\d\d)?$/ } })) {
    expect((await refusing.subscribe({ amount: '25.123' })).status).toBe(422)
    expect((await refusing.subscribe({ amount: '25.12' })).status).toBe(200)
  }
  await subscriptions.subscribe({ ...ORDER, amount: '10.00' })
  expect(mock.requests.of('subscriptions.subscribe').at(-1)?.body).toMatchObject({ amount: '10.00' })
  const { subscriptionId } = mock.state.subscriptions().at(-1) ?? {}
  expect((await s(`/api/v1.0/subscription/${subscriptionId}`)).json.amount).toBe(10)
})

test('row 20: a requestID is accepted again, or refused under strict rules', async (open) => {
  const { subscribe } = await open()
  const [first, second] = [await subscribe(), await subscribe()]
  expect(first.json.invoiceID).not.toBe(second.json.invoiceID)
  for (const refusing of await openStrict(open, { subscriptions: { duplicateRequest: 'refuse' } })) {
    await refusing.subscribe()
    const again = await refusing.subscribe()
    expect([again.status, again.json.errorCode]).toEqual([409, '03'])
    expect((await refusing.subscribe({ requestID: 'order-2' })).status).toBe(200)
  }
})

test('row 21: another merchant’s clientID is accepted, or refused under strict rules, and one that was not issued is refused (case 85)', async (open) => {
  const merchants = [defaultMerchant, { ...defaultMerchant, clientId: 'another' }]
  const spec = await open({ subscriptions: { merchants } })
  expect((await spec.subscribe({ clientID: 'another' })).status).toBe(200)
  const unissued = await spec.subscribe({ clientID: 'nobody' })
  expect([unissued.status, unissued.json.errorCode]).toEqual([422, '05'])
  for (const refusing of [
    await open({ rules: 'strict', subscriptions: { merchants } }),
    await open({ subscriptions: { merchants, clientMismatch: 'refuse' } }),
  ]) {
    const answer = await refusing.subscribe({ clientID: 'another' })
    expect([answer.status, answer.json.errorCode]).toEqual([422, '05'])
    expect((await refusing.subscribe()).status).toBe(200)
  }
})

test('row 22: invoiceID joins the query of the return URL, and the helper reads it', async (open) => {
  const { mock, subscribe } = await open()
  for (const [userReturnURL, expected] of [
    [
      'https://shop.example/return?b=2&a=%20x#top?x',
      'https://shop.example/return?b=2&a=%20x&invoiceID=<id>#top?x',
    ],
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

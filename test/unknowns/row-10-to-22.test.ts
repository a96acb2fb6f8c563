import { expect, test } from 'vitest'
import { invoiceIdFrom, toInstant } from '../../src/index.ts'
import { OK } from '../support/bodies.ts'
import { errorOf as failure } from '../support/clients.ts'
import { answered, ORDER, open } from './set-up.ts'

test('row 10: a request is INITIALIZED, then SUCCEEDED, FAILED, EXPIRED after a day, or CANCELLED', async () => {
  const { mock, subscribe, s } = open()
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
  expect(() => mock.payer.authorize(third)).toThrow(/CANCELLED/)

  const quick = open({ subscriptions: { requestTtl: { minutes: 5 } } })
  await quick.subscribe()
  await quick.mock.clock.advance({ minutes: 5 })
  expect(quick.mock.state.subscriptions()[0]?.requestStatus).toBe('EXPIRED')
  const patient = open({ subscriptions: { requestTtl: false } })
  await patient.subscribe()
  await patient.mock.clock.advance({ days: 400 })
  expect(patient.mock.state.subscriptions()[0]?.requestStatus).toBe('INITIALIZED')

  const { subscriptions } = answered({ body: { invoiceId: 'inv-1', status: 'ON_HOLD', ...OK } })
  expect((await subscriptions.status('inv-1')).status).toBe('ON_HOLD')
})

test('row 11: the subscriptionId is issued at once, or later in one of three ways, which clients read as null', async () => {
  const { mock, subscribe, subscriptions } = open()
  const { invoiceID } = (await subscribe()).json
  const { subscriptionId } = await subscriptions.status(invoiceID)
  expect(subscriptionId).toBe(mock.state.subscriptions()[0]?.subscriptionId)

  for (const pendingSubscriptionId of ['NA', '', 'omit'] as const) {
    const other = open({ subscriptions: { pendingSubscriptionId } })
    const { invoiceID: id } = (await other.subscribe()).json
    const raw = (await other.s(`/api/v1.0/subscribe/${id}/status`)).json
    expect(raw.subscriptionId).toBe(pendingSubscriptionId === 'omit' ? undefined : pendingSubscriptionId)
    expect((await other.subscriptions.status(id)).subscriptionId).toBeNull()
    other.mock.payer.authorize(id)
    expect((await other.subscriptions.status(id)).subscriptionId).toMatch(/./)
  }
  const { subscriptions: client } = answered({ body: { status: 'INITIALIZED', subscriptionId: null, ...OK } })
  expect((await client.status('inv-1')).subscriptionId).toBeNull()
})

test('row 12: enabled is 1 while payments are expected, and clients read every form as 0 or 1', async () => {
  const { s, subscription, subscribe, mock, subscriptions } = open()
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

  const other = open({ subscriptions: { enabledValues: { active: 0, inactive: 2 } } })
  expect((await other.subscriptions.details((await other.subscription()).subscriptionId)).enabled).toBe(0)

  const forms = [0, 1, '0', '1', true, false, 'true', 'false', 'TRUE']
  for (const form of forms) {
    const client = answered({ body: { id: 'sub-1', enabled: form, ...OK } }).subscriptions
    const { data, response } = await client.details('sub-1').withResponse()
    expect(data.enabled).toBe(/^(1|true)$/i.test(String(form)) ? 1 : 0)
    expect(response.body).toMatchObject({ enabled: form })
  }
})

test('row 13: reversal fields are null, and text after a reversal; clients read no reversal in five forms', async () => {
  const { mock, s, subscription } = open()
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
  expect(() => mock.payer.reverse(first?.paymentId ?? 0)).toThrow(/reversed before/)
  expect(() => mock.payer.reverse(second?.paymentId ?? 0)).toThrow(/failed/)

  for (const amount of [null, '', '0.00', 0, undefined]) {
    const body = { status: 'SUCCEEDED_PAYMENT', ...fields, reverseTransactionAmount: amount, ...OK }
    expect(await answered({ body }).subscriptions.payment(1)).toMatchObject(fields)
  }
  const numeric = { status: 'SUCCEEDED_PAYMENT', reverseTransactionAmount: 25.5, ...OK }
  expect(await answered({ body: numeric }).subscriptions.payment(1)).toMatchObject({
    reverseTransactionAmount: '25.5',
    reverseTransactionDate: null,
  })
})

test('row 14: times without a zone are those of UTC, or of the zone that is named', async () => {
  const clock = '2026-12-01T18:10:00Z'
  const utc = open({ clock })
  const dhaka = open({ clock, subscriptions: { timeZone: 'Asia/Dhaka' } })
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
  expect(() => open({ subscriptions: { timeZone: 'Dhaka' } })).toThrow(/IANA/)

  const { subscriptions } = answered({ body: { id: 'sub-1', nextPaymentDate: '2026-12-02 12:00:00', ...OK } })
  const { nextPaymentDate } = await subscriptions.details('sub-1')
  expect(nextPaymentDate).toBe('2026-12-02 12:00:00')
  expect(toInstant(nextPaymentDate ?? '', 'Asia/Dhaka').toISOString()).toBe('2026-12-02T06:00:00.000Z')
})

test('row 15: today is taken as start at 23:30:00 and refused a second later, or at the time that is named', async () => {
  const statusAt = async (time: string, options = {}) => {
    const { subscribe } = open({ clock: `2026-12-01T${time}Z`, subscriptions: options })
    return (await subscribe()).status
  }
  expect(await statusAt('23:30:00')).toBe(200)
  expect(await statusAt('23:30:00.999')).toBe(200)
  expect(await statusAt('23:30:01')).toBe(422)
  expect(await statusAt('23:59:59')).toBe(422)
  expect(await statusAt('20:00:00', { startCutoff: '20:00:00' })).toBe(200)
  expect(await statusAt('20:00:01', { startCutoff: '20:00:00' })).toBe(422)
  expect(await statusAt('23:59:59', { startCutoff: false })).toBe(200)
  const { subscribe, mock } = open({ clock: '2026-12-01T23:45:00Z' })
  expect((await subscribe({ start: '2026-12-02' })).status).toBe(200)
  await subscribe()
  expect(mock.explain('subscriptions.subscribe')).toMatch(/2026-12-02.*/)
})

test('row 16: a start in the past is taken without charging the past, and refused under strict rules', async () => {
  const past = { start: '2026-11-01', cycle: 'DAILY' }
  const { mock, subscription } = open()
  await subscription(past)
  await mock.clock.advance({ days: 1 })
  expect(mock.state.payments().map(({ dueDate }) => dueDate)).toEqual(['2026-12-01'])
  for (const refusing of [open({ rules: 'strict' }), open({ subscriptions: { pastStart: 'refuse' } })]) {
    expect((await refusing.subscribe({ start: '2026-11-30' })).status).toBe(422)
    expect((await refusing.subscribe()).status).toBe(200)
  }
  expect((await open().subscriptions.subscribe({ ...ORDER, start: '2026-11-01' })).errorCode).toBe('00')
})

test('row 17: an end before the start is refused, by the client before it sends; the same day is taken', async () => {
  const { subscribe, subscriptions, mock } = open()
  expect((await subscribe({ start: '2026-12-02', end: '2026-12-01' })).status).toBe(422)
  expect((await subscribe({ start: '2026-12-02', end: '2026-12-02' })).status).toBe(200)
  const before = mock.requests.all().length
  const error = await failure(subscriptions.subscribe({ ...ORDER, start: '2026-12-02', end: '2026-12-01' }))
  expect([error.code, mock.requests.all().length]).toEqual(['invalid_request', before])
})

test('row 18: 730 days count from the start, or from today, and the client refuses what fails both', async () => {
  const order = { start: '2026-12-11' }
  const fromStart = open()
  expect((await fromStart.subscribe({ ...order, end: '2028-12-10' })).status).toBe(200)
  expect((await fromStart.subscribe({ ...order, end: '2028-12-11' })).status).toBe(422)
  const fromToday = open({ subscriptions: { maxEnd: { from: 'today', days: 730 } } })
  expect((await fromToday.subscribe({ ...order, end: '2028-11-30' })).status).toBe(200)
  expect((await fromToday.subscribe({ ...order, end: '2028-12-01' })).status).toBe(422)
  const unlimited = open({ subscriptions: { maxEnd: false } })
  expect((await unlimited.subscribe({ ...order, end: '2099-01-01' })).status).toBe(200)

  const client = fromToday.subscriptions
  // Counted from the start it is early enough: the server decides.
  expect(await failure(client.subscribe({ ...ORDER, ...order, end: '2028-12-10' }))).toMatchObject({
    status: 422,
  })
  expect(await failure(client.subscribe({ ...ORDER, ...order, end: '2028-12-12' }))).toMatchObject({
    code: 'invalid_request',
  })
})

test('row 19: an amount is decimal text above zero, sent as given; strict rules take two decimals at most', async () => {
  const { subscribe, subscriptions, mock, s } = open()
  for (const amount of ['25', '25.00', '0.001', '25.123'])
    expect((await subscribe({ amount })).status).toBe(200)
  for (const amount of ['0', '0.00', '-1', '1e3', '1,00', '', 25])
    expect((await subscribe({ amount })).status).toBe(422)
  for (const refusing of [
    open({ rules: 'strict' }),
    open({ subscriptions: { amountPattern: /^\d+(\.\d\d)?$/ } }),
  ]) {
    expect((await refusing.subscribe({ amount: '25.123' })).status).toBe(422)
    expect((await refusing.subscribe({ amount: '25.12' })).status).toBe(200)
  }
  await subscriptions.subscribe({ ...ORDER, amount: '10.00' })
  expect(mock.requests.of('subscriptions.subscribe').at(-1)?.body).toMatchObject({ amount: '10.00' })
  const { subscriptionId } = mock.state.subscriptions().at(-1) ?? {}
  expect((await s(`/api/v1.0/subscription/${subscriptionId}`)).json.amount).toBe(10)
  const numeric: unknown = { ...ORDER, amount: 25 }
  expect(await failure(subscriptions.subscribe(numeric as typeof ORDER))).toMatchObject({
    code: 'invalid_request',
  })
})

test('row 20: a requestID may come again, but not under strict rules; the client never sends one twice by itself', async () => {
  const { subscribe } = open()
  const [first, second] = [await subscribe(), await subscribe()]
  expect(first.json.invoiceID).not.toBe(second.json.invoiceID)
  for (const refusing of [
    open({ rules: 'strict' }),
    open({ subscriptions: { duplicateRequest: 'refuse' } }),
  ]) {
    await refusing.subscribe()
    const again = await refusing.subscribe()
    expect([again.status, again.json.errorCode]).toEqual([409, '03'])
    expect((await refusing.subscribe({ requestID: 'order-2' })).status).toBe(200)
  }
  const { subscriptions, sent } = answered({ status: 503 }, { retry: { limit: 2 } })
  const error = await failure(subscriptions.subscribe(ORDER))
  expect(error).toMatchObject({ outcome: 'unknown', attempts: 1, requestID: 'order-1' })
  expect(sent).toHaveLength(2)
})

test('row 21: a clientID that did not log in is taken, and refused under strict rules', async () => {
  expect((await open().subscribe({ clientID: 'another' })).status).toBe(200)
  for (const refusing of [open({ rules: 'strict' }), open({ subscriptions: { clientMismatch: 'refuse' } })]) {
    const answer = await refusing.subscribe({ clientID: 'another' })
    expect([answer.status, answer.json.errorCode]).toEqual([422, '05'])
    expect((await refusing.subscribe()).status).toBe(200)
  }
})

test('row 22: invoiceID joins the query of the return address, and is read from it in any casing', async () => {
  const { mock, subscribe } = open()
  const { json } = await subscribe({ userReturnURL: 'https://shop.example/return?b=2&a=%20x#top' })
  const { returnUrl } = mock.payer.authorize(json.invoiceID)
  expect(returnUrl).toBe(`https://shop.example/return?b=2&a=%20x&invoiceID=${json.invoiceID}#top`)
  expect(invoiceIdFrom(returnUrl)).toBe(json.invoiceID)
  for (const name of ['invoiceId', 'INVOICEID', 'invoiceid']) {
    expect(invoiceIdFrom(`https://shop.example/return?${name}=inv-1`)).toBe('inv-1')
  }
})

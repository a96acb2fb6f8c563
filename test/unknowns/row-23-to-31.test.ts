import { expect, test } from 'vitest'
import { OK } from '../support/bodies.ts'
import { errorOf as failure } from '../support/clients.ts'
import { answered, open } from './set-up.ts'

const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

test('row 23: payments are due every 1, 7 or 15 days from the start at noon, the first at or after the authorization', async () => {
  for (const [cycle, dates] of [
    ['DAILY', ['2026-12-01', '2026-12-02', '2026-12-03']],
    ['WEEKLY', ['2026-12-04', '2026-12-11', '2026-12-18']],
    ['FIFTEEN_DAYS', ['2026-12-12', '2026-12-27', '2027-01-11']],
  ] as const) {
    const { mock, subscription } = open()
    await subscription({ cycle, start: '2026-11-27' })
    await mock.clock.advance({ days: 60 })
    const payments = mock.state.payments().slice(0, 3)
    expect(payments.map(({ dueDate }) => dueDate)).toEqual(dates)
    expect(payments.map(({ transactionDate }) => transactionDate)).toEqual(
      dates.map((date) => `${date} 12:00:00`),
    )
  }
  const late = open({ clock: '2026-12-01T12:00:00Z' })
  await late.subscription({ cycle: 'DAILY', end: '2026-12-01' })
  expect(late.mock.state.payments().map(({ dueDate }) => dueDate)).toEqual(['2026-12-01'])
  const early = open({ subscriptions: { debitTime: '06:30:00' } })
  await early.subscription({ cycle: 'DAILY' })
  await early.mock.clock.advance({ minutes: 30 })
  expect(early.mock.state.payments()[0]?.transactionDate).toBe('2026-12-01 06:30:00')
})

test('row 24: a failed payment keeps its time and number, and is tried again only with dunning', async () => {
  const plain = open()
  await plain.subscription({ cycle: 'DAILY' }, ['fail'])
  await plain.mock.clock.advance({ days: 2 })
  expect(plain.mock.state.payments().map(({ dueDate, status }) => [dueDate, status])).toEqual([
    ['2026-12-01', 'FAILED_PAYMENT'],
    ['2026-12-02', 'SUCCEEDED_PAYMENT'],
  ])
  expect(plain.mock.state.payments()[0]).toMatchObject({
    transactionId: expect.stringMatching(/./),
    transactionDate: '2026-12-01 12:00:00',
  })
  const dunning = open({ subscriptions: { dunning: { retries: 2, everyDays: 2 } } })
  const { subscriptionId } = await dunning.subscription({}, ['fail', 'fail', 'succeed'])
  await dunning.mock.clock.advance({ days: 6 })
  const seen = await collect(dunning.subscriptions.allPayments(subscriptionId))
  expect(
    seen.map(({ dueDate, transactionDate, status }) => [dueDate, transactionDate.slice(0, 10), status]),
  ).toEqual([
    ['2026-12-01', '2026-12-01', 'FAILED_PAYMENT'],
    ['2026-12-01', '2026-12-03', 'FAILED_PAYMENT'],
    ['2026-12-01', '2026-12-05', 'SUCCEEDED_PAYMENT'],
  ])
  const { subscriptions } = answered({ body: { paymentId: 1, status: 'FAILED_PAYMENT', ...OK } })
  expect((await subscriptions.payment(1)).status).toBe('FAILED_PAYMENT')
})

test('row 25: after the end nextPaymentDate is the date that would have been next, or null, and clients take all', async () => {
  for (const [nextPaymentDateAfterEnd, details, payment] of [
    ['date', '2026-12-15 12:00:00', '2026-12-15'],
    ['null', null, null],
  ] as const) {
    const { mock, subscription, subscriptions } = open({ subscriptions: { nextPaymentDateAfterEnd } })
    const { subscriptionId } = await subscription({ end: '2026-12-10' })
    await mock.clock.advance({ days: 30 })
    expect((await subscriptions.details(subscriptionId)).nextPaymentDate).toBe(details)
    expect((await subscriptions.payments(subscriptionId)).subscriptionPayments.at(-1)?.nextPaymentDate).toBe(
      payment,
    )
  }
  for (const nextPaymentDate of [null, '', undefined]) {
    const { subscriptions } = answered({ body: { id: 'sub-1', nextPaymentDate, ...OK } })
    expect((await subscriptions.details('sub-1')).nextPaymentDate).toBeNull()
  }
})

test('row 26: payments succeed but for those that are scripted, and any status reaches the caller', async () => {
  const { mock, subscription } = open()
  await subscription({ cycle: 'DAILY' }, ['succeed', 'fail'])
  await mock.clock.advance({ days: 4 })
  expect(mock.state.payments().map(({ status }) => status.split('_')[0])).toEqual([
    'SUCCEEDED',
    'FAILED',
    'SUCCEEDED',
    'SUCCEEDED',
  ])
  const { subscriptions } = answered({ body: { status: 'ON_ITS_WAY', ...OK } })
  expect((await subscriptions.payment(1)).status).toBe('ON_ITS_WAY')
})

test('row 27: a cancellation is processed at once, also before the authorization, or after a delay', async () => {
  const { subscription, subscribe, subscriptions, mock } = open()
  const { subscriptionId } = await subscription()
  expect((await subscriptions.cancel(subscriptionId)).status).toBe('PROCESSED')
  expect((await subscriptions.details(subscriptionId)).enabled).toBe(0)
  const { invoiceID } = (await subscribe()).json
  const pending = mock.state.subscriptions().at(-1)?.subscriptionId ?? ''
  expect((await subscriptions.cancel(pending)).status).toBe('PROCESSED')
  expect(() => mock.payer.authorize(invoiceID)).toThrow(/CANCELLED/)

  const slow = open({ subscriptions: { cancelDelay: { days: 2 } } })
  const { subscriptionId: id } = await slow.subscription({ cycle: 'DAILY' })
  expect((await slow.subscriptions.cancel(id)).status).toBe('PROCESSING')
  expect((await slow.subscriptions.details(id)).enabled).toBe(1)
  await slow.mock.clock.advance({ days: 10 })
  expect((await slow.subscriptions.cancellation(id)).status).toBe('PROCESSED')
  expect(slow.mock.state.payments().map(({ dueDate }) => dueDate)).toEqual(['2026-12-01', '2026-12-02'])

  const { subscriptions: client } = answered({ body: { id: 1, requestID: 2, status: 'QUEUED', ...OK } })
  expect((await client.cancel('sub-1')).status).toBe('QUEUED')
})

test('row 28: cancelling again, or after the end, gives one record and one notification, or is refused', async () => {
  const { subscription, subscriptions, mock } = open()
  const { subscriptionId } = await subscription({ end: '2026-12-03' })
  await mock.clock.advance({ days: 10 })
  const first = await subscriptions.cancel(subscriptionId)
  expect(await subscriptions.cancel(subscriptionId)).toEqual(first)
  expect(mock.notifications.all().filter(({ status }) => status === 'CANCELLED')).toHaveLength(1)

  const refusing = open({ subscriptions: { cancelTwice: 'refuse' } })
  const { subscriptionId: id } = await refusing.subscription()
  await refusing.subscriptions.cancel(id)
  expect(await failure(refusing.subscriptions.cancel(id))).toMatchObject({ status: 409, errorCode: '04' })
})

test('row 29: details of a cancellation that nobody asked for are a 404, and clients take 200 with a code as refusal', async () => {
  const { subscription, subscriptions } = open()
  const { subscriptionId } = await subscription()
  expect(await failure(subscriptions.cancellation(subscriptionId))).toMatchObject({
    status: 404,
    errorCode: '02',
  })
  const { subscriptions: client } = answered({ body: { errorCode: '02', errorMessage: 'none' } })
  expect(await failure(client.cancellation('sub-1'))).toMatchObject({
    status: 200,
    errorCode: '02',
    outcome: 'rejected',
  })
})

test('row 30: a cancellation is found by its subscription, its own id and its requestID', async () => {
  const { subscription, subscriptions, s, mock } = open()
  const { subscriptionId } = await subscription()
  const { id, requestID } = await subscriptions.cancel(subscriptionId)
  for (const name of [subscriptionId, id, requestID]) {
    expect((await s(`/api/v1.0/subscription/cancel/${name}`)).json).toMatchObject({
      id,
      requestID,
      subscriptionID: subscriptionId,
    })
  }
  await subscriptions.cancellation(subscriptionId)
  expect(mock.requests.all().at(-1)?.path).toBe(`/api/v1.0/subscription/cancel/${subscriptionId}`)
})

test('row 31: calls without body fields take no body, an empty one and {}; clients send {} or nothing', async () => {
  const { subscription, s } = open()
  const { subscriptionId } = await subscription()
  for (const body of [undefined, '', '  ', '{}', {}]) {
    expect((await s(`/api/v1.0/subscription/${subscriptionId}`, { body })).status).toBe(200)
  }
  const asked = async (options = {}) => {
    const { subscriptions, sent } = answered({ body: { id: 'sub-1', ...OK } }, options)
    await subscriptions.details('sub-1')
    return sent.at(-1)
  }
  expect(await asked()).toMatchObject({ body: '{}', type: 'application/json' })
  expect(await asked({ emptyBody: 'none' })).toMatchObject({ body: '' })
})

import { expect } from 'vitest'
import { MockRefusedError } from '../../mocks/core.ts'
import { errorOf as failure } from '../support/clients.ts'
import { test } from './set-up.ts'

const collect = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

test('row 23: payments are due every 1, 7 or 15 days from the start at noon, the first at or after the authorization', async (open) => {
  for (const [cycle, dates] of [
    ['DAILY', ['2026-12-01', '2026-12-02', '2026-12-03']],
    ['WEEKLY', ['2026-12-04', '2026-12-11', '2026-12-18']],
    ['FIFTEEN_DAYS', ['2026-12-12', '2026-12-27', '2027-01-11']],
  ] as const) {
    const { mock, subscription } = await open()
    await subscription({ cycle, start: '2026-11-27' })
    await mock.clock.advance({ days: 60 })
    const payments = mock.state.payments().slice(0, 3)
    expect(payments.map(({ dueDate }) => dueDate)).toEqual(dates)
    expect(payments.map(({ transactionDate }) => transactionDate)).toEqual(
      dates.map((date) => `${date} 12:00:00`),
    )
  }
  for (const [clock, first] of [
    ['2026-12-01T12:00:00Z', '2026-12-01'],
    ['2026-12-01T12:00:00.001Z', '2026-12-02'],
  ] as const) {
    const late = await open({ clock })
    await late.subscription({ cycle: 'DAILY' })
    await late.mock.clock.advance({ days: 1 })
    expect(late.mock.state.payments()[0]?.dueDate).toBe(first)
  }
  const early = await open({ subscriptions: { debitTime: '06:30:00' } })
  await early.subscription({ cycle: 'DAILY' })
  await early.mock.clock.advance({ minutes: 30 })
  expect(early.mock.state.payments()[0]?.transactionDate).toBe('2026-12-01 06:30:00')
})

test('row 24: a failed payment keeps its time and number, and is retried only with dunning', async (open) => {
  const plain = await open()
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
  const dunning = await open({ subscriptions: { dunning: { retries: 2, everyDays: 2 } } })
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
})

test('row 25: after the end nextPaymentDate is the date that would have been next, or null', async (open) => {
  for (const [nextPaymentDateAfterEnd, details, payment] of [
    ['date', '2026-12-15 12:00:00', '2026-12-15'],
    ['null', null, null],
  ] as const) {
    const { mock, subscription, subscriptions } = await open({ subscriptions: { nextPaymentDateAfterEnd } })
    const { subscriptionId } = await subscription({ end: '2026-12-10' })
    await mock.clock.advance({ days: 30 })
    expect((await subscriptions.details(subscriptionId)).nextPaymentDate).toBe(details)
    expect((await subscriptions.payments(subscriptionId)).subscriptionPayments.at(-1)?.nextPaymentDate).toBe(
      payment,
    )
  }
  const cancelled = await open()
  const { subscriptionId } = await cancelled.subscription({ cycle: 'DAILY' })
  await cancelled.mock.clock.advance({ days: 2 })
  await cancelled.subscriptions.cancel(subscriptionId)
  await cancelled.mock.clock.advance({ days: 9 })
  expect((await cancelled.subscriptions.details(subscriptionId)).nextPaymentDate).toBe('2026-12-03 12:00:00')
  expect(cancelled.mock.state.payments()).toHaveLength(2)
})

test('row 26: payments succeed unless they are scripted', async (open) => {
  const { mock, subscription } = await open()
  await subscription({ cycle: 'DAILY' }, ['succeed', 'fail'])
  await mock.clock.advance({ days: 4 })
  expect(mock.state.payments().map(({ status }) => status.split('_')[0])).toEqual([
    'SUCCEEDED',
    'FAILED',
    'SUCCEEDED',
    'SUCCEEDED',
  ])
})

test('row 27: a cancellation is processed at once, also before the authorization, or after a delay', async (open) => {
  const { subscription, subscribe, subscriptions, mock } = await open()
  const { subscriptionId } = await subscription()
  expect((await subscriptions.cancel(subscriptionId)).status).toBe('PROCESSED')
  expect((await subscriptions.details(subscriptionId)).enabled).toBe(0)
  const { invoiceID } = (await subscribe()).json
  const pending = mock.state.subscriptions().at(-1)?.subscriptionId ?? ''
  expect((await subscriptions.cancel(pending)).status).toBe('PROCESSED')
  expect(() => mock.payer.authorize(invoiceID)).toThrow(MockRefusedError)

  const slow = await open({ subscriptions: { cancelDelay: { days: 2 } } })
  const { subscriptionId: id } = await slow.subscription({ cycle: 'DAILY' })
  for (let twice = 0; twice < 2; twice += 1)
    expect((await slow.subscriptions.cancel(id)).status).toBe('PROCESSING')
  expect((await slow.subscriptions.details(id)).enabled).toBe(1)
  await slow.mock.clock.advance({ days: 10 })
  expect((await slow.subscriptions.cancellation(id)).status).toBe('PROCESSED')
  expect(slow.mock.state.payments().map(({ dueDate }) => dueDate)).toEqual(['2026-12-01', '2026-12-02'])
})

test('row 28: a second cancellation returns the first record without a second notification, or is refused', async (open) => {
  const { subscription, subscriptions, mock } = await open()
  const { subscriptionId } = await subscription()
  const first = await subscriptions.cancel(subscriptionId)
  expect(await subscriptions.cancel(subscriptionId)).toEqual(first)
  expect(mock.notifications.all().filter(({ status }) => status === 'CANCELLED')).toHaveLength(1)

  const refusing = await open({ subscriptions: { cancelTwice: 'refuse' } })
  const { subscriptionId: id } = await refusing.subscription()
  await refusing.subscriptions.cancel(id)
  expect(await failure(refusing.subscriptions.cancel(id))).toMatchObject({ status: 409, errorCode: '04' })
  const { subscriptionId: ended } = await refusing.subscription({ end: '2026-12-01' })
  await refusing.mock.clock.advance({ days: 2 })
  expect(await failure(refusing.subscriptions.cancel(ended))).toMatchObject({ status: 409, errorCode: '04' })
})

test('row 29: details of a missing cancellation are a 404', async (open) => {
  const { subscription, subscriptions } = await open()
  const { subscriptionId } = await subscription()
  expect(await failure(subscriptions.cancellation(subscriptionId))).toMatchObject({
    status: 404,
    errorCode: '02',
  })
})

test('row 30: a cancellation is found by its subscription, its own id and its requestID', async (open) => {
  const { subscription, subscriptions, s, mock } = await open()
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

test('row 31: calls without body fields accept no body, an empty one and {}', async (open) => {
  const { subscription, s } = await open()
  const { subscriptionId } = await subscription()
  for (const body of [undefined, '', '  ', '{}', {}]) {
    expect((await s(`/api/v1.0/subscription/${subscriptionId}`, { body })).status).toBe(200)
  }
})

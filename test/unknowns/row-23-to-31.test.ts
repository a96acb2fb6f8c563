import { expect } from 'vitest'
import type { OpenMock } from '../mock/open.ts'
import { errorOf as failure } from '../support/clients.ts'
import { S, test, testCases } from './set-up.ts'

/** The payments of a subscription after some days, each as its due date, its time, and the first letter of its status. */
const payments =
  (days: number, fields: object, script: readonly ('succeed' | 'fail')[] = []) =>
  async ({ mock, subscription }: OpenMock) => {
    await subscription({ cycle: 'DAILY', ...fields }, script)
    await mock.clock.advance({ days })
    return mock.state
      .payments()
      .map((each) => `${each.dueDate.slice(8)}: ${each.transactionDate.slice(5)} ${each.status[0]}`)
  }
const noon = '2026-12-01T12:00:00Z'

testCases('row 23: payments are due at noon every 1, 7 or 15 days from the start, if authorized by then', [
  [{}, payments(2, { start: '2026-11-27' }), ['01: 12-01 12:00:00 S', '02: 12-02 12:00:00 S']],
  [
    {},
    payments(11, { start: '2026-11-27', cycle: 'WEEKLY' }),
    ['04: 12-04 12:00:00 S', '11: 12-11 12:00:00 S'],
  ],
  [{}, payments(18, { start: '2026-11-27', cycle: 'FIFTEEN_DAYS' }), ['12: 12-12 12:00:00 S']],
  [{ clock: noon }, payments(0, {}), ['01: 12-01 12:00:00 S']],
  [{ clock: noon.replace('Z', '.001Z') }, payments(1, {}), ['02: 12-02 12:00:00 S']],
  [S({ debitTime: '06:30:00' }), payments(1, {}), ['01: 12-01 06:30:00 S']],
])

testCases(
  'row 24: a failed payment is not retried, or by dunning until the end, and the next cycle goes on',
  [
    [{}, payments(2, {}, ['fail']), ['01: 12-01 12:00:00 F', '02: 12-02 12:00:00 S']],
    [
      S({ dunning: { retries: 2, everyDays: 3 } }),
      payments(60, { cycle: 'WEEKLY', end: '2026-12-10' }, ['fail', 'fail', 'succeed', 'fail', 'fail']),
      ['01: 12-01 12:00:00 F', '01: 12-04 12:00:00 F', '01: 12-07 12:00:00 S', '08: 12-08 12:00:00 F'],
    ],
    // A retry of the day before precedes the payment of the day.
    [
      S({ dunning: { retries: 1, everyDays: 1 } }),
      payments(10, { end: '2026-12-02' }, ['fail', 'succeed', 'fail']),
      ['01: 12-01 12:00:00 F', '01: 12-02 12:00:00 S', '02: 12-02 12:00:00 F'],
    ],
  ],
)

const nextDates = async ({ mock, subscription, subscriptions }: OpenMock) => {
  const { subscriptionId } = await subscription({ end: '2026-12-10' })
  await mock.clock.advance({ days: 30 })
  const { subscriptionPayments } = await subscriptions.payments(subscriptionId)
  return [
    (await subscriptions.details(subscriptionId)).nextPaymentDate,
    subscriptionPayments.at(-1)?.nextPaymentDate,
  ]
}

testCases('row 25: after the end nextPaymentDate is the date that would have been next, or null', [
  [{}, nextDates, ['2026-12-15 12:00:00', '2026-12-15']],
  [S({ nextPaymentDateAfterEnd: 'null' }), nextDates, [null, null]],
])

testCases('row 26: payments succeed unless they are scripted', [
  [
    {},
    payments(3, {}, ['succeed', 'fail']),
    ['01: 12-01 12:00:00 S', '02: 12-02 12:00:00 F', '03: 12-03 12:00:00 S'],
  ],
])

/** Status and `enabled` after two calls of cancel, status ten days later, and the number of payments. */
const cancelling = async ({ mock, subscription, subscriptions }: OpenMock) => {
  const { subscriptionId: id } = await subscription({ cycle: 'DAILY' })
  await subscriptions.cancel(id)
  const { status } = await subscriptions.cancel(id)
  const { enabled } = await subscriptions.details(id)
  await mock.clock.advance({ days: 10 })
  return [status, enabled, (await subscriptions.cancellation(id)).status, mock.state.payments().length]
}

/** The status of a cancellation before the authorization, and of the request. */
const cancellingUndecided = async ({ mock, subscribe, subscriptions }: OpenMock) => {
  await subscribe()
  const { status } = await subscriptions.cancel(mock.state.subscriptions()[0]?.subscriptionId ?? '')
  return [status, mock.state.subscriptions()[0]?.requestStatus]
}

testCases('row 27: a cancellation is processed at once, also of a request, or after the time of the option', [
  [{}, cancelling, ['PROCESSED', 0, 'PROCESSED', 0]],
  [{}, cancellingUndecided, ['PROCESSED', 'CANCELLED']],
  [S({ cancelDelay: { days: 2 } }), cancelling, ['PROCESSING', 1, 'PROCESSED', 2]],
])

test('row 28: a second cancellation returns the first record without a second notification, or is refused', async (open) => {
  const { subscription, subscriptions, mock } = await open()
  const { subscriptionId } = await subscription()
  const first = await subscriptions.cancel(subscriptionId)
  expect(await subscriptions.cancel(subscriptionId)).toEqual(first)
  expect(mock.notifications.all().filter(({ status }) => status === 'CANCELLED')).toHaveLength(1)

  const refusing = await open(S({ cancelTwice: 'refuse' }))
  const { subscriptionId: id } = await refusing.subscription()
  await refusing.subscriptions.cancel(id)
  const { subscriptionId: ended } = await refusing.subscription({ end: '2026-12-01' })
  await refusing.mock.clock.advance({ days: 2 })
  for (const each of [id, ended])
    expect(await failure(refusing.subscriptions.cancel(each))).toMatchObject({ status: 409, errorCode: '04' })
})

test('row 29: details of a missing cancellation are a 404', async (open) => {
  const { subscription, subscriptions } = await open()
  const { subscriptionId } = await subscription()
  const missing = { status: 404, errorCode: '02' }
  expect(await failure(subscriptions.cancellation(subscriptionId))).toMatchObject(missing)
})

test('row 30: a cancellation is found by its subscription, its own id and its requestID', async (open) => {
  const { subscription, subscriptions, s, mock } = await open()
  const { subscriptionId } = await subscription()
  const { id, requestID } = await subscriptions.cancel(subscriptionId)
  for (const name of [subscriptionId, id, requestID]) {
    const { json } = await s(`/api/v1.0/subscription/cancel/${name}`)
    expect(json).toMatchObject({ id, requestID, subscriptionID: subscriptionId })
  }
  await subscriptions.cancellation(subscriptionId)
  expect(mock.requests.all().at(-1)?.path).toBe(`/api/v1.0/subscription/cancel/${subscriptionId}`)
})

test('row 31: calls without body fields accept no body, an empty one and {}', async (open) => {
  const { subscription, s } = await open()
  const { subscriptionId } = await subscription()
  for (const body of [undefined, '', '  ', '{}', {}])
    expect((await s(`/api/v1.0/subscription/${subscriptionId}`, { body })).status).toBe(200)
})

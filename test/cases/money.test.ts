import { renewalKey } from 'mandatekit'
import { testNumbers } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'
import { MOCK_CHARGE as CHARGE, ORDER, openMock as open } from '../support/mock-clients.ts'
import { refusal } from '../support/refusal.ts'

test('case 15: a charge whose answer was lost is one charge, and two calls of the caller are two', async () => {
  const { mock, gateway } = open()
  mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response', times: 2 })
  const { data, response } = await gateway.charge(CHARGE).withResponse()
  expect([response.attempts, mock.state.charges().map(({ id }) => id)]).toEqual([3, [data.id]])
  const sent = mock.requests.of('gateway.charge')
  expect(new Set(sent.map(({ idempotencyKey, body }) => JSON.stringify([idempotencyKey, body]))).size).toBe(1)
  expect((await gateway.charge(CHARGE)).id).not.toBe(data.id)
  expect(mock.state.charges()).toHaveLength(2)
})

test('case 16: a subscribe that was executed without an answer is not repeated, and its error says what is not known', async () => {
  const { mock, subscriptions } = open()
  mock.faults.add({ operation: 'subscriptions.subscribe', kind: 'lost-response', times: 'always' })
  await expect(subscriptions.subscribe(ORDER)).rejects.toMatchObject({
    code: 'connection_failed',
    outcome: 'unknown',
    attempts: 1,
    requestID: 'order-1',
  })
  expect(mock.state.subscriptions()).toHaveLength(1)
})

test('case 19: a cancellation whose answer was lost gives its record when it is asked for again', async () => {
  const { mock, subscriptions } = open()
  const { invoiceID } = await subscriptions.subscribe(ORDER)
  mock.payer.authorize(invoiceID)
  const { subscriptionId } = await subscriptions.status(invoiceID)
  mock.faults.add({ operation: 'subscriptions.cancel', kind: 'lost-response' })
  expect(await refusal(subscriptions.cancel(subscriptionId ?? ''))).toBe('connection_failed unknown')
  const record = await subscriptions.cancellation(subscriptionId ?? '')
  expect(await subscriptions.cancel(subscriptionId ?? '')).toEqual(record)
  expect(mock.notifications.all().filter(({ status }) => status === 'CANCELLED')).toHaveLength(1)
})

test('case 33: a key is one charge whatever its body; after a forced 500 it is still good; parallel calls share it', async () => {
  const { mock, gateway } = open()
  const idempotencyKey = 'order-77'
  const first = await gateway.charge(CHARGE, { idempotencyKey })
  expect(await gateway.charge({ ...CHARGE, amount: 1 }, { idempotencyKey })).toEqual(first)
  expect(mock.state.charges()).toHaveLength(1)

  const strict = open({ rules: 'strict' })
  await strict.gateway.charge(CHARGE, { idempotencyKey })
  const other = strict.gateway.charge({ ...CHARGE, amount: 1 }, { idempotencyKey })
  await expect(other).rejects.toMatchObject({ status: 422, outcome: 'rejected' })

  mock.faults.add({ operation: 'gateway.charge', kind: 'status', status: 500 })
  const forced = await gateway
    .charge(CHARGE, { idempotencyKey: 'order-78', retry: false })
    .catch((error) => error)
  expect(forced).toMatchObject({ status: 500, outcome: 'unknown', idempotencyKey: 'order-78' })
  const { id } = await gateway.charge(CHARGE, { idempotencyKey: 'order-78' })

  const twins = [0, 1].map(() => gateway.charge(CHARGE, { idempotencyKey: 'order-79' }))
  const [one, two] = await Promise.all(twins)
  expect(one).toEqual(two)
  expect(mock.state.charges().map((charge) => charge.id)).toEqual([first.id, id, one?.id])
})

test('case 34: a failing renewal keeps its key’s answer, a new attempt is a new one, and 15 days change nothing', async () => {
  const { mock, gateway } = open()
  const { id, confirmation_id } = await gateway.charge({ ...CHARGE, msisdn: testNumbers.succeeds_once })
  await gateway.confirm(confirmation_id, { otp: '123456' })
  const dueDate = '2026-12-01'
  const failed = await gateway.renew(id, { dueDate })
  expect(failed.status).toBe('failed')
  expect(await gateway.renew(id, { dueDate })).toEqual(failed)
  const second = await gateway.renew(id, { dueDate, attempt: 2 })
  expect(second.id).not.toBe(failed.id)
  await mock.clock.advance({ days: 15 })
  expect(await gateway.renew(id, { idempotencyKey: renewalKey(id, dueDate) })).toEqual(failed)
  expect(mock.state.charges()).toHaveLength(3)
})

test('case 35: a charge that is pending is never told as failed, and the deadline gives its last state', async () => {
  for (const [msisdn, confirms, status] of [
    [testNumbers.succeeds, false, 'pending_confirmation'],
    [testNumbers.stays_pending_retry, true, 'pending_retry'],
  ] as const) {
    const { mock, gateway } = open()
    const { id, confirmation_id } = await gateway.charge({ ...CHARGE, msisdn })
    if (confirms) mock.payer.confirm(confirmation_id)
    await expect(gateway.waitForCharge(id, { timeout: 30_000 })).rejects.toMatchObject({
      code: 'timeout',
      lastState: { id, status },
    })
  }
  const { mock, gateway } = open({ gateway: { retryDelay: { minutes: 2 } } })
  const { id, confirmation_id } = await gateway.charge({ ...CHARGE, msisdn: testNumbers.retry_then_succeeds })
  mock.payer.confirm(confirmation_id)
  expect((await gateway.waitForCharge(id, { timeout: 300_000 })).status).toBe('succeeded')
})

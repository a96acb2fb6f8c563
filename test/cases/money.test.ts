import { renewalKey } from 'mandatekit'
import { testNumbers } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'
import { MOCK_CHARGE as CHARGE, openMock as open } from '../support/mock-clients.ts'

test('case 33: a key is one charge with any body, after a forced 500 and for parallel calls', async () => {
  const { mock, gateway } = open()
  const idempotencyKey = 'order-77'
  const first = await gateway.charge(CHARGE, { idempotencyKey })
  const reused = gateway.charge({ ...CHARGE, amount: 1 }, { idempotencyKey })
  await expect(reused).rejects.toMatchObject({
    code: 'key_reused',
    body: { id: first.id, amount: CHARGE.amount },
  })
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

test('case 34: the key of a failed renewal returns it for 15 days, and a new attempt is a new renewal', async () => {
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

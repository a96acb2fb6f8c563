import { expect, test } from 'vitest'
import type { Variant } from '../../mocks/core.ts'
import { createMock } from '../../mocks/core.ts'
import { SubscriptionsClient } from '../../src/index.ts'

const ORDER = {
  requestID: 'order-1',
  start: '2026-12-01',
  end: '2027-12-01',
  cycle: 'DAILY',
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
} as const

const open = (variant: Variant) => {
  const mock = createMock({ clock: '2026-12-01T06:00:00Z', subscriptions: { variant } })
  return { mock, client: new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch }) }
}

test('the form with numbers gives every identifier as a number, and a client goes on with them', async () => {
  const { mock, client } = open(['number-ids'])
  const { data, response } = await client.subscribe(ORDER).withResponse()
  expect(response.body).toMatchObject({ invoiceID: Number(data.invoiceID) })
  mock.payer.authorize(data.invoiceID)
  await mock.clock.advance({ days: 1 })
  const request = await client.status(data.invoiceID).withResponse()
  const id = request.data.subscriptionId ?? ''
  expect(request.response.body).toMatchObject({ subscriptionId: Number(id) })
  await client.login()
  expect((await client.payments(id)).subscriptionPayments).toMatchObject([{ subscriptionId: id }])
  expect(await client.cancel(id)).toMatchObject({ subscriptionID: id })
})

test('a function that gives a promise back is told so instead of answering with an empty object', async () => {
  const { mock, client } = open((_operation, body) => Promise.resolve(body))
  await expect(client.login()).rejects.toMatchObject({ status: 500 })
  expect(mock.explain('subscriptions.login')).toMatch(
    /subscriptions\.variant: the function gave a promise back/,
  )
})

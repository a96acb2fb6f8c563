import { SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'
import { reconcile } from '../../src/notifications/index.ts'
import { subscriptionRequest } from '../support/messages.ts'

/** A mock with a subscription after its first payment, and its client. */
const begin = async () => {
  const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })
  const { invoiceID } = await client.subscribe(subscriptionRequest)
  mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
  await mock.clock.advance({ days: 1 })
  return { mock, client, subscriptionId: (await client.status(invoiceID)).subscriptionId ?? '' }
}

test('reconciliation finds the payments and the cancellation whose notifications were lost', async () => {
  const { mock, client, subscriptionId } = await begin()
  const payments = mock.state.payments(subscriptionId)
  // Two payments and the cancellation are missing in the books.
  await mock.clock.advance({ days: 2 })
  await client.cancel(subscriptionId)
  const found: string[] = []
  const expected = [{ subscriptionId, payments, cancelled: false }]
  const run = reconcile({ subscriptions: client, expected })
  for await (const { kind } of run) found.push(kind)
  expect(found).toEqual(['payment-missing', 'payment-missing', 'cancellation-missing'])
  expect(run.progress).toEqual({ checked: 1, differences: 3, unchecked: 0 })
})

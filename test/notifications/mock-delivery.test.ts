import { SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'
import { lookupVerifier, reconcile } from '../../src/notifications/index.ts'
import { payment, subscriptionRequest } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'

/** A mock with a subscription after its first payment, and its client. */
const begin = async () => {
  const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })
  const { invoiceID } = await client.subscribe(subscriptionRequest)
  mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
  await mock.clock.advance({ days: 1 })
  return { mock, client, subscriptionId: (await client.status(invoiceID)).subscriptionId ?? '' }
}

test('a message that contradicts the API receives 401', async () => {
  const { mock, client, subscriptionId } = await begin()
  const { deliver, onPayment } = openReceiver({ verify: lookupVerifier(client, { clock: mock.clock }) })
  const [genuine] = mock.state.payments(subscriptionId)
  const paid = { subscriptionId, paymentId: String(genuine?.paymentId), timestamp: '1798783200' }
  const post = (changes: Record<string, string>) =>
    deliver(payment({ notificationId: JSON.stringify(changes), ...paid, ...changes }))
  expect(await post({ status: 'FAILED_PAYMENT' })).toBe(401) // the message is a day old
  expect(await post({ subscriptionId: 'another' })).toBe(401)
  expect(await post({ paymentId: '999999' })).toBe(503)
  expect(await post({ type: 'SUBSCRIPTION', status: 'CANCELLED', paymentId: '' })).toBe(503)
  expect(onPayment).not.toHaveBeenCalled()
  expect(await post({})).toBe(200)
  mock.faults.add({ operation: 'subscriptions.payment', kind: 'status', status: 500, times: 'always' })
  expect(await post({ timestamp: '1798783201' })).toBe(503)
})

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

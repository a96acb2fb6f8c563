import { describe, expect, test, vi } from 'vitest'
import {
  createMemoryDedupeStore,
  createNotificationHandler,
  lookupVerifier,
} from '../../src/notifications/index.ts'
import { deferred } from '../support/deferred.ts'
import { settled } from '../support/manual-clock.ts'
import { delivery, payment, subscription } from '../support/messages.ts'
import { ORDER, openMock } from '../support/mock-clients.ts'
import { openReceiver } from '../support/receiver.ts'

/** A subscription of the mock with its messages, and a handler that looks them up and is not connected yet. */
const openShop = async () => {
  const { mock, subscriptions } = openMock()
  const onPayment = vi.fn()
  const onSubscription = vi.fn()
  const verify = lookupVerifier(subscriptions, { clock: mock.clock })
  const handler = createNotificationHandler({ verify, onPayment, onSubscription, clock: mock.clock })
  const { invoiceID } = await subscriptions.subscribe(ORDER)
  mock.payer.authorize(invoiceID)
  await mock.clock.advance({ days: 2 })
  const { subscriptionId } = await subscriptions.status(invoiceID)
  await subscriptions.cancel(subscriptionId ?? '')
  const messages = mock.notifications.all()
  const last = (type: string) => messages.findLast((message) => message.type === type)
  const deliver = async (message: object) => (await handler(delivery(message))).status
  return {
    first: (type: string) => messages.find((message) => message.type === type),
    last,
    deliver,
    onPayment,
    onSubscription,
  }
}

describe('a genuine message that was sent under the id of a later one', () => {
  test('does not make the later payment a duplicate', async () => {
    const { first, last, deliver, onPayment } = await openShop()
    const later = last('SUBSCRIPTION_PAYMENT')
    const forged = { ...first('SUBSCRIPTION_PAYMENT'), notificationId: later?.notificationId }
    expect([await deliver(forged), await deliver({ ...later })]).toEqual([200, 200])
    expect(onPayment.mock.calls.map(([{ paymentId }]) => paymentId)).toEqual([
      forged.paymentId,
      later?.paymentId,
    ])
    expect(await deliver({ ...later })).toBe(200)
    expect(onPayment).toHaveBeenCalledTimes(2)
  })

  test('does not make the later cancellation a duplicate', async () => {
    const { first, last, deliver, onSubscription } = await openShop()
    const later = last('SUBSCRIPTION')
    const forged = { ...first('SUBSCRIPTION'), notificationId: later?.notificationId }
    expect([await deliver(forged), await deliver({ ...later })]).toEqual([200, 200])
    expect(onSubscription.mock.calls.map(([{ status }]) => status)).toEqual(['SUCCEEDED', 'CANCELLED'])
  })

  test.each([
    ['still runs', false],
    ['has lost its commit', true],
  ])('and %s does not stand for the later one', async (_, hasEnded) => {
    const work = deferred()
    const onPayment = vi.fn().mockReturnValueOnce(work.promise)
    const commit = () => Promise.reject(new Error('down'))
    const { deliver } = openReceiver({ onPayment, dedupe: { ...createMemoryDedupeStore(), commit } })
    const forged = deliver(payment({ paymentId: '41' }))
    await settled()
    if (hasEnded) work.resolve()
    await settled()
    expect(await deliver(payment())).toBe(200)
    work.resolve()
    expect(await forged).toBe(200)
    expect(onPayment).toHaveBeenCalledTimes(2)
  })
})

test.each([
  ['type', payment({ type: 'REFUND', status: 'X' }), payment({ type: 'REVERSAL', status: 'X' })],
  ['status', payment(), payment({ status: 'FAILED_PAYMENT' })],
  ['subscriptionId', payment(), payment({ subscriptionId: 'sub-2' })],
  ['paymentId', payment(), payment({ paymentId: '43' })],
])('messages with one id and another %s are two notifications', async (_, one, other) => {
  const listener = vi.fn()
  const { deliver } = openReceiver({ onPayment: listener, onUnknown: listener })
  for (const message of [one, other, one, other]) expect(await deliver(message)).toBe(200)
  expect(listener).toHaveBeenCalledTimes(2)
})

test('a redelivery may be a form, spell CANCELED differently, and have a new timestamp', async () => {
  const { deliver, onSubscription } = openReceiver()
  expect(await deliver(subscription())).toBe(200)
  const fields = subscription({ status: 'canceled', timestamp: '1796032900' })
  const form = new URLSearchParams(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  expect(await deliver(form.toString())).toBe(200)
  expect(onSubscription).toHaveBeenCalledOnce()
})

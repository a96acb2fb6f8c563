import { describe, expect, test, vi } from 'vitest'
import { createMemoryDedupeStore, lookupVerifier } from '../../src/notifications/index.ts'
import { deferred } from '../support/deferred.ts'
import { settled } from '../support/manual-clock.ts'
import { payment, subscription } from '../support/messages.ts'
import { ORDER, openMock } from '../support/mock-clients.ts'
import { openReceiver } from '../support/receiver.ts'

describe('a genuine message that was sent under the id of a later one', () => {
  test.each([
    ['payment', 'SUBSCRIPTION_PAYMENT'],
    ['cancellation', 'SUBSCRIPTION'],
  ])('does not make the later %s a duplicate', async (_, type) => {
    const { mock, subscriptions } = openMock()
    const handled = vi.fn()
    const verify = lookupVerifier(subscriptions, { clock: mock.clock })
    const { deliver } = openReceiver({ verify, onPayment: handled, onSubscription: handled })
    const { invoiceID } = await subscriptions.subscribe(ORDER)
    mock.payer.authorize(invoiceID)
    await mock.clock.advance({ days: 2 })
    await subscriptions.cancel((await subscriptions.status(invoiceID)).subscriptionId ?? '')
    const messages = mock.notifications.all().filter((message) => message.type === type)
    const later = { ...messages.at(-1) }
    const forged = { ...messages[0], notificationId: later.notificationId }
    for (const message of [forged, later, later]) expect(await deliver(message)).toBe(200)
    expect(handled.mock.calls.map(([{ raw }]) => raw)).toEqual([forged, later])
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
  expect(await deliver(String(new URLSearchParams(fields as Record<string, string>)))).toBe(200)
  expect(onSubscription).toHaveBeenCalledOnce()
})

import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import type { Mock } from 'mandatekit/mocks/core'
import { createMock } from 'mandatekit/mocks/core'
import { expect, test, vi } from 'vitest'
import { createApp as createExpress } from '../../examples/frameworks/express/server.ts'
import { openShop } from '../../examples/frameworks/shop.ts'
import type { NotificationHandlerOptions } from '../../src/notifications/index.ts'
import {
  createNotificationHandler,
  isNewer,
  lookupVerifier,
  reconcile,
} from '../../src/notifications/index.ts'
import { subscriptionRequest } from '../support/messages.ts'
import { serve } from '../support/serve.ts'

const begin = (): { mock: Mock; client: SubscriptionsClient } => {
  const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  return { mock, client: new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch }) }
}

const subscribe = async (mock: Mock, client: SubscriptionsClient): Promise<string> => {
  const { invoiceID } = await client.subscribe(subscriptionRequest)
  mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
  return (await client.status(invoiceID)).subscriptionId ?? ''
}

/** Books that the handler keeps. */
const openBooks = () => {
  const payments: string[] = []
  let newest: { occurredAt: Date; status: string } | undefined
  const listeners: Pick<NotificationHandlerOptions, 'onPayment' | 'onSubscription'> = {
    onPayment: async ({ paymentId, status }) => {
      await new Promise((resolve) => setImmediate(resolve))
      payments.push(`${paymentId} ${status}`)
    },
    onSubscription: (notification) => {
      if (isNewer(notification, newest)) newest = notification
    },
  }
  return { payments, listeners, state: () => newest?.status }
}

test('doubled, shuffled and in both spellings, a subscription’s life is booked once and ends cancelled', async () => {
  const { mock, client } = begin()
  const books = openBooks()
  const handler = createNotificationHandler({
    verify: lookupVerifier(client),
    clock: mock.clock,
    ...books.listeners,
  })
  mock.notifications.connect(handler, { duplicate: true, shuffle: true, spelling: 'both', concurrency: 4 })
  const subscriptionId = await subscribe(mock, client)
  await mock.clock.advance({ days: 3 })
  await client.cancel(subscriptionId)
  await mock.notifications.flush()
  expect(mock.notifications.deliveries().map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect([...books.payments].sort()).toEqual(
    mock.state
      .payments(subscriptionId)
      .map(({ paymentId, status }) => `${paymentId} ${status}`)
      .sort(),
  )
  expect(books.state()).toBe('CANCELLED')
})

test('listeners that fail are delivered to again on the mock’s clock until each message is booked', async () => {
  const { mock, client } = begin()
  const payments: string[] = []
  const onPayment = vi.fn(({ paymentId }: { paymentId: string }) => {
    if (onPayment.mock.calls.length % 2 === 1) throw new Error('every other one fails')
    payments.push(paymentId)
  })
  const handler = createNotificationHandler({
    verify: lookupVerifier(client),
    onPayment,
    onSubscription: () => undefined,
  })
  mock.notifications.connect(handler, { retries: true })
  await subscribe(mock, client)
  await mock.clock.advance({ days: 3 })
  expect(payments).toHaveLength(3)
  expect(new Set(payments).size).toBe(3)
  expect(mock.notifications.deliveries().filter(({ status }) => status === 500)).toHaveLength(3)
})

test('a message that the API knows nothing of is refused', async () => {
  const { mock, client } = begin()
  const onPayment = vi.fn()
  const handler = createNotificationHandler({
    verify: lookupVerifier(client),
    onPayment,
    onSubscription: () => undefined,
  })
  const subscriptionId = await subscribe(mock, client)
  await mock.clock.advance({ days: 1 })
  const [genuine] = mock.state.payments(subscriptionId)
  const post = async (changes: Record<string, string>) => {
    const message = {
      notificationId: JSON.stringify(changes),
      type: 'SUBSCRIPTION_PAYMENT',
      status: 'SUCCEEDED_PAYMENT',
      subscriptionId,
      paymentId: String(genuine?.paymentId),
      timestamp: '1798783200',
      ...changes,
    }
    return (
      await handler(new Request('https://shop.example/', { method: 'POST', body: JSON.stringify(message) }))
    ).status
  }
  expect(await post({ paymentId: '999999' })).toBe(401)
  expect(await post({ status: 'FAILED_PAYMENT' })).toBe(401)
  expect(await post({ subscriptionId: 'another' })).toBe(401)
  expect(await post({ type: 'SUBSCRIPTION', status: 'CANCELLED', paymentId: '' })).toBe(401)
  expect(onPayment).not.toHaveBeenCalled()
  expect(await post({})).toBe(200)
  mock.faults.add({ operation: 'subscriptions.payment', kind: 'status', status: 500, times: 'always' })
  expect(await post({ timestamp: '1798783201' })).toBe(503)
})

test('the mock’s signed deliveries over a socket are received by the example in Express', async () => {
  vi.spyOn(console, 'log').mockReturnValue()
  const { mock, client } = begin()
  const secret = 'a-secret-for-trying-out'
  const shop = openShop(secret)
  const url = `${await serve(createExpress(shop))}/notifications`
  mock.notifications.connect(url, {
    signing: { secret },
    duplicate: true,
  })
  mock.notifications.connect(url, {
    signing: { secret },
    format: 'form',
    method: 'PUT',
  })
  const subscriptionId = await subscribe(mock, client)
  await mock.clock.advance({ days: 3 })
  expect(shop.payments.size).toBe(3)
  expect(shop.subscriptions.get(subscriptionId)?.status).toBe('SUCCEEDED')
})

test('what notifications never told is found by reconciliation', async () => {
  const { mock, client } = begin()
  const subscriptionId = await subscribe(mock, client)
  await mock.clock.advance({ days: 1 })
  const payments = mock.state.payments(subscriptionId)
  // The books end here: two payments and the cancellation are never told.
  await mock.clock.advance({ days: 2 })
  await client.cancel(subscriptionId)
  const found: string[] = []
  const expected = [{ subscriptionId, payments, cancelled: false }]
  const run = reconcile({ subscriptions: client, expected })
  for await (const { kind } of run) found.push(kind)
  expect(found).toEqual(['payment-missing', 'payment-missing', 'cancellation-missing'])
  expect(run.progress).toEqual({ checked: 1, differences: 3, unchecked: 0 })
})

test('charges whose state the books have missed are found by reconciliation', async () => {
  const { mock } = begin()
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })
  const charge = await gateway.charge({
    msisdn: '+8801000000001',
    amount: 500,
    currency: 'BDT',
    redirect_uri: 'https://shop.example/return',
  })
  const expected = [
    { chargeId: charge.id, status: charge.status },
    { chargeId: 'ch_of_nobody', status: 'succeeded' },
  ]
  mock.payer.confirm(charge.confirmation_id)
  const found = []
  for await (const difference of reconcile({ gateway, expected })) found.push(difference)
  expect(found).toEqual([
    { kind: 'charge-differs', chargeId: charge.id, expected: expected[0], status: 'succeeded' },
    { kind: 'charge-not-found', chargeId: 'ch_of_nobody', expected: expected[1] },
  ])
})

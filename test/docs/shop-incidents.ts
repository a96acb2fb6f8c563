import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { env } from 'node:process'
import { test, mock as time } from 'node:test'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createMock, type MockOptions, testNumbers } from 'mandatekit/mocks/core'

// Runs in the folder of the shop guide: what the shop does after forged notifications, rejected cancellations, reversed
// renewals and a change of the API key.

const load = (file: string) => import(resolve(file))
const { cancel, checkout, settle, settleAll } = await load('checkout.ts')
const { createReceiver } = await load('notifications.ts')
const { reconcileAll } = await load('reconcile.ts')
const { renewAll } = await load('renewals.ts')
const { openShop, rows, run } = await load('shop.ts')

type Change = (path: string, response: Response) => Promise<Response> | Response

const open = async (plan: 'weekly' | 'monthly', options: MockOptions = {}) => {
  const mock = createMock({ clock: new Date('2027-01-31T06:00:00Z'), ...options })
  const changes: Change[] = []
  let apiKey = mock.clientOptions.gateway.apiKey
  const fetch = async (...[input, init]: Parameters<typeof mock.fetch>) => {
    let response = await mock.fetch(input, init)
    for (const change of changes) response = await change(new URL(String(input)).pathname, response)
    return response
  }
  const shop = openShop({
    subscriptions: new SubscriptionsClient({
      ...mock.clientOptions.subscriptions,
      fetch,
      retry: { limit: 0 },
    }),
    gateway: new GatewayClient({
      ...mock.clientOptions.gateway,
      apiKey: () => apiKey,
      fetch,
      retry: { limit: 0 },
    }),
    file: ':memory:',
    url: 'https://shop.example',
    now: () => mock.clock.now(),
    keyLifetime: 23 * 3_600_000,
  })
  const order = () => rows(shop, 'SELECT * FROM orders')[0]
  const statuses = () =>
    rows(shop, 'SELECT status FROM renewals ORDER BY due, attempt').map(
      ({ status }: { status: string }) => status,
    )
  const passDays = async (days: number) => {
    for (let count = 0; count < days; count += 1) {
      await mock.clock.advance({ days: 1 })
      await settleAll(shop)
      await renewAll(shop)
    }
  }
  const reconcile = async () => {
    time.timers.enable({ apis: ['Date'], now: mock.clock.now() })
    const differences: { kind: string }[] = await reconcileAll(shop)
    time.timers.reset()
    return differences.map(({ kind }) => kind)
  }
  await checkout(shop, plan, testNumbers.succeeds)
  const authorize = async () => {
    if (plan === 'weekly') mock.payer.authorize(order().invoice_id)
    else mock.payer.confirm(mock.state.charges()[0]?.confirmation_id ?? '')
    await settle(shop, order())
    assert.equal(order().state, 'active')
  }
  const useKey = (key: string) => {
    apiKey = key
  }
  return { mock, shop, changes, order, statuses, passDays, reconcile, authorize, useKey }
}

const omitEnabled = async (isDetails: boolean, response: Response) => {
  if (!isDetails) return response
  const { enabled, ...rest } = await response.json()
  return Response.json(rest)
}

test('a forged cancellation of a waiting order does not end the order', async () => {
  const { mock, shop, order } = await open('weekly')
  const receive = createReceiver(shop)
  const { subscriptionId } = await shop.subscriptions.status(order().invoice_id)
  const forged = { notificationId: 'forged', type: 'SUBSCRIPTION', status: 'CANCELLED', paymentId: '' }
  const body = JSON.stringify({ ...forged, subscriptionId, timestamp: String(mock.clock.now() / 1000) })
  const response = await receive(new Request('https://shop.example/notifications', { method: 'POST', body }))
  assert.equal(response.status, 200)
  assert.equal(order().state, 'waiting')
  mock.notifications.connect(receive)
  mock.payer.authorize(order().invoice_id)
  await mock.clock.advance({ days: 9 })
  assert.equal(order().state, 'active')
  mock.payer.cancel(order().subscription_id)
  await mock.clock.advance({ days: 1 })
  assert.equal(order().state, 'ended')
})

test('a cancellation that is delivered before the authorization ends the order', async () => {
  const { mock, shop, order } = await open('weekly')
  mock.payer.authorize(order().invoice_id)
  mock.payer.cancel(mock.state.subscriptions()[0]?.subscriptionId ?? '')
  await mock.clock.advance({ days: 1 })
  mock.notifications.connect(createReceiver(shop))
  for (const { notificationId } of mock.notifications.all().toReversed()) {
    mock.notifications.resend(notificationId)
    await mock.notifications.flush()
  }
  assert.equal(order().state, 'ended')
})

test('an order ends when the provider has processed the cancellation, not before', async () => {
  const { mock, shop, order, passDays, reconcile, authorize } = await open('weekly', {
    subscriptions: { cancelDelay: { days: 60 } },
  })
  await authorize()
  assert.equal(await cancel(shop, order()), 'canceling')
  await passDays(59)
  assert.equal(order().state, 'canceling')
  assert.equal(mock.state.payments().length, 9)
  assert.deepEqual(await reconcile(), [])
  await passDays(2)
  assert.equal(order().state, 'ended')
  assert.deepEqual(await reconcile(), [])
})

test('a rejected cancellation is sent again every hour, and a person learns of it', async () => {
  const { changes, shop, order, passDays, reconcile, authorize } = await open('weekly')
  await authorize()
  await passDays(1)
  const subscriptionID = order().subscription_id
  const rejected = {
    id: 1,
    subscriptionID,
    requestID: 1,
    status: 'REJECTED',
    errorCode: '00',
    errorMessage: '',
  }
  changes.push((path, response) => {
    // In the mock, the cancellation is processed.
    if (path.endsWith('/cancel') || path.includes('/subscription/cancel/')) return Response.json(rejected)
    return path.endsWith(subscriptionID) ? Response.json({ ...details, enabled: 1 }) : response
  })
  const details = { id: subscriptionID, amount: 25, cycle: 'WEEKLY', errorCode: '00', errorMessage: '' }
  assert.equal(await cancel(shop, order()), 'canceling')
  assert.equal(order().state, 'canceling')
  assert.deepEqual(await reconcile(), ['cancellation-not-found'])
  changes.length = 0
  await settleAll(shop)
  assert.equal(order().state, 'ended')
})

test('an order whose cancellation failed ends later, although `enabled` is missing', async () => {
  const { mock, changes, shop, order, authorize } = await open('weekly')
  await authorize()
  mock.faults.add({ operation: 'subscriptions.cancel', kind: 'status', status: 502 })
  changes.push((path, response) => omitEnabled(path.endsWith(order().subscription_id), response))
  assert.equal(await cancel(shop, order()), 'canceling')
  await settleAll(shop)
  assert.equal(order().state, 'ended')
})

test('an order whose cancellation was executed ends, although the response was lost', async () => {
  const { mock, shop, order, authorize } = await open('weekly')
  await authorize()
  mock.faults.add({ operation: 'subscriptions.cancel', kind: 'lost-response' })
  assert.equal(await cancel(shop, order()), 'ended')
})

test('an order that waits or failed causes no alarm', async () => {
  const { mock, changes, order, passDays, reconcile } = await open('weekly', {
    subscriptions: { requestTtl: false },
  })
  await passDays(5)
  assert.equal(order().state, 'waiting')
  assert.deepEqual(await reconcile(), [])
  mock.payer.decline(order().invoice_id)
  await passDays(1)
  assert.equal(order().state, 'failed')
  assert.deepEqual(await reconcile(), [])
  changes.push((path, response) => omitEnabled(path.endsWith(order().subscription_id), response))
  assert.deepEqual(await reconcile(), [])
})

test('a reversed renewal is reported every day, and the order is renewed further', async () => {
  const { mock, shop, changes, statuses, passDays, reconcile, authorize } = await open('monthly')
  await authorize()
  await passDays(60)
  assert.deepEqual(statuses(), ['succeeded', 'succeeded'])
  const reversed = mock.state.charges()[1]?.id ?? ''
  changes.push(async (path, response) => {
    if (!path.endsWith(reversed)) return response
    return Response.json({ ...(await response.json()), status: 'reversed' })
  })
  for (const _day of [1, 2]) assert.deepEqual(await reconcile(), ['charge-differs'])
  await passDays(31)
  assert.deepEqual(statuses(), ['succeeded', 'succeeded', 'succeeded'])
  // The order is renewed whatever a person writes.
  run(shop, "UPDATE renewals SET status = 'failed', charge_id = NULL WHERE charge_id = ?", reversed)
  assert.deepEqual(await reconcile(), [])
  await passDays(31)
  assert.equal(statuses().length, 4)
})

test('a change of the API key does not charge again', async () => {
  const { mock, shop, statuses, passDays, reconcile, authorize, useKey } = await open('monthly', {
    gateway: { apiKeys: ['mock-api-key', 'new-api-key'] },
  })
  await authorize()
  mock.faults.add({ operation: 'gateway.renew', kind: 'lost-response' })
  await passDays(28)
  assert.deepEqual(statuses(), ['sent'])
  run(shop, env.ROTATION)
  useKey('new-api-key')
  await mock.clock.advance({ hours: 1 })
  await renewAll(shop)
  assert.equal(mock.state.charges().length, 2)
  assert.equal((await reconcile()).length, 1)
})

import { SubscriptionsClient } from 'mandatekit'
import { testNumbers } from 'mandatekit/mocks'
import { HttpResponse, http } from 'msw'
import { describe, expect } from 'vitest'
import { network, test } from './fixtures.ts'

const ORDER = { id: '1001', msisdn: testNumbers.succeeds, amount: 250 }

/** The fields of a notification, without `subscriptionId` and `paymentId`, which a test adds. */
const MESSAGE = {
  notificationId: 'notification-1',
  type: 'SUBSCRIPTION_PAYMENT',
  status: 'SUCCEEDED_PAYMENT',
  timestamp: '1798783200',
}

describe('the plan', () => {
  test('the shop lists the day of a failed payment, and the plan continues', async ({ mock, shop }) => {
    const plan = await shop.sellPlan('order-1')
    if (plan.kind !== 'done') throw new Error(plan.why)
    mock.payer.authorize(plan.invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
    await mock.clock.advance({ days: 3 })
    expect(await shop.unpaidDays(plan.invoiceID)).toEqual(['2027-01-02'])
    expect(mock.state.payments()).toHaveLength(3)
  })

  test('the shop does not request a plan again after a lost response', async ({ mock, shop }) => {
    mock.faults.add({ operation: 'subscriptions.subscribe', kind: 'lost-response' })
    expect(await shop.sellPlan('order-1')).toEqual({ kind: 'unclear', why: 'connection_failed' })
    expect(mock.requests.of('subscriptions.subscribe')).toHaveLength(1)
    expect(mock.state.subscriptions()).toHaveLength(1)
  })

  test('the client does not log in again while the account is locked', async ({ mock, shop }) => {
    const { credentials } = mock.clientOptions.subscriptions
    const guesser = new SubscriptionsClient({
      ...mock.clientOptions.subscriptions,
      credentials: { ...credentials, password: 'a guess' },
    })
    for (let guess = 0; guess < 5; guess += 1) {
      await expect(guesser.login()).rejects.toMatchObject({ code: 'authentication_failed' })
    }

    const before = mock.requests.all().length
    expect(await shop.sellPlan('order-1')).toEqual({ kind: 'try-again', why: 'locked_out' })
    expect(await shop.sellPlan('order-1')).toEqual({ kind: 'try-again', why: 'locked_out' })
    expect(mock.requests.all()).toHaveLength(before + 1)

    await mock.clock.advance({ minutes: 16 })
    expect(await shop.sellPlan('order-1')).toMatchObject({ kind: 'done' })
  })
})

describe('a single order', () => {
  test('is charged once when the response is lost', async ({ mock, shop }) => {
    mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
    expect(await shop.charge(ORDER)).toMatchObject({ kind: 'done' })
    expect(mock.requests.of('gateway.charge')).toHaveLength(2)
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('is charged once when the customer clicks twice', async ({ mock, shop }) => {
    const [first, second] = await Promise.all([shop.charge(ORDER), shop.charge(ORDER)])
    expect(first).toEqual(second)
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('is charged after the Retry-After of a 429, without delaying the test', async ({ mock, shop }) => {
    mock.faults.add({ operation: 'gateway.charge', kind: 'rate-limit', retryAfter: 20 })
    expect(await shop.charge(ORDER)).toMatchObject({ kind: 'done' })
    expect(mock.clock.now()).toBe(Date.parse('2027-01-01T06:00:20Z'))
  })

  test('has the result `unclear` when the gateway never responds', async ({ mock, shop }) => {
    mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response', times: 'always' })
    expect(await shop.charge(ORDER)).toEqual({ kind: 'unclear', why: 'connection_failed' })
  })

  test('is not charged when a handler of the test refuses the charge', async ({ mock, shop }) => {
    // MSW uses the newest handler that matches a request.
    network.use(
      http.post(`${mock.clientOptions.gateway.baseUrl}/api/v1/mfs/charges`, () =>
        HttpResponse.json({ error: { code: 'closed', message: 'Closed for the night.' } }, { status: 403 }),
      ),
    )
    expect(await shop.charge(ORDER)).toEqual({ kind: 'try-again', why: 'api_error' })
    expect(mock.state.charges()).toEqual([])
  })
})

describe('notifications', () => {
  test('are counted once per payment, although they arrive twice and in any order', async ({
    mock,
    shop,
  }) => {
    mock.notifications.connect(shop.receive, { duplicate: true, shuffle: true })
    const plan = await shop.sellPlan('order-1')
    if (plan.kind !== 'done') throw new Error(plan.why)
    mock.payer.authorize(plan.invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
    await mock.clock.advance({ days: 3 })
    expect(shop.paid()).toHaveLength(2)
    expect(new Set(shop.paid()).size).toBe(2)
  })

  test('receive 503 while the API does not know the payment', async ({ mock, shop }) => {
    const early = { ...MESSAGE, subscriptionId: 'sub-1', paymentId: '1' }
    const response = await shop.receive(
      new Request('https://shop.example/notifications', { method: 'POST', body: JSON.stringify(early) }),
    )
    expect(response.status).toBe(503)
    expect(shop.paid()).toEqual([])
    expect(mock.requests.of('subscriptions.payment')).toHaveLength(1)
  })
})

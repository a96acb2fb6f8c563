import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SubscriptionsClient } from 'mandatekit'
import { testNumbers } from 'mandatekit/mocks/core'
import { createNotificationHandler, lookupVerifier } from 'mandatekit/notifications'
import { openMock } from './open-mock.ts'
import { chargeOrder, settle } from './settlement.ts'

const PLAN = {
  requestID: 'order-1',
  start: '2027-01-01',
  end: '2027-12-31',
  cycle: 'DAILY',
  amount: '5.00',
  userReturnURL: 'https://shop.example/return',
} as const

const ORDER = { id: '1001', msisdn: testNumbers.succeeds, amount: 250 }

// The tests of this suite run at the same time, each with its own mock.
describe('with mock.fetch', { concurrency: true }, () => {
  test('failed and reversed payments do not count as paid', async () => {
    const { mock, subscriptions } = openMock()
    const { invoiceID } = await subscriptions.subscribe(PLAN)
    mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
    await mock.clock.advance({ days: 3 })
    const [first] = mock.state.payments()
    assert.ok(first)
    mock.payer.reverse(first.paymentId)
    const { subscriptionId } = await subscriptions.status(invoiceID)
    assert.deepEqual(await settle(subscriptions, String(subscriptionId)), { paid: 1, failed: 1, reversed: 1 })
  })

  test('an order is charged once when the response is lost', async () => {
    const { mock, gateway } = openMock()
    mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
    assert.match(String(await chargeOrder(gateway, ORDER)), /^ch_/)
    assert.equal(mock.requests.of('gateway.charge').length, 2)
    assert.equal(mock.state.charges().length, 1)
  })

  test("after a 429, the client's wait moves the mock's clock", async () => {
    const { mock, gateway } = openMock()
    mock.faults.add({ operation: 'gateway.charge', kind: 'rate-limit', retryAfter: 20 })
    await chargeOrder(gateway, ORDER)
    assert.equal(mock.clock.now(), Date.parse('2027-01-01T06:00:20Z'))
  })

  test('the client does not log in again while the account is locked', async () => {
    const { mock, subscriptions } = openMock()
    const { credentials, ...options } = mock.clientOptions.subscriptions
    const guesser = new SubscriptionsClient({
      ...options,
      credentials: { ...credentials, password: 'a guess' },
      fetch: mock.fetch,
    })
    for (let guess = 0; guess < 5; guess += 1) await guesser.login().catch(() => undefined)
    await assert.rejects(subscriptions.subscribe(PLAN), { code: 'locked_out', outcome: 'not-sent' })
    await assert.rejects(subscriptions.subscribe(PLAN), { code: 'locked_out' })
    assert.equal(mock.requests.of('subscriptions.login').length, 6)
    await mock.clock.advance({ minutes: 16 })
    assert.equal((await subscriptions.subscribe(PLAN)).errorCode, '00')
  })

  test('each payment counts once, although notifications arrive twice and in any order', async () => {
    const { mock, subscriptions } = openMock()
    const paid: string[] = []
    const receive = createNotificationHandler({
      verify: lookupVerifier(subscriptions),
      onPayment: ({ paymentId }) => {
        paid.push(paymentId)
      },
      onSubscription: () => undefined,
    })
    mock.notifications.connect(receive, { duplicate: true, shuffle: true })
    const { invoiceID } = await subscriptions.subscribe(PLAN)
    mock.payer.authorize(invoiceID)
    await mock.clock.advance({ days: 3 })
    assert.equal(paid.length, 3)
    assert.equal(new Set(paid).size, 3)
  })
})

/** Creates a function that each test awaits. The promise resolves when all tests have called the function. */
const createMeeting = (tests: number) => {
  let missing = tests
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    missing -= 1
    if (missing === 0) open()
    return opened
  }
}

describe('separate mocks', { concurrency: true }, () => {
  const meet = createMeeting(2)

  for (const [name, msisdn, status] of [
    ['the first', testNumbers.succeeds, 'succeeded'],
    ['the second', testNumbers.wallet_blocked, 'failed'],
  ] as const) {
    test(`two parallel tests with one order id: ${name} sees only its own charge`, async () => {
      const { mock, gateway } = openMock()
      await meet()
      // Both tests use the same order id, and therefore the same idempotency key.
      const id = await chargeOrder(gateway, { ...ORDER, msisdn })
      const [pending] = mock.state.charges()
      assert.equal(pending?.id, id)
      mock.payer.confirm(String(pending?.confirmation_id))
      const statuses = mock.state.charges().map((charge) => charge.status)
      assert.deepEqual(statuses, [status])
    })
  }
})

test('fake timers do not delay calls', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] })
  const { gateway } = openMock()
  assert.match(String(await chargeOrder(gateway, ORDER)), /^ch_/)
})

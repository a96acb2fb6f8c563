const { SubscriptionsClient } = require('mandatekit')
const { testNumbers } = require('mandatekit/mocks/core')
const { billCycle, createBooks } = require('./billing.js')
const { openMock } = require('./open-mock.js')

const PLAN = {
  requestID: 'order-1',
  start: '2027-01-01',
  end: '2027-12-31',
  cycle: 'DAILY',
  amount: '5.00',
  userReturnURL: 'https://shop.example/return',
}

/** @type {ReturnType<typeof openMock>} */
let opened

// A new mock for each test is the cheapest reset. For a shared mock, call `opened.mock.reset()`.
beforeEach(() => {
  opened = openMock()
})

describe('billing a cycle', () => {
  test('charges each mandate once, even if the cycle runs twice', async () => {
    const { gateway, mandate, mock } = opened
    const mandates = [await mandate(testNumbers.succeeds), await mandate(testNumbers.succeeds_once)]
    const results = await billCycle(gateway, mandates, '2027-02-01')
    expect(Object.values(results)).toEqual(['succeeded', 'failed'])
    expect(await billCycle(gateway, mandates, '2027-02-01')).toEqual(results)
    expect(mock.state.charges()).toHaveLength(4)
  })

  test('retries a renewal with the same key after a lost response', async () => {
    const { gateway, mandate, mock } = opened
    const id = await mandate(testNumbers.succeeds)
    mock.faults.add({ operation: 'gateway.renew', kind: 'lost-response' })
    expect(await billCycle(gateway, [id], '2027-02-01')).toEqual({ [id]: 'succeeded' })
    expect(mock.requests.of('gateway.renew')).toHaveLength(2)
    expect(mock.state.charges()).toHaveLength(2)
  })

  test('must run again when no response arrives, and charges no payer twice', async () => {
    const { gateway, mandate, mock } = opened
    const id = await mandate(testNumbers.succeeds)
    const remove = mock.faults.add({ operation: 'gateway.renew', kind: 'lost-response', times: 'always' })
    expect(await billCycle(gateway, [id], '2027-02-01')).toEqual({ [id]: 'run again' })
    remove()
    expect(await billCycle(gateway, [id], '2027-02-01')).toEqual({ [id]: 'succeeded' })
    expect(mock.state.charges()).toHaveLength(2)
  })

  test('waits on the clock of the mock after a 429', async () => {
    const { gateway, mandate, mock } = opened
    const id = await mandate(testNumbers.succeeds)
    mock.faults.add({ operation: 'gateway.renew', kind: 'rate-limit', retryAfter: 20 })
    expect(await billCycle(gateway, [id], '2027-02-01')).toEqual({ [id]: 'succeeded' })
    expect(mock.clock.now()).toBe(Date.parse('2027-01-01T06:00:20Z'))
  })

  test('works with fake timers, and starts no timer', async () => {
    // Jest also fakes nextTick and queueMicrotask, which the runtime's fetch, Request and Response need.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] })
    try {
      const { gateway, mandate } = opened
      const id = await mandate(testNumbers.succeeds)
      expect(await billCycle(gateway, [id], '2027-02-01')).toEqual({ [id]: 'succeeded' })
      expect(jest.getTimerCount()).toBe(0)
    } finally {
      jest.useRealTimers()
    }
  })
})

describe('the account', () => {
  test('gets no more logins while it is locked', async () => {
    const { mock, subscriptions } = opened
    const { fetch } = mock
    const { credentials, ...options } = mock.clientOptions.subscriptions
    const guesser = new SubscriptionsClient({
      ...options,
      credentials: { ...credentials, password: 'a guess' },
      fetch,
    })
    for (let guess = 0; guess < 5; guess += 1) await guesser.login().catch(() => undefined)

    await expect(subscriptions.status('invoice-1')).rejects.toMatchObject({ code: 'locked_out', status: 403 })
    await expect(subscriptions.status('invoice-1')).rejects.toMatchObject({ code: 'locked_out' })
    expect(mock.requests.of('subscriptions.login')).toHaveLength(6)

    await mock.clock.advance({ minutes: 16 })
    expect(await subscriptions.subscribe(PLAN)).toMatchObject({ errorCode: '00' })
  })
})

describe('the books', () => {
  test('record each payment once, including failed ones, although messages arrive twice', async () => {
    const { mock, subscriptions } = opened
    const books = createBooks(subscriptions)
    mock.notifications.connect(books.receive, { duplicate: true, shuffle: true })
    const { invoiceID } = await subscriptions.subscribe(PLAN)
    mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail'] })
    await mock.clock.advance({ days: 3 })
    expect([...books.payments.values()].sort()).toEqual([
      'FAILED_PAYMENT',
      'SUCCEEDED_PAYMENT',
      'SUCCEEDED_PAYMENT',
    ])
  })
})

describe('two mocks', () => {
  test('share no charges and no clock when they are used at the same time', async () => {
    const other = openMock()
    const mandates = await Promise.all([
      opened.mandate(testNumbers.succeeds),
      other.mandate(testNumbers.wallet_blocked),
    ])
    await other.mock.clock.advance({ days: 30 })
    expect(mandates[0]).toBe(mandates[1])
    expect(opened.mock.state.charges()).toMatchObject([{ status: 'succeeded' }])
    expect(other.mock.state.charges()).toMatchObject([{ status: 'failed' }])
    expect(opened.mock.clock.now()).toBe(Date.parse('2027-01-01T06:00:00Z'))
  })
})

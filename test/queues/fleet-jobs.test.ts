import { DelayedError, UnrecoverableError } from 'bullmq'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createMock, type MockOptions, testNumbers } from 'mandatekit/mocks/core'
import { createMemoryDedupeStore, createNotificationHandler, lookupVerifier } from 'mandatekit/notifications'
import { expect, test } from 'vitest'
import { openBooks } from '../../examples/fleet/books.ts'
import { jobs, listenersFor, type Run, type Shop } from '../../examples/fleet/jobs.ts'
import { jobFor, notificationOptions } from '../../examples/fleet/queues.ts'
import { Later, settleFor } from '../../examples/fleet/settle.ts'
import { payment, subscription } from '../support/messages.ts'

const ORDER = { id: 'o1', amount: 5, msisdn: testNumbers.succeeds, start: '2027-01-01', end: '2027-12-31' }

/** A shop with one order. `run` runs a job as a worker does, and returns how the run ends. */
const open = (kind: 'mandate' | 'subscription', options: MockOptions = {}) => {
  const mock = createMock({ clock: '2027-01-01T06:00:00Z', ...options })
  const books = openBooks(':memory:')
  books.placeOrder({ ...ORDER, kind })
  const common = { fetch: mock.fetch, rateLimit: 'throw', retry: { limit: 1, maxWait: 900 } } as const
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, ...common })
  const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...common })
  const parts = {
    books,
    subscriptions,
    gateway,
    keyLifetime: 86_400_000,
    queues: { add: async () => undefined },
  }
  const shop = parts as unknown as Shop
  const verify = lookupVerifier(subscriptions, { clock: mock.clock })
  const notifications = createNotificationHandler({ verify, ...listenersFor(() => shop) })
  const settle = settleFor({ rateLimit: async () => undefined } as never, books.markUnclear)
  const run = async (queue: 'gateway' | 'subscriptions', name: string, id: string, data: object) => {
    const job = { id, changePriority: async () => undefined, moveToDelayed: async () => undefined }
    const work = (jobs[queue] as Record<string, Run<never>>)[name]
    const failed = (error: unknown) => settle(error, job as never, 't', books.firstSentAt(id))
    return work?.(data as never, shop, AbortSignal.timeout(5_000))
      .then(() => 'done', failed)
      .catch((error: unknown) => error)
  }
  const invent = (changes: object) =>
    notifications(
      new Request('https://shop.example/', {
        method: 'POST',
        body: JSON.stringify(
          subscription({ timestamp: String(Number(mock.clock.now()) / 1000), ...changes }),
        ),
      }),
    )
  const subscribe = () => run('subscriptions', 'subscribe', 'subscribe_o1', { orderId: 'o1' })
  return {
    mock,
    books,
    shop,
    run,
    subscribe,
    notifications,
    invent,
    count: (sql: string) => books.all(`SELECT * FROM ${sql}`).length,
  }
}

const refusal = (status: number) =>
  ({ kind: 'status', status, body: { error: { code: 'no', message: 'x' } } }) as const
test.each([
  ['a 401 after a lost response', [{ kind: 'lost-response' }, refusal(401)]],
  ['a 422 after a lost response', [{ kind: 'lost-response' }, refusal(422)]],
  ['a key that another charge has', []],
] as const)(
  'a charge that may exist after %s is left to a person, and is never sent again',
  async (_, faults) => {
    const { mock, run, shop, books, count } = open('mandate', { gateway: { apiKeys: ['old', 'new'] } })
    for (const fault of faults) mock.faults.add({ operation: 'gateway.charge', ...fault })
    const charge = {
      msisdn: testNumbers.succeeds,
      amount: 6,
      currency: 'BDT',
      redirect_uri: 'https://shop.example/',
    }
    if (faults.length === 0) await shop.gateway.charge(charge, { idempotencyKey: 'charge_o1' })
    const runJob = () => run('gateway', 'charge', 'charge_o1', { orderId: 'o1' })
    expect(await runJob()).toBeInstanceOf(UnrecoverableError)
    const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch, apiKey: 'new' })
    Object.assign(shop, { gateway })
    expect(await runJob()).toBeInstanceOf(UnrecoverableError)
    expect([mock.state.charges().length, count("charges WHERE status = 'unclear'"), books.open()]).toEqual([
      1, 1, 0,
    ])
  },
)

test('an invented CANCELLED before the payer authorizes does not stop a later cancellation', async () => {
  const { mock, books, run, subscribe, notifications, invent, count } = open('subscription')
  await subscribe()
  const { invoiceId, subscriptionId } = mock.state.subscriptions()[0] ?? expect.fail()
  expect((await invent({ subscriptionId })).status).toBe(500)
  mock.notifications.connect(notifications)
  mock.payer.authorize(invoiceId)
  await mock.clock.advance({ days: 3 })
  expect(count('payments')).toBeGreaterThan(1)
  books.wantCancel(subscriptionId)
  expect(await run('subscriptions', 'cancel', 'c', { subscriptionId })).toBe('done')
  expect(mock.requests.of('subscriptions.cancel')).toHaveLength(1)
})

test('an invented SUCCEEDED for a request whose response was lost does not cancel the genuine subscription', async () => {
  const { mock, books, subscribe, notifications, invent, count } = open('subscription')
  mock.faults.add({ operation: 'subscriptions.subscribe', kind: 'lost-response' })
  await subscribe()
  await subscribe()
  const [lost, genuine] = mock.state.subscriptions()
  expect((await invent({ status: 'SUCCEEDED', subscriptionId: lost?.subscriptionId })).status).toBe(500)
  mock.notifications.connect(notifications)
  mock.payer.authorize(genuine?.invoiceId ?? '')
  await expect.poll(() => books.order('o1').subscription_id).toBe(genuine?.subscriptionId)
  expect(count('subscriptions WHERE cancel_wanted = 1')).toBe(0)
})

test.each([
  ['no fault', 1, []],
  ['a lost response', 1, [{ kind: 'lost-response' }]],
  ['a 503', 2, [refusal(503)]],
] as const)(
  'after %s, a cancellation is sent %i times, and is done when it is processed',
  async (_, requests, faults) => {
    const { mock, books, run, subscribe } = open('subscription', {
      subscriptions: { cancelDelay: { days: 60 } },
    })
    for (const fault of faults) mock.faults.add({ operation: 'subscriptions.cancel', ...fault })
    await subscribe()
    const { invoiceId, subscriptionId } = mock.state.subscriptions()[0] ?? expect.fail()
    mock.payer.authorize(invoiceId)
    books.match(subscriptionId, 'o1')
    const cancel = () => run('subscriptions', 'cancel', 'c', { subscriptionId })
    for (let runs = 0; runs < 3; runs += 1) expect(await cancel()).toBeInstanceOf(DelayedError)
    expect(books.subscription(subscriptionId)).toMatchObject({ cancelled: 0 })
    expect(mock.requests.of('subscriptions.cancel')).toHaveLength(requests)
    await mock.clock.advance({ days: 60 })
    expect(await cancel()).toBe('done')
    expect(books.subscription(subscriptionId)).toMatchObject({ cancelled: 1 })
  },
)

test('a payment that fails and then succeeds is credited once', () => {
  const { books, count } = open('subscription')
  books.match('s', 'o1')
  for (const status of ['FAILED', 'SUCCEEDED', 'SUCCEEDED', 'FAILED'])
    books.book('p', 's', `${status}_PAYMENT`)
  expect(count("payments WHERE status = 'SUCCEEDED_PAYMENT'")).toBe(1)
  expect(books.all('SELECT balance FROM orders')).toEqual([{ balance: 5 }])
})

/** Runs the job of a notification whose record does not exist, and returns the job's error. */
const errorOfJob = (mock: ReturnType<typeof createMock>, age = 0): Promise<unknown> => {
  const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })
  const notifications = createNotificationHandler({
    verify: lookupVerifier(client, { clock: mock.clock }),
    dedupe: createMemoryDedupeStore(),
    onSubscription: () => undefined,
    onPayment: () => undefined,
  })
  const headers = { 'content-type': 'application/json' }
  const data = { headers, body: JSON.stringify(payment()), receivedAt: Date.now() - age }
  const job = jobs.subscriptions.notification(data, { notifications } as Shop, AbortSignal.timeout(5_000))
  return job.then(() => undefined).catch((error: unknown) => error)
}
const clock = '2026-11-30T10:00:05Z'

test('the job of a notification whose record the API cannot read yet runs again', async () => {
  expect(await errorOfJob(createMock({ clock }))).toEqual(new Later(5_000, 'The notification is unverified.'))
})

test('the waits of a notification without a record grow with its age, and its job fails after a day', async () => {
  const { afterMs } = (await errorOfJob(createMock({ clock }), 3_600_000)) as Later
  expect(Math.abs(afterMs - 360_000)).toBeLessThan(1_000)
  expect(await errorOfJob(createMock({ clock }), 86_400_001)).toBeInstanceOf(UnrecoverableError)
  expect(notificationOptions.priority).toBeGreaterThan(jobFor.cancel('s').opts.priority)
})

test('the job of a notification pauses the whole queue after a rejected login', async () => {
  const mock = createMock({ clock })
  mock.faults.add({
    operation: 'subscriptions.login',
    kind: 'status',
    status: 403,
    body: { errorCode: '17' },
  })
  expect(await errorOfJob(mock)).toMatchObject({ code: 'locked_out' })
})

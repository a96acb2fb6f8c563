import { DelayedError, UnrecoverableError } from 'bullmq'
import { GatewayClient } from 'mandatekit'
import { type Fault, type MockOptions, testNumbers } from 'mandatekit/mocks/core'
import { createNotificationHandler, lookupVerifier } from 'mandatekit/notifications'
import { expect, test } from 'vitest'
import { openBooks } from '../../examples/fleet/books.ts'
import { jobs, listenersFor, type Run, type Shop } from '../../examples/fleet/jobs.ts'
import { jobFor, notificationOptions } from '../../examples/fleet/queues.ts'
import { Later, settleFor } from '../../examples/fleet/settle.ts'
import { delivery, payment, subscription } from '../support/messages.ts'
import { clientsOf, MOCK_CHARGE, openMock } from '../support/mock-clients.ts'

const ORDER = { id: 'o1', amount: 5, msisdn: testNumbers.succeeds, start: '2026-12-01', end: '2027-11-30' }
const none = async () => undefined

/** A shop with one order. `run` runs a job as a worker does, and returns how the run ends. */
const open = (kind: 'mandate' | 'subscription', options: MockOptions = {}, ...faults: Partial<Fault>[]) => {
  const { mock } = openMock(options)
  for (const fault of faults) mock.faults.add(fault as Fault)
  const books = openBooks(':memory:')
  books.placeOrder({ ...ORDER, kind })
  const clients = clientsOf(mock, { rateLimit: 'throw', retry: { limit: 1, maxWait: 900 } })
  const verify = lookupVerifier(clients.subscriptions, { clock: mock.clock })
  const notifications = createNotificationHandler({ verify, ...listenersFor(() => shop) })
  const more = { books, notifications, keyLifetime: 86_400_000, queues: { add: none } }
  const shop = { ...clients, ...more } as unknown as Shop
  const settle = settleFor({ rateLimit: none } as never, books.markUnclear)
  const job = { priority: 1, changePriority: async (given: object) => Object.assign(job, given) }
  const run = async (queue: 'gateway' | 'subscriptions', name: string, id: string, data: object) => {
    const work = (jobs[queue] as Record<string, Run<never>>)[name]
    const failed = (error: unknown) =>
      settle(error, { ...job, id, moveToDelayed: none } as never, 't', books.firstSentAt(id))
    return work?.(data as never, shop, AbortSignal.timeout(5_000))
      .then(() => 'done', failed)
      .catch((error: unknown) => error)
  }
  const subscribe = () => run('subscriptions', 'subscribe', 'subscribe_o1', { orderId: 'o1' })
  const invent = (changes: object) => notifications(delivery(subscription({ ...changes })))
  const count = (sql: string) => books.all(`SELECT * FROM ${sql}`).length
  return { mock, books, shop, run, subscribe, notifications, invent, count }
}

const lost = (operation: Fault['operation']) => ({ operation, kind: 'lost-response' }) as const
const refused = (operation: Fault['operation'], status: number) =>
  ({ operation, kind: 'status', status, body: { error: { code: 'no', message: 'x' } } }) as const

test.each([
  ['a 401 after a lost response', [lost('gateway.charge'), refused('gateway.charge', 401)]],
  ['a 422 after a lost response', [lost('gateway.charge'), refused('gateway.charge', 422)]],
  ['a 401 in the next run', [lost('gateway.charge'), lost('gateway.charge'), refused('gateway.charge', 401)]],
  ['a key that another charge has', []],
])('a charge that may exist after %s is left to a person, and is never sent again', async (_, faults) => {
  const api = { gateway: { apiKeys: ['old', 'new'] } }
  const { mock, run, shop, books, count } = open('mandate', api, ...faults)
  if (faults.length === 0) await shop.gateway.charge(MOCK_CHARGE, { idempotencyKey: 'charge_o1' })
  const charge = () => run('gateway', 'charge', 'charge_o1', { orderId: 'o1' })
  for (const _run of ['first', 'second']) await charge()
  mock.faults.clear()
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch, apiKey: 'new' })
  Object.assign(shop, { gateway })
  expect(await charge()).toBeInstanceOf(UnrecoverableError)
  expect(mock.state.charges()).toHaveLength(1)
  expect([count("charges WHERE status = 'unclear'"), books.open()]).toEqual([1, 0])
})

test('an invented CANCELLED before the payer authorizes does not stop a later cancellation', async () => {
  const { mock, books, run, subscribe, notifications, invent } = open('subscription')
  await subscribe()
  const { invoiceId, subscriptionId } = mock.state.subscriptions()[0] ?? expect.fail()
  expect((await invent({ subscriptionId })).status).toBe(500)
  mock.notifications.connect(notifications)
  mock.payer.authorize(invoiceId)
  await mock.clock.advance({ days: 3 })
  books.wantCancel(subscriptionId)
  expect(await run('subscriptions', 'cancel', 'c', { subscriptionId })).toBe('done')
  expect(mock.requests.of('subscriptions.cancel')).toHaveLength(1)
})

test('an invented SUCCEEDED for a request whose response was lost does not cancel the genuine subscription', async () => {
  const { mock, books, subscribe, invent } = open('subscription', {}, lost('subscriptions.subscribe'))
  await subscribe()
  await subscribe()
  const [orphan, genuine] = mock.state.subscriptions()
  const invented = { status: 'SUCCEEDED', subscriptionId: orphan?.subscriptionId }
  expect((await invent(invented)).status).toBe(500)
  mock.payer.authorize(genuine?.invoiceId ?? '')
  expect((await invent(invented)).status).toBe(200)
  expect(books.order('o1').subscription_id).toBe(genuine?.subscriptionId)
  expect(books.openJobs()).toMatchObject([{ data: { subscriptionId: orphan?.subscriptionId } }])
})

test.each([
  ['no fault', 1, []],
  ['a lost response', 1, [lost('subscriptions.cancel')]],
  ['a 503', 2, [refused('subscriptions.cancel', 503)]],
])(
  'after %s, a cancellation is sent %i times, and is done when it is processed',
  async (_, requests, faults) => {
    const api = { subscriptions: { cancelDelay: { days: 60 } } }
    const { mock, books, run, subscribe } = open('subscription', api, ...faults)
    await subscribe()
    const { invoiceId, subscriptionId } = mock.state.subscriptions()[0] ?? expect.fail()
    mock.payer.authorize(invoiceId)
    books.match(subscriptionId, 'o1')
    const cancel = () => run('subscriptions', 'cancel', 'c', { subscriptionId })
    for (let runs = 0; runs < 3; runs += 1) expect(await cancel()).toBeInstanceOf(DelayedError)
    expect(mock.requests.of('subscriptions.cancel')).toHaveLength(requests)
    await mock.clock.advance({ days: 60 })
    expect(await cancel()).toBe('done')
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
const errorOfJob = (age = 0, ...faults: Partial<Fault>[]): Promise<unknown> => {
  const { shop } = open('subscription', {}, ...faults)
  const data = { headers: {}, body: JSON.stringify(payment()), receivedAt: Date.now() - age }
  const job = jobs.subscriptions.notification(data, shop, AbortSignal.timeout(5_000))
  return job.catch((error: unknown) => error)
}

test('the job of a notification without a record runs again ever less often, and fails after a day', async () => {
  expect(await errorOfJob()).toEqual(new Later(5_000, 'The notification is unverified.'))
  const { afterMs } = (await errorOfJob(3_600_000)) as Later
  expect(Math.abs(afterMs - 360_000)).toBeLessThan(1_000)
  expect(await errorOfJob(86_400_001)).toBeInstanceOf(UnrecoverableError)
  expect(notificationOptions.priority).toBeGreaterThan(jobFor.cancel('s').opts.priority)
})

test('the job of a notification pauses the whole queue after a rejected login', async () => {
  const fault = { operation: 'subscriptions.login', kind: 'status', status: 403, body: { errorCode: '17' } }
  expect(await errorOfJob(0, fault as Partial<Fault>)).toMatchObject({ code: 'locked_out' })
})

import { renewalKey } from 'mandatekit'
import { createNotificationHandler } from 'mandatekit/notifications'
import { afterEach, expect, test, vi } from 'vitest'
import { MOCK_CHARGE as CHARGE, ORDER, openMock as open } from '../support/mock-clients.ts'
import { refusal } from '../support/refusal.ts'

afterEach(() => vi.useRealTimers())

test('case 37: every message is processed once although half the deliveries fail and all come twice', async () => {
  const booked: string[] = []
  let calls = 0
  const book = (id: string) => {
    calls += 1
    if (calls % 2 === 1) throw new Error('the books are closed')
    booked.push(id)
  }
  const handler = createNotificationHandler({
    verify: 'none',
    onSubscription: ({ notificationId }) => book(notificationId),
    onPayment: ({ notificationId }) => book(notificationId),
  })
  const { mock, subscriptions } = open()
  mock.notifications.connect(handler, { duplicate: true, shuffle: true, retries: true })
  const { invoiceID } = await subscriptions.subscribe(ORDER)
  mock.payer.authorize(invoiceID)
  await mock.clock.advance({ days: 3 })
  // The mock repeats failed deliveries a minute later.
  await mock.clock.advance({ hours: 1 })
  const sent = mock.notifications.all().map(({ notificationId }) => notificationId)
  expect(sent).toHaveLength(4)
  expect(booked.sort()).toEqual(sent.sort())
  const statuses = new Set(mock.notifications.deliveries().map(({ status }) => status))
  expect(statuses).toEqual(new Set([200, 500]))
})

test('case 41: two mocks in one process share nothing, and reset() starts ids, clock and limiter again', async () => {
  const limited = { gateway: { rateLimit: { limit: 3, windowMs: 60_000 } } }
  const [one, two] = [
    open({ seed: 'one', ...limited }),
    open({
      seed: 'two',
      subscriptions: { baseUrl: 'https://s.two.example' },
      gateway: { baseUrl: 'https://g.two.example' },
    }),
  ]
  const charges = async ({ gateway }: typeof one) =>
    Promise.all(['a', 'b', 'c'].map((idempotencyKey) => gateway.charge(CHARGE, { idempotencyKey })))
  const [first, second] = await Promise.all([charges(one), charges(two)])
  expect(new Set([...first, ...second].map(({ id }) => id)).size).toBe(6)
  expect([one.mock.state.charges().length, two.mock.state.charges().length]).toEqual([3, 3])
  const health = () => one.gateway.health()
  expect(await health()).toMatchObject({ ok: false, status: 429 })
  await two.mock.clock.advance({ days: 1 })
  await one.mock.clock.advance({ seconds: 1 })

  one.mock.reset()
  expect([one.mock.clock.now(), one.mock.state.charges()]).toEqual([Date.parse('2026-12-01T06:00:00Z'), []])
  const fresh = open({ seed: 'one', ...limited })
  expect(await charges(one)).toEqual(await charges(fresh))
  expect(two.mock.state.charges()).toHaveLength(3)
})

test('case 44: a fault acts once, and an aborted call leaves no timer', async () => {
  const { mock, gateway } = open()
  mock.faults.add({ operation: 'gateway.charge', kind: 'status', status: 503 })
  const once = { retry: false } as const
  expect(await refusal(gateway.charge(CHARGE, once))).toBe('api_error unknown')
  expect(await refusal(gateway.charge(CHARGE, once))).toBeUndefined()

  vi.useFakeTimers()
  mock.faults.add({ operation: 'gateway.charge', kind: 'timeout' })
  const controller = new AbortController()
  const call = refusal(gateway.charge(CHARGE, { signal: controller.signal }))
  await vi.waitFor(() => expect(mock.requests.of('gateway.charge')).toHaveLength(3), 30_000)
  controller.abort()
  expect(await call).toBe('aborted unknown')
  expect(vi.getTimerCount()).toBe(0)
})

test('case 45: Retry-After is a small whole number and X-RateLimit-Reset an epoch of ten digits', async () => {
  const tight = { rateLimit: { limit: 1, windowMs: 60_000 } }
  const { mock } = open({ subscriptions: { ...tight, sendRetryAfter: true }, gateway: tight })
  const ask = async (base: string, path: string, method: string) => {
    await mock.fetch(`${base}${path}`, { method })
    await mock.clock.advance({ milliseconds: 1_234 })
    const { status, headers } = await mock.fetch(`${base}${path}`, { method })
    return { status, after: headers.get('retry-after'), reset: headers.get('x-ratelimit-reset') }
  }
  const ofGateway = await ask(mock.clientOptions.gateway.baseUrl, '/health', 'GET')
  expect(ofGateway).toEqual({ status: 429, after: '59', reset: null })
  const path = `/api/v1.0/subscription/${renewalKey('x', '2026-12-01')}`
  const ofSubscriptions = await ask(mock.clientOptions.subscriptions.baseUrl, path, 'POST')
  expect(ofSubscriptions).toEqual({ status: 429, after: '59', reset: expect.stringMatching(/^\d{10}$/) })
})

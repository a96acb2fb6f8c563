import { createMock } from 'mandatekit/mocks/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const MINUTE = 60_000
const MACHINE = Date.UTC(2026, 10, 28, 12)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: MACHINE })
})

afterEach(() => {
  vi.useRealTimers()
})

const limited = (rateLimitTime?: 'mock' | 'machine') => {
  const rateLimit = { limit: 1, windowMs: MINUTE }
  const mock = createMock({
    clock: '2027-01-01T06:00:00Z',
    ...(rateLimitTime === undefined ? {} : { rateLimitTime }),
    subscriptions: { rateLimit, sendRetryAfter: true },
    gateway: { rateLimit },
  })
  const { subscriptions, gateway } = mock.clientOptions
  return {
    mock,
    gateway: () => mock.fetch(`${gateway.baseUrl}/health`),
    subscriptions: () => mock.fetch(`${subscriptions.baseUrl}/oauth/token`, { method: 'POST', body: '{}' }),
  }
}

test('limits count the machine’s minutes when they are told to, and so do the headers', async () => {
  const { mock, gateway, subscriptions } = limited('machine')
  await gateway()
  const first = await subscriptions()
  expect(first.headers.get('X-RateLimit-Reset')).toBe(String((MACHINE + MINUTE) / 1_000))
  await mock.clock.advance({ days: 1 })
  vi.setSystemTime(MACHINE + 20_000)
  for (const answer of [await gateway(), await subscriptions()]) {
    expect(answer.status).toBe(429)
    expect(answer.headers.get('Retry-After')).toBe('40')
  }
  vi.setSystemTime(MACHINE + MINUTE)
  expect([(await gateway()).status, (await subscriptions()).status]).toEqual([200, 422])
})

test.each([undefined, 'mock'] as const)('limits count the mock’s minutes otherwise: %s', async (option) => {
  const { mock, gateway, subscriptions } = limited(option)
  await gateway()
  const first = await subscriptions()
  expect(first.headers.get('X-RateLimit-Reset')).toBe(String(Date.parse('2027-01-01T06:01:00Z') / 1_000))
  vi.setSystemTime(MACHINE + 10 * MINUTE)
  expect([(await gateway()).status, (await subscriptions()).status]).toEqual([429, 429])
  await mock.clock.advance({ minutes: 1 })
  expect([(await gateway()).status, (await subscriptions()).status]).toEqual([200, 422])
})

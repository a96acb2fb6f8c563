import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { open } from './open.ts'

const MINUTE = 60_000
const MACHINE = Date.UTC(2026, 10, 28, 12)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: MACHINE })
  onTestFinished(() => void vi.useRealTimers())
})

test.each([
  ['machine', { rateLimitTime: 'machine' }, MACHINE],
  ['mock', { rateLimitTime: 'mock' }, Date.parse('2027-01-01T06:00:00Z')],
  ['mock', {}, Date.parse('2027-01-01T06:00:00Z')],
] as const)('limits count the minutes of the %s, and so do the headers: %o', async (time, option, start) => {
  const rateLimit = { limit: 1, windowMs: MINUTE }
  const { mock, g, login } = await open({
    clock: '2027-01-01T06:00:00Z',
    ...option,
    subscriptions: { rateLimit, sendRetryAfter: true },
    gateway: { rateLimit },
  })
  const calls = async () => [await g('/health', { method: 'GET' }), await login()]
  const statuses = async () => (await calls()).map(({ status }) => status)
  const pass = async (clock: 'mock' | 'machine', milliseconds: number) => {
    if (clock === 'mock') await mock.clock.advance(milliseconds)
    else vi.setSystemTime(Date.now() + milliseconds)
  }
  expect((await calls())[1]?.headers.get('x-ratelimit-reset')).toBe(String((start + MINUTE) / 1_000))
  await pass(time === 'mock' ? 'machine' : 'mock', 10 * MINUTE)
  await pass(time, 20_000)
  for (const { status, headers } of await calls()) {
    expect([status, headers.get('retry-after')]).toEqual([429, '40'])
  }
  await pass(time, 40_000)
  expect(await statuses()).toEqual([200, 200])
})

test('a client on real time waits for the window, not for the days that the clock was moved', async () => {
  const { mock, clientWith } = await open({
    clock: 'system',
    subscriptions: { rateLimit: { limit: 3, windowMs: 2_000 } },
  })
  const client = clientWith({ clock: undefined })
  await client.login()
  await mock.clock.advance({ days: 4 })
  const refused = { status: 429, retryAfterMs: 2_000 }
  mock.faults.add({ operation: 'subscriptions.status', kind: 'rate-limit', times: 1 })
  await expect(client.status('INV-1')).rejects.toMatchObject(refused)
  await expect(client.details('sub-1')).rejects.toMatchObject({ status: 404 })
  await expect(client.details('sub-1')).rejects.toMatchObject({ status: 404 })
  await expect(client.details('sub-1')).rejects.toMatchObject(refused)
})

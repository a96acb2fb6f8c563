import { GatewayClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { throughFetch, throughMsw2, throughMsw3 } from '../mock/transports.ts'
import { liveThrough } from './client-life.ts'

const NOW = new Date('2030-01-01T06:00:00Z')

const fakes: readonly { readonly name: string; readonly options: Parameters<typeof vi.useFakeTimers>[0] }[] =
  [
    { name: 'the default set is', options: {} },
    {
      name: 'all but nextTick and queueMicrotask are',
      options: { toNotFake: ['nextTick', 'queueMicrotask'] },
    },
  ]

afterEach(() => vi.useRealTimers())

describe.each([throughFetch, throughMsw3, throughMsw2])('through $name', ({ open }) => {
  test.each(fakes)('calls answer without advancing time when $name faked', async ({ options }) => {
    const { mock, fetch, close } = await open()
    vi.useFakeTimers({ ...options, now: NOW })
    try {
      expect(await liveThrough(mock, fetch === mock.fetch ? mock.fetch : undefined)).toEqual({
        hasSubscription: true,
        createdAt: '2030-01-01T06:00:00.000Z',
        renewal: 'succeeded',
      })
      expect(Date.now()).toBe(NOW.getTime())
    } finally {
      vi.useRealTimers()
      await close()
    }
  })
})

test('the clients and mock.fetch leave no timer behind', async () => {
  vi.useFakeTimers({ now: NOW })
  const mock = createMock()
  await liveThrough(mock, mock.fetch)
  expect(vi.getTimerCount()).toBe(0)
})

describe('a client that was told to wait under faked timers', () => {
  const limited = (clock: 'system' | Date) => {
    const mock = createMock({ clock })
    mock.faults.add({ operation: 'gateway.reference', kind: 'rate-limit', retryAfter: 7 })
    return { mock, client: new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch }) }
  }

  test('goes on by itself when the clock of the mock stands still', async () => {
    vi.useFakeTimers({ now: NOW })
    const { mock, client } = limited(NOW)
    expect((await client.reference().withResponse()).response.attempts).toBe(2)
    expect(mock.clock.now() - NOW.getTime()).toBe(7_000)
    expect(Date.now()).toBe(NOW.getTime())
  })

  test('goes on when the test advances time, if the mock follows it', async () => {
    vi.useFakeTimers({ now: NOW })
    const { mock, client } = limited('system')
    const call = client.reference().withResponse()
    await vi.advanceTimersByTimeAsync(6_999)
    expect(mock.requests.of('gateway.reference')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect((await call).response.attempts).toBe(2)
  })
})

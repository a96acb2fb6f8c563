import { GatewayClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { throughFetch, throughMsw2, throughMsw3 } from '../mock/transports.ts'
import { LIFE_BEGINS, liveThrough } from './client-life.ts'

const NOW = new Date(LIFE_BEGINS)

const fakes: readonly (readonly [string, Parameters<typeof vi.useFakeTimers>[0]])[] = [
  ['the default set is', {}],
  ['all but nextTick and queueMicrotask are', { toNotFake: ['nextTick', 'queueMicrotask'] }],
]

afterEach(() => vi.useRealTimers())

describe.each([throughFetch, throughMsw3, throughMsw2])('through $name', ({ open }) => {
  test.each(fakes)('case 42: calls end without advancing time when %s faked', async (_, options) => {
    const { mock, fetch, close } = await open()
    vi.useFakeTimers({ ...options, now: NOW })
    onTestFinished(close)
    await liveThrough(mock, fetch === mock.fetch ? mock.fetch : undefined)
    expect(Date.now()).toBe(NOW.getTime())
  })
})

test('case 42: the clients and mock.fetch leave no timer', async () => {
  vi.useFakeTimers({ now: NOW })
  const mock = createMock()
  await liveThrough(mock, mock.fetch)
  expect(vi.getTimerCount()).toBe(0)
})

describe('a client that waits under faked timers', () => {
  const limited = (clock: 'system' | Date) => {
    const mock = createMock({ clock })
    mock.faults.add({ operation: 'gateway.reference', kind: 'rate-limit', retryAfter: 7 })
    return { mock, client: new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch }) }
  }

  test('goes on by itself when the clock of the mock is frozen', async () => {
    vi.useFakeTimers({ now: NOW })
    const { mock, client } = limited(NOW)
    expect((await client.reference().withResponse()).response.attempts).toBe(2)
    expect(mock.clock.now() - NOW.getTime()).toBe(7_000)
    expect(Date.now()).toBe(NOW.getTime())
  })

  test('goes on when the test advances the time that the mock follows', async () => {
    vi.useFakeTimers({ now: NOW })
    const { mock, client } = limited('system')
    const call = client.reference().withResponse()
    await vi.advanceTimersByTimeAsync(6_999)
    expect(mock.requests.of('gateway.reference')).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect((await call).response.attempts).toBe(2)
  })
})

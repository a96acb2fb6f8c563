import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryTokenStore } from '../../src/index.ts'
import { errorOf, subscriptionsClient } from '../support/clients.ts'
import { limited } from '../support/limited.ts'
import { settled } from '../support/manual-clock.ts'
import type { Script } from '../support/scripted-server.ts'
import { api, clock, merchant, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()
afterEach(() => vi.useRealTimers())

const HOUR = 3_600_000

it.each<[string, Script]>([
  ['no response', { fault: 'close' }],
  ['a response that breaks off', { status: 200, body: { errorCode: '00' }, fault: 'cut' }],
])('case 55: a login with %s delays the next login by 10 s', async (_, script) => {
  api.onToken = (_request, index) => (index <= 2 ? script : { body: api.tokenBody(index) })
  const { details } = merchant()
  await errorOf(details())
  for (const pause of [10_000, 20_000]) {
    const call = details().catch(() => undefined)
    await expect.poll(() => clock.sleeping).toBe(1)
    clock.jump(pause)
    await call
  }
  expect(api.tokenRequests).toHaveLength(3)
})

it('case 5: clocks that differ by a second, or are set back, do not repeat a rejected login', async () => {
  api.refuse(401, { errorCode: '17' })
  const tokenStore = createMemoryTokenStore()
  for (let call = 0; call < 5; call += 1) {
    await errorOf(merchant({ tokenStore }).details())
    clock.jump(-300)
  }
  expect(api.tokenRequests).toHaveLength(1)
})

const fakeTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })

describe('cases 57 and 135: a login that never ends', () => {
  it('is waited for until its own time limit, by a call that comes after its callers have left', async () => {
    fakeTime()
    api.onToken = (_request, index) =>
      index === 1 ? new Promise(() => undefined) : { body: api.tokenBody(index) }
    const { client, details } = merchant()
    const first = errorOf(client.details('sub-1', { totalTimeout: 500 }))
    await expect.poll(() => api.tokenRequests.length).toBe(1)
    await vi.advanceTimersByTimeAsync(500)
    expect(await first).toMatchObject({ code: 'timeout', phase: 'login' })
    const later = [errorOf(details()), errorOf(details())]
    await settled()
    await vi.advanceTimersByTimeAsync(29_500)
    for (const error of await Promise.all(later))
      expect(error).toMatchObject({ code: 'timeout', phase: 'login', retryable: true, retryAfterMs: 10_000 })
    clock.jump(10_000)
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('that takes 8 s serves a call that came after its first caller was aborted', async () => {
    fakeTime()
    const held = api.holdLogins()
    const { client, details } = merchant()
    const leaving = errorOf(client.details('sub-1', { totalTimeout: 500 }))
    await expect.poll(() => api.tokenRequests.length).toBe(1)
    await vi.advanceTimersByTimeAsync(1_000)
    await leaving
    const patient = details()
    await settled()
    await vi.advanceTimersByTimeAsync(7_000)
    held.resolve()
    await patient
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('that takes 8 s serves the renewal before a token ends, although a login() leaves it', async () => {
    fakeTime()
    const { client, details } = merchant()
    await details()
    const held = api.holdLogins()
    clock.jump(HOUR - 10_000)
    const early = details()
    await expect.poll(() => api.tokenRequests.length).toBe(2)
    const leaving = errorOf(client.login({ totalTimeout: 500 }))
    await vi.advanceTimersByTimeAsync(8_000)
    await Promise.all([early, leaving])
    held.resolve()
    await vi.waitFor(async () => {
      await details()
      expect(api.calls.at(-1)).toBe('access-2')
    })
    expect(api.tokenRequests).toHaveLength(2)
  })
})

describe('case 61: a token that ends in 10 s', () => {
  it('serves the calls while its renewal hangs', async () => {
    const { details } = merchant()
    await details()
    const held = api.holdLogins()
    clock.jump(HOUR - 10_000)
    await Promise.all([details(), details(), details()])
    expect(api.calls).toEqual(Array(4).fill('access-1'))
    held.resolve()
    await vi.waitFor(async () => {
      await details()
      expect(api.calls.at(-1)).toBe('access-2')
    })
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('serves the calls to its end when its renewals fail, and is renewed four times at most', async () => {
    const { details } = merchant()
    await details()
    api.refuse(503)
    clock.jump(HOUR - 30_000)
    for (let second = 0; second < 30; second += 1) {
      await details()
      clock.jump(1_000)
    }
    expect(await errorOf(details())).toMatchObject({ status: 503, phase: 'login' })
    expect(api.tokenRequests.length).toBeLessThanOrEqual(5)
  })
})

it.each<[string, (client: ReturnType<typeof subscriptionsClient>, signal: AbortSignal) => Promise<unknown>]>([
  ['login()', (client, signal) => client.login({ signal })],
  ['a call', (client, signal) => client.details('sub-1', { signal })],
])('case 62: when the caller aborts %s, the token request ends within 5 s', async (_, call) => {
  fakeTime()
  const signals: AbortSignal[] = []
  const fetch = async (_url: string, { signal }: { readonly signal: AbortSignal }) => {
    signals.push(signal)
    return new Promise<never>(() => undefined)
  }
  const abort = new AbortController()
  const ended = errorOf(call(subscriptionsClient('https://api.example', { fetch, clock }), abort.signal))
  await settled()
  abort.abort()
  expect(await ended).toMatchObject({ code: 'aborted' })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  expect(vi.getTimerCount()).toBe(0)
})

it.each([0, 1])('case 63: a login whose own limit has %i requests left delays no call', async (left) => {
  api.onToken = (_request, index) => ({
    body: api.tokenBody(index),
    headers: limited(left, 20, clock.now(), 1).headers ?? {},
  })
  const { details } = merchant()
  await Promise.all([details(), details(), details()])
  expect(clock.sleeping).toBe(0)
})

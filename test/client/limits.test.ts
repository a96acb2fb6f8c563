import { describe, expect, it } from 'vitest'
import type { RateLimitError } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const NOW = Date.parse('2026-11-28T12:00:00Z')
const httpDate = (time: number) => new Date(time).toUTCString()
const refusedThenCharged = (headers: Record<string, string>): Script[] => [
  { status: 429, headers: { date: httpDate(NOW), ...headers } },
  { status: 202, body: CHARGE },
]

describe('Retry-After', () => {
  it.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['an HTTP date', { 'retry-after': httpDate(NOW + 2000) }, 2000],
    [
      'a date while the machine is ten minutes slow',
      { 'retry-after': httpDate(NOW + 602_000), date: httpDate(NOW + 600_000) },
      2000,
    ],
    [
      'a date while the machine is ten minutes fast',
      { 'retry-after': httpDate(NOW - 598_000), date: httpDate(NOW - 600_000) },
      2000,
    ],
    ['zero', { 'retry-after': '0' }, 0],
  ])('as %s is waited for', async (_, headers, wait) => {
    const server = await startServer(refusedThenCharged(headers))
    const clock = skippingClock(NOW)
    await gatewayClient(server.url, { clock }).charge(CHARGE_REQUEST)
    expect(clock.waits).toEqual([wait])
  })

  it.each(['soon', '', '-5', '1e3', httpDate(NOW - 60_000)])(
    '%j means backoff, and tries are bounded',
    async (value) => {
      const server = await startServer([
        { status: 429, headers: { 'retry-after': value, date: httpDate(NOW) } },
      ])
      const clock = skippingClock(NOW)
      const error = await errorOf<RateLimitError>(gatewayClient(server.url, { clock }).charge(CHARGE_REQUEST))
      expect(error).toMatchObject({
        code: 'rate_limited',
        status: 429,
        outcome: 'rejected',
        attempts: 3,
        retryable: true,
      })
      expect(error.retryAfterMs).toBeUndefined()
      expect(clock.waits).toHaveLength(2)
      for (const [index, wait] of clock.waits.entries()) {
        expect(wait).toBeGreaterThanOrEqual(0)
        expect(wait).toBeLessThan(500 * 2 ** index)
      }
    },
  )

  it('longer than maxWait fails at once and carries the wait', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '86400' } }])
    const clock = skippingClock(NOW)
    const error = await errorOf<RateLimitError>(gatewayClient(server.url, { clock }).charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ attempts: 1, retryAfterMs: 86_400_000 })
    expect(error.message).toContain('86400 s')
    expect(clock.waits).toEqual([])
  })

  it('counts for 503 as well, and the rate limit’s reset does not', async () => {
    const reset = String(NOW / 1000 + 50)
    const server = await startServer([
      { status: 503, headers: { 'retry-after': '3' } },
      { status: 503, headers: { 'x-ratelimit-reset': reset, date: httpDate(NOW) } },
      { status: 202, body: CHARGE },
    ])
    const clock = skippingClock(NOW)
    await gatewayClient(server.url, { clock }).charge(CHARGE_REQUEST)
    expect(clock.waits[0]).toBe(3000)
    expect(clock.waits[1]).toBeLessThan(1000)
  })
})

describe('the rate limit headers', () => {
  const limitOf = async (headers: Record<string, string>) => {
    const server = await startServer(withLogin([{ body: DETAILS, headers }]))
    const call = subscriptionsClient(server.url, { clock: skippingClock(NOW) }).details('sub-1')
    return (await call.withResponse()).response.rateLimit
  }

  it('in seconds give the right time, and milliseconds are understood', async () => {
    const headers = { 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '599' }
    const expected = { limit: 600, remaining: 599, resetAt: new Date(NOW + 60_000) }
    expect(await limitOf({ ...headers, 'x-ratelimit-reset': String(NOW / 1000 + 60) })).toEqual(expected)
    expect(await limitOf({ ...headers, 'x-ratelimit-reset': String(NOW + 60_000) })).toEqual(expected)
  })

  it('that are missing or garbage are undefined', async () => {
    expect(await limitOf({})).toBeUndefined()
    expect(await limitOf({ 'x-ratelimit-reset': 'soon', 'x-ratelimit-limit': '-1' })).toBeUndefined()
    expect(await limitOf({ 'x-ratelimit-reset': '60', 'x-ratelimit-remaining': '4' })).toEqual({
      remaining: 4,
    })
  })

  it('stand on errors too', async () => {
    const headers = { 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '3' }
    const server = await startServer(withLogin([{ status: 404, headers }]))
    const error = await errorOf(subscriptionsClient(server.url).details('sub-1'))
    expect(error).toMatchObject({ rateLimit: { limit: 600, remaining: 3 } })
  })
})

describe('holding calls back', () => {
  const limited = (remaining: number, seconds: number, extra: Script = {}): Script => ({
    body: DETAILS,
    headers: {
      date: httpDate(NOW),
      'x-ratelimit-remaining': String(remaining),
      'x-ratelimit-reset': String(NOW / 1000 + seconds),
    },
    ...extra,
  })
  const client = async (script: Script[], options = {}) => {
    const server = await startServer(withLogin(script))
    const clock = skippingClock(NOW)
    return { server, clock, subscriptions: subscriptionsClient(server.url, { clock, ...options }) }
  }

  it('waits for the reset when no requests remain', async () => {
    const { clock, subscriptions } = await client([limited(0, 20), limited(9, 60)])
    await subscriptions.details('sub-1')
    expect(clock.waits).toEqual([])
    await subscriptions.details('sub-1')
    expect(clock.waits).toEqual([20_000])
  })

  it.each([
    ['is absurd', limited(0, 86_400)],
    ['has passed', limited(0, -5)],
    ['is missing', { body: DETAILS, headers: { 'x-ratelimit-remaining': '0' } }],
    ['leaves requests', limited(5, 20)],
  ])('does not wait when the reset %s', async (_, script) => {
    const { clock, subscriptions } = await client([script])
    await subscriptions.details('sub-1')
    await subscriptions.details('sub-1')
    expect(clock.waits).toEqual([])
  })

  it('waits 60 seconds at most', async () => {
    const { clock, subscriptions } = await client([limited(0, 300), limited(9, 60)])
    await subscriptions.details('sub-1')
    await subscriptions.details('sub-1')
    expect(clock.waits).toEqual([60_000])
  })

  it('does not wait when told to throw', async () => {
    const { clock, subscriptions } = await client([limited(0, 20)], { rateLimit: 'throw' })
    await subscriptions.details('sub-1')
    await subscriptions.details('sub-1')
    expect(clock.waits).toEqual([])
  })

  it('fails at once, without a status, when the wait is longer than the call may take', async () => {
    const { server, subscriptions } = await client([limited(0, 20)], { totalTimeout: 10_000 })
    await subscriptions.details('sub-1')
    const error = await errorOf<RateLimitError>(subscriptions.details('sub-1'))
    expect(error).toMatchObject({
      code: 'rate_limited',
      phase: 'limit',
      outcome: 'not-sent',
      attempts: 0,
      status: undefined,
      retryAfterMs: 20_000,
      retryable: true,
    })
    expect(server.requests).toHaveLength(2)
  })

  it('parallel calls together do not overrun what remains, and go in the order they came', async () => {
    let wake = (): void => undefined
    const clock = {
      now: () => NOW,
      sleep: () =>
        new Promise<void>((resolve) => {
          wake = resolve
        }),
    }
    const server = await startServer(
      withLogin((_, index) => (index < 3 ? limited(Math.max(0, 2 - index), 30) : limited(50, 60))),
    )
    const subscriptions = subscriptionsClient(server.url, { clock })
    await subscriptions.details('first')
    const done: string[] = []
    const calls = ['a', 'b', 'c', 'd', 'e'].map(async (id) => {
      await subscriptions.details(id)
      done.push(id)
    })
    await Promise.all(calls.slice(0, 2))
    expect(server.requests.filter(({ url }) => url.includes('subscription'))).toHaveLength(3)
    wake()
    await Promise.all(calls)
    const order = server.requests.map(({ url }) => url.split('/').at(-1)).slice(4)
    expect(order).toEqual(['c', 'd', 'e'])
    expect(done.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('a call that is held back ends with its signal, and the others keep their places', async () => {
    const slept: AbortSignal[] = []
    let wake = (): void => undefined
    const clock = {
      now: () => NOW,
      sleep: (_: number, signal?: AbortSignal) => {
        if (signal) slept.push(signal)
        return new Promise<void>((resolve) => {
          wake = resolve
        })
      },
    }
    const server = await startServer(withLogin([limited(0, 30), limited(9, 60)]))
    const subscriptions = subscriptionsClient(server.url, { clock })
    await subscriptions.details('first')
    const abort = new AbortController()
    const leaving = errorOf(subscriptions.details('leaving', { signal: abort.signal }))
    const staying = subscriptions.details('staying')
    await new Promise(setImmediate)
    abort.abort()
    expect(await leaving).toMatchObject({ code: 'aborted', outcome: 'not-sent', phase: 'limit' })
    expect(slept).toHaveLength(1)
    wake()
    expect((await staying).id).toBe('sub-1')
  })

  it('the last one to leave ends the sleep: no timer stays', async () => {
    const slept: AbortSignal[] = []
    const clock = {
      now: () => NOW,
      sleep: (_: number, signal?: AbortSignal) =>
        new Promise<void>((_resolve, reject) => {
          if (signal === undefined) return
          slept.push(signal)
          signal.addEventListener('abort', () => reject(signal.reason))
        }),
    }
    const server = await startServer(withLogin([limited(0, 30)]))
    const subscriptions = subscriptionsClient(server.url, { clock })
    await subscriptions.details('first')
    const abort = new AbortController()
    const leaving = errorOf(subscriptions.details('leaving', { signal: abort.signal }))
    await new Promise(setImmediate)
    abort.abort()
    await leaving
    expect(slept.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('a 429 of the gateway holds the other calls back for as long as it said', async () => {
    const server = await startServer([
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 202, body: CHARGE },
    ])
    const clock = skippingClock(NOW)
    const gateway = gatewayClient(server.url, { clock })
    await errorOf(gateway.charge(CHARGE_REQUEST, { retry: false }))
    await gateway.charge(CHARGE_REQUEST)
    expect(clock.waits).toEqual([7000])
  })
})

import { describe, expect, it } from 'vitest'
import { nextStep, type RateLimitError } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS } from '../support/bodies.ts'
import { errorOf, subscriptionsClient } from '../support/clients.ts'
import { deferred } from '../support/deferred.ts'
import { httpDate, limited, NOW } from '../support/limited.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { calls, failureOf, openClients } from '../support/open-clients.ts'
import { type Script, startServer } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

describe('case 13: Retry-After', () => {
  it.each<[string, value: string, wait: number, date?: string]>([
    ['seconds', '7', 7000],
    ['a second and a half', '1.5', 1500],
    ['an HTTP date', httpDate(NOW + 2000), 2000],
    ['a value that was sent twice (case 74)', '20, 20', 20_000],
    ['two values (case 74)', '5,20', 20_000],
    ['a date with a short year', 'Saturday, 28-Nov-26 12:00:09 GMT', 9000, 'soon'],
    ['a date that names no zone', 'Sat Nov 28 12:00:09 2026', 9000, 'soon'],
    ['a date while the machine is slow', httpDate(NOW + 602_000), 2000, httpDate(NOW + 600_000)],
    ['a date while the machine is fast', httpDate(NOW - 598_000), 2000, httpDate(NOW - 600_000)],
  ])('as %s is the wait before the retry', async (_, value, wait, date = httpDate(NOW)) => {
    const refusal = { status: 429, headers: { date, 'retry-after': value } }
    const clients = await openClients([refusal, { status: 202, body: CHARGE }])
    await calls.charge(clients)
    expect(clients.clock.waits).toEqual([wait])
  })

  it.each(['soon', '', '-5', '1e3', '0', '0.2', '0, 0', httpDate(NOW - 60_000)])(
    'of %j is ignored: the client backs off, and its attempts are limited',
    async (value) => {
      const headers = { 'retry-after': value, date: httpDate(NOW) }
      const clients = await openClients({ status: 429, headers })
      const error = await errorOf<RateLimitError>(calls.charge(clients))
      const refused = { code: 'rate_limited', status: 429, outcome: 'rejected', retryable: true }
      expect(error).toMatchObject({ ...refused, attempts: 3, retryAfterMs: undefined })
      expect(clients.clock.waits).toHaveLength(2)
      for (const [index, wait] of clients.clock.waits.entries()) {
        expect(wait).toBeGreaterThanOrEqual(0)
        expect(wait).toBeLessThan(500 * 2 ** index)
      }
    },
  )

  it.each([
    ['100', 100_000, '100 s'],
    ['60.0004', 60_001, '60.1 s'],
    // A time in milliseconds, an epoch time and a wrong date would stop a queue for years.
    ['60000', 3_600_000, '3600 s'],
    ['179603280', 3_600_000, '3600 s'],
    ['Thu, 01 Jan 2199 00:00:00 GMT', 3_600_000, '3600 s'],
  ])(
    'case 131: of %s exceeds maxWait and fails the call at once: the wait in the error is at most an hour',
    async (value, wait, words) => {
      const clients = await openClients({ status: 429, headers: { 'retry-after': value } })
      const error = await errorOf(calls.charge(clients))
      expect(error).toMatchObject({ attempts: 1, retryAfterMs: wait })
      expect(error.message).toContain(words)
      expect(nextStep(error)).toMatchObject({ step: 'pause-queue', afterMs: wait })
      expect(clients.clock.waits).toEqual([])
    },
  )

  it('case 98: of 0 does not make a job run again at once', async () => {
    for (const status of [429, 503]) {
      const error = await errorOf(
        calls.status(await openClients({ status, headers: { 'retry-after': '0' } })),
      )
      expect(error).toMatchObject({ attempts: 3, retryAfterMs: undefined })
      expect(nextStep(error)).toMatchObject({ afterMs: status === 429 ? 60_000 : 30_000 })
    }
  })

  it('counts with a 503, and X-RateLimit-Reset does not', async () => {
    const reset = String(NOW / 1000 + 50)
    const clients = await openClients([
      { status: 503, headers: { 'retry-after': '3' } },
      { status: 503, headers: { 'x-ratelimit-reset': reset, date: httpDate(NOW) } },
      { status: 202, body: CHARGE },
    ])
    await calls.charge(clients)
    expect(clients.clock.waits[0]).toBe(3000)
    expect(clients.clock.waits[1]).toBeLessThan(1000)
  })

  it('after a 429 of the gateway delays the other calls, too', async () => {
    const { gateway, clock } = await openClients([
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 202, body: CHARGE },
    ])
    await errorOf(gateway.charge(CHARGE_REQUEST, { retry: false }))
    await gateway.charge(CHARGE_REQUEST)
    expect(clock.waits).toEqual([7000])
  })
})

describe('case 14: the X-RateLimit headers', () => {
  const headers = { 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '599' }
  const unusable = { 'x-ratelimit-reset': 'soon' }
  const expected = { limit: 600, remaining: 599, resetAt: new Date(NOW + 60_000) }

  it.each<[string, Record<string, string>, object | undefined]>([
    ['in seconds give the time', { ...headers, 'x-ratelimit-reset': String(NOW / 1000 + 60) }, expected],
    ['in milliseconds give the time', { ...headers, 'x-ratelimit-reset': String(NOW + 60_000) }, expected],
    [
      'that were sent twice (case 74)',
      { ...headers, 'x-ratelimit-remaining': '599, 599' },
      { limit: 600, remaining: 599 },
    ],
    ['that are missing are undefined', {}, undefined],
    ['that are unusable are undefined', { ...unusable, 'x-ratelimit-limit': '-1' }, undefined],
    ['with one usable value', { ...unusable, 'x-ratelimit-remaining': '4' }, { remaining: 4 }],
  ])('%s', async (_, given, rateLimit) => {
    const { subscriptions } = await openClients({ body: DETAILS, headers: given })
    expect((await subscriptions.details('sub-1').withResponse()).response.rateLimit).toEqual(rateLimit)
  })

  it('are on errors, too', async () => {
    const error = await failureOf({ status: 404, headers }, calls.details)
    expect(error).toMatchObject({ rateLimit: { limit: 600, remaining: 599 } })
  })
})

describe('the second call is', () => {
  it.each<[string, Script, number[], options?: object]>([
    ['delayed until the reset when no requests remain', limited(0, 20), [20_000]],
    ['delayed by 60 s at most', limited(0, 300), [60_000]],
    ['not delayed when the reset is absurd', limited(0, 86_400), []],
    ['not delayed when the reset has passed', limited(0, -5), []],
    ['not delayed without a reset', { body: DETAILS, headers: { 'x-ratelimit-remaining': '0' } }, []],
    ['not delayed when requests remain', limited(5, 20), []],
    ["not delayed with rateLimit: 'throw'", limited(0, 20), [], { rateLimit: 'throw' }],
  ])('%s', async (_, script, waits, options) => {
    const clients = await openClients([script, limited(9, 60)], options)
    await calls.details(clients)
    expect(clients.clock.waits).toEqual([])
    await calls.details(clients)
    expect(clients.clock.waits).toEqual(waits)
  })

  it('an error at once, without a status, when the delay exceeds its total time', async () => {
    const clients = await openClients(limited(0, 20), { totalTimeout: 10_000 })
    await calls.details(clients)
    expect(await errorOf(calls.details(clients))).toMatchObject({
      code: 'rate_limited',
      phase: 'limit',
      outcome: 'not-sent',
      attempts: 0,
      status: undefined,
      retryAfterMs: 20_000,
      retryable: true,
    })
    expect(clients.requests).toHaveLength(2)
  })

  it('not delayed by an hour when the clock is set back by an hour', async () => {
    const clock = { ...skippingClock(), now: () => now }
    let now = NOW
    const clients = await openClients(() => limited(0, 5, now), { clock })
    await calls.details(clients)
    now -= 3_600_000
    expect(await calls.details(clients)).toMatchObject({ requestID: 'order-77' })
  })

  it('sent although the sleep of the given clock throws', async () => {
    const sleep = () => {
      throw new Error('The clock is broken.')
    }
    const clients = await openClients(
      { ...limited(0, 60, Date.now()), status: 202, body: CHARGE },
      { clock: { now: () => Date.now(), sleep } },
    )
    await calls.charge(clients)
    expect(await Promise.all([calls.charge(clients), calls.charge(clients)])).toMatchObject([CHARGE, CHARGE])
  })
})

describe('calls that the rate limit delays', () => {
  const open = async (script: Parameters<typeof openClients>[0], options = {}) => {
    const clock = new ManualClock(NOW)
    return { ...(await openClients(script, { ...options, clock })), clock }
  }

  it('do not exceed what remains, and go in the order in which they came', async () => {
    const { subscriptions, clock, requests } = await open((_, index) =>
      index < 3 ? limited(Math.max(0, 2 - index), 30) : limited(50, 60),
    )
    await subscriptions.details('first')
    const five = ['a', 'b', 'c', 'd', 'e'].map((id) => subscriptions.details(id))
    await Promise.all(five.slice(0, 2))
    expect(requests.filter(({ url }) => url.includes('subscription'))).toHaveLength(3)
    await clock.advance(30_000)
    await Promise.all(five)
    expect(requests.map(({ url }) => url.split('/').at(-1)).slice(4)).toEqual(['c', 'd', 'e'])
  })

  it.each([0, 1])(
    'end with their signal: no timer stays, and %i other calls keep their places',
    async (others) => {
      const { subscriptions, clock } = await open([limited(0, 30), limited(9, 60)])
      await subscriptions.details('first')
      const abort = new AbortController()
      const leaving = errorOf(subscriptions.details('leaving', { signal: abort.signal }))
      const staying = Array.from({ length: others }, () => subscriptions.details('staying'))
      await settled()
      abort.abort()
      expect(await leaving).toMatchObject({ code: 'aborted', outcome: 'not-sent', phase: 'limit' })
      expect(clock.sleeping).toBe(others)
      await clock.advance(30_000)
      expect(await Promise.all(staying)).toHaveLength(others)
    },
  )

  it.each([1, 2, 5])('are sent when their token expired meanwhile, with a limit of %i', async (limit) => {
    const clock = skippingClock()
    const server = await startServer(({ url }) =>
      url === '/oauth/token'
        ? { body: { token_type: 'Bearer', expires_in: 30, access_token: `access-${clock.now()}` } }
        : limited(0, 50, clock.now(), limit),
    )
    const client = subscriptionsClient(server.url, { clock, totalTimeout: 70_000 })
    await client.details('sub-0')
    const delayed = Array.from({ length: 3 * limit }, (_, index) => client.details(`sub-${index}`))
    await expect(Promise.all(delayed)).resolves.toHaveLength(3 * limit)
  })

  it('wait for responses on the way, and are not refused because of a window that is only assumed', async () => {
    const clock = skippingClock()
    const response = deferred()
    let isHeld = false
    const { subscriptions, requests } = await openClients(limited(0, 5, NOW, 1), {
      clock,
      totalTimeout: 20_000,
      fetch: async (url, request) => {
        const received = await fetch(url, request)
        if (isHeld && url.includes('sub-1')) await response.promise
        return isHeld ? new Response(await received.text()) : received
      },
    })
    await subscriptions.details('sub-0')
    await clock.sleep(6000)
    isHeld = true
    const both = [subscriptions.details('sub-1'), subscriptions.details('sub-2')]
    await expect.poll(() => requests.length).toBeGreaterThanOrEqual(3)
    response.resolve()
    await expect(Promise.all(both)).resolves.toHaveLength(2)
  })

  it.each([
    ['wait longer when a refusal asks for it meanwhile', 5, '40', 40_000],
    ['go on early when a response shortens their wait', 50, '2', 2000],
  ])('%s', async (_, seconds, retryAfter, waited) => {
    const slow = deferred()
    const sent: number[] = []
    const { gateway, clock } = await open(
      (_request, index) => {
        sent.push(clock.now() - NOW)
        if (index === 0) return { ...limited(1, seconds), body: { status: 'failed' } }
        if (index === 1) return { status: 429, headers: { 'retry-after': retryAfter } }
        return { body: { status: 'failed' } }
      },
      {
        totalTimeout: 70_000,
        fetch: async (url: string, request: RequestInit) => {
          const received = await fetch(url, request)
          if (received.status === 429) await slow.promise
          return received
        },
      },
    )
    await gateway.status('ch_1')
    const refused = errorOf(gateway.status('ch_1', { retry: false }))
    const waiting = gateway.status('ch_2')
    await expect.poll(() => [sent.length, clock.sleeping]).toEqual([2, 1])
    slow.resolve()
    await refused
    await clock.advance(waited)
    await waiting
    expect(sent[2]).toBe(waited)
  })
})

it.each([1, 100, 499])(
  'case 76: a maxWait of %i ms shortens the backoff instead of ending the call',
  async (maxWait) => {
    const { gateway, clock } = await openClients(
      [{ status: 503 }, { status: 503 }, { status: 202, body: CHARGE }],
      {
        retry: { maxWait },
      },
    )
    const began = clock.now()
    expect((await gateway.charge(CHARGE_REQUEST)).id).toBe('ch_1')
    expect(clock.now() - began).toBeLessThanOrEqual(2 * maxWait)
  },
)

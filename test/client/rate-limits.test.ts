import { describe, expect, it } from 'vitest'
import { nextStep, type RateLimitError } from '../../src/index.ts'
import { CHARGE, DETAILS } from '../support/bodies.ts'
import { errorOf } from '../support/clients.ts'
import { httpDate, limited, NOW } from '../support/limited.ts'
import { calls, failureOf, openClients } from '../support/open-clients.ts'
import type { Script } from '../support/scripted-server.ts'
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
    'of %j is ignored: the client backs off, and its attempts are limited (case 98: also for a job)',
    async (value) => {
      for (const [status, afterMs, call] of [
        [429, 60_000, calls.charge],
        [503, 30_000, calls.status],
      ] as const) {
        const clients = await openClients({ status, headers: { 'retry-after': value, date: httpDate(NOW) } })
        const error = await errorOf<RateLimitError>(call(clients))
        expect(error).toMatchObject({ status, retryable: true, attempts: 3, retryAfterMs: undefined })
        expect(nextStep(error)).toMatchObject({ afterMs })
        expect(clients.clock.waits).toHaveLength(2)
        for (const [index, wait] of clients.clock.waits.entries()) {
          expect(wait).toBeGreaterThanOrEqual(0)
          expect(wait).toBeLessThan(500 * 2 ** index)
        }
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
})

describe('case 14: the X-RateLimit headers', () => {
  const headers = { 'x-ratelimit-limit': '600', 'x-ratelimit-remaining': '599' }
  const unusable = { 'x-ratelimit-reset': 'soon' }
  const known = { limit: 600, remaining: 599 }
  const expected = { ...known, resetAt: new Date(NOW + 60_000) }

  it.each<[string, given: Record<string, string>, rateLimit: object | undefined]>([
    ['in seconds give the time', { ...headers, 'x-ratelimit-reset': String(NOW / 1000 + 60) }, expected],
    ['in milliseconds give the time', { ...headers, 'x-ratelimit-reset': String(NOW + 60_000) }, expected],
    ['that were sent twice (case 74)', { ...headers, 'x-ratelimit-remaining': '599, 599' }, known],
    ['that are missing are undefined', {}, undefined],
    ['that are unusable are undefined', { ...unusable, 'x-ratelimit-limit': '-1' }, undefined],
    ['with one usable value', { ...unusable, 'x-ratelimit-remaining': '4' }, { remaining: 4 }],
  ])('%s', async (_, given, rateLimit) => {
    const { subscriptions } = await openClients({ body: DETAILS, headers: given })
    expect((await subscriptions.details('sub-1').withResponse()).response.rateLimit).toEqual(rateLimit)
  })

  it('are on errors, too', async () => {
    const error = await failureOf({ status: 404, headers }, calls.details)
    expect(error).toMatchObject({ rateLimit: known })
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
    const facts = { code: 'rate_limited', phase: 'limit', outcome: 'not-sent', attempts: 0, retryable: true }
    const error = await errorOf(calls.details(clients))
    expect(error).toMatchObject({ ...facts, status: undefined, retryAfterMs: 20_000 })
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

it.each([1, 100, 499])(
  'case 76: a maxWait of %i ms shortens the backoff instead of ending the call',
  async (maxWait) => {
    const lost = { status: 503 }
    const clients = await openClients([lost, lost, { status: 202, body: CHARGE }], { retry: { maxWait } })
    await calls.charge(clients)
    expect(Math.max(...clients.clock.waits)).toBeLessThanOrEqual(maxWait)
  },
)

describe("case 109: with rateLimit: 'throw'", () => {
  const throwing = { rateLimit: 'throw' } as const

  it.each<[string, Script]>([
    ['with Retry-After', { status: 429, headers: { 'retry-after': '25' } }],
    ['without a time', { status: 429 }],
    ['with a reset', { ...limited(0, 9), status: 429 }],
  ])('a 429 %s fails the call at once: no wait and no retry', async (_, script) => {
    for (const call of [calls.charge, calls.details, calls.confirm]) {
      const clients = await openClients(script, throwing)
      const error = await errorOf(call(clients))
      expect(error).toMatchObject({ code: 'rate_limited', attempts: 1, outcome: 'rejected', retryable: true })
      expect(error.message).not.toContain('does not wait')
      expect(clients.clock.waits).toEqual([])
    }
  })

  it('a 503 is retried after its wait as always', async () => {
    const lost = { status: 503, headers: { 'retry-after': '3' } }
    const clients = await openClients([lost, { status: 202, body: CHARGE }], throwing)
    await calls.charge(clients)
    expect(clients.clock.waits).toEqual([3000])
  })
})

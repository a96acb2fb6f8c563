import { describe, expect, it } from 'vitest'
import type { FetchFunction, FetchResponse, RateLimitError } from '../../src/index.ts'
import { DETAILS } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { startServer } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const json = (body: unknown, headers: Record<string, string> = {}): FetchResponse =>
  new Response(JSON.stringify(body), { headers })

/** Answers of area S whose tokens live `expiresIn` seconds; `read` answers everything but logins. */
const api = (expiresIn: number, read: () => FetchResponse | Promise<FetchResponse>) => {
  const seen = { logins: 0, reads: 0 }
  const fetch: FetchFunction = async (url) => {
    if (url.endsWith('/oauth/token')) {
      seen.logins += 1
      return json({ token_type: 'Bearer', expires_in: expiresIn, access_token: `access-${seen.logins}` })
    }
    seen.reads += 1
    return read()
  }
  return { fetch, seen }
}

const nothingLeft = (now: number, limit: number, seconds: number) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': String(Math.floor(now / 1000) + seconds),
})

describe('calls that are held back', () => {
  it.each([1, 2, 5])('go on when their token ended meanwhile, though the limit is %i', async (limit) => {
    const clock = skippingClock()
    const { fetch } = api(30, () => json(DETAILS, nothingLeft(clock.now(), limit, 50)))
    const client = subscriptionsClient('https://api.example', { clock, fetch, totalTimeout: 70_000 })
    await client.details('sub-0')
    const calls = Array.from({ length: 3 * limit }, (_, index) => client.details(`sub-${index}`))
    await expect(Promise.all(calls)).resolves.toHaveLength(3 * limit)
  })

  it('wait for answers under way, and are not refused for a window that is only guessed', async () => {
    const clock = skippingClock()
    let release: (() => void) | undefined
    let held = false
    const { fetch } = api(3600, async () => {
      if (!held) return json(DETAILS, nothingLeft(clock.now(), 1, 5))
      await new Promise<void>((resolve) => {
        release = resolve
      })
      held = false
      return json(DETAILS)
    })
    const client = subscriptionsClient('https://api.example', { clock, fetch, totalTimeout: 20_000 })
    await client.details('sub-0')
    await clock.sleep(6000)
    held = true
    const first = client.details('sub-1')
    const second = client.details('sub-2')
    await expect.poll(() => release).toBeDefined()
    release?.()
    await expect(Promise.all([first, second])).resolves.toHaveLength(2)
  })

  it.each([
    ['are held as long as a refusal asks that comes while they wait', 5, '40', 40_000],
    ['go on early when an answer brings the end of their wait forward', 50, '2', 2000],
  ])('%s', async (_, seconds, retryAfter, waited) => {
    const started = Date.parse('2026-11-28T12:00:00Z')
    let now = started
    const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>()
    const clock = {
      now: () => now,
      sleep: (milliseconds: number, signal?: AbortSignal) =>
        new Promise<void>((wake, reject) => {
          const sleeper = { until: now + milliseconds, wake }
          sleepers.add(sleeper)
          signal?.addEventListener('abort', () => sleepers.delete(sleeper) && reject(signal.reason))
        }),
    }
    /** Lets those who sleep wake in turn, each at its time. */
    const wakeNext = () => {
      const [first] = [...sleepers].sort((one, other) => one.until - other.until)
      if (first === undefined) return
      sleepers.delete(first)
      now = Math.max(now, first.until)
      first.wake()
    }
    const sent: number[] = []
    let answerSlow: ((answer: FetchResponse) => void) | undefined
    const fetch: FetchFunction = () => {
      sent.push(now - started)
      if (sent.length === 1) {
        const last = { ...nothingLeft(now, 5, seconds), 'x-ratelimit-remaining': '1' }
        return Promise.resolve(json({ status: 'failed' }, last))
      }
      if (sent.length > 2) return Promise.resolve(json({ status: 'failed' }))
      return new Promise((resolve) => {
        answerSlow = resolve
      })
    }
    const gateway = gatewayClient('https://api.example', { clock, fetch, totalTimeout: 70_000 })
    await gateway.status('ch_1')
    const slow = errorOf(gateway.status('ch_1', { retry: false }))
    const waiting = gateway.status('ch_2')
    await expect.poll(() => sleepers.size).toBe(1)
    answerSlow?.(new Response('{}', { status: 429, headers: { 'retry-after': retryAfter } }))
    await slow
    await expect
      .poll(() => {
        wakeNext()
        return sent.length
      })
      .toBe(3)
    await waiting
    expect(sent[2]).toBe(waited)
  })

  it('are not held for an hour when the clock is set back by one', async () => {
    let now = Date.parse('2026-11-28T12:00:00Z')
    const clock = {
      now: () => now,
      sleep: async (milliseconds: number) => {
        now += milliseconds
      },
    }
    const { fetch } = api(3600, () => json(DETAILS, nothingLeft(now, 100, 5)))
    const client = subscriptionsClient('https://api.example', { clock, fetch })
    await client.details('sub-0')
    now -= 3_600_000
    await expect(client.details('sub-1')).resolves.toMatchObject({ id: 'sub-1' })
  })
})

describe('a waiting helper', () => {
  it('does not hammer a server that answers Retry-After: 0', async () => {
    const clock = skippingClock()
    const body = { status: 'pending_confirmation' }
    const server = await startServer([{ headers: { 'retry-after': '0' }, body }])
    const work = gatewayClient(server.url, { clock }).waitForCharge('ch_1', { timeout: 10_000 })
    expect(await errorOf(work)).toMatchObject({ code: 'timeout', lastState: body })
    expect(Math.min(...clock.waits.slice(0, -1))).toBeGreaterThanOrEqual(500)
    expect(server.requests.length).toBeLessThan(20)
  })

  it('that was ended before its first read says that nothing was sent', async () => {
    const server = await startServer([{}])
    const work = gatewayClient(server.url).waitForCharge('ch_1', { signal: AbortSignal.abort() })
    expect(await errorOf(work)).toMatchObject({ code: 'aborted', outcome: 'not-sent', attempts: 0 })
  })
})

it('a login that was ended before it began says that nothing was sent', async () => {
  const server = await startServer([{}])
  const work = subscriptionsClient(server.url).login({ signal: AbortSignal.abort() })
  expect(await errorOf(work)).toMatchObject({ code: 'aborted', outcome: 'not-sent', attempts: 0 })
  expect(server.requests).toHaveLength(0)
})

it('a clock that fails between attempts leaves the error of the attempt, with its key', async () => {
  const server = await startServer([{ status: 500 }])
  const clock = { now: () => 0, sleep: () => Promise.reject(new Error('The clock is broken.')) }
  const request = { msisdn: '1', amount: 1, currency: 'BDT', redirect_uri: 'https://shop.example/' }
  const error = await errorOf(gatewayClient(server.url, { clock }).charge(request))
  expect(error).toMatchObject({ code: 'api_error', outcome: 'unknown', attempts: 1 })
  expect(error.idempotencyKey).toBeDefined()
})

it.each([
  ['the obsolete form with a short year', 'Saturday, 28-Nov-26 12:00:09 GMT'],
  ['the form of C, which names no zone', 'Sat Nov 28 12:00:09 2026'],
])('Retry-After in %s is read as GMT', async (_, value) => {
  const clock = skippingClock()
  const server = await startServer([{ status: 429, headers: { 'retry-after': value, date: 'soon' } }])
  const call = gatewayClient(server.url, { clock, retry: false }).status('ch_1')
  expect(await errorOf<RateLimitError>(call)).toMatchObject({ retryAfterMs: 9000 })
})

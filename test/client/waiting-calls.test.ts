import { describe, expect, it } from 'vitest'
import { CHARGE } from '../support/bodies.ts'
import { errorOf, gatewayClient } from '../support/clients.ts'
import { limited, NOW } from '../support/limited.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { calls, openClients } from '../support/open-clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

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
      expect(error.message).not.toContain('too long')
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

describe('case 134: a 429 that names a wait', () => {
  /** Makes calls at a gateway on a clock that stands still, with responses that a test gives in its own order. */
  const openByHand = async () => {
    const clock = new ManualClock(NOW)
    const waiting: ((response: Response) => void)[] = []
    const fetch = () => new Promise<Response>((resolve) => void waiting.push(resolve))
    const gateway = gatewayClient('http://api.example', { fetch, clock, retry: false, totalTimeout: 110_000 })
    const respond = async (index: number, { status = 200, headers = {} }: Script) => {
      waiting[index]?.(new Response(JSON.stringify({ status: 'failed' }), { status, headers }))
      await settled()
    }
    return { clock, waiting, respond, read: () => gateway.status('ch_1').catch((error: Error) => error) }
  }
  const burst = (wait: string, more: Script = limited(499, 39)): Script => ({
    status: 429,
    headers: { ...more.headers, 'retry-after': wait },
  })

  it.each<[string, refusal: Script, other: Script]>([
    ['another response of the window comes later', burst('1'), limited(498, 39)],
    ['another response names another reset', burst('1'), limited(498, 40)],
    ['it says that nothing remains', burst('1', limited(0, 39)), limited(498, 39)],
    ['it names no rest', burst('1', {}), limited(498, 39)],
  ])('delays calls by this wait and no longer when %s', async (_, refusal, other) => {
    const { clock, waiting, respond, read } = await openByHand()
    const both = [read(), read()]
    await settled()
    await respond(0, refusal)
    await respond(1, other)
    await Promise.all(both)
    const next = read()
    await clock.advance(999)
    expect(waiting).toHaveLength(2)
    await clock.advance(1)
    await settled()
    expect(waiting).toHaveLength(3)
    await respond(2, {})
    expect(await next).toMatchObject({ status: 'failed' })
  })
})

describe('case 133: 2 000 calls that wait', () => {
  it('go in their order, and an opening or a response wakes one of them', async () => {
    const clock = new ManualClock(NOW)
    const sleeps: unknown[] = []
    const reasons = new Set<unknown>()
    const counting = {
      now: clock.now,
      sleep: (milliseconds: number, signal?: AbortSignal) => {
        sleeps.push(milliseconds)
        signal?.addEventListener('abort', () => reasons.add(signal.reason))
        return clock.sleep(milliseconds, signal)
      },
    }
    const sent: string[] = []
    const fetch = async (url: string) => {
      sent.push(url.split('/').at(-1) ?? '')
      const { headers = {} } = limited(Math.max(0, 999 - ((sent.length - 1) % 1000)), 30, clock.now(), 1000)
      return new Response(JSON.stringify({ status: 'failed' }), { headers })
    }
    const gateway = gatewayClient('http://api.example', { fetch, clock: counting, totalTimeout: 110_000 })
    await Promise.all(Array.from({ length: 1000 }, () => gateway.status('first')))
    const ids = Array.from({ length: 2000 }, (_, index) => `${index}`)
    const all = Promise.all(ids.map((id) => gateway.status(id)))
    await clock.advance(30_000)
    await clock.advance(30_000)
    await all
    expect(sent.slice(1000)).toEqual(ids)
    expect(sleeps.length).toBeLessThan(2100)
    expect(sleeps.filter((wait) => Number(wait) < 0)).toEqual([])
    expect(reasons.size).toBeLessThanOrEqual(1)
  })

  it('leave no place taken when they are aborted, and the next call is the first', async () => {
    const clock = new ManualClock(NOW)
    const clients = await openClients(
      [
        { ...limited(0, 30), body: { status: 'failed' } },
        { ...limited(9, 60), body: { status: 'failed' } },
      ],
      { clock },
    )
    await calls.status(clients)
    const abort = new AbortController()
    const leaving = Array.from({ length: 20 }, () => clients.gateway.status('x', { signal: abort.signal }))
    const staying = clients.gateway.status('staying')
    const ended = Promise.allSettled(leaving)
    await settled()
    abort.abort()
    await ended
    expect(clock.sleeping).toBe(1)
    await clock.advance(30_000)
    await staying
    expect(clients.requests.at(-1)?.url).toContain('staying')
  })
})

it('a clock that runs on between two looks gets no negative time to sleep', async () => {
  const skipping = skippingClock()
  let now = NOW
  const clock = {
    now: () => (now += 700),
    sleep: (milliseconds: number) => skipping.sleep(milliseconds),
  }
  const clients = await openClients(() => limited(0, 2, now), { clock })
  for (let index = 0; index < 8; index += 1) await calls.status(clients).catch(() => undefined)
  expect(skipping.waits.filter((wait) => wait < 0)).toEqual([])
})

describe('case 59: what the headers of one response said', () => {
  it.each([61_000, 86_400_000])('does not limit calls %i ms after its window', async (later) => {
    const manual = new ManualClock()
    let running = 0
    let most = 0
    const fetch = async () => {
      running += 1
      most = Math.max(most, running)
      await settled()
      running -= 1
      return Response.json({ status: 'failed' }, { headers })
    }
    let { headers = {} } = limited(0, 5, manual.now(), 1)
    const { gateway } = await openClients({}, { fetch, clock: manual })
    await gateway.status('ch_1')
    headers = {}
    manual.jump(6_000)
    await gateway.status('ch_1')
    manual.jump(later)
    await Promise.all([1, 2, 3, 4].map(() => gateway.status('ch_1')))
    expect(most).toBe(4)
  })
})

describe('case 60: a call that the server would reject for 600 s', () => {
  const refusal = { status: 429, headers: { 'retry-after': '600' } }

  it.each([{}, { retry: false as const }, { retry: { limit: 1 } }])(
    'with %j fails at once',
    async (options) => {
      const { gateway, requests, clock: skipping } = await openClients(refusal)
      await errorOf(gateway.status('ch_1', options))
      expect(await errorOf(gateway.status('ch_2', options))).toMatchObject({
        code: 'rate_limited',
        attempts: 0,
        outcome: 'not-sent',
        retryAfterMs: 600_000,
      })
      expect(requests).toHaveLength(1)
      expect(skipping.waits).toEqual([])
    },
  )

  it('fails at once, too, while it waits for an earlier limit', async () => {
    const manual = new ManualClock()
    const responses = [{ status: 200, headers: limited(1, 50, manual.now(), 1).headers }, refusal]
    let held: (() => void) | undefined
    const fetch = async () => {
      const { status = 200, headers } = responses.shift() ?? {}
      if (status === 429) await new Promise<void>((resolve) => (held = resolve))
      return Response.json({ status: 'failed' }, { status, headers: headers ?? {} })
    }
    const { gateway } = await openClients({}, { fetch, clock: manual })
    await gateway.status('ch_1')
    const both = [gateway.status('ch_2', { retry: false }), gateway.status('ch_3')].map((call) =>
      errorOf(call),
    )
    await expect.poll(() => [manual.sleeping, held]).toEqual([1, expect.any(Function)])
    held?.()
    expect(await Promise.all(both)).toMatchObject([
      { code: 'rate_limited', attempts: 1 },
      { code: 'rate_limited', attempts: 0, retryAfterMs: 600_000 },
    ])
  })
})

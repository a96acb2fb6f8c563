import { describe, expect, it } from 'vitest'
import type { CallOptions, GatewayClientOptions } from '../../src/index.ts'
import { gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { limited, NOW } from '../support/limited.ts'
import { ManualClock, settled } from '../support/manual-clock.ts'
import { calls, openClients } from '../support/open-clients.ts'
import { type Script, startServer } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

/** A gateway client whose clock stands still. Each request waits until the test responds to it. */
const openByHand = (options: Partial<GatewayClientOptions> = {}) => {
  const clock = new ManualClock(NOW)
  const sent: string[] = []
  const waiting: ((response: Response) => void)[] = []
  const fetch = (url: string) => {
    sent.push(url.split('/').at(-1) ?? '')
    return new Promise<Response>((resolve) => void waiting.push(resolve))
  }
  const settings = { fetch, clock, retry: false, totalTimeout: 110_000, ...options } as const
  const gateway = gatewayClient('http://api.example', settings)
  return {
    clock,
    sent,
    /** Starts a read, and lets it go as far as it can without a response. Its result or its error. */
    read: async (id = 'ch_1', callOptions: CallOptions = {}) => {
      const ended = gateway.status(id, callOptions).catch((error: Error) => error)
      await settled()
      return { ended }
    },
    async respond(index: number, { status = 200, headers = {} }: Script = {}) {
      waiting[index]?.(Response.json({ status: 'failed' }, { status, headers }))
      await settled()
    },
  }
}

/** Clients by hand, after a first read with this response. */
const openAfter = async (first: Script, options: Partial<GatewayClientOptions> = {}) => {
  const opened = openByHand(options)
  const { ended } = await opened.read('first')
  await opened.respond(0, first)
  await ended
  return opened
}

const DONE = { status: 'failed' }
const refusal = (seconds: number): Script => ({ status: 429, headers: { 'retry-after': String(seconds) } })

describe('calls that the rate limit delays', () => {
  it('do not exceed what remains, and go in the order in which they came', async () => {
    const { clock, sent, read, respond } = await openAfter(limited(2, 30))
    for (const id of ['a', 'b', 'c', 'd', 'e']) await read(id)
    expect(sent).toEqual(['first', 'a', 'b'])
    // The responses come in another order than the requests: the lowest number is the newest.
    await respond(2, limited(0, 30))
    await respond(1, limited(1, 30))
    await clock.advance(29_999)
    expect(sent).toHaveLength(3)
    await clock.advance(1)
    await settled()
    expect(sent.slice(3)).toEqual(['c', 'd', 'e'])
  })

  it('wait for a 429 of another call', async () => {
    const { clock, sent, read } = await openAfter(refusal(7))
    await read()
    await clock.advance(6_999)
    expect(sent).toHaveLength(1)
    await clock.advance(1)
    await settled()
    expect(sent).toHaveLength(2)
  })

  it.each([
    [1, 0],
    [1, 1],
    [20, 1],
  ])(
    'end with their signal: no timer and no place stays of %i calls, and %i other calls keep theirs',
    async (leaving, others) => {
      const { clock, sent, read } = await openAfter(limited(0, 30))
      const abort = new AbortController()
      const left = await Promise.all(
        Array.from({ length: leaving }, () => read('x', { signal: abort.signal })),
      )
      for (let other = 0; other < others; other += 1) await read('staying')
      abort.abort()
      for (const { ended } of left)
        expect(await ended).toMatchObject({ code: 'aborted', outcome: 'not-sent', phase: 'limit' })
      expect(clock.sleeping).toBe(others)
      await clock.advance(30_000)
      await settled()
      expect(sent.slice(1)).toEqual(Array(others).fill('staying'))
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
    const { clock, sent, read, respond } = await openAfter(limited(0, 5, NOW, 1), { totalTimeout: 20_000 })
    clock.jump(6000)
    const both = [await read(), await read()]
    expect(sent).toHaveLength(2)
    await respond(1, limited(0, 5, NOW, 1))
    clock.jump(6000)
    await settled()
    await respond(2)
    for (const { ended } of both) expect(await ended).toMatchObject(DONE)
  })

  it.each([
    ['wait longer when a refusal asks for it meanwhile', 5, 40],
    ['go on early when a response shortens their wait', 50, 2],
  ])('%s', async (_, reset, retryAfter) => {
    const { clock, sent, read, respond } = await openAfter(limited(1, reset))
    await read()
    await read()
    expect([sent.length, clock.sleeping]).toEqual([2, 1])
    await respond(1, refusal(retryAfter))
    await clock.advance(retryAfter * 1000 - 1)
    expect(sent).toHaveLength(2)
    await clock.advance(1)
    await settled()
    expect(sent).toHaveLength(3)
  })
})

describe('case 134: a 429 that names a wait delays calls by this wait and no longer when', () => {
  const burst = (more: Script): Script => ({ status: 429, headers: { ...more.headers, 'retry-after': '1' } })

  it.each<[string, refusal: Script, other: Script]>([
    ['another response of the window comes later', burst(limited(499, 39)), limited(498, 39)],
    ['another response names another reset', burst(limited(499, 39)), limited(498, 40)],
    ['it says that nothing remains', burst(limited(0, 39)), limited(498, 39)],
    ['it names no rest', burst({}), limited(498, 39)],
  ])('%s', async (_, first, other) => {
    const { clock, sent, read, respond } = openByHand()
    const both = [await read(), await read()]
    await respond(0, first)
    await respond(1, other)
    for (const { ended } of both) await ended
    const next = await read()
    await clock.advance(999)
    expect(sent).toHaveLength(2)
    await clock.advance(1)
    await settled()
    await respond(2)
    expect(await next.ended).toMatchObject(DONE)
  })
})

it('case 133: 2 000 calls that wait go in their order, and an opening or a response wakes one of them', async () => {
  const clock = new ManualClock(NOW)
  const sleeps: number[] = []
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
    return Response.json(DONE, { headers })
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
  expect(Math.min(...sleeps)).toBeGreaterThanOrEqual(0)
  expect(reasons.size).toBeLessThanOrEqual(1)
})

it('a clock that runs on between two looks gets no negative time to sleep', async () => {
  const skipping = skippingClock()
  let now = NOW
  const clock = { now: () => (now += 700), sleep: (milliseconds: number) => skipping.sleep(milliseconds) }
  const clients = await openClients(() => limited(0, 2, now), { clock })
  for (let index = 0; index < 8; index += 1) await calls.status(clients).catch(() => undefined)
  expect(skipping.waits.filter((wait) => wait < 0)).toEqual([])
})

it.each([61_000, 86_400_000])(
  'case 59: the headers of one response limit no calls %i ms after its window',
  async (later) => {
    const { clock, sent, read, respond } = await openAfter(limited(0, 5, NOW, 1))
    clock.jump(6_000)
    await read()
    await respond(1)
    clock.jump(later)
    for (let call = 0; call < 4; call += 1) await read()
    expect(sent).toHaveLength(6)
  },
)

describe('case 60: a call that the server would reject for 600 s', () => {
  const failed = { code: 'rate_limited', attempts: 0, outcome: 'not-sent', retryAfterMs: 600_000 }

  it.each([{ totalTimeout: 700_000 }, { retry: false as const }, { retry: { limit: 1 } }])(
    'with %j fails at once',
    async (options) => {
      const { clock, sent, read } = await openAfter(refusal(600), options)
      expect(await (await read()).ended).toMatchObject(failed)
      expect([sent.length, clock.sleeping]).toEqual([1, 0])
    },
  )

  it('fails at once, too, while it waits for an earlier limit', async () => {
    const { read, respond } = await openAfter(limited(1, 50, NOW, 1))
    const both = [await read(), await read()]
    await respond(1, refusal(600))
    expect(await both[0]?.ended).toMatchObject({ code: 'rate_limited', attempts: 1 })
    expect(await both[1]?.ended).toMatchObject(failed)
  })
})

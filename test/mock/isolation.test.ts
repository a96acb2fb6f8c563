import { describe, expect, test, vi } from 'vitest'
import { createMock, MockRefusedError } from '../../mocks/core.ts'
import type { OpenMerchant } from './merchant.ts'
import { openMerchant } from './merchant.ts'
import { throughFetch } from './transports.ts'

/** Everything that a mock shows of itself. */
const shown = ({ mock }: OpenMerchant) => ({
  charges: mock.state.charges(),
  events: mock.state.events(),
  subscriptions: mock.state.subscriptions(),
  payments: mock.state.payments(),
  notifications: mock.notifications.all(),
  requests: mock.requests.all(),
  now: mock.clock.now(),
})

const live = async (merchant: OpenMerchant) => {
  await merchant.subscription(['succeed', 'fail'])
  await merchant.charge('k')
  await merchant.mock.clock.advance({ days: 3 })
  return shown(merchant)
}

describe('mocks in one process', () => {
  test('two mocks used in parallel share nothing', async () => {
    const one = await openMerchant(throughFetch, {
      seed: 1,
      subscriptions: { baseUrl: 'https://one.example/s' },
      gateway: { baseUrl: 'https://one.example/g' },
    })
    const other = await openMerchant(throughFetch, {
      seed: 2,
      clock: '2027-05-01T00:00:00Z',
      subscriptions: { baseUrl: 'https://other.example/s' },
      gateway: { baseUrl: 'https://other.example/g', rateLimit: { limit: 1, windowMs: 60_000 } },
    })
    const untouched = shown(other)
    other.mock.faults.add({ operation: '*', kind: 'reset', times: 'always' })
    const [, refused] = await Promise.all([live(one), other.charge('k').catch(() => 'refused')])
    expect(refused).toBe('refused')
    other.mock.requests.clear()
    expect(shown(other)).toEqual(untouched)
    const token = await one.bearer()
    other.mock.faults.clear()
    const foreign = await other.s('/api/v1.0/subscription/x', { headers: token })
    expect(foreign.status).toBe(401)
  })

  test('the same seed and the same calls give byte-equal histories, and reset gives them again', async () => {
    const one = await openMerchant(throughFetch, { seed: 'a' })
    const other = await openMerchant(throughFetch, { seed: 'a' })
    const first = await live(one)
    expect(JSON.stringify(await live(other))).toBe(JSON.stringify(first))
    one.mock.faults.add({ operation: '*', kind: 'reset', times: 'always' })
    one.mock.outage.start()
    one.mock.reset()
    expect(shown(one)).toMatchObject({ charges: [], subscriptions: [], requests: [], notifications: [] })
    expect(JSON.stringify(await live(one))).toBe(JSON.stringify(first))
    const differing = await openMerchant(throughFetch, { seed: 'b' })
    expect((await live(differing)).charges[0]?.id).not.toBe(first.charges[0]?.id)
  })

  test('a reset frees the limiters', async () => {
    const merchant = await openMerchant(throughFetch, {
      gateway: { rateLimit: { limit: 1, windowMs: 60_000 } },
      subscriptions: { rateLimit: { limit: 1, windowMs: 60_000 } },
    })
    const statuses = async () => [(await merchant.charge('k')).status, (await merchant.login()).status]
    expect([await statuses(), await statuses()]).toEqual([
      [202, 200],
      [429, 429],
    ])
    merchant.mock.reset()
    expect(await statuses()).toEqual([202, 200])
  })

  test('restore goes back to a snapshot, also in another mock and through a structured clone', async () => {
    const merchant = await openMerchant(throughFetch)
    await live(merchant)
    const { requests: _requests, ...before } = shown(merchant)
    const snapshot = structuredClone(merchant.mock.snapshot())
    await merchant.charge('later')
    await merchant.mock.clock.advance({ days: 30 })
    const { requests: _later, ...after } = shown(merchant)
    expect(after.payments.length).toBeGreaterThan(before.payments.length)

    const other = await openMerchant(throughFetch)
    for (const { mock } of [merchant, other]) {
      mock.restore(snapshot)
      const { requests, ...restored } = shown({ ...merchant, mock })
      expect(restored).toEqual(before)
      expect(requests).toBeDefined()
      await mock.clock.advance({ days: 30 })
      expect(mock.state.payments()).toEqual(after.payments)
    }
    expect((await other.charge('k')).json.id).toBe(before.charges[0]?.id)
    expect(() => merchant.mock.restore({} as never)).toThrow(/snapshot/)
    const untouched = shown(merchant)
    const taken = merchant.mock.snapshot()
    for (const broken of [
      null,
      { format: 1 },
      JSON.parse(JSON.stringify(taken)),
      { ...taken, gateway: {} },
    ]) {
      expect(() => merchant.mock.restore(broken as never)).toThrow(/structured clone/)
    }
    const unlimited = createMock({ gateway: { rateLimit: false } })
    expect(() => unlimited.restore(taken)).toThrow(/same options/)
    expect(shown(merchant)).toEqual(untouched)
  })

  test('restore goes back to what the limiters had counted', async () => {
    const merchant = await openMerchant(throughFetch, {
      subscriptions: { rateLimit: { limit: 3, windowMs: 60_000 } },
      gateway: { rateLimit: { limit: 3, windowMs: 60_000 } },
    })
    const { mock, g, login } = merchant
    const health = async () => (await g('/health', { method: 'GET' })).status
    const remaining = async () => (await login()).headers.get('x-ratelimit-remaining')
    await health()
    await remaining()
    const snapshot = structuredClone(mock.snapshot())
    expect([await health(), await health(), await health()]).toEqual([200, 200, 429])
    expect([await remaining(), await remaining(), await remaining()]).toEqual(['1', '0', '0'])
    mock.restore(snapshot)
    expect([await health(), await health(), await health()]).toEqual([200, 200, 429])
    expect(await remaining()).toBe('1')
  })

  test('a mock starts with the subscriptions, tokens and charges that it is given, and again after a reset', async () => {
    const merchant = await openMerchant(throughFetch, {
      subscriptions: {
        existing: [
          {
            request: { start: '2026-11-01', end: '2027-11-01', cycle: 'DAILY', amount: '9.50' },
            subscriptionId: 'given',
            createdAt: '2026-11-01T00:00:00Z',
          },
        ],
        tokens: [{ accessToken: 'given-token' }],
      },
      gateway: { charges: [{ id: 'ch_given', msisdn: '+1', amount: 5, currency: 'BDT' }] },
    })
    const check = async () => {
      const details = await merchant.s('/api/v1.0/subscription/given', {
        headers: { Authorization: 'Bearer given-token' },
      })
      expect([details.status, details.json.amount]).toEqual([200, 9.5])
      const renewal = await merchant.g('/api/v1/mfs/charges/ch_given/renew', {
        headers: merchant.key('r'),
        body: { mandate_id: 'ch_given' },
      })
      expect(renewal.status).toBe(201)
      expect(merchant.mock.state.payments('given')).toHaveLength(30)
    }
    await check()
    merchant.mock.reset()
    await check()
  })

  test('expired and revoked tokens are 401; after expire the refresh token still holds', async () => {
    const merchant = await openMerchant(throughFetch)
    const { json } = await merchant.login()
    const headers = { Authorization: `Bearer ${String(json.access_token)}` }
    const status = async () => (await merchant.s('/api/v1.0/subscription/x', { headers })).status
    const { client_id, client_secret } = merchant.credentials()
    const refresh = async (refresh_token: unknown) => {
      const body = { grant_type: 'refresh_token', client_id, client_secret, refresh_token }
      return merchant.s('/oauth/token', { body })
    }
    expect(await status()).toBe(404)
    merchant.mock.tokens.expire()
    expect(await status()).toBe(401)
    const renewed = await refresh(json.refresh_token)
    expect(renewed.status).toBe(200)
    merchant.mock.tokens.revoke()
    expect((await refresh(renewed.json.refresh_token)).status).toBe(401)
  })
})

describe('mock.fetch', () => {
  test('answers without a timer under faked timers, also when everything but promises is faked', async () => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'setImmediate', 'Date', 'performance'],
      now: new Date('2030-01-01T00:00:00Z'),
    })
    try {
      const mock = createMock()
      const url = `${mock.clientOptions.gateway.baseUrl}/api/v1/mfs/charges`
      const answer = await mock.fetch(url, {
        method: 'POST',
        headers: { Authorization: 'Bearer mock-api-key', 'Idempotency-Key': 'k' },
        body: '{"msisdn":"+1","amount":1,"currency":"BDT","redirect_uri":"https://a.example"}',
      })
      expect(await answer.json()).toMatchObject({ created_at: '2030-01-01T00:00:00.000Z' })
      expect(vi.getTimerCount()).toBe(0)
      vi.advanceTimersByTime(24 * 3_600_000)
      expect(mock.state.charges()[0]?.status).toBe('expired')
    } finally {
      vi.useRealTimers()
    }
  })

  test('may be called without this, with a URL, a Request, and a Request with more', async () => {
    const { fetch, clientOptions } = createMock()
    const url = new URL(`${clientOptions.gateway.baseUrl}/health`)
    const statuses = await Promise.all([
      fetch(url),
      fetch(new Request(url)),
      fetch(new Request(url), { method: 'HEAD' }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('rejects for a host that is not the mock’s, and says which are', async () => {
    const { fetch } = createMock()
    const call = fetch('https://elsewhere.example/path?password=secret')
    await expect(call).rejects.toThrow(
      'this mock answers below https://subscriptions.mandatekit.test and https://gateway.mandatekit.test; it was asked for https://elsewhere.example',
    )
    await expect(call).rejects.toMatchObject({ name: 'TypeError', cause: { code: 'ENOTFOUND' } })
    await expect(call).rejects.not.toThrow(/secret/)
  })

  test('rejects with the reason of a signal that was aborted before, and executes nothing', async () => {
    const mock = createMock()
    const reason = new Error('not now')
    const call = mock.fetch(`${mock.clientOptions.gateway.baseUrl}/health`, {
      signal: AbortSignal.abort(reason),
    })
    await expect(call).rejects.toBe(reason)
    expect(mock.requests.all()).toEqual([])
  })

  test('hears of an abort after the request object has been collected', async () => {
    const mock = createMock()
    mock.faults.add({ operation: 'gateway.health', kind: 'timeout', times: 'always' })
    const controller = new AbortController()
    const url = `${mock.clientOptions.gateway.baseUrl}/health`
    const calls = Array.from({ length: 50 }, () => mock.fetch(url, { signal: controller.signal }))
    await vi.waitFor(() => expect(mock.requests.all()).toHaveLength(50))
    // Enough garbage for a collection or two.
    for (let round = 0; round < 200; round += 1) new Array(100_000).fill(round)
    controller.abort(new Error('enough'))
    const settled = await Promise.allSettled(calls)
    expect(new Set(settled.map(({ status }) => status))).toEqual(new Set(['rejected']))
  })
})

describe('the payer', () => {
  test('what is not possible throws an error that says why', () => {
    const mock = createMock()
    expect(() => mock.payer.authorize('nothing')).toThrow(MockRefusedError)
    expect(() => mock.payer.decline('nothing')).toThrow(/payer\.decline: .*not found/)
    expect(() => mock.payer.confirm('conf_nothing')).toThrow(/payer\.confirm/)
    expect(() => mock.payer.reverse(1)).toThrow(/payer\.reverse/)
    expect(() => mock.payer.setBehavior('+1', 'explodes' as 'succeeds')).toThrow(/insufficient_funds/)
  })

  test('confirms with the right code when none is named, and sets how a number goes', async () => {
    const { mock, charge } = await openMerchant(throughFetch)
    mock.payer.setBehavior('+1234567', 'wallet_blocked')
    const { json } = await charge('k', { msisdn: '+1234567' })
    expect(() => mock.payer.confirm(String(json.confirmation_id), '000000')).toThrow(/not correct/)
    expect(mock.payer.confirm(String(json.confirmation_id))).toMatchObject({
      status: 'failed',
      outcome: 'WALLET_BLOCKED',
    })
  })
})

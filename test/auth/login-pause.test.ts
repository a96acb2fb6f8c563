import { describe, expect, it } from 'vitest'
import { type CallOptions, createMemoryTokenStore } from '../../src/index.ts'
import { errorOf } from '../support/clients.ts'
import type { MerchantOptions } from '../support/merchant.ts'
import { api, clock, merchant, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

/** Delays the first login by so many seconds, and grants the next one. */
const delayLogin = (seconds: number, status = 429) => {
  api.onToken = (_request, index) =>
    index === 1
      ? { status, headers: { 'retry-after': String(seconds) } }
      : { status: 200, body: api.tokenBody(index) }
}

describe('a login that received Retry-After', () => {
  it.each([429, 503])('with HTTP %i fails later calls at once until that time', async (status) => {
    delayLogin(600, status)
    const { details } = merchant()
    await errorOf(details())
    clock.jump(60_000)
    expect(await errorOf(details())).toMatchObject({
      code: 'rate_limited',
      operation: 'subscriptions.details',
      phase: 'login',
      outcome: 'not-sent',
      retryable: true,
      retryAfterMs: 540_000,
    })
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(540_000)
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('delays later calls when the time is near, and one login serves them all', async () => {
    delayLogin(40)
    const { details } = merchant()
    await errorOf(details())
    const calls = [details(), details(), details()]
    await expect.poll(() => clock.sleeping).toBe(3)
    clock.jump(40_000)
    await Promise.all(calls)
    expect(api.tokenRequests).toHaveLength(2)
  })

  it.each<[string, MerchantOptions, CallOptions]>([
    ["with rateLimit: 'throw'", { rateLimit: 'throw', retry: { limit: 0 } }, {}],
    ['that has less time', {}, { totalTimeout: 30_000 }],
  ])('does not delay a call %s', async (_, options, callOptions) => {
    delayLogin(40)
    const { client, details } = merchant(options)
    await errorOf(details())
    const error = await errorOf(client.details('sub-1', callOptions))
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 40_000 })
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('no longer delays a call whose signal is aborted', async () => {
    delayLogin(40)
    const { details } = merchant()
    await errorOf(details())
    const controller = new AbortController()
    const call = errorOf(details(controller.signal))
    await expect.poll(() => clock.sleeping).toBe(1)
    controller.abort()
    expect(await call).toMatchObject({ code: 'aborted', outcome: 'not-sent' })
  })

  it('delays every process that shares the store', async () => {
    delayLogin(600)
    const tokenStore = createMemoryTokenStore()
    await errorOf(merchant({ tokenStore }).details())
    expect(await errorOf(merchant({ tokenStore }).details())).toMatchObject({ retryAfterMs: 600_000 })
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('does not delay login()', async () => {
    delayLogin(600)
    const { details, login } = merchant()
    await errorOf(details())
    await login()
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('delays calls no longer than the cool-down of a rejected login', async () => {
    delayLogin(86_400)
    const { details } = merchant({ loginCooldown: 120_000 })
    await errorOf(details())
    expect(await errorOf(details())).toMatchObject({ retryAfterMs: 120_000 })
    clock.jump(120_000)
    await details()
  })

  it('delays calls no longer than the cool-down, whatever a store returns', async () => {
    const record = { version: 2, blocks: [], unauthorizedRenewals: [] } as const
    const storeOf = (at: number, wait: number) => ({
      ...createMemoryTokenStore(),
      get: () => ({ ...record, blocks: [{ at, wait }] }),
    })
    const endless = merchant({ tokenStore: storeOf(clock.now(), 1e15), loginCooldown: 120_000 })
    expect(await errorOf(endless.details())).toMatchObject({ retryAfterMs: 120_000 })
    await merchant({ tokenStore: storeOf(clock.now(), -5) }).details()
  })

  it.each([1, 60, 3_600])(
    'case 119: by the clock of a process that is %i s ahead, ends as if it began when first seen',
    async (ahead) => {
      const blocks = [{ at: clock.now() + ahead * 1_000, wait: 120_000 }]
      const record = { version: 2, blocks, unauthorizedRenewals: [] } as const
      const { details } = merchant({ tokenStore: { ...createMemoryTokenStore(), get: () => record } })
      for (const passed of [0, 50_000]) {
        clock.jump(passed)
        expect(await errorOf(details())).toMatchObject({ retryable: true, retryAfterMs: 120_000 - passed })
      }
      clock.jump(70_000)
      await details()
    },
  )

  it("does not delay a call of withOptions({ rateLimit: 'throw' }), though its client waits", async () => {
    delayLogin(40)
    const { client } = merchant()
    await errorOf(client.details('sub-1'))
    const impatient = client.withOptions({ rateLimit: 'throw' })
    expect(await errorOf(impatient.details('sub-1'))).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 40_000,
    })
    expect(clock.sleeping).toBe(0)
    const waiting = client.details('sub-1')
    await expect.poll(() => clock.sleeping).toBe(1)
    clock.jump(40_000)
    await waiting
  })
})

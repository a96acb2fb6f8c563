import { describe, expect, it } from 'vitest'
import { createMemoryTokenStore } from '../../src/index.ts'
import { errorOf } from '../support/clients.ts'
import type { MerchantOptions } from '../support/merchant.ts'
import { api, clock, merchant, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

/** A merchant whose first call was told to wait so many seconds for its login. The next login is granted. */
const told = async (seconds: number, options: MerchantOptions = {}, status = 429) => {
  const refusal = { status, headers: { 'retry-after': String(seconds) } }
  api.onToken = (_request, index) => (index === 1 ? refusal : { body: api.tokenBody(index) })
  const opened = merchant(options)
  await errorOf(opened.details())
  return opened
}

describe('a login that received Retry-After', () => {
  it.each([429, 503])('with HTTP %i fails later calls at once until that time', async (status) => {
    const { details } = await told(600, {}, status)
    clock.jump(60_000)
    const facts = { code: 'rate_limited', phase: 'login', outcome: 'not-sent', retryable: true }
    const operation = 'subscriptions.details'
    expect(await errorOf(details())).toMatchObject({ ...facts, operation, retryAfterMs: 540_000 })
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(540_000)
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('delays later calls when the time is near, and one login serves them all', async () => {
    const { details } = await told(40)
    const calls = [details(), details(), details()]
    await expect.poll(() => clock.sleeping).toBe(3)
    clock.jump(40_000)
    await Promise.all(calls)
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('does not delay a call that has less time, or whose client throws instead of waiting', async () => {
    const { client } = await told(40)
    for (const call of [
      client.details('sub-1', { totalTimeout: 30_000 }),
      client.withOptions({ rateLimit: 'throw' }).details('sub-1'),
    ])
      expect(await errorOf(call)).toMatchObject({ code: 'rate_limited', retryAfterMs: 40_000 })
    expect([clock.sleeping, api.tokenRequests.length]).toEqual([0, 1])
  })

  it('no longer delays a call whose signal is aborted', async () => {
    const { details } = await told(40)
    const controller = new AbortController()
    const call = errorOf(details(controller.signal))
    await expect.poll(() => clock.sleeping).toBe(1)
    controller.abort()
    expect(await call).toMatchObject({ code: 'aborted', outcome: 'not-sent' })
  })

  it('delays every process that shares the store, but not login()', async () => {
    const tokenStore = createMemoryTokenStore()
    const { details, login } = await told(600, { tokenStore, rateLimit: 'throw', retry: { limit: 0 } })
    expect(await errorOf(merchant({ tokenStore }).details())).toMatchObject({ retryAfterMs: 600_000 })
    expect(api.tokenRequests).toHaveLength(1)
    await login()
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('delays calls no longer than the cool-down of a rejected login', async () => {
    const { details } = await told(86_400, { loginCooldown: 120_000 })
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
})

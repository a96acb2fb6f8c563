import { describe, expect, it } from 'vitest'
import type { MandateKitError, RateLimitError } from '../../src/index.ts'
import { createMemoryTokenStore } from '../../src/index.ts'
import { api, clock, merchant } from '../support/token-set-up.ts'

const askForPatience = (seconds: number, status = 429) => {
  api.onToken = (_request, index) =>
    index === 1
      ? { status, headers: { 'retry-after': String(seconds) } }
      : { status: 200, body: api.tokenBody(index) }
}

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('The call resolved.'),
    (error: MandateKitError) => error as RateLimitError,
  )

describe('a login that was answered with a time to come back', () => {
  it.each([429, 503])(
    '(HTTP %i) is not asked for again before it: later calls fail at once',
    async (status) => {
      askForPatience(600, status)
      const { details } = merchant()
      await errorOf(details())
      clock.jump(60_000)
      const error = await errorOf(details())
      expect(error).toMatchObject({
        code: 'rate_limited',
        operation: 'subscriptions.details',
        phase: 'login',
        outcome: 'not-sent',
        retryable: true,
        retryAfterMs: 540_000,
      })
      expect(api.tokenRequests).toHaveLength(1)
    },
  )

  it('is asked for again once the time has come', async () => {
    askForPatience(600)
    const { details } = merchant()
    await errorOf(details())
    clock.jump(600_000)
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('is waited for by later calls when it is near, all of them with one login', async () => {
    askForPatience(40)
    const { details } = merchant()
    await errorOf(details())
    const calls = [details(), details(), details()]
    await expect.poll(() => clock.sleeping).toBe(3)
    clock.jump(40_000)
    await Promise.all(calls)
    expect(api.tokenRequests).toHaveLength(2)
  })

  it("is not waited for with rateLimit 'throw'", async () => {
    askForPatience(40)
    const { details } = merchant({ rateLimit: 'throw', retry: { limit: 0 } })
    await errorOf(details())
    expect(await errorOf(details())).toMatchObject({ code: 'rate_limited', retryAfterMs: 40_000 })
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('is not waited for by a call with less time than that', async () => {
    askForPatience(40)
    const { client, details } = merchant()
    await errorOf(details())
    const error = await errorOf(client.details('sub-1', { totalTimeout: 30_000 }))
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterMs: 40_000 })
  })

  it('ends for a caller whose signal is aborted', async () => {
    askForPatience(40)
    const { details } = merchant()
    await errorOf(details())
    const controller = new AbortController()
    const call = errorOf(details(controller.signal))
    await expect.poll(() => clock.sleeping).toBe(1)
    controller.abort()
    expect(await call).toMatchObject({ code: 'aborted', outcome: 'not-sent' })
  })

  it('holds for every process that shares the store', async () => {
    askForPatience(600)
    const tokenStore = createMemoryTokenStore()
    await errorOf(merchant({ tokenStore }).details())
    expect(await errorOf(merchant({ tokenStore }).details())).toMatchObject({ retryAfterMs: 600_000 })
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('does not hold back login(), which the caller decides on', async () => {
    askForPatience(600)
    const { details, login } = merchant()
    await errorOf(details())
    await login()
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('stands no longer than the cool-down of a refused login', async () => {
    askForPatience(86_400)
    const { details } = merchant({ loginCooldown: 120_000 })
    await errorOf(details())
    expect(await errorOf(details())).toMatchObject({ retryAfterMs: 120_000 })
    clock.jump(120_000)
    await details()
  })

  it('leaves a token that still lives in use', async () => {
    const { details } = merchant()
    await details()
    api.onToken = () => ({ status: 429, headers: { 'retry-after': '600' } })
    clock.jump(3_580_000)
    await details()
    clock.jump(10_000)
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('is expected no longer than the cool-down, and not from the future, whatever a store returns', async () => {
    const record = { version: 1, refusals: [], unauthorizedRenewals: [] } as const
    const storeOf = (at: number, wait: number) => ({
      ...createMemoryTokenStore(),
      get: () => ({ ...record, pause: { at, wait } }),
    })
    const endless = merchant({ tokenStore: storeOf(clock.now(), 1e15), loginCooldown: 120_000 })
    expect(await errorOf(endless.details())).toMatchObject({ retryAfterMs: 120_000 })
    await merchant({ tokenStore: storeOf(clock.now() + 60_000, 60_000) }).details()
    await merchant({ tokenStore: storeOf(clock.now(), -5) }).details()
  })
})

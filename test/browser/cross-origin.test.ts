import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createMock, testNumbers } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { openPage, withoutBrowser } from '../pages/browser.ts'
import type {} from './page-without-worker.ts'
import { serveBundle } from './site.ts'

describe.skipIf(withoutBrowser())('in Chromium, a page of another origin than the mock server', () => {
  const mock = createMock({ clock: '2027-01-01T06:00:00Z' })
  let page: Page
  let site: Awaited<ReturnType<typeof serveBundle>>
  let server: Awaited<ReturnType<typeof startMockServer>>

  beforeAll(async () => {
    site = await serveBundle('page-without-worker.ts', 'msw')
    server = await startMockServer({ mock })
    page = await openPage()
    await page.goto(site.url)
  })

  beforeEach(() => mock.reset())

  afterAll(async () => {
    await page?.close()
    site?.close()
    await server?.close()
  })

  /** Status and headers of a response, as far as the page can read them. */
  const read = (path: string, names: readonly string[], method = 'GET') =>
    page.evaluate(
      async ([url, wanted, init]) => {
        const response = await fetch(url, init)
        return [response.status, ...wanted.map((name) => response.headers.get(name))]
      },
      [`${server.url}${path}`, names, { method }] as const,
    )

  test('can send the headers of a charge, which is made once', async () => {
    const { apiKey } = mock.clientOptions.gateway
    const given = [{ baseUrl: server.url, apiKey }, testNumbers.succeeds] as const
    const status = await page.evaluate(async ([config, msisdn]) => {
      const client = new window.mandatekitClient.GatewayClient(config)
      const request = { msisdn, amount: 250, currency: 'BDT', redirect_uri: 'https://shop.example/paid' }
      const { id, confirmation_id } = await client.charge(request, { idempotencyKey: 'order-1' })
      await client.charge(request, { idempotencyKey: 'order-1' })
      return (await client.confirm(confirmation_id, { otp: '123456', chargeId: id })).status
    }, given)
    expect(status).toBe('succeeded')
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('can read the headers of the rate limit and Retry-After', async () => {
    const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    const limits = await read('/api/v1.0/subscription/none', names, 'POST')
    expect(limits).toEqual([401, '600', '600', expect.stringMatching(/^\d{10}$/)])
    mock.faults.add({ operation: 'gateway.health', kind: 'rate-limit', retryAfter: 7 })
    expect(await read('/health', ['retry-after'])).toEqual([429, '7'])
  })

  test('can read the responses to an unknown path and to a wrong method', async () => {
    expect(await read('/nothing', [])).toEqual([404])
    expect(await read('/health', ['allow'], 'DELETE')).toEqual([405, 'GET, HEAD'])
  })
})

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createMock, testNumbers } from '../../mocks/core.ts'
import { startMockServer } from '../../mocks/server.ts'
import { launch, withoutBrowser } from '../pages/browser.ts'
import type {} from './page-without-worker.ts'
import { serveBundle } from './site.ts'

describe.skipIf(withoutBrowser())('in Chromium, a page of another origin than the mock server', () => {
  const mock = createMock({ clock: '2027-01-01T06:00:00Z' })
  let browser: Browser
  let page: Page
  let site: Awaited<ReturnType<typeof serveBundle>>
  let server: Awaited<ReturnType<typeof startMockServer>>

  beforeAll(async () => {
    browser = await launch()
    site = await serveBundle('page-without-worker.ts', 'msw')
    server = await startMockServer({ mock })
    page = await browser.newPage()
    await page.goto(site.url)
  }, 60_000)

  beforeEach(() => mock.reset())

  afterAll(async () => {
    await browser?.close()
    site?.close()
    await server?.close()
  })

  const address = (apiKey = mock.clientOptions.gateway.apiKey) => ({ baseUrl: server.url, apiKey })

  test('sends the headers of a charge, and pays once', async () => {
    const paid = await page.evaluate(([given, msisdn]) => window.mandatekitPlain?.charge(given, msisdn), [
      address(),
      testNumbers.succeeds,
    ] as const)
    expect(paid).toEqual({ status: 'succeeded', keys: 1 })
    expect(mock.state.charges()).toHaveLength(1)
  })

  test('reads a refusal for what it is', async () => {
    const seen = await page.evaluate((given) => window.mandatekitPlain?.failure(given), address('wrong-key'))
    expect(seen).toEqual(['authentication_failed', 'rejected'])
  })

  test('reads the headers of the rate limit, and when to come back', async () => {
    const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    const path = '/api/v1.0/subscription/none'
    const seen = await page.evaluate(
      ([url, wanted]) => window.mandatekitPlain?.headers(url, wanted, { method: 'POST' }),
      [`${server.url}${path}`, names] as const,
    )
    expect(seen).toEqual([401, '600', '599', expect.stringMatching(/^\d{10}$/)])

    mock.faults.add({ operation: 'gateway.health', kind: 'rate-limit', retryAfter: 7 })
    const limited = await page.evaluate(
      (url) => window.mandatekitPlain?.headers(url, ['retry-after']),
      `${server.url}/health`,
    )
    expect(limited).toEqual([429, '7'])
  })

  test('reads the answers to an unknown path and to a wrong method', async () => {
    const seen = await page.evaluate(
      async ([unknown, health]) => [
        await window.mandatekitPlain?.headers(unknown, []),
        await window.mandatekitPlain?.headers(health, ['allow'], { method: 'DELETE' }),
      ],
      [`${server.url}/nothing`, `${server.url}/health`] as const,
    )
    expect(seen).toEqual([[404], [405, 'GET, HEAD']])
  })
})

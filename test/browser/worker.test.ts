import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPage, withoutBrowser } from '../pages/browser.ts'
import type {} from './page.ts'
import type { Scenarios } from './scenarios.ts'
import { serveBundle } from './site.ts'

type Seen<Name extends keyof Scenarios> = Awaited<ReturnType<Scenarios[Name]>>

/** What the page sees with every version of MSW. */
const expectations: readonly {
  [Name in keyof Scenarios]: readonly [sentence: string, scenario: Name, seen: Seen<Name>]
}[keyof Scenarios][] = [
  ['both clients work', 'life', 'a subscription and a charge'],
  [
    'the client retries a charge with a lost response, with one key',
    'lostResponse',
    { attempts: 2, keys: 1, charges: [true] },
  ],
  ['a 429 delays the call on the clock of the mock', 'delay', { attempts: 2, seconds: 7 }],
  [
    'case 43: an unknown path is a 404 in the format of its area',
    'unknownPaths',
    [
      { status: 404, body: { errorCode: '02', errorMessage: 'There is no such path.' } },
      { status: 404, body: { error: { code: 'not_found', message: 'There is no such path.' } } },
    ],
  ],
  [
    'faults are the same as on a network, but without the codes of connections',
    'faults',
    {
      status: 'api_error, unknown, attempts: 1, HTTP 500, charges: 0',
      html: 'api_error, unknown, attempts: 1, HTTP 502, charges: 0',
      empty: 'unexpected_response, unknown, attempts: 1, HTTP 202, charges: 0',
      malformed: 'unexpected_response, unknown, attempts: 1, HTTP 202, charges: 0',
      'rate-limit': 'rate_limited, rejected, attempts: 1, HTTP 429, charges: 0',
      reset: 'connection_failed, unknown, attempts: 1, charges: 0',
      'lost-response': 'connection_failed, unknown, attempts: 1, charges: 1',
      truncated: 'connection_failed, unknown, attempts: 1, charges: 1',
    },
  ],
  [
    'a call without a response times out, or is aborted',
    'silence',
    { late: 'timeout, unknown, attempts: 1', aborted: 'aborted, unknown, attempts: 1' },
  ],
]

const versions = [
  { name: 'MSW 3', msw: 'msw' },
  { name: 'MSW 2', msw: 'msw2' },
]

describe.skipIf(withoutBrowser()).each(versions)(
  'in Chromium, through the service worker of $name',
  ({ msw }) => {
    let site: Awaited<ReturnType<typeof serveBundle>>
    let page: Page
    const complaints: string[] = []

    beforeAll(async () => {
      site = await serveBundle('page.ts', msw)
      page = await openPage()
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => {
        if (message.text().includes('[MSW]')) complaints.push(message.text())
      })
      await page.goto(site.url)
      await page.waitForFunction(() => window.mandatekit)
    })

    afterAll(async () => {
      await page?.close()
      site?.close()
    })

    test.each(expectations)('%s', async (_, scenario, expected) => {
      const seen = await page.evaluate(async (name) => (await window.mandatekit)?.scenarios[name](), scenario)
      expect(seen).toEqual(expected)
    })

    test('case 43: a handler of the user wins', async () => {
      const seen = await page.evaluate(async () => (await window.mandatekit)?.readWithOwnHandler())
      expect(seen).toEqual(['mine', '{"status":"ok"}'])
    })

    test('case 43: other addresses are not affected, and neither MSW nor the page warns', async () => {
      const seen = await page.evaluate(async () => (await window.mandatekit)?.read('/prices.txt'))
      expect(seen).toBe('ten a month')
      expect(complaints).toEqual([])
    })
  },
)

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, withoutBrowser } from '../pages/browser.ts'
import type {} from './page.ts'
import type { Failure, Scenarios } from './scenarios.ts'
import { serveBundle } from './site.ts'

type Seen<Name extends keyof Scenarios> = Awaited<ReturnType<Scenarios[Name]>>

const failure = (code: string, outcome: string, more: Partial<Failure> = {}): Failure => ({
  code,
  outcome,
  attempts: 1,
  status: undefined,
  ...more,
})

/** What the page must see, the same with every version of MSW. */
const expectations: readonly {
  [Name in keyof Scenarios]: readonly [sentence: string, scenario: Name, seen: Seen<Name>]
}[keyof Scenarios][] = [
  [
    'a subscription lives through a failed payment to its cancellation',
    'subscription',
    {
      host: 'https://subscriptions.mandatekit.test',
      status: 'SUCCEEDED',
      payments: ['SUCCEEDED_PAYMENT', 'FAILED_PAYMENT'],
      cancelled: 'PROCESSED',
      enabled: 0,
      logins: 2,
    },
  ],
  [
    'a charge whose answer is lost is sent again with its key, and made once',
    'chargeWhoseAnswerIsLost',
    { attempts: 2, keys: 1, charges: [true] },
  ],
  [
    'a charge of the same key is the same charge',
    'chargeOfTheSameKey',
    { statuses: [202, 202], sameId: true, charges: 1 },
  ],
  [
    'a wrong code is refused, the right one pays, and a cycle is renewed once',
    'confirmation',
    {
      wrong: failure('api_error', 'rejected', { status: 400 }),
      confirmed: 'succeeded',
      renewals: 1,
      charges: 2,
    },
  ],
  [
    'five wrong passwords lock the account for fifteen minutes',
    'lockout',
    {
      guesses: [...Array<string>(5).fill('authentication_failed'), 'locked_out'],
      locked: failure('locked_out', 'not-sent', { attempts: 0, status: 403 }),
      later: 'Bearer',
    },
  ],
  [
    'the headers of the limits can be read',
    'rateLimitHeaders',
    {
      status: 401,
      headers: ['600', '599', '1798783260'],
      limited: 429,
      retryAfter: '7',
      ofClient: 600,
    },
  ],
  ['a 429 is waited out on the clock of the mock', 'waitAfter429', { attempts: 2, seconds: 7 }],
  [
    'an unknown path is a 404 in the shape of its area',
    'unknownPaths',
    [
      { status: 404, body: { errorCode: '02', errorMessage: 'There is no such path.' } },
      { status: 404, body: { error: { code: 'not_found', message: 'There is no such path.' } } },
    ],
  ],
  [
    'faults look as they do on a network, but for the codes of connections',
    'faults',
    {
      status: { ...failure('api_error', 'unknown', { status: 500 }), charges: 0 },
      html: { ...failure('api_error', 'unknown', { status: 502 }), charges: 0 },
      empty: { ...failure('unexpected_response', 'unknown', { status: 202 }), charges: 0 },
      malformed: { ...failure('unexpected_response', 'unknown', { status: 202 }), charges: 0 },
      'rate-limit': { ...failure('rate_limited', 'rejected', { status: 429 }), charges: 0 },
      reset: { ...failure('connection_failed', 'unknown'), charges: 0 },
      'lost-response': { ...failure('connection_failed', 'unknown'), charges: 1 },
      truncated: { ...failure('connection_failed', 'unknown'), charges: 1 },
    },
  ],
  [
    'a call without an answer runs out of time, or is aborted',
    'silence',
    { late: failure('timeout', 'unknown'), aborted: failure('aborted', 'unknown') },
  ],
  [
    'a subscription whose answer is lost is not asked for again',
    'lostSubscription',
    { failure: failure('connection_failed', 'unknown'), sent: 1 },
  ],
]

const versions = [
  { name: 'MSW 3', msw: 'msw' },
  { name: 'MSW 2', msw: 'msw2' },
]

describe.skipIf(withoutBrowser()).each(versions)(
  'in Chromium, through the service worker of $name',
  ({ msw }) => {
    let browser: Browser
    let site: Awaited<ReturnType<typeof serveBundle>>
    let page: Page
    const complaints: string[] = []

    beforeAll(async () => {
      browser = await launch()
      site = await serveBundle('page.ts', msw)
      page = await browser.newPage()
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => {
        if (message.text().includes('[MSW]')) complaints.push(message.text())
      })
      await page.goto(site.url)
      await page.waitForFunction(() => window.mandatekit)
    }, 60_000)

    afterAll(async () => {
      await browser?.close()
      site?.close()
    })

    test.each(expectations)('%s', async (_, scenario, expected) => {
      const seen = await page.evaluate(async (name) => (await window.mandatekit)?.scenarios[name](), scenario)
      expect(seen).toEqual(expected)
    })

    test('a handler of the user wins', async () => {
      const seen = await page.evaluate(async () => (await window.mandatekit)?.readWithOwnHandler())
      expect(seen).toEqual(['mine', '{"status":"ok"}'])
    })

    test('other addresses are untouched, and MSW and the page have nothing to complain about', async () => {
      const seen = await page.evaluate(async () => (await window.mandatekit)?.read('/prices.txt'))
      expect(seen).toBe('ten a month')
      expect(complaints).toEqual([])
    })
  },
)

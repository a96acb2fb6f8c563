import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launch, withoutBrowser } from '../pages/browser.ts'
import { expectUsable } from '../pages/findings.ts'
import { startSite } from '../pages/served-site.ts'
import { serveFetch } from '../support/serve-fetch.ts'
import { ask } from './asking.ts'

const PHONE = { viewport: { width: 360, height: 640 } }
const HOSTILE = `"'></pre></bdi><script>document.title='ran'</script><img src=x onerror="document.title='ran'"><b>${'W'.repeat(300)}`

describe.skipIf(withoutBrowser())('in Chromium, the control panel', { timeout: 60_000 }, () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof startSite>>
  let panel = ''

  beforeAll(async () => {
    browser = await launch()
  }, 60_000)

  beforeEach(async () => {
    site = await startSite()
    panel = `${site.url}/_mock`
  })

  afterEach(() => site.close())
  afterAll(() => browser?.close())

  const within = async (options: BrowserContextOptions, run: (page: Page) => Promise<void>) => {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(10_000)
    const seen: string[] = []
    try {
      const page = await context.newPage()
      page.on('pageerror', (error) => seen.push(String(error)))
      page.on('console', (message) => {
        // A mock that has gone is told in the page, and the browser notes its failed requests.
        if (!/ERR_CONNECTION|409/.test(message.text())) seen.push(message.text())
      })
      await run(page)
    } finally {
      await context.close()
    }
    expect(seen).toEqual([])
  }

  const told = async (page: Page, text: string | RegExp) => {
    await page.getByRole('status').filter({ hasText: text }).waitFor()
  }

  describe.each([
    ['with JavaScript', { javaScriptEnabled: true }],
    ['without JavaScript', { javaScriptEnabled: false }],
  ])('%s', (_, options) => {
    it('authorizes, declines, moves the clock and reverses', async () => {
      const one = await site.subscribe()
      const other = await site.subscribe()
      await within(options, async (page) => {
        await page.goto(panel)
        await page.getByLabel('Payments of order-1').selectOption('the second payment fails')
        await page.getByRole('button', { name: 'Authorize order-1' }).click()
        await told(page, `The payer authorized ${one.invoiceID}.`)
        await page.getByRole('button', { name: 'Decline order-2' }).click()
        await told(page, `The payer declined ${other.invoiceID}.`)
        await page.getByRole('button', { name: '+ 15 days' }).click()
        await told(page, 'It is 2026-12-13T12:00:00Z.')
        expect(await page.locator('#payments > li .heading').allTextContents()).toEqual([
          expect.stringMatching(/^FAILED_PAYMENT .* due 2026-12-13$/),
          expect.stringMatching(/^SUCCEEDED_PAYMENT .* due 2026-11-28$/),
        ])
        await page.getByRole('button', { name: 'Reverse' }).click()
        await told(page, 'was given back')
        await page.getByLabel('Days').fill('1')
        await page.getByLabel('Hours').fill('2')
        await page.getByRole('button', { name: 'Move forward' }).click()
        await told(page, 'It is 2026-12-14T14:00:00Z.')
        await page.getByLabel('A point in time').fill('2027-03-01T08:30:15')
        await page.getByRole('button', { name: 'Set the clock' }).click()
        await told(page, 'It is 2027-03-01T08:30:15Z.')
        expect(await page.locator('#clock-now').textContent()).toBe('2027-03-01 08:30:15')
      })
      expect([site.requestStatus(one.invoiceID), site.requestStatus(other.invoiceID)]).toEqual([
        'SUCCEEDED',
        'FAILED',
      ])
      expect(site.mock.state.payments()[0]?.reverseTransactionId).not.toBeNull()
    })

    it('confirms a charge after changing how its number goes', async () => {
      const { id } = await site.charge()
      await within(options, async (page) => {
        await page.goto(panel)
        await page.getByRole('combobox', { name: 'Number' }).fill('+99900000001')
        await page.getByLabel('Behavior').selectOption('insufficient_funds')
        await page.getByRole('button', { name: 'Charges follow this' }).click()
        await told(page, 'now follow insufficient_funds')
        await page.getByRole('button', { name: `Give the right code for ${id}` }).click()
        await told(page, `${id} is failed`)
        expect(await page.locator(`#charge-${id} .heading`).textContent()).toContain('failed')
      })
      expect(site.chargeStatus(id)).toBe('failed')
    })

    it('adds and removes faults, makes an outage and ends it, and resets', async () => {
      const health = async () => (await fetch(`${site.url}/health`)).status
      await within(options, async (page) => {
        await page.goto(panel)
        await page.getByLabel('Operation').selectOption('gateway.health')
        await page.getByLabel('What goes wrong').selectOption('html')
        await page.getByLabel('Times', { exact: true }).fill('always')
        await page.getByRole('button', { name: 'Add' }).click()
        await told(page, 'The fault html waits for gateway.health.')
        expect(await health()).toBe(502)
        await page.getByRole('button', { name: 'Remove html of gateway.health' }).click()
        await told(page, 'The fault was removed.')
        expect(await health()).toBe(200)

        await page.getByLabel('What goes wrong').selectOption('latency')
        await page.getByRole('button', { name: 'Add' }).click()
        await told(page, 'needs latencyMs')
        expect(await page.getByRole('status').getAttribute('class')).toBe('alert')

        await page.getByRole('button', { name: 'Start an outage' }).click()
        await told(page, 'cannot be reached')
        expect(await health()).toBe(503)
        await page.getByRole('button', { name: 'End the outage' }).click()
        await told(page, 'can be reached again')
        expect(await health()).toBe(200)

        for (const [name, text] of [
          ['Expire access tokens', 'has run out'],
          ['Revoke all tokens', 'is void'],
        ] as const) {
          await page.getByRole('button', { name }).click()
          await told(page, text)
        }
        await site.charge()
        await page.getByText('Reset the mock').click()
        await page.getByRole('button', { name: 'Reset everything' }).click()
        await told(page, 'as new')
      })
      expect(site.mock.state.charges()).toEqual([])
    })
  })

  it.each([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ])('turns the pages of a list and stays there after an action, %s', async (_, javaScriptEnabled) => {
    for (let count = 0; count < 51; count += 1) await site.charge()
    await within({ javaScriptEnabled }, async (page) => {
      await page.goto(panel)
      const rows = page.locator('#charges > li')
      expect(await rows.count()).toBe(50)
      expect(await page.locator('#charges-pages').textContent()).toContain('1 to 50 of 51')
      await page.getByRole('link', { name: 'Older Charges' }).click()
      await page.locator('#charges-pages').filter({ hasText: '51 to 51 of 51' }).waitFor()
      expect(await rows.count()).toBe(1)
      await page.getByRole('button', { name: 'Give the right code' }).click()
      await told(page, 'is succeeded')
      expect(await rows.locator('.pill').allTextContents()).toEqual(['succeeded'])
      await page.getByRole('link', { name: 'Newer Charges' }).click()
      await page.locator('#charges-pages').filter({ hasText: '1 to 50 of 51' }).waitFor()
    })
  })

  it.each([900, 1200, 1600])('hides no heading behind what it tells, %i pixels wide', async (width) => {
    for (let count = 0; count < 30; count += 1) await site.charge()
    await within({ viewport: { width, height: 800 } }, async (page) => {
      await page.goto(panel)
      await page.getByRole('combobox', { name: 'Number' }).fill('+999'.repeat(1_000))
      await page.getByRole('button', { name: 'Charges follow this' }).click()
      await told(page, 'Charges of +999')
      for (const part of ['Charges', 'Requests']) {
        await page.getByRole('link', { name: part, exact: true }).click()
        const heading = await page.getByRole('heading', { name: part }).boundingBox()
        const head = await page.getByRole('banner').boundingBox()
        expect(heading?.y).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? Number.NaN))
        expect(heading?.y).toBeLessThan(400)
      }
      expect(await page.getByRole('status').isVisible()).toBe(true)
    })
  })

  it('without JavaScript, loads itself again when asked to', async () => {
    await within({ javaScriptEnabled: false }, async (page) => {
      await page.goto(panel)
      await page.getByRole('link', { name: 'Load every 5 seconds' }).click()
      const { id } = await site.charge()
      await page.locator(`#charge-${id}`).waitFor()
      await page.getByRole('link', { name: 'Stop that' }).click()
      await page.getByRole('link', { name: 'Load again' }).waitFor()
    })
  })

  it('shows what happens elsewhere, live, and leaves alone what a user opened, chose, typed and focused', async () => {
    const { invoiceID } = await site.subscribe()
    await within({}, async (page) => {
      await page.goto(panel)
      await page.getByText('Live', { exact: true }).waitFor()
      await page.locator('#request-2-details summary').click()
      await page.getByLabel('Days').fill('3')
      await page.getByLabel('Payments of order-1').selectOption('the first payment fails')
      await page.getByLabel('Payments of order-1').focus()

      const { id } = await site.charge()
      await ask(site.url, 'advance', { hours: '1' })
      await page.locator(`#charge-${id}`).waitFor()
      expect(await page.locator('#requests > li').count()).toBe(3)
      expect(await page.locator('#clock-now').textContent()).toBe('2026-11-28 13:00:00')
      expect(await page.locator('#request-2-details').getAttribute('open')).toBe('')
      expect(await page.getByLabel('Days').inputValue()).toBe('3')
      expect(await page.getByLabel('Payments of order-1').inputValue()).toBe('fail')
      expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(
        'Payments of order-1',
      )

      await ask(site.url, 'decline', { invoiceId: invoiceID })
      await page.locator(`#subscription-${invoiceID} .heading`).filter({ hasText: 'FAILED' }).waitFor()
      // The focused control is gone: the focus stays in its part of the page.
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('subscriptions-title')

      await ask(site.url, 'reset')
      await page.locator('#charges-none').waitFor()
      expect(await page.locator('#requests > li').allTextContents()).toEqual(['None yet.'])
    })
  })

  it('says when the mock is gone', async () => {
    await within({}, async (page) => {
      await page.goto(panel)
      await page.getByText('Live', { exact: true }).waitFor()
      await site.close()
      await page.getByText('The mock does not answer').first().waitFor()
      await page.getByRole('button', { name: '+ 1 day' }).click()
      await told(page, 'The mock does not answer.')
    })
  })

  it('is driven by keyboard alone, with a visible focus in reading order', async () => {
    await within(PHONE, async (page) => {
      await page.goto(panel)
      const focused = () =>
        page.evaluate(() => {
          const element = document.activeElement ?? document.body
          const { outlineStyle, outlineWidth } = getComputedStyle(element)
          return `${element.textContent.trim()} ${outlineStyle} ${outlineWidth}`
        })
      const order: string[] = []
      for (let count = 0; count < 8; count += 1) {
        await page.keyboard.press('Tab')
        order.push(await focused())
      }
      expect(order).toEqual(
        [
          'Subscriptions',
          'Payments',
          'Charges',
          'Requests',
          'Notifications',
          'State as JSON',
          '+ 1 hour',
          '+ 1 day',
        ].map((name) => `${name} solid 3px`),
      )
      await page.keyboard.press('Enter')
      await told(page, 'It is 2026-11-29T12:00:00Z.')
      expect(await focused()).toBe('+ 1 day solid 3px')
    })
  })

  it.each(['light', 'dark'] as const)(
    'fits a phone and has no accessibility finding (%s)',
    async (scheme) => {
      const { invoiceID } = await site.subscribe({ requestID: HOSTILE })
      site.mock.payer.authorize(invoiceID)
      await site.subscribe()
      site.mock.payer.reverse(site.mock.state.payments()[0]?.paymentId ?? '')
      await site.charge({ msisdn: HOSTILE, currency: HOSTILE })
      site.mock.faults.add({ operation: '*', kind: 'reset', times: 2 })
      site.mock.faults.add({ operation: 'gateway.*', kind: 'latency', latencyMs: 1 })
      site.mock.outage.start()
      for (const viewport of [PHONE.viewport, { width: 900, height: 700 }, { width: 1500, height: 900 }]) {
        await within({ viewport, colorScheme: scheme }, async (page) => {
          await page.goto(panel)
          await page.getByRole('button', { name: 'Remove reset' }).click()
          await told(page, 'was removed')
          await page.locator('#requests details').last().locator('summary').click()
          await expectUsable(page, `${viewport.width} pixels wide`)
        })
        site.mock.faults.add({ operation: '*', kind: 'reset' })
      }
    },
  )

  it('runs nothing that a merchant wrote in any field, when it is loaded and when it is live', async () => {
    await within(PHONE, async (page) => {
      await page.goto(panel)
      await page.getByText('Live', { exact: true }).waitFor()
      await site.subscribe({
        requestID: HOSTILE,
        userReturnURL: `https://shop.example/?q=${encodeURIComponent(HOSTILE)}`,
      })
      await site.charge({ msisdn: HOSTILE, currency: HOSTILE, redirect_uri: 'javascript:alert(1)' })
      await fetch(`${site.url}/${encodeURIComponent(HOSTILE)}?q=${HOSTILE}`)
      await page.locator('#charges .heading').filter({ hasText: '<script>' }).waitFor()
      await ask(site.url, 'behavior', { msisdn: HOSTILE, behavior: 'succeeds' })
      for (const load of [() => Promise.resolve(), () => page.reload()]) {
        await load()
        expect(await page.title()).toBe('Mock control panel')
        expect(await page.locator('main script, main img, main b').count()).toBe(0)
      }
    })
  })

  it('cannot be driven by a page of another site', async () => {
    const evil = await serveFetch(
      async () =>
        new Response(
          `<form method="post" action="${panel}"><input name="action" value="start-outage"><button>Win</button></form>`,
          { headers: { 'content-type': 'text/html' } },
        ),
    )
    try {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(evil.url)
      await page.getByRole('button', { name: 'Win' }).click()
      await page.getByText('This was not sent from the panel itself.').waitFor()
      await context.close()
    } finally {
      evil.close()
    }
    expect((await fetch(`${site.url}/health`)).status).toBe(200)
  })
})

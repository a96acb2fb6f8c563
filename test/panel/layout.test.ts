import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE, useBrowser, withoutBrowser } from '../pages/browser.ts'
import { expectFits, expectUsable, expectWhole } from '../pages/findings.ts'
import { startSite } from '../pages/site.ts'
import { ask } from './asking.ts'

const WIDTHS = [390, 1024, 1280]

describe.skipIf(withoutBrowser())('in Chromium, every page of the panel', { timeout: 120_000 }, () => {
  const within = useBrowser()
  let site: Awaited<ReturnType<typeof startSite>>
  let paths: readonly string[] = []

  beforeAll(async () => {
    site = await startSite()
    const { mock } = site
    mock.notifications.connect('http://127.0.0.1:9/hook', { retries: 2, signing: { secret: 'shared' } })
    const { invoiceID } = await site.subscribe({ requestID: HOSTILE })
    mock.payer.authorize(invoiceID)
    await site.subscribe()
    mock.payer.reverse(mock.state.payments()[0]?.paymentId ?? '')
    const { id } = await site.charge({ currency: HOSTILE })
    await ask(site.url, 'charge', { msisdn: '+99900000004' })
    mock.faults.add({ operation: 'gateway.*', kind: 'latency', latencyMs: 1 })
    mock.faults.add({ operation: 'subscriptions.cancellation', kind: 'html', status: 502 })
    mock.outage.start()
    mock.notifications.send({ type: HOSTILE, status: HOSTILE, timestamp: HOSTILE })
    await ask(site.url, 'save-snapshot', { name: HOSTILE })
    await fetch(`${site.url}/${'long'.repeat(100)}`)
    paths = [
      '',
      'subscriptions',
      `subscriptions/${invoiceID}`,
      'charges',
      `charges/${id}`,
      'requests',
      `requests/${mock.requests.all().length}`,
      'requests/2',
      'notifications',
      'faults',
      'connect',
    ]
  })
  afterAll(() => site?.close())

  test.each(WIDTHS)(
    'at %i pixels breaks no word, cuts no control, does not scroll sideways',
    async (width) => {
      await within({ viewport: { width, height: 800 } }, async (page) => {
        for (const path of paths) {
          await page.goto(`${site.url}/_mock/${path}`)
          for (const isOpen of [false, true]) {
            await page.evaluate((open) => {
              for (const details of document.querySelectorAll('details')) details.open = open
            }, isOpen)
            await expectFits(page, `${path} at ${width}`)
            await expectWhole(page, `${path} at ${width}`)
          }
        }
      })
    },
  )

  test.each(['light', 'dark'] as const)('has no accessibility finding, %s', async (colorScheme) => {
    await within({ viewport: { width: colorScheme === 'light' ? 390 : 1280, height: 800 } }, async (page) => {
      await page.emulateMedia({ colorScheme })
      for (const path of paths) {
        await page.goto(`${site.url}/_mock/${path}`)
        await page.evaluate(() => {
          for (const details of document.querySelectorAll('details')) details.open = true
        })
        await expectUsable(page, `${path} ${colorScheme}`)
      }
      await page.emulateMedia({ colorScheme: 'light' })
    })
  })

  test('shows data before controls on a phone', async () => {
    await within({ viewport: { width: 390, height: 800 } }, async (page) => {
      for (const path of paths) {
        await page.goto(`${site.url}/_mock/${path}`)
        const [data, controls] = await page.evaluate(() =>
          ['.columns > div', '.controls'].map(
            (part) => document.querySelector(part)?.getBoundingClientRect().top,
          ),
        )
        if (controls !== undefined) expect(data).toBeLessThan(controls)
        expect(data).toBeLessThan(400)
      }
    })
  })
})

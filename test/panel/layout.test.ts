import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOSTILE, useBrowser, withoutBrowser } from '../pages/browser.ts'
import { expectFits, expectUsable, expectWhole } from '../pages/findings.ts'
import { startSite } from '../pages/site.ts'
import { sized } from '../support/sizes.ts'
import { ask } from './asking.ts'
import { live } from './using.ts'

const PHONE = { width: 390, height: 800 }
const WIDTHS = [PHONE.width, 1024, 1280, 1300]

const openDetails = (open: boolean): void => {
  for (const details of document.querySelectorAll('details')) details.open = open
}

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
    await site.subscribe({ userReturnURL: `https://shop.example/?q=${encodeURIComponent(HOSTILE)}` })
    mock.payer.reverse(mock.state.payments()[0]?.paymentId ?? '')
    const { id } = await site.charge({ currency: HOSTILE })
    await ask(site.url, 'charge', { msisdn: '+99900000004' })
    mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
    await ask(site.url, 'charge')
    mock.faults.add({ operation: 'gateway.*', kind: 'latency', latencyMs: 1 })
    mock.faults.add({ operation: 'subscriptions.cancellation', kind: 'html', status: 502 })
    mock.outage.start()
    mock.notifications.send({ type: HOSTILE, status: HOSTILE, timestamp: HOSTILE })
    await ask(site.url, 'save-snapshot', { name: HOSTILE })
    await fetch(`${site.url}/${encodeURIComponent(HOSTILE)}?q=${HOSTILE}`)
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
      `notifications/${mock.notifications.all()[0]?.notificationId}`,
      'faults',
      'connect',
    ]
  })
  afterAll(() => site?.close())

  test('breaks no word, cuts no control, does not scroll sideways, and shows data before controls on a phone', async () => {
    await within({ viewport: PHONE }, async (page) => {
      for (const path of paths) {
        await page.setViewportSize(PHONE)
        await page.goto(`${site.url}/_mock/${path}`)
        const [data, controls] = await page.evaluate(() =>
          ['.columns > div', '.controls'].map(
            (part) => document.querySelector(part)?.getBoundingClientRect().top,
          ),
        )
        if (controls !== undefined) expect(data, path).toBeLessThan(controls)
        expect(data, path).toBeLessThan(400)
        for (const isOpen of [false, true]) {
          await page.evaluate(openDetails, isOpen)
          for (const width of WIDTHS) {
            await page.setViewportSize({ width, height: 800 })
            await expectFits(page, `${path} at ${width}`)
            await expectWhole(page, `${path} at ${width}`)
          }
        }
      }
    })
  })

  test('shows each request in at most six lines on a phone, and cuts no operation', async () => {
    await within({ viewport: PHONE }, async (page) => {
      await page.goto(`${site.url}/_mock/requests`)
      const lines = await page.locator('#requests tbody tr').evaluateAll((all) =>
        all.map((row) => {
          const cells = [...row.querySelectorAll('td > *')].flatMap((one) => [...one.getClientRects()])
          const middles = cells.map(({ top, height }) => top + height / 2).sort((one, other) => one - other)
          return middles.filter((middle, at) => at === 0 || middle - (middles[at - 1] ?? 0) > 8).length
        }),
      )
      expect(lines.length).toBeGreaterThan(3)
      expect(Math.max(...lines)).toBeLessThanOrEqual(6)
      const names = page.locator('#requests td:first-child bdi').filter({ hasText: /subscriptions|gateway/ })
      expect(
        await names.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth)),
      ).toEqual([])
    })
  })

  test('shortens identifiers once, and shows them whole without JavaScript', async () => {
    for (const javaScriptEnabled of [true, false]) {
      await within({ javaScriptEnabled }, async (page) => {
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 })
          await page.goto(`${site.url}/_mock/${paths[4]}`)
          const found = await page.locator('dd .id bdi').evaluateAll((all) =>
            all.map((one) => {
              const middle = one.querySelector<HTMLElement>('.middle')
              return [one.scrollWidth > one.clientWidth, (middle?.offsetWidth ?? 0) > 60]
            }),
          )
          expect(found.slice(0, 2)).toEqual(Array(2).fill([false, !javaScriptEnabled]))
        }
      })
    }
  })

  test('runs nothing that a merchant wrote in any field, loaded and live', async () => {
    await within({}, async (page) => {
      for (const path of paths) {
        await page.goto(`${site.url}/_mock/${path}`)
        await live(page)
        await ask(site.url, 'advance', { seconds: '1' })
        expect(await page.title()).toContain('Mock control panel')
        expect(await page.locator('main script, main img, main b').count(), path).toBe(0)
      }
    })
  })

  test.each(sized([390, 1280], [390]))('at %i pixels has no accessibility finding', async (width) => {
    await within({ viewport: { width, height: 800 } }, async (page) => {
      for (const path of paths) {
        await page.goto(`${site.url}/_mock/${path}`)
        await page.evaluate(openDetails, true)
        await expectUsable(page, path)
      }
    })
  })
})

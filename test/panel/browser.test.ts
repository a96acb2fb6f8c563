import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DESKTOP, focused, HOSTILE, PHONE, SCRIPTING, useBrowser, withoutBrowser } from '../pages/browser.ts'
import { expectFits, expectUsable } from '../pages/findings.ts'
import { startSite } from '../pages/site.ts'
import { serveFetch } from '../support/serve-fetch.ts'
import { ask } from './asking.ts'
import { click, reported } from './using.ts'

describe.skipIf(withoutBrowser())('in Chromium, the control panel', { timeout: 60_000 }, () => {
  const within = useBrowser()
  let site: Awaited<ReturnType<typeof startSite>>
  let panel = ''

  beforeAll(async () => {
    site = await startSite()
    panel = `${site.url}/_mock`
  })
  beforeEach(() => site.reset())
  afterAll(() => site?.close())

  const health = async () => (await fetch(`${site.url}/health`)).status

  describe.each(SCRIPTING)('%s', (_, view) => {
    test('authorizes, declines, moves the clock and reverses', async () => {
      const one = await site.subscribe()
      const other = await site.subscribe()
      await within(view, async (page) => {
        await page.goto(panel)
        await page.getByLabel('Payments of order-1').selectOption('the second payment fails')
        await click(page, 'Authorize order-1')
        await reported(page, `The payer authorized ${one.invoiceID}.`)
        await click(page, 'Decline order-2')
        await reported(page, `The payer declined ${other.invoiceID}.`)
        await click(page, '+ 15 days')
        await reported(page, 'It is 2026-12-13T12:00:00Z.')
        expect(await page.locator('#payments > tr').allTextContents()).toEqual([
          expect.stringMatching(/FAILED_PAYMENT.*2026-12-13/),
          expect.stringMatching(/SUCCEEDED_PAYMENT.*2026-11-28/),
        ])
        const cycles = await page.locator(`#subscription-${one.invoiceID} .cycles li`).allTextContents()
        expect(cycles).toEqual(['2026-11-28 paid', '2026-12-13 failed', '2026-12-28 next'])
        await click(page, 'Reverse')
        await reported(page, 'was reversed')
        await page.getByLabel('Days').fill('1')
        await page.getByLabel('Hours').fill('2')
        await click(page, 'Move forward')
        await reported(page, 'It is 2026-12-14T14:00:00Z.')
        await page.getByLabel('A point in time').fill('2027-03-01T08:30:15')
        await click(page, 'Set the clock')
        await reported(page, 'It is 2027-03-01T08:30:15Z.')
        expect(await page.locator('#clock-now').textContent()).toBe('2027-03-01 08:30:15')
      })
      expect([site.requestStatus(one.invoiceID), site.requestStatus(other.invoiceID)]).toEqual([
        'SUCCEEDED',
        'FAILED',
      ])
      expect(site.mock.state.payments()[0]?.reverseTransactionId).not.toBeNull()
    })

    test('confirms a charge after a change of its number’s behavior', async () => {
      const { id } = await site.charge()
      await within(view, async (page) => {
        await page.goto(panel)
        await page.getByRole('combobox', { name: 'Number' }).fill('+99900000001')
        await page.getByLabel('Behavior').selectOption('insufficient_funds')
        await click(page, 'Set the behavior')
        await reported(page, 'now have the behavior insufficient_funds')
        await click(page, `Enter the correct code for ${id}`)
        await reported(page, `${id} is failed`)
        expect(await page.locator(`#charge-${id} .pill`).textContent()).toBe('failed')
      })
      expect(site.chargeStatus(id)).toBe('failed')
    })

    test('adds and removes faults, starts and ends an outage, and resets', async () => {
      await within(view, async (page) => {
        const kind = page.getByRole('combobox', { name: 'Fault' })
        await page.goto(panel)
        await page.getByLabel('Operation').selectOption('gateway.health')
        await kind.selectOption('html')
        await page.getByLabel('Times', { exact: true }).fill('always')
        await click(page, 'Add')
        await reported(page, 'Fault html was added for gateway.health.')
        expect(await health()).toBe(502)
        await click(page, 'Remove html of gateway.health')
        await reported(page, 'The fault was removed.')
        expect(await health()).toBe(200)

        await kind.selectOption('latency')
        await click(page, 'Add')
        await reported(page, 'latencyMs')
        expect(await page.getByRole('status').getAttribute('class')).toBe('alert')

        await click(page, 'Start an outage gateway')
        await reported(page, 'The area gateway is down')
        expect(await health()).toBe(503)
        await click(page, 'End the outage gateway')
        await reported(page, 'The area gateway is up')
        expect(await health()).toBe(200)

        await click(page, 'Expire access tokens')
        await reported(page, 'has expired')
        await click(page, 'Revoke all tokens')
        await reported(page, 'is revoked')
        await site.charge()
        await page.getByText('Reset the mock').click()
        await click(page, 'Reset everything')
        await reported(page, 'The mock was reset.')
      })
      expect(site.mock.state.charges()).toEqual([])
    })

    test('turns the pages of a list, and stays on the page after an action', async () => {
      await Promise.all(Array.from({ length: 51 }, () => site.charge()))
      await within(view, async (page) => {
        await page.goto(panel)
        const rows = page.locator('#charges > tr')
        const position = (text: string) => page.locator('#charges-pages').filter({ hasText: text }).waitFor()
        await position('1 to 50 of 51')
        expect(await rows.count()).toBe(50)
        await page.getByRole('link', { name: 'Older Charges' }).click()
        await position('51 to 51 of 51')
        expect(await rows.count()).toBe(1)
        await click(page, 'Enter the correct code')
        await reported(page, 'is succeeded')
        expect(await rows.locator('.pill').allTextContents()).toEqual(['succeeded'])
        await page.getByRole('link', { name: 'Newer Charges' }).click()
        await position('1 to 50 of 51')
      })
    })
  })

  test('never covers a heading with its notice', async () => {
    await Promise.all(Array.from({ length: 30 }, () => site.charge()))
    await within({}, async (page) => {
      await page.goto(panel)
      await page.getByRole('combobox', { name: 'Number' }).fill('+999'.repeat(1_000))
      await click(page, 'Set the behavior')
      await reported(page, 'Charges of +999')
      for (const width of [900, 1200, 1600]) {
        await page.setViewportSize({ width, height: 800 })
        for (const part of ['Charges', 'Requests']) {
          await page.getByRole('link', { name: part, exact: true }).click()
          const heading = await page.getByRole('heading', { name: part }).boundingBox()
          const head = await page.getByRole('banner').boundingBox()
          expect(heading?.y, `${width} ${part}`).toBeGreaterThanOrEqual(
            (head?.y ?? 0) + (head?.height ?? Number.NaN),
          )
          expect(heading?.y).toBeLessThan(400)
        }
      }
      expect(await page.getByRole('status').isVisible()).toBe(true)
    })
  })

  test('reloads itself without JavaScript if asked to', async () => {
    await within({ javaScriptEnabled: false }, async (page) => {
      await page.goto(panel)
      await page.getByRole('link', { name: 'Reload every 5 seconds' }).click()
      await page.getByRole('link', { name: 'Stop reloading' }).waitFor()
      const { id } = await site.charge()
      await page.locator(`#charge-${id}`).waitFor()
      await page.getByRole('link', { name: 'Stop reloading' }).click()
      await page.getByRole('link', { name: 'Reload', exact: true }).waitFor()
    })
  })

  test('is live, and keeps what a user opened, chose, typed and focused', async () => {
    const { invoiceID } = await site.subscribe()
    await within({}, async (page) => {
      await page.goto(panel)
      await page.getByText('Live', { exact: true }).waitFor()
      const payments = page.getByLabel('Payments of order-1')
      const focusedBy = (name: string) =>
        page.evaluate((attribute) => document.activeElement?.getAttribute(attribute), name)
      await page.locator('#request-2-details summary').click()
      await page.getByLabel('Days').fill('3')
      await payments.selectOption('the first payment fails')
      await payments.focus()

      const { id } = await site.charge()
      await ask(site.url, 'advance', { hours: '1' })
      await page.locator(`#charge-${id}`).waitFor()
      await page.locator('#clock-now').filter({ hasText: '2026-11-28 13:00:00' }).waitFor()
      expect(await page.locator('#requests > tr').count()).toBe(3)
      expect(await page.locator('#request-2-details').getAttribute('open')).toBe('')
      expect(await page.getByLabel('Days').inputValue()).toBe('3')
      expect(await payments.inputValue()).toBe('fail')
      expect(await focusedBy('aria-label')).toBe('Payments of order-1')

      // The next change is in the list itself.
      await site.subscribe()
      await page.getByLabel('Payments of order-3').waitFor()
      expect(await payments.inputValue()).toBe('fail')
      expect(await focusedBy('aria-label')).toBe('Payments of order-1')

      await ask(site.url, 'decline', { invoiceId: invoiceID })
      await page.locator(`#subscription-${invoiceID}`).filter({ hasText: 'FAILED' }).waitFor()
      // The focused control no longer exists: the focus stays in its row, and then in its section.
      expect(await focusedBy('href')).toContain(invoiceID)

      await ask(site.url, 'reset')
      await page.locator('#charges-none').waitFor()
      expect(await focusedBy('id')).toBe('subscriptions-title')
      expect(await page.locator('#requests > tr').allTextContents()).toEqual(['None yet.'])
    })
  })

  test('reports that the mock has stopped', async () => {
    const stopped = await startSite()
    await within({}, async (page) => {
      await page.goto(`${stopped.url}/_mock`)
      await page.getByText('Live', { exact: true }).waitFor()
      await stopped.close()
      await page.getByText('The mock does not respond').first().waitFor()
      await click(page, '+ 1 day')
      await reported(page, 'The mock does not respond.')
    })
  })

  test('works with the keyboard alone, with a visible focus in reading order', async () => {
    await within({ viewport: PHONE }, async (page) => {
      await page.goto(panel)
      const sections = [
        'Connect',
        'Subscriptions',
        'Payments',
        'Charges',
        'Requests',
        'Notifications',
        'States',
      ]
      for (const name of [
        ...sections,
        'State as JSON',
        'OpenAPI of the APIs',
        'OpenAPI of this panel',
        '+ 1 hour',
        '+ 1 day',
      ]) {
        await page.keyboard.press('Tab')
        expect(await focused(page)).toBe(`${name} solid 3px`)
      }
      await page.keyboard.press('Enter')
      await reported(page, 'It is 2026-11-29T12:00:00Z.')
      expect(await focused(page)).toBe('+ 1 day solid 3px')

      const { id } = await site.charge()
      await page.locator(`#charge-${id}`).waitFor()
      await page.getByRole('link', { name: 'Charges', exact: true }).focus()
      await page.keyboard.press('Enter')
      for (const name of ['Search Charges', 'Filter Charges']) {
        await page.keyboard.press('Tab')
        expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(name)
      }
      for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
      await reported(page, `${id} is succeeded`)
    })
  })

  test('fits every window and has no accessibility finding, light and dark', async () => {
    const { invoiceID } = await site.subscribe({ requestID: HOSTILE })
    site.mock.payer.authorize(invoiceID)
    await site.subscribe()
    site.mock.payer.reverse(site.mock.state.payments()[0]?.paymentId ?? '')
    await site.charge({ currency: HOSTILE })
    site.mock.faults.add({ operation: '*', kind: 'reset', times: 2 })
    site.mock.faults.add({ operation: 'gateway.*', kind: 'latency', latencyMs: 1 })
    site.mock.faults.add({ operation: '*', kind: 'html' })
    site.mock.outage.start()
    const disconnect = site.mock.notifications.connect('http://127.0.0.1:9/hook', {
      retries: 2,
      signing: { secret: 'shared' },
    })
    site.mock.notifications.send({ type: HOSTILE, status: HOSTILE, timestamp: HOSTILE })
    await ask(site.url, 'save-snapshot', { name: HOSTILE })
    await within({ viewport: PHONE }, async (page) => {
      await page.goto(`${panel}?show=${invoiceID}`)
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true
      })
      await click(page, 'Remove html')
      await reported(page, 'was removed')
      await expectUsable(page, 'phone, light')
      for (const width of [900, 1500]) {
        await page.setViewportSize({ width, height: 800 })
        await expectFits(page, `${width} pixels wide`)
      }
      await page.emulateMedia({ colorScheme: 'dark' })
      await expectUsable(page, '1500 pixels wide, dark')
      await page.emulateMedia({ colorScheme: 'light' })
    })
    disconnect()
  })

  test('runs nothing that a merchant wrote in any field, loaded and live', async () => {
    await within({ viewport: DESKTOP }, async (page) => {
      await page.goto(panel)
      await page.getByText('Live', { exact: true }).waitFor()
      await site.subscribe({
        requestID: HOSTILE,
        userReturnURL: `https://shop.example/?q=${encodeURIComponent(HOSTILE)}`,
      })
      await site.charge({ currency: HOSTILE })
      await fetch(`${site.url}/${encodeURIComponent(HOSTILE)}?q=${HOSTILE}`)
      await page.locator('#charges tr').filter({ hasText: '<script>' }).waitFor()
      await ask(site.url, 'behavior', { msisdn: HOSTILE, behavior: 'succeeds' })
      for (const load of [() => Promise.resolve(), () => page.reload()]) {
        await load()
        expect(await page.title()).toBe('Mock control panel')
        expect(await page.locator('main script, main img, main b').count()).toBe(0)
      }
    })
  })

  test('refuses a form of another site', async () => {
    const form = `<form method="post" action="${panel}"><input name="action" value="start-outage"><button>Win</button></form>`
    const evil = await serveFetch(
      async () => new Response(form, { headers: { 'content-type': 'text/html' } }),
    )
    await within({}, async (page) => {
      await page.goto(evil.url)
      await click(page, 'Win')
      await page.getByText('This form was not sent from the panel itself.').waitFor()
    })
    await evil.close()
    expect(await health()).toBe(200)
  })
})

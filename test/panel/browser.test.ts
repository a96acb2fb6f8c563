import { describe, expect, test } from 'vitest'
import { focused, PHONE, SAMPLE, SCRIPTING, withoutBrowser } from '../pages/browser.ts'
import { startSite } from '../pages/site.ts'
import { ask } from './asking.ts'
import { click, confirm, live, reported, usePanel } from './using.ts'

describe.skipIf(withoutBrowser())('in Chromium, the control panel', { timeout: 60_000 }, () => {
  const panel = usePanel()
  const { within } = panel

  const health = async () => (await fetch(`${panel.site.url}/health`)).status

  test.each(SAMPLE)('%s, authorizes, declines, moves the clock and reverses', async (_, view) => {
    const one = await panel.site.subscribe()
    const other = await panel.site.subscribe()
    await within(view, async (page) => {
      await page.goto(`${panel.url}/subscriptions`)
      await click(page, 'Authorize order-1')
      await reported(page, `The payer authorized ${one.invoiceID}.`)
      await page.getByRole('link', { name: 'order-2' }).click()
      await click(page, 'Decline')
      await reported(page, `The payer declined ${other.invoiceID}.`)
      await page.getByText('Nothing more will happen').waitFor()
      await page.goto(`${panel.url}/subscriptions/${one.invoiceID}`)
      await click(page, '+ 15 days')
      await reported(page, 'It is 2026-12-13T12:00:00Z.')
      const payments = page.locator('.timeline .payment > div > span')
      expect(await payments.allTextContents()).toEqual([
        expect.stringMatching(/paid +249.00 due 2026-12-13/),
        expect.stringMatching(/paid +249.00 due 2026-11-28/),
      ])
      await page.locator('.planned').getByText('the next payment: 249.00').waitFor()
      await page.locator('summary', { hasText: 'Reverse' }).first().click()
      await page.getByRole('button', { name: 'Reverse' }).first().click()
      await reported(page, 'was reversed')
      await page.goto(panel.url)
      await page.getByText('Move by any length').click()
      await page.getByLabel('Days').fill('1')
      await page.getByLabel('Hours').fill('2')
      await click(page, 'Move forward')
      await reported(page, 'It is 2026-12-14T14:00:00Z.')
      await page.getByLabel('Time, UTC').fill('2027-03-01T08:30:15')
      await click(page, 'Set the clock')
      await reported(page, 'It is 2027-03-01T08:30:15Z.')
      expect(await page.locator('#clock-now').textContent()).toBe('2027-03-01 08:30:15 UTC')
    })
    const decided = [one, other].map(({ invoiceID }) => panel.site.requestStatus(invoiceID))
    expect(decided).toEqual(['SUCCEEDED', 'FAILED'])
    expect(panel.site.mock.state.payments().some((one) => one.reverseTransactionId !== null)).toBe(true)
  })

  test.each(SCRIPTING)(
    '%s, creates a subscription and a charge, moves to the next event, and ends charges',
    async (_, view) => {
      await within(view, async (page) => {
        await page.goto(`${panel.url}/subscriptions`)
        await page.getByText('None yet. Create one here').waitFor()
        await page.getByLabel('Amount').fill('99.50')
        await click(page, 'Create')
        await page.waitForURL(/subscriptions\/\w+/)
        await reported(page, 'waits for the payer')
        await click(page, 'Authorize')
        await page.getByText('99.50 every week').waitFor()
        await click(page, 'To the next event')
        await reported(page, 'It is 2026-11-29T12:00:00Z.')
        await page.locator('.timeline .payment').waitFor()
        for (const [label, status] of [
          ['Fail', 'failed'],
          ['Expire', 'expired'],
          ['Leave for a retry', 'pending_retry'],
          ['Enter the correct code', 'succeeded'],
        ] as const) {
          await page.goto(`${panel.url}/charges`)
          await click(page, 'Create')
          await page.waitForURL(/charges\/\w+/)
          await click(page, label)
          await reported(page, `is ${status}`)
          await page.locator('.present').getByText(status, { exact: true }).waitFor()
        }
        await click(page, 'Renew')
        await page.getByText('renewal').waitFor()
      })
      expect(panel.site.mock.state.charges().map(({ status }) => status)).toEqual([
        'failed',
        'expired',
        'pending_retry',
        'succeeded',
        'succeeded',
      ])
    },
  )

  test.each(SAMPLE)(
    '%s, leads from a refused request to its reason and its object, and back',
    async (_, view) => {
      const { id } = await panel.site.charge()
      await fetch(`${panel.site.url}/api/v1/mfs/charges/${id}`, {
        headers: { authorization: 'Bearer wrong' },
      })
      await within(view, async (page) => {
        await page.goto(`${panel.url}/requests`)
        await page.getByLabel('Status').selectOption('4xx')
        await click(page, 'Filter')
        await page.getByRole('link', { name: 'GET gateway.status' }).click()
        await page
          .getByText('The option gateway.apiKeys does not contain the API key of the request.')
          .waitFor()
        await page.getByText('"authorization": "Bearer [redacted]"').waitFor()
        await page.locator('#as-code summary').click()
        await page.getByText(`curl -i -X GET '${panel.site.url}/api/v1/mfs/charges/${id}'`).waitFor()
        // The wrong key is not shown, and the right one would not repeat the refusal.
        expect(await page.locator('#as-code pre').first().textContent()).toContain('Bearer YOUR_TOKEN')
        await page.getByRole('link', { name: 'charge', exact: false }).last().click()
        await page.waitForURL(`${panel.url}/charges/${id}`)
        expect(await page.locator('.timeline .request').count()).toBe(2)
        await page.getByRole('link', { name: 'All requests about it' }).click()
        await page.getByText('Only requests about').waitFor()
        expect(await page.locator('#requests tbody tr').count()).toBe(2)
        await page.getByLabel('Status').selectOption('4xx')
        await click(page, 'Filter')
        await page.getByText('Only requests about').waitFor()
        await page.waitForURL(/requests\.status=4xx/)
        expect(await page.locator('#requests tbody tr').count()).toBe(1)
      })
    },
  )

  test.each(SCRIPTING)(
    '%s, adds and removes faults, says problems beside the field, starts and ends an outage, and resets',
    async (_, view) => {
      await within(view, async (page) => {
        const kind = page.getByLabel('Fault', { exact: true })
        await page.goto(`${panel.url}/faults`)
        await page.getByLabel('Operation').selectOption('gateway.health')
        await kind.selectOption('html')
        await page.getByLabel('Times').fill('always')
        await click(page, 'Add the fault')
        await reported(page, 'HTML page with 502 for gateway.health, always.')
        expect(await health()).toBe(502)
        await click(page, 'Remove HTML page with 502')
        await reported(page, 'The fault was removed.')
        expect(await health()).toBe(200)

        await kind.selectOption('latency')
        await click(page, 'Add the fault')
        await page.locator('.problem').getByText('Latency, ms is missing').waitFor()
        expect(await kind.inputValue()).toBe('latency')
        expect(await page.getByLabel('Latency, ms').getAttribute('aria-invalid')).toBe('true')
        expect(await page.getByRole('status').getAttribute('class')).toBe('alert')
        await reported(page, /^Latency, ms is missing: give milliseconds from 0/)

        await click(page, 'Start an outage gateway')
        await reported(page, 'The area gateway is down')
        expect(await health()).toBe(503)
        await click(page, 'End the outage gateway')
        await reported(page, 'The area gateway is up')
        expect(await health()).toBe(200)

        for (const [button, outcome] of [
          ['Expire access tokens', 'has expired'],
          ['Revoke all tokens', 'is revoked'],
        ] as const) {
          await confirm(page, button)
          await reported(page, outcome)
        }
        await panel.site.charge()
        await page.goto(panel.url)
        await confirm(page, 'Reset the mock')
        await reported(page, 'The mock was reset.')
      })
      expect(panel.site.mock.state.charges()).toEqual([])
    },
  )

  test.each(SCRIPTING)(
    '%s, turns the pages of a list, and stays on the page after an action',
    async (_, view) => {
      await Promise.all(Array.from({ length: 51 }, () => panel.site.charge()))
      await within(view, async (page) => {
        await page.goto(`${panel.url}/charges`)
        const rows = page.locator('#charges tbody > tr')
        const position = (text: string) => page.locator('#charges-pages').filter({ hasText: text }).waitFor()
        await position('1 to 50 of 51')
        expect(await rows.count()).toBe(50)
        await page.getByRole('link', { name: 'Older charges' }).click()
        await position('51 to 51 of 51')
        expect(await rows.count()).toBe(1)
        await click(page, 'Enter the correct code')
        await reported(page, 'is succeeded')
        expect(await rows.locator('.badge').allTextContents()).toEqual(['succeeded'])
        await page.getByRole('link', { name: 'Newer charges' }).click()
        await position('1 to 50 of 51')
      })
    },
  )
  test('is live, and keeps what a user opened, typed and focused', async () => {
    const { invoiceID } = await panel.site.subscribe()
    await within({}, async (page) => {
      await page.goto(`${panel.url}/subscriptions/${invoiceID}`)
      await live(page)
      await page.getByText('Script the next payments').click()
      const payments = page.getByLabel('Payments, such as succeed, fail')
      await payments.fill('fail, fail')
      await ask(panel.site.url, 'authorize', { invoiceId: invoiceID })
      await page.locator('#state-machines .present').getByText('ACTIVE').waitFor()
      await ask(panel.site.url, 'advance', { hours: '1' })
      await page.locator('#clock-now').filter({ hasText: '2026-11-28 13:00:00' }).waitFor()
      expect(await payments.inputValue()).toBe('fail, fail')
      expect(await payments.evaluate((field) => field === document.activeElement)).toBe(true)
      await ask(panel.site.url, 'cancel', { id: invoiceID })
      await page.getByText('Nothing more will happen').waitFor()
      // The focused field no longer exists, so the focus goes to the section's heading.
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('state-title')
    })
  })

  test('keeps the focus on its own row when a newer row comes first', async () => {
    const { id } = await panel.site.charge()
    await within({}, async (page) => {
      await page.goto(`${panel.url}/charges`)
      await live(page)
      await page.locator(`#charge-${id} button.primary`).focus()
      await page.locator(`#charge-${(await panel.site.charge()).id}`).waitFor()
      expect(await page.evaluate(() => document.activeElement?.closest('tr')?.id)).toBe(`charge-${id}`)
      await page.keyboard.press('Enter')
      await reported(page, `${id} is succeeded`)
    })
  })

  test('reports that the mock has stopped', async () => {
    const stopped = await startSite()
    await within({}, async (page) => {
      await page.goto(`${stopped.url}/_mock`)
      await live(page)
      await stopped.close()
      await page.getByText('The mock does not respond').first().waitFor()
      await click(page, '+ 1 day')
      await reported(page, 'The mock does not respond.')
    })
  })

  test('works with the keyboard alone, with a visible focus in reading order', async () => {
    await within({ viewport: PHONE }, async (page) => {
      await page.goto(`${panel.url}/charges`)
      const pages = ['Overview', 'Subscriptions', 'Charges', 'Requests', 'Notifications', 'Faults', 'Connect']
      for (const name of [...pages, 'To the next event', '+ 1 hour', '+ 1 day']) {
        await page.keyboard.press('Tab')
        expect(await focused(page)).toBe(`${name} solid 3px`)
      }
      await page.keyboard.press('Enter')
      await reported(page, 'It is 2026-11-29T12:00:00Z.')
      expect(await focused(page)).toBe('+ 1 day solid 3px')

      const { id } = await panel.site.charge()
      await page.locator(`#charge-${id}`).waitFor()
      await page.locator(`#charge-${id} a`).first().focus()
      for (const key of ['Tab', 'Enter']) await page.keyboard.press(key)
      await reported(page, `${id} is succeeded`)
    })
  })
})

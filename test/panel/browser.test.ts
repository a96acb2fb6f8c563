import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  DESKTOP,
  focused,
  HOSTILE,
  PHONE,
  SAMPLE,
  SCRIPTING,
  useBrowser,
  withoutBrowser,
} from '../pages/browser.ts'
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

  test.each(SAMPLE)('%s, authorizes, declines, moves the clock and reverses', async (_, view) => {
    const one = await site.subscribe()
    const other = await site.subscribe()
    await within(view, async (page) => {
      await page.goto(`${panel}/subscriptions`)
      await click(page, 'Authorize order-1')
      await reported(page, `The payer authorized ${one.invoiceID}.`)
      await page.getByRole('link', { name: 'order-2' }).click()
      await click(page, 'Decline')
      await reported(page, `The payer declined ${other.invoiceID}.`)
      await page.getByText('Nothing more will happen').waitFor()
      await page.goto(`${panel}/subscriptions/${one.invoiceID}`)
      await click(page, 'Fail the next payment')
      await reported(page, 'fail, then succeed.')
      await click(page, '+ 15 days')
      await reported(page, 'It is 2026-12-13T12:00:00Z.')
      const payments = page.locator('.timeline .payment > div > span')
      expect(await payments.allTextContents()).toEqual([
        expect.stringMatching(/failed +249.00 due 2026-12-13/),
        expect.stringMatching(/paid +249.00 due 2026-11-28/),
      ])
      await page.locator('.planned').getByText('the next payment: 249.00').waitFor()
      await page.locator('summary', { hasText: 'Reverse' }).click()
      await page.getByRole('button', { name: 'Reverse' }).click()
      await reported(page, 'was reversed')
      await page.goto(panel)
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
    expect([site.requestStatus(one.invoiceID), site.requestStatus(other.invoiceID)]).toEqual([
      'SUCCEEDED',
      'FAILED',
    ])
    expect(site.mock.state.payments()[0]?.reverseTransactionId).not.toBeNull()
  })

  test.each(SCRIPTING)(
    '%s, creates a subscription and a charge, moves to the next event, and ends charges',
    async (_, view) => {
      await within(view, async (page) => {
        await page.goto(`${panel}/subscriptions`)
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
          await page.goto(`${panel}/charges`)
          await click(page, 'Create')
          await page.waitForURL(/charges\/\w+/)
          await click(page, label)
          await reported(page, `is ${status}`)
          await page.locator('.present').getByText(status, { exact: true }).waitFor()
        }
        await click(page, 'Renew')
        await page.getByText('renewal').waitFor()
      })
      expect(site.mock.state.charges().map(({ status }) => status)).toEqual([
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
      const { id } = await site.charge()
      await fetch(`${site.url}/api/v1/mfs/charges/${id}`, { headers: { authorization: 'Bearer wrong' } })
      await within(view, async (page) => {
        await page.goto(`${panel}/requests`)
        await page.getByLabel('Status').selectOption('4xx')
        await click(page, 'Filter')
        await page.getByRole('link', { name: 'GET gateway.status' }).click()
        await page
          .getByText('The option gateway.apiKeys does not contain the API key of the request.')
          .waitFor()
        await page.getByText('"authorization": "Bearer [redacted]"').waitFor()
        await page.locator('#as-code summary').click()
        await page.getByText(`curl -i -X GET '${site.url}/api/v1/mfs/charges/${id}'`).waitFor()
        // The wrong key is not shown, and the right one would not repeat the refusal.
        expect(await page.locator('#as-code pre').first().textContent()).toContain('Bearer YOUR_TOKEN')
        await page.getByRole('link', { name: 'charge', exact: false }).last().click()
        await page.waitForURL(`${panel}/charges/${id}`)
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
        await page.goto(`${panel}/faults`)
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
          await page.locator('summary', { hasText: button }).click()
          await click(page, button)
          await reported(page, outcome)
        }
        await site.charge()
        await page.goto(panel)
        await page.locator('summary', { hasText: 'Reset the mock' }).click()
        await click(page, 'Reset the mock')
        await reported(page, 'The mock was reset.')
      })
      expect(site.mock.state.charges()).toEqual([])
    },
  )

  test.each(SCRIPTING)(
    '%s, turns the pages of a list, and stays on the page after an action',
    async (_, view) => {
      await Promise.all(Array.from({ length: 51 }, () => site.charge()))
      await within(view, async (page) => {
        await page.goto(`${panel}/charges`)
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
    const { invoiceID } = await site.subscribe()
    await within({}, async (page) => {
      await page.goto(`${panel}/subscriptions/${invoiceID}`)
      await page.getByText('Live', { exact: true }).waitFor()
      await page.getByText('Script the next payments').click()
      const payments = page.getByLabel('Payments, such as succeed, fail')
      await payments.fill('fail, fail')
      await ask(site.url, 'authorize', { invoiceId: invoiceID })
      await page.locator('#state-machines .present').getByText('ACTIVE').waitFor()
      await ask(site.url, 'advance', { hours: '1' })
      await page.locator('#clock-now').filter({ hasText: '2026-11-28 13:00:00' }).waitFor()
      expect(await payments.inputValue()).toBe('fail, fail')
      expect(await payments.evaluate((field) => field === document.activeElement)).toBe(true)
      await ask(site.url, 'cancel', { id: invoiceID })
      await page.getByText('Nothing more will happen').waitFor()
      // The focused field no longer exists, so the focus goes to the section's heading.
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('state-title')
    })
  })

  test('keeps the focus on its own row when a newer row comes first', async () => {
    const { id } = await site.charge()
    await within({}, async (page) => {
      await page.goto(`${panel}/charges`)
      await page.getByText('Live', { exact: true }).waitFor()
      await page.locator(`#charge-${id} button.primary`).focus()
      await page.locator(`#charge-${(await site.charge()).id}`).waitFor()
      expect(await page.evaluate(() => document.activeElement?.closest('tr')?.id)).toBe(`charge-${id}`)
      await page.keyboard.press('Enter')
      await reported(page, `${id} is succeeded`)
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
      await page.goto(`${panel}/charges`)
      for (const name of [
        'Overview',
        'Subscriptions',
        'Charges',
        'Requests',
        'Notifications',
        'Faults',
        'Connect',
        'To the next event',
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
      await page.locator(`#charge-${id} a`).first().focus()
      for (const key of ['Tab', 'Enter']) await page.keyboard.press(key)
      await reported(page, `${id} is succeeded`)
    })
  })

  test('runs nothing that a merchant wrote in any field, loaded and live', async () => {
    const { invoiceID } = await site.subscribe({
      requestID: HOSTILE,
      userReturnURL: `https://shop.example/?q=${encodeURIComponent(HOSTILE)}`,
    })
    const { id } = await site.charge({ currency: HOSTILE })
    await fetch(`${site.url}/${encodeURIComponent(HOSTILE)}?q=${HOSTILE}`)
    await ask(site.url, 'behavior', { msisdn: HOSTILE, behavior: 'succeeds' })
    const paths = [
      '',
      'subscriptions',
      `subscriptions/${invoiceID}`,
      `charges/${id}`,
      'requests',
      'requests/4',
    ]
    await within({ viewport: DESKTOP }, async (page) => {
      for (const path of paths) {
        await page.goto(`${panel}/${path}`)
        await page.getByText('Live', { exact: true }).waitFor()
        await ask(site.url, 'advance', { seconds: '1' })
        expect(await page.title()).toContain('Mock control panel')
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

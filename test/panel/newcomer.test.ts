import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { withoutBrowser } from '../pages/browser.ts'
import { reported, usePanel } from './using.ts'

const MAX_CLICKS = 45

describe.skipIf(withoutBrowser())('in Chromium, a newcomer', { timeout: 120_000 }, () => {
  const panel = usePanel()

  test(`does ten tasks with at most ${MAX_CLICKS} clicks, each from the overview`, async () => {
    const clicks: Record<string, number> = {}
    const { site } = panel
    site.mock.notifications.connect(() => new Response())
    await panel.within({}, async (page) => {
      const task = async (
        name: string,
        run: (
          go: (name: string) => Promise<void>,
          press: (target: Locator) => Promise<void>,
        ) => Promise<unknown>,
      ): Promise<void> => {
        clicks[name] = 0
        const press = async (target: Locator): Promise<void> => {
          clicks[name] = (clicks[name] ?? 0) + 1
          await target.click()
        }
        await page.goto(panel.url)
        await run((link) => press(page.getByRole('navigation').getByRole('link', { name: link })), press)
      }
      const button = (name: string): Locator => page.getByRole('button', { name, exact: true })
      const href = (from: Page, name: string) => from.getByRole('link', { name }).getAttribute('href')

      await task('first subscription', async (_, press) => {
        await press(button('Create a subscription'))
        await page.waitForURL(/subscriptions\/\w+/)
        await press(button('Authorize'))
        await reported(page, 'authorized')
      })
      await task('fail a payment', async (go, press) => {
        await go('Subscriptions')
        await press(page.getByRole('link', { name: 'panel-' }))
        await press(button('Fail the next payment'))
        await reported(page, 'fail, then succeed')
        await press(button('To the next payment'))
        await page.locator('.timeline .payment').getByText('failed').waitFor()
      })
      await task('move to the next payment', async (go, press) => {
        await go('Subscriptions')
        await press(page.getByRole('button', { name: 'To the next payment' }))
        await reported(page, 'It is')
      })
      await task('resend a notification', async (go, press) => {
        await go('Notifications')
        await press(page.getByRole('button', { name: 'Resend' }).first())
        await reported(page, 'was sent again')
      })
      await fetch(`${site.url}/api/v1/mfs/charges`, { method: 'POST', body: '{}' })
      await task('find why a request was refused', async (go, press) => {
        await go('Requests')
        await press(page.getByRole('link', { name: 'POST gateway.charge' }))
        await page.locator('.explanation').getByText('The API key is missing or wrong').waitFor()
      })
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await task('copy a request as curl', async (go, press) => {
        await go('Requests')
        await press(page.getByRole('link', { name: 'POST gateway.charge' }))
        await press(button('Copy as curl'))
        await reported(page, 'Copied.')
        expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
          `'${site.url}/api/v1/mfs/charges'`,
        )
      })
      await task('set a 503 once', async (go, press) => {
        await go('Faults')
        await press(page.getByLabel('Fault', { exact: true }))
        await page.getByLabel('Fault', { exact: true }).selectOption('status')
        await press(page.getByLabel('Status'))
        await page.getByLabel('Status').fill('503')
        await press(button('Add the fault'))
        await reported(page, '503 for gateway.charge, once')
      })
      const { invoiceID } = await site.subscribe()
      await task('authorize on the phone page', async (_, press) => {
        await press(page.getByRole('link', { name: 'order-1' }))
        const opened = page.waitForEvent('popup')
        await press(page.getByRole('link', { name: 'Payer’s page' }))
        const phone = await opened
        clicks['authorize on the phone page'] = (clicks['authorize on the phone page'] ?? 0) + 1
        await phone.getByRole('button', { name: 'Authorize' }).click({ noWaitAfter: true })
        await expect.poll(() => site.requestStatus(invoiceID)).toBe('SUCCEEDED')
        await phone.close()
      })
      for (const [name, link] of [
        ['find the shop guide', 'Guide: a shop'],
        ['find an error’s meaning', 'What an error means'],
      ] as const) {
        await task(name, async (go) => {
          await go('Connect')
          expect(await href(page, link)).toMatch(/docs\/\w+\.md$/)
          clicks[name] = (clicks[name] ?? 0) + 1
        })
      }
    })
    const total = Object.values(clicks).reduce((sum, count) => sum + count, 0)
    expect(Object.keys(clicks)).toHaveLength(10)
    expect(total, JSON.stringify(clicks)).toBeLessThanOrEqual(MAX_CLICKS)
  })
})

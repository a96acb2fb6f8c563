import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveFetch } from '../support/serve-fetch.ts'
import { focused, HOSTILE, PHONE, SCRIPTING, useBrowser, withoutBrowser } from './browser.ts'
import { expectUsable } from './findings.ts'
import { startSite } from './site.ts'

describe.skipIf(withoutBrowser())('in Chromium, the payer’s pages', { timeout: 240_000 }, () => {
  const within = useBrowser()
  let site: Awaited<ReturnType<typeof startSite>>
  let hostileSite: Awaited<ReturnType<typeof startSite>>
  let shop: Awaited<ReturnType<typeof serveFetch>>
  let front: Awaited<ReturnType<typeof serveFetch>>

  beforeAll(async () => {
    site = await startSite()
    const users = [{ username: 'user', password: 'password' }]
    hostileSite = await startSite({
      subscriptions: { merchants: [{ name: HOSTILE, clientId: 'hostile', clientSecret: 'secret', users }] },
    })
    const html = { headers: { 'content-type': 'text/html' } }
    front = await serveFetch(async () => new Response('<h1>Front end</h1>', html))
    shop = await serveFetch(async ({ url }) =>
      url.includes('/onward')
        ? new Response(null, { status: 302, headers: { location: `${front.url}/thanks` } })
        : new Response('<h1>Shop</h1>', html),
    )
  })

  afterAll(async () => {
    for (const one of [site, hostileSite, shop, front]) await one?.close()
  })

  describe.each(SCRIPTING)('%s', (_, view) => {
    test('authorize a subscription, and lead back to the shop with the invoice', async () => {
      const { url, invoiceID } = await site.subscribe({ userReturnURL: `${shop.url}/return?order=7` })
      await within(view, async (page) => {
        await page.goto(url)
        await page.getByRole('button', { name: 'Authorize' }).click()
        await page.waitForURL(`${shop.url}/return?order=7&invoiceID=${invoiceID}`)
        await page.goto(url)
        expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Subscription authorized')
        await page.getByRole('link', { name: 'Return to' }).click()
        await page.waitForURL(`${shop.url}/return**`)
      })
      expect(site.requestStatus(invoiceID)).toBe('SUCCEEDED')
    })

    test('decline a subscription', async () => {
      const { url, invoiceID } = await site.subscribe({ userReturnURL: `${shop.url}/return` })
      await within(view, async (page) => {
        await page.goto(url)
        await page.getByRole('button', { name: 'Decline' }).click()
        await page.waitForURL(`${shop.url}/return?invoiceID=${invoiceID}`)
      })
      expect(site.requestStatus(invoiceID)).toBe('FAILED')
    })

    test('refuse a wrong code, accept the correct one, and follow a shop’s redirect to another origin', async () => {
      const { id, url } = await site.charge({ redirect_uri: `${shop.url}/onward` })
      await within(view, async (page) => {
        await page.goto(url)
        await page.getByLabel('One-time code').fill('000000')
        await page.getByRole('button', { name: 'Confirm' }).click()
        expect(await page.getByRole('alert').textContent()).toBe('The code is not correct.')
        expect(await page.getByLabel('One-time code').inputValue()).toBe('')
        await page.getByLabel('One-time code').fill('123456')
        await page.getByRole('button', { name: 'Confirm' }).click()
        await page.waitForURL(`${front.url}/thanks`)
      })
      expect(site.chargeStatus(id)).toBe('succeeded')
    })
  })

  test('work with the keyboard alone, with a visible focus in reading order', async () => {
    const { url, invoiceID } = await site.subscribe({ userReturnURL: `${shop.url}/return` })
    const { url: confirmation } = await site.charge({ redirect_uri: `${shop.url}/return` })
    await within({ viewport: PHONE }, async (page) => {
      await page.goto(url)
      for (const name of ['Authorize', 'Decline']) {
        await page.keyboard.press('Tab')
        expect(await focused(page)).toBe(`${name} solid 3px`)
      }
      await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${shop.url}/return?invoiceID=${invoiceID}`)
      await page.goto(confirmation)
      expect(await focused(page)).toBe('otp solid 3px')
      await page.keyboard.type('123456')
      await page.keyboard.press('Tab')
      expect(await focused(page)).toBe('Confirm solid 3px')
      await page.keyboard.press('Space')
      await page.waitForURL(`${shop.url}/return`)
    })
  })

  test('fit a phone and have no accessibility finding, light and dark', async () => {
    const decided = await site.subscribe()
    site.mock.payer.authorize(decided.invoiceID)
    const hostile = (await hostileSite.charge({ currency: HOSTILE })).url
    const others = [`${site.url}/confirm/none`, `${site.url}/openapi`]
    const urls = [(await site.subscribe()).url, decided.url, hostile, ...others]
    const wrong = (await site.charge()).url
    await within({ viewport: PHONE }, async (page) => {
      for (const url of urls) {
        await page.goto(url)
        await expectUsable(page, url)
      }
      await page.goto(wrong)
      await page.getByLabel('One-time code').fill('1')
      await page.getByRole('button', { name: 'Confirm' }).click()
      await page.getByRole('alert').waitFor()
      await expectUsable(page, 'wrong code')
    })
  })

  test('run nothing that a merchant wrote in any field, and obey their own policy', async () => {
    const address = `https://shop.example/${HOSTILE.replaceAll(' ', '/')}`
    const pages = [
      await hostileSite.subscribe({ requestID: HOSTILE, userReturnURL: address }),
      await hostileSite.charge({ currency: HOSTILE, redirect_uri: address }),
    ]
    await within({ viewport: PHONE }, async (page) => {
      for (const { url } of pages) {
        await page.goto(url)
        expect(await page.title()).not.toBe('ran')
        expect(await page.locator('script, img, main b').count()).toBe(0)
      }
    })
  })

  test('refuse a form that another site makes the payer send', async () => {
    const { url, invoiceID } = await site.subscribe()
    const form = `<form method="post" action="${url}"><input name="decision" value="authorize"><button>Win</button></form>`
    const evil = await serveFetch(
      async () => new Response(form, { headers: { 'content-type': 'text/html' } }),
    )
    await within({}, async (page) => {
      await page.goto(evil.url.replace('127.0.0.1', 'localhost'))
      await page.getByRole('button', { name: 'Win' }).click()
      await page.getByText('not sent from its own page').waitFor()
    })
    await evil.close()
    expect(site.requestStatus(invoiceID)).toBe('INITIALIZED')
  })
})

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveFetch } from '../support/serve-fetch.ts'
import { launch, withoutBrowser } from './browser.ts'
import { expectUsable } from './findings.ts'
import { startSite } from './served-site.ts'

const PHONE = { viewport: { width: 360, height: 640 } }
const HOSTILE = `"'><script>document.title='ran'</script><img src=x onerror="document.title='ran'"><b>${'W'.repeat(300)}`

describe.skipIf(withoutBrowser())('in Chromium, the hosted pages', { timeout: 60_000 }, () => {
  let browser: Browser
  let site: Awaited<ReturnType<typeof startSite>>
  let hostileSite: Awaited<ReturnType<typeof startSite>>
  let shop: Awaited<ReturnType<typeof serveFetch>>
  let front: Awaited<ReturnType<typeof serveFetch>>
  let evil: Awaited<ReturnType<typeof serveFetch>>
  let forged = ''
  const merchants = [
    {
      name: HOSTILE,
      clientId: 'hostile',
      clientSecret: 'secret',
      users: [{ username: 'user', password: 'password' }],
    },
  ]

  beforeAll(async () => {
    browser = await launch()
    site = await startSite()
    hostileSite = await startSite({ subscriptions: { merchants } })
    const html = { headers: { 'content-type': 'text/html' } }
    front = await serveFetch(async () => new Response('<h1>Front end</h1>', html))
    shop = await serveFetch(async ({ url }) =>
      url.includes('/onward')
        ? new Response(null, { status: 302, headers: { location: `${front.url}/thanks` } })
        : new Response('<h1>Shop</h1>', html),
    )
    evil = await serveFetch(async () => {
      const field = '<input name="decision" value="authorize">'
      return new Response(`<form method="post" action="${forged}">${field}<button>Win</button></form>`, html)
    })
  }, 60_000)

  afterAll(async () => {
    await browser?.close()
    for (const one of [site, hostileSite, shop, front, evil]) await one?.close()
  })

  const within = async (
    options: BrowserContextOptions,
    run: (page: Page, context: BrowserContext) => Promise<void>,
  ) => {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(10_000)
    try {
      await run(await context.newPage(), context)
    } finally {
      await context.close()
    }
  }

  describe.each([
    ['with JavaScript', { javaScriptEnabled: true }],
    ['without JavaScript', { javaScriptEnabled: false }],
  ])('%s', (_, options) => {
    it('authorize a subscription and lead back to the shop with the invoice', async () => {
      const { url, invoiceID } = await site.subscribe({ userReturnURL: `${shop.url}/return?order=7` })
      await within(options, async (page) => {
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

    it('decline a subscription', async () => {
      const { url, invoiceID } = await site.subscribe({ userReturnURL: `${shop.url}/return` })
      await within(options, async (page) => {
        await page.goto(url)
        await page.getByRole('button', { name: 'Decline' }).click()
        await page.waitForURL(`${shop.url}/return?invoiceID=${invoiceID}`)
      })
      expect(site.requestStatus(invoiceID)).toBe('FAILED')
    })

    it('refuse a wrong code, take the right one and follow a shop that leads on to another origin', async () => {
      const { id, url } = await site.charge({ redirect_uri: `${shop.url}/onward` })
      await within(options, async (page) => {
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

  it('are used by keyboard alone, with a visible focus and in reading order', async () => {
    const { url, invoiceID } = await site.subscribe({ userReturnURL: `${shop.url}/return` })
    const { url: confirmation } = await site.charge({ redirect_uri: `${shop.url}/return` })
    await within(PHONE, async (page) => {
      const focused = () =>
        page.evaluate(() => {
          const element = document.activeElement
          const { outlineStyle, outlineWidth } = getComputedStyle(element ?? document.body)
          return `${element?.textContent || element?.id} ${outlineStyle} ${outlineWidth}`
        })
      await page.goto(url)
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Authorize solid 3px')
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Decline solid 3px')
      await page.keyboard.press('Shift+Tab')
      await page.keyboard.press('Enter')
      await page.waitForURL(`${shop.url}/return?invoiceID=${invoiceID}`)
      await page.goto(confirmation)
      expect(await focused()).toBe('otp solid 3px')
      await page.keyboard.type('123456')
      await page.keyboard.press('Tab')
      expect(await focused()).toBe('Confirm solid 3px')
      await page.keyboard.press('Space')
      await page.waitForURL(`${shop.url}/return`)
    })
  })

  it.each(['light', 'dark'] as const)(
    'fit a phone and have no serious accessibility finding (%s)',
    async (scheme) => {
      const decided = await site.subscribe()
      site.mock.payer.authorize(decided.invoiceID)
      const urls = [
        (await site.subscribe()).url,
        decided.url,
        (await site.charge()).url,
        `${site.url}/confirm/none`,
        (await hostileSite.charge({ currency: HOSTILE, msisdn: HOSTILE })).url,
      ]
      await within({ ...PHONE, colorScheme: scheme }, async (page) => {
        for (const url of urls) {
          await page.goto(url)
          await expectUsable(page, url)
        }
        await page.goto((await site.charge()).url)
        await page.getByLabel('One-time code').fill('1')
        await page.getByRole('button', { name: 'Confirm' }).click()
        await page.getByRole('alert').waitFor()
        await expectUsable(page, 'wrong code')
      })
    },
  )

  it('run nothing that a merchant wrote in any field, and break no rule of their own policy', async () => {
    const { url } = await hostileSite.subscribe({
      requestID: HOSTILE,
      userReturnURL: `https://shop.example/?q=${HOSTILE.replaceAll(' ', '/')}`,
    })
    const charges = await Promise.all(
      ['javascript:alert(1)', `https://shop.example/${HOSTILE}`].map((address) =>
        hostileSite.charge({ currency: HOSTILE, msisdn: HOSTILE, redirect_uri: address }),
      ),
    )
    const seen: string[] = []
    await within(PHONE, async (page) => {
      page.on('console', (message) => seen.push(message.text()))
      page.on('dialog', (dialog) => {
        seen.push(dialog.message())
        dialog.dismiss().catch(() => undefined)
      })
      for (const address of [url, ...charges.map((charge) => charge.url)]) {
        await page.goto(address)
        expect(await page.title()).not.toBe('ran')
        expect(await page.locator('script, img, main b').count()).toBe(0)
      }
      await page.goto(charges[0]?.url ?? '')
      await page.getByLabel('One-time code').fill('123456')
      await page.getByRole('button', { name: 'Confirm' }).click()
      await page.getByText('no address that you can be sent back to').waitFor()
      expect(await page.locator('a').count()).toBe(0)
    })
    expect(seen).toEqual([])
  })

  it('refuse a form that another site makes the payer send', async () => {
    const { url, invoiceID } = await site.subscribe()
    forged = url
    await within({}, async (page) => {
      await page.goto(evil.url.replace('127.0.0.1', 'localhost'))
      await page.getByRole('button', { name: 'Win' }).click()
      await page.getByText('not sent from its own page').waitFor()
    })
    expect(site.requestStatus(invoiceID)).toBe('INITIALIZED')
  })
})

import { test as base, type Page } from '@playwright/test'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createMock, type Mock } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'
import { startShop } from './shop.ts'

interface Shop {
  readonly mock: Mock
  readonly url: string
  /** Opens the shop's front page. */
  open(page: Page): Promise<void>
}

const startEverything = async () => {
  // The browser opens the payer's pages, so the mock needs a real URL.
  const server = await startMockServer({ mock: createMock({ clock: new Date('2027-01-01T06:00:00Z') }) })
  const { mock } = server
  const shop = await startShop(
    new SubscriptionsClient(mock.clientOptions.subscriptions),
    new GatewayClient(mock.clientOptions.gateway),
  )
  mock.notifications.connect(`${shop.url}/notifications`, { duplicate: true })
  const opened: Shop = {
    mock,
    url: shop.url,
    async open(page) {
      await page.goto(shop.url)
    },
  }
  return {
    opened,
    async close() {
      shop.close()
      await server.close()
    },
  }
}

/** Gives each test its own shop and mock. `otherShop` is a second shop with a second mock. */
export const test = base.extend<{ shop: Shop; otherShop: Shop }>({
  shop: async ({ browserName: _ }, use) => {
    const { opened, close } = await startEverything()
    await use(opened)
    await close()
  },
  otherShop: async ({ browserName: _ }, use) => {
    const { opened, close } = await startEverything()
    await use(opened)
    await close()
  },
})

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { useBrowser } from '../pages/browser.ts'
import { startSite } from '../pages/site.ts'

/** Waits until the panel reports the outcome of an action. */
export const reported = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor()

/** Clicks the button whose name contains a text. */
export const click = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click()

/** Opens the part of the page with a title, and clicks the button in it that asked for a confirmation. */
export const confirm = async (page: Page, name: string, button = name): Promise<void> => {
  await page.locator('summary', { hasText: name }).click()
  await click(page, button)
}

/** Waits until the page follows the mock. */
export const live = (page: Page): Promise<void> => page.getByText('Live', { exact: true }).waitFor()

/** Gives the tests of a block a browser and the panel of a site, which is empty before each test. */
export const usePanel = () => {
  const within = useBrowser()
  let site: Awaited<ReturnType<typeof startSite>>
  beforeAll(async () => {
    site = await startSite()
  })
  beforeEach(() => site.reset())
  afterAll(() => site?.close())
  return {
    within,
    get site() {
      return site
    },
    get url() {
      return `${site.url}/_mock`
    },
  }
}

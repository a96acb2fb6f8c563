import type { Page } from 'playwright-core'

/** Waits until the panel reports the outcome of an action. */
export const reported = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor()

/** Clicks the button whose name contains a text. */
export const click = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click()

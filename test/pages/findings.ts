import type { AxeResults } from 'axe-core'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

declare global {
  interface Window {
    readonly axe: { run(): Promise<AxeResults> }
  }
}

/** Fails if a page is wider than its window. */
export const expectFits = async (page: Page, name: string): Promise<void> => {
  const [wanted, given] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(wanted, name).toBeLessThanOrEqual(given ?? 0)
}

/** Fails if a page has an accessibility finding or is wider than its window. */
export const expectUsable = async (page: Page, name: string): Promise<void> => {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() => window.axe.run())
  const findings = violations.map(({ id, impact, nodes }) => ({
    id,
    impact,
    nodes: nodes.map(({ html }) => html),
  }))
  expect(findings, name).toEqual([])
  await expectFits(page, name)
}

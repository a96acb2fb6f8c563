import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { sized } from '../support/sizes.ts'

declare global {
  interface Window {
    readonly axe: { run(options: RunOptions): Promise<AxeResults> }
  }
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules for each color scheme. A quick run tries those of the dark one that colors can break. */
const SCHEMES: readonly (readonly ['light' | 'dark', RunOptions])[] = [
  ['light', { resultTypes: ['violations'] }],
  ['dark', { resultTypes: ['violations'], ...sized({}, { runOnly: ['color-contrast'] }) }],
]

/** Fails if a page is wider than its window. */
export const expectFits = async (page: Page, name: string): Promise<void> => {
  const [wanted, given] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
  expect(wanted, name).toBeLessThanOrEqual(given ?? 0)
}

/** Fails if a page has an accessibility finding, light or dark, or is wider than its window. */
export const expectUsable = async (page: Page, name: string): Promise<void> => {
  await page.evaluate(axe)
  for (const [colorScheme, options] of SCHEMES) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate((given) => window.axe.run(given), options)
    const findings = violations.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.map(({ html }) => html),
    }))
    expect(findings, `${name} ${colorScheme}`).toEqual([])
  }
  await page.emulateMedia({ colorScheme: null })
  await expectFits(page, name)
}

/** Fails if a word or a short identifier is broken, a control is cut or leaves its card, or two elements have one id. */
export const expectWhole = async (page: Page, name: string): Promise<void> => {
  const found = await page.evaluate(() => {
    const problems: string[] = []
    const range = document.createRange()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement
      if (
        parent === null ||
        parent.closest('script, style, option, datalist, noscript, .visually-hidden') !== null
      )
        continue
      for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[\p{L}\p{N}_]+/gu)) {
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
        if (tops.size > 1) problems.push(`broken: ${word} in ${parent.outerHTML.slice(0, 80)}`)
      }
    }
    for (const text of document.querySelectorAll('bdi, .steps strong, .steps small')) {
      const nodes: Node[] = []
      const within = document.createTreeWalker(text, NodeFilter.SHOW_TEXT)
      for (let node = within.nextNode(); node !== null; node = within.nextNode()) nodes.push(node)
      for (const { 0: word, index } of (text.textContent ?? '').matchAll(/(?<!\S)\S{1,29}(?!\S)/g)) {
        const tops = new Set<number>()
        let at = 0
        for (const node of nodes) {
          const length = node.textContent?.length ?? 0
          const [start, end] = [Math.max(index - at, 0), Math.min(index + word.length - at, length)]
          at += length
          if (start >= end) continue
          range.setStart(node, start)
          range.setEnd(node, end)
          for (const { bottom, width } of range.getClientRects()) if (width > 0) tops.add(Math.round(bottom))
        }
        if (tops.size > 1) problems.push(`broken: ${word}`)
      }
    }
    const ids = [...document.querySelectorAll('[id]')].map((one) => one.getAttribute('id') ?? '')
    problems.push(...ids.filter((id, at) => ids.indexOf(id) < at).map((id) => `twice: #${id}`))
    const context = document.createElement('canvas').getContext('2d')
    for (const control of document.querySelectorAll<HTMLElement>('button, select, input, summary')) {
      const { left, right, top, bottom, width } = control.getBoundingClientRect()
      if (width === 0 || !control.checkVisibility()) continue
      const { paddingLeft, paddingRight, font } = getComputedStyle(control)
      let needed = control instanceof HTMLButtonElement ? control.scrollWidth : 0
      if (control instanceof HTMLSelectElement && context !== null) {
        context.font = font
        const text = control.selectedOptions[0]?.text ?? ''
        needed =
          context.measureText(text).width + Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight)
      }
      const name = control.outerHTML.slice(0, 120)
      if (left < 0 || right > innerWidth || needed > width + 1) problems.push(`cut: ${name}`)
      const card = control.closest('section')?.getBoundingClientRect()
      if (card && (left < card.left || right > card.right || top < card.top || bottom > card.bottom))
        problems.push(`out of its card: ${name}`)
    }
    return problems
  })
  expect(found, name).toEqual([])
}

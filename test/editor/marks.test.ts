import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { linkMarks, linkTo, MARK } from '../../scripts/marks.ts'
import { packedPackage } from '../package/packed.ts'
import { openInService } from './editors.ts'

const { installed } = await packedPackage()
const folder = join(installed, 'mandatekit')

const declarations = (await readdir(join(folder, 'dist'), { recursive: true })).filter((path) =>
  /\.d\.c?ts$/.test(path),
)
const comments = (
  await Promise.all(declarations.map((path) => readFile(join(folder, 'dist', path), 'utf8')))
).flatMap((text) => text.match(/\/\*\*.*?\*\//gs) ?? [])

test('hovers of the packed package link the marks of the specification', async () => {
  const file = join(folder, 'hover.ts')
  const text = `import type { Charge } from 'mandatekit'\ndeclare const charge: Charge\ncharge.amount\n`
  const options = { module: ts.ModuleKind.NodeNext, strict: true, types: [] }
  const editor = openInService(ts, folder, file, text, options)
  expect(await editor.hoverAt(text.lastIndexOf('amount'))).toMatch(
    /\nAmount in the same unit as in the request\. \(\[G1\]\(https:\S+\/docs\/specification\.md#g1\)\)$/,
  )
  await editor.close()
})

test('every mark in the declarations is a link, and leads to an anchor of a packed page', async () => {
  const bare = comments.flatMap(
    (comment) => comment.replace(/`[^`]*`|\[[^\]]*\]\([^)]*\)/g, '').match(MARK) ?? [],
  )
  expect(bare).toEqual([])
  const base = linkTo('').replace('.md', '')
  const links = new Set(comments.flatMap((comment) => comment.match(/https:[^)\s]+\.md#[\w-]+/g) ?? []))
  expect(links.size).toBeGreaterThan(60)
  const anchors = new Map<string, string>()
  for (const page of ['specification', 'unknowns'])
    anchors.set(page, await readFile(join(folder, `docs/${page}.md`), 'utf8'))
  const isThere = (link: string): boolean => {
    const [page = '', anchor = ''] = link.replace(base, '').split('.md#')
    const heading = new RegExp(`^#+ ${anchor.replaceAll('-', '[, -]+')}$`, 'im')
    const text = anchors.get(page) ?? ''
    return text.includes(`<a id="${anchor}">`) || heading.test(text)
  }
  expect([...links].filter((link) => !isThere(link))).toEqual([])
  expect(isThere(linkTo('specification', 's9'))).toBe(false)
  expect(isThere(linkTo('unknowns', 'row-0'))).toBe(false)
})

test.each([
  ['A charge. (G1)', 'A charge. ([G1](specification#g1))'],
  ['(S8; Events)', '([S8](specification#s8); [Events](specification#events))'],
  ['(Limits, area S; row 42)', '([Limits, area S](specification#limits-area-s); [row 42](unknowns#row-42))'],
  ['Errors of `S1` in [S1](#s1), see https://example.test/S1', undefined],
])('the marks in %j become links', (docstring, linked = docstring) => {
  expect(linkMarks(docstring, ({ page, anchor }) => `${page}#${anchor}`)).toBe(linked)
})

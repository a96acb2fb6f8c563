import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { MARK, placeOf } from '../../scripts/marks.ts'
import { packedPackage } from '../package/packed.ts'
import { repository } from '../package/project.ts'
import { documents, readDocument } from './documents.ts'

const packed = await packedPackage()

/** The anchor that a heading gets on a code host: lower case, words joined by hyphens. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/<[^>]*>/g, '')
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const withoutBlocks = (text: string): string => text.replace(/^```.*?^```$/gms, '')

async function anchorsOf(document: string): Promise<string[]> {
  const text = withoutBlocks(await readDocument(document))
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchor(heading))
  return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]
}

/** Where a mark leads: `S6` to `specification.md#s6`, `row 35` to `unknowns.md#row-35`. */
const targetOf = (mark: string): string => {
  const { page, anchor } = placeOf(mark)
  return `${page}.md#${anchor}`
}

test.each([...(await documents()), 'CHANGELOG.md', 'llms.txt'])(
  '%s links to files and headings that exist',
  async (document) => {
    const text = withoutBlocks(await readDocument(document))
    const targets = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, target = '']) => target)
    const isPacked = packed.files.includes(document)
    const broken: string[] = []
    for (const target of targets) {
      const [path = '', fragment] = target.split('#')
      const linked = path === '' ? document : normalize(join(dirname(document), path))
      const isThere = isPacked ? packed.files.includes(linked) : existsSync(join(repository, linked))
      if (!isThere) broken.push(target)
      else if (fragment !== undefined && !(await anchorsOf(linked)).includes(fragment)) broken.push(target)
    }
    expect(broken).toEqual([])
  },
)

const packedDocuments = ['CHANGELOG.md', ...(await documents()).filter((path) => packed.files.includes(path))]

test.each(packedDocuments)(
  '%s sends readers of the package to nothing that only a clone has',
  async (document) => {
    const text = withoutBlocks(await readDocument(document))
      .replace(/<!--.*?-->/gs, '')
      .replace(/^## Work on it\n.*?(?=^## )/gms, '')
      // An address of the repository works from everywhere.
      .replace(/\[[^\]]*\]\(https:[^)]*\)/g, '')
    expect(
      text.match(/\b(?:bench|examples|scripts|test)\/[\w./-]+|CONTRIBUTING\.md|npm run [\w:]+/g) ?? [],
    ).toEqual([])
  },
)

test.each(packedDocuments.filter((path) => path.startsWith('docs/')))(
  '%s begins with the sentence that says when it is needed',
  async (document) => {
    const [, first = ''] = /^# .+\n\n(.+)$/m.exec(await readDocument(document)) ?? []
    expect(first).toMatch(/^Read this (?:when|before|if|to) /)
  },
)

test.each(await documents())('%s links every mark of the specification', async (document) => {
  const text = withoutBlocks(await readDocument(document))
    // A mark after its own anchor, or in a heading, is a definition.
    .replace(/<a id="[^"]+"><\/a>[^|:\n]+/g, '')
    .replace(/^#+ .*$/gm, '')
    .replace(/`[^`]*`/g, '')
  const links = [...text.matchAll(/\[([^\]]*)\]\([^)#]*#?([^)]*)\)/g)]
  const wrong = links.filter(
    ([, label = '', id]) => label.match(MARK)?.[0] === label && !targetOf(label).endsWith(`#${id}`),
  )
  const bare = text.replace(/\[[^\]]*\]\([^)]*\)/g, '').match(MARK) ?? []
  expect([...bare, ...wrong.map(([link]) => link)]).toEqual([])
})

test('every mark in a docstring has an anchor', async () => {
  const pages = ['specification.md', 'unknowns.md']
  const anchors = pages.map(async (page) => (await anchorsOf(`docs/${page}`)).map((id) => `${page}#${id}`))
  const known = (await Promise.all(anchors)).flat()
  const folders = ['src', 'mocks'].map(async (folder) =>
    (await readdir(join(repository, folder), { recursive: true })).map((path) => join(folder, path)),
  )
  const sources = (await Promise.all(folders)).flat().filter((path) => path.endsWith('.ts'))
  const marks = (await Promise.all(sources.map(readDocument))).flatMap((text) => text.match(MARK) ?? [])
  expect(marks.length).toBeGreaterThan(100)
  expect(marks.filter((mark) => !known.includes(targetOf(mark)))).toEqual([])
})

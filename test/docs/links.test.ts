import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { documents, readDocument } from './documents.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))

/** The anchor that a heading gets on a code host: lower case, words joined by hyphens. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const withoutCode = (text: string): string => text.replace(/^```.*?^```$/gms, '')

async function anchorsOf(document: string): Promise<string[]> {
  const text = withoutCode(await readDocument(document))
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchor(heading))
}

describe.each(await documents())('the links of %s', (document) => {
  test('lead to files and headings that exist', async () => {
    const text = withoutCode(await readDocument(document))
    const targets = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, target = '']) => target)
    const broken: string[] = []
    for (const target of targets) {
      const [path = '', fragment] = target.split('#')
      const linked = path === '' ? document : normalize(join(dirname(document), path))
      if (!existsSync(join(repository, linked))) broken.push(target)
      else if (fragment !== undefined && !(await anchorsOf(linked)).includes(fragment)) broken.push(target)
    }
    expect(broken).toEqual([])
  })
})

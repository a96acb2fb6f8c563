import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { actionNames } from '../../mocks/panel/actions.ts'

const guide = await readFile(new URL('../../docs/server.md', import.meta.url), 'utf8')

/** The words in code of the first cells of the table that begins with a heading. */
const firstCells = (heading: string): readonly string[] => {
  const table = guide.split(`| ${heading} |`)[1]?.split('\n\n')[0] ?? ''
  const rows = table.split('\n').slice(2)
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`\s]+)[^`]*`/g)].map(([, word]) => word ?? ''),
  )
}

test('the guide names every action of the panel, and no other', () => {
  expect([...firstCells('`action`')].sort()).toEqual([...actionNames].sort())
})

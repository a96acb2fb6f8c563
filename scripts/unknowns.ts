import { readFileSync } from 'node:fs'
import { optionTables } from '../mocks/options.ts'
import { keepGenerated } from './generated.ts'

// The table of options in docs/unknowns.md, from the tables that `createMock` reads. Without --write, it only
// compares the document with the tables.

const GENERATED = /(?<=<!-- generated: defaults -->\n).*(?=\n<!-- \/generated -->)/s

const text = readFileSync(new URL('../docs/unknowns.md', import.meta.url), 'utf8')

/** Numbers of the rows that name an option. */
const rowsOf = (name: string): string => {
  const rows = text.split('\n').flatMap((line) => {
    const [, number] = /^\| (\d+a?) \|/.exec(line) ?? []
    return number !== undefined && line.includes(`\`${name}\``) ? [number] : []
  })
  return rows.length > 0 ? rows.join(', ') : '–'
}

const written = (value: unknown): string =>
  value === undefined ? '–' : `\`${value instanceof RegExp ? String(value) : JSON.stringify(value)}\``

const lines = Object.entries(optionTables).flatMap(([area, table]) =>
  Object.entries(table).map(([option, { default: value, strict }]) => {
    const name = `${area}${option}`
    return `| \`${name}\` | ${written(value)} | ${written(strict)} | ${rowsOf(name)} |`
  }),
)
const heading = ["| Option | Default | Under `rules: 'strict'` | Rows |", '|---|---|---|---|']
// As a function: a replacement text would read `$` in the patterns.
const updated = text.replace(GENERATED, () => [...heading, ...lines].join('\n'))
keepGenerated('docs/unknowns.md', updated, 'unknowns')

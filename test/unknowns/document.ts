import { readFileSync } from 'node:fs'

/** A row of docs/unknowns.md. */
export interface UnknownRow {
  /** The number of the row, such as `73` or `73a`. */
  readonly number: string
  /** Whether it names a restriction of `rules: 'strict'`. */
  readonly isStrict: boolean
  /** Options of the mock that it names, such as `gateway.keyTtl`. */
  readonly options: readonly string[]
}

const cells = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

const isNumber = (text: string): boolean => /^\d+a?$/.test(text)

const lines = readFileSync(new URL('../../docs/unknowns.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map(cells)

/** The rows of the tables of unknowns, in the order of the page. */
export const unknownRows: readonly UnknownRow[] = lines
  .filter(([number = '']) => isNumber(number))
  .map(([number = '', , , , options = '']) => ({
    number,
    isStrict: options.includes('✎'),
    options: [...options.matchAll(/`((?:subscriptions|gateway)\.\w+)`/g)].map(([, name = '']) => name),
  }))

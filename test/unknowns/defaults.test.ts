import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { optionTables } from '../../mocks/options.ts'
import { unknownRows } from './document.ts'

const options = new Map(
  Object.entries(optionTables).flatMap(([area, table]) =>
    Object.entries(table).map(([name, option]) => [`${area}${name}`, option] as const),
  ),
)

const inOrder = (left: string, right: string): number => left.localeCompare(right, 'en', { numeric: true })

describe('the page of unknowns', () => {
  test('names only options that exist', () => {
    const named = unknownRows.flatMap(({ options: names }) => names)
    expect(named.filter((name) => !options.has(name))).toEqual([])
    expect(named.length).toBeGreaterThan(40)
  })

  test('marks a row exactly when strict rules change one of its options', () => {
    const changed = unknownRows.filter(({ options: named }) =>
      named.some((name) => options.get(name)?.strict !== undefined),
    )
    expect(unknownRows.filter(({ isStrict }) => isStrict).map(({ number }) => number)).toEqual(
      changed.map(({ number }) => number),
    )
    expect(changed.length).toBeGreaterThan(5)
  })

  test('counts its rows upwards, but for one that came late', () => {
    const numbers = unknownRows.map(({ number }) => number)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(numbers).toEqual(numbers.toSorted(inOrder))
    expect(numbers.length).toBe(73)
  })

  test('has a test for every row', () => {
    const directory = new URL('./', import.meta.url)
    const text = readdirSync(directory)
      .filter((file) => /^row.*\.test\.ts$/.test(file))
      .map((file) => readFileSync(new URL(file, directory), 'utf8'))
      .join('\n')
    const tested = new Set(
      [...text.matchAll(/\btest(?:Cases)?\(\s*['"`]row (\d+a?): /g)].map(([, number = '']) => number),
    )
    expect([...tested].sort(inOrder)).toEqual(unknownRows.map(({ number }) => number))
  })
})

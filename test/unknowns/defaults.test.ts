import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  createMock,
  gatewayDefaults,
  gatewayHttpDefaults,
  mockDefaults,
  strictGatewayDefaults,
  strictHttpDefaults,
  strictSubscriptionsDefaults,
  subscriptionsDefaults,
  subscriptionsHttpDefaults,
} from '../../mocks/core.ts'
import { optionLines, unknownRows } from './document.ts'

const prefixed = (area: string, defaults: object): [string, unknown][] =>
  Object.entries(defaults).map(([name, value]) => [`${area}.${name}`, value])

const options = new Map([
  ...Object.entries(mockDefaults),
  ...prefixed('subscriptions', { ...subscriptionsHttpDefaults, ...subscriptionsDefaults }),
  ...prefixed('gateway', { ...gatewayHttpDefaults, ...gatewayDefaults }),
])

const strict = new Map([
  ...prefixed('subscriptions', { ...strictHttpDefaults, ...strictSubscriptionsDefaults }),
  ...prefixed('gateway', { ...strictHttpDefaults, ...strictGatewayDefaults }),
])

const written = (value: unknown): string => (value instanceof RegExp ? String(value) : JSON.stringify(value))

describe('the page of unknowns', () => {
  test('lists every option of createMock once, and no other', () => {
    expect(optionLines.map(({ name }) => name).sort()).toEqual([...options.keys()].sort())
  })

  test('tells the default of every option', () => {
    for (const { name, value } of optionLines)
      expect([name, value]).toEqual([name, written(options.get(name))])
  })

  test('tells what strict rules change, and nothing else', () => {
    const told = optionLines.filter((line) => line.strict !== undefined)
    expect(told.map((line) => [line.name, line.strict]).sort()).toEqual(
      [...strict].map(([name, value]) => [name, written(value)]).sort(),
    )
  })

  test('names in its rows the options of the table, and in the table the rows that name them', () => {
    const inRows = unknownRows.flatMap(({ number, options: named }) => named.map((name) => [name, number]))
    const inTable = optionLines.flatMap(({ name, rows }) => rows.map((number) => [name, number]))
    expect(inRows.map(String).sort()).toEqual(inTable.map(String).sort())
  })

  test('marks a row exactly when strict rules change one of its options', () => {
    const changed = unknownRows.filter(({ options: named }) => named.some((name) => strict.has(name)))
    expect(unknownRows.filter(({ isStrict }) => isStrict).map(({ number }) => number)).toEqual(
      changed.map(({ number }) => number),
    )
    expect(changed.length).toBeGreaterThan(5)
  })

  test('counts its rows upwards, but for one that came late', () => {
    const numbers = unknownRows.map(({ number }) => number)
    expect(new Set(numbers).size).toBe(numbers.length)
    expect(numbers).toEqual([...numbers].sort((left, right) => left - right))
    expect(numbers.length).toBe(70)
  })

  test('has a test for every row', () => {
    const directory = new URL('./', import.meta.url)
    const text = readdirSync(directory)
      .filter((file) => /^row.*\.test\.ts$/.test(file))
      .map((file) => readFileSync(new URL(file, directory), 'utf8'))
      .join('\n')
    const tested = new Set(
      [...text.matchAll(/\btest\(\s*['"`]row (\d+): /g)].map(([, number]) => Number(number)),
    )
    expect([...tested].sort((left, right) => left - right)).toEqual(unknownRows.map(({ number }) => number))
  })
})

test('an option that does not exist is refused with the names of those that do', () => {
  expect(() => createMock({ subscriptions: { timezone: 'UTC' } as object })).toThrow(/timezone.*timeZone/)
  expect(() => createMock({ gateway: { keyttl: false } as object })).toThrow(/keyttl.*keyTtl/)
  expect(() => createMock({ rule: 'strict' } as object)).toThrow(/rule.*rules/)
})

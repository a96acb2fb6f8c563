import { expect, test } from 'vitest'
import { entries } from '../../scripts/entries.ts'
import { publicApi } from './public-api.ts'

/** Unions whose own docstring lists what each variant says. */
const LISTED = /^(?:AnyMandateKitError|Claim|Difference|NotificationReport)\./

const { names, fields } = publicApi(Object.values(entries))
const silentIn = (documented: typeof names) =>
  documented.filter(({ documentation }) => documentation === '').map(({ name }) => name)

test('every exported name has a docstring, and every signature of a function', () => {
  expect(silentIn(names)).toEqual([])
  expect(names.length).toBeGreaterThan(150)
})

test('every field of an exported type has a docstring', () => {
  expect(silentIn(fields.filter(({ name }) => !LISTED.test(name)))).toEqual([])
  expect(fields.length).toBeGreaterThan(500)
})

import { expect, test } from 'vitest'
import { createIds as createIdsOf, type IdsState } from '../../mocks/base/ids.ts'

const createIds = (seed: string | number) => {
  const counts: IdsState = new Map()
  return createIdsOf(seed, () => counts)
}

test('a kind counts for itself', () => {
  const [left, right] = [createIds(1), createIds(1)]
  left.text('token', 40)
  expect(left.text('invoice', 20)).toBe(right.text('invoice', 20))
})

test('identifiers do not repeat and spread over all signs', () => {
  const ids = createIds('spread')
  const texts = Array.from({ length: 50_000 }, () => ids.text('transaction', 12))
  expect(new Set(texts).size).toBe(texts.length)
  const counts = new Map<string, number>()
  for (const text of texts) for (const sign of text) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  expect(counts.size).toBe(32)
  const expected = (texts.length * 12) / 32
  for (const count of counts.values()) expect(Math.abs(count - expected) / expected).toBeLessThan(0.05)
  const chances = Array.from({ length: 10_000 }, () => ids.random('fault'))
  expect(chances.every((chance) => chance >= 0 && chance < 1)).toBe(true)
  expect(chances.reduce((sum, chance) => sum + chance, 0) / chances.length).toBeCloseTo(0.5, 1)
})

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createIds } from '../../mocks/domain/ids.ts'

test('the same seed gives the same identifiers, another seed gives others', () => {
  void fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (seed, other, kind) => {
      const texts = (from: string) => {
        const ids = createIds(from)
        return Array.from({ length: 20 }, () => ids.text(kind, 24))
      }
      expect(texts(seed)).toEqual(texts(seed))
      if (seed !== other) expect(texts(seed)).not.toEqual(texts(other))
    }),
  )
})

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

test('snapshot, restore and reset rule what comes next', () => {
  const ids = createIds('again')
  const first = ids.text('token', 20)
  const snapshot = structuredClone(ids.snapshot())
  const second = ids.text('token', 20)
  ids.restore(snapshot)
  expect(ids.text('token', 20)).toBe(second)
  ids.reset()
  expect(ids.text('token', 20)).toBe(first)
  expect(ids.textAt('token', 1, 20)).toBe(second)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBoundedList } from '../../mocks/domain/paged-list.ts'

const lists = fc.record({
  size: fc.integer({ min: 1, max: 9 }),
  pushed: fc.integer({ min: 0, max: 30 }),
  from: fc.integer({ min: -2, max: 32 }),
  length: fc.integer({ min: 0, max: 12 }),
})

const filled = (size: number, pushed: number) => {
  const list = createBoundedList<number>(size)
  for (let item = 0; item < pushed; item += 1) list.push(item)
  return list
}

test('a bounded list keeps the newest, and every item its place', () => {
  fc.assert(
    fc.property(lists, ({ size, pushed, from, length }) => {
      const list = filled(size, pushed)
      const kept = Array.from({ length: pushed }, (_, place) => place).slice(-size)
      expect(list.all()).toEqual(kept)
      expect(list.bounds()).toEqual({ first: pushed - kept.length, end: pushed })
      expect(list.read(from, from + length)).toEqual(
        kept.filter((place) => place >= from && place < from + length),
      )
    }),
  )
})

test('a bounded list whose entries were replaced continues their numbering', () => {
  const list = filled(3, 7)
  list.replace([70, 80], 7)
  list.push(90)
  list.push(100)
  expect([list.all(), list.bounds(), list.read(8, 9)]).toEqual([[80, 90, 100], { first: 8, end: 11 }, [80]])
})

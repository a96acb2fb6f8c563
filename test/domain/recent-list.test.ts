import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newRecent, recentList } from '../../mocks/base/recent-list.ts'

const lists = fc.record({
  size: fc.integer({ min: 1, max: 9 }),
  pushed: fc.integer({ min: 0, max: 30 }),
  from: fc.integer({ min: -2, max: 32 }),
  length: fc.integer({ min: 0, max: 12 }),
})

const filled = (size: number, pushed: number) => {
  const data = newRecent<number>()
  const list = recentList(size, () => data)
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

test('a list from which more was dropped continues its numbering', () => {
  const list = filled(3, 7)
  expect([list.push(70), list.drop()]).toEqual([4, 5])
  list.push(80)
  expect([list.all(), list.bounds(), list.read(7, 8), list.dropped]).toEqual([
    [6, 70, 80],
    { first: 6, end: 9 },
    [70],
    6,
  ])
})

import { expectTypeOf, test } from 'vitest'
import type { Fault, Mock, MockControl, SavedSnapshot } from '../../mocks/core.ts'

test('the control moves the clock by a duration or to a time', () => {
  expectTypeOf<Mock['control']>().toEqualTypeOf<MockControl>()
  type Move = Parameters<MockControl['moveClock']>[0]
  expectTypeOf<{ by: { days: 30 } }>().toExtend<Move>()
  expectTypeOf<{ to: Date }>().toExtend<Move>()
  expectTypeOf<{ days: 30 }>().not.toExtend<Move>()
})

test('lists have numbers and names', () => {
  type Item<List extends () => readonly unknown[]> = ReturnType<List>[number]
  expectTypeOf<Item<MockControl['faults']['list']>['fault']>().toEqualTypeOf<Fault>()
  expectTypeOf<Item<MockControl['faults']['list']>['left']>().toEqualTypeOf<number | 'always'>()
  expectTypeOf<Item<MockControl['receivers']['list']>>().not.toHaveProperty('signing')
  expectTypeOf<Item<MockControl['snapshots']['list']>>().toEqualTypeOf<SavedSnapshot>()
})

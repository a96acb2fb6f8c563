import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNewer } from '../../src/notifications/index.ts'
import { refusedFields } from '../support/refused.ts'

const at = (seconds: number, status: string) => ({ occurredAt: new Date(seconds * 1000), status })

test.each([
  ['case 36: CANCELLED at 100 after SUCCEEDED at 90', true, at(100, 'CANCELLED'), at(90, 'SUCCEEDED')],
  ['case 36: SUCCEEDED at 90 after CANCELLED at 100', false, at(90, 'SUCCEEDED'), at(100, 'CANCELLED')],
  ['CANCELLED after SUCCEEDED of the same second', true, at(100, 'CANCELLED'), at(100.999, 'SUCCEEDED')],
  ['SUCCEEDED after CANCELLED of the same second', false, at(100.999, 'SUCCEEDED'), at(100, 'CANCELLED')],
  ['a notification after itself', false, at(100, 'CANCELLED'), at(100, 'CANCELLED')],
  ['anything after undefined', true, at(0, 'SUCCEEDED'), undefined],
  ['anything after null', true, at(0, 'SUCCEEDED'), null],
])('%s: that it is newer is %s', (_, expected, one, other) => {
  expect(isNewer(one, other)).toBe(expected)
})

test('whatever the order of delivery, keeping the newer one ends at the same state', () => {
  const message = fc
    .tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom('SUCCEEDED', 'CANCELLED'))
    .map((fields) => at(...fields))
  const newest = (messages: readonly ReturnType<typeof at>[]) =>
    messages.reduce<ReturnType<typeof at> | undefined>(
      (kept, one) => (isNewer(one, kept) ? one : kept),
      undefined,
    )
  const deliveries = fc
    .array(message, { minLength: 1, maxLength: 8 })
    .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
  const check = fc.property(deliveries, ([sent, delivered]) => {
    expect(newest(delivered)).toEqual(newest(sent))
  })
  fc.assert(check)
})

test('an invalid date is refused, because nothing would be newer', async () => {
  const [one, broken] = [at(0, 'CANCELLED'), at(Number.NaN, 'SUCCEEDED')]
  expect(await refusedFields(() => isNewer(one, broken))).toEqual(['b.occurredAt'])
  expect(await refusedFields(() => isNewer(broken, one))).toEqual(['a.occurredAt'])
})

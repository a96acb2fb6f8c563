import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isNewer, parseNotification } from '../../src/notifications/index.ts'
import { subscription } from '../support/messages.ts'

const at = (timestamp: number, status: string) => parseNotification(subscription({ timestamp, status }))

test('case 36: CANCELLED at 100 is newer than SUCCEEDED at 90', () => {
  const cancelled = at(100, 'CANCELED')
  const succeeded = at(90, 'SUCCEEDED')
  expect(isNewer(succeeded, cancelled)).toBe(false)
  expect(isNewer(cancelled, succeeded)).toBe(true)
})

test('at equal seconds CANCELLED wins, and nothing is newer than itself', () => {
  const cancelled = at(100, 'CANCELLED')
  const succeeded = at(100, 'SUCCEEDED')
  expect(isNewer(cancelled, succeeded)).toBe(true)
  expect(isNewer(succeeded, cancelled)).toBe(false)
  expect(isNewer(cancelled, cancelled)).toBe(false)
  expect(isNewer(cancelled, { occurredAt: new Date(100_999), status: 'SUCCEEDED' })).toBe(true)
})

test('anything is newer than nothing', () => {
  expect(isNewer(at(0, 'SUCCEEDED'), undefined)).toBe(true)
  expect(isNewer(at(0, 'SUCCEEDED'), null)).toBe(true)
})

test('whatever the order of delivery, keeping the newer one ends at the same state', () => {
  const message = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.constantFrom('SUCCEEDED', 'CANCELLED'))
  const newest = (messages: readonly (readonly [number, string])[]) => {
    let kept: ReturnType<typeof at> | undefined
    for (const [timestamp, status] of messages) {
      const arrived = at(timestamp, status)
      if (isNewer(arrived, kept)) kept = arrived
    }
    return kept && { occurredAt: kept.occurredAt, status: kept.status }
  }
  fc.assert(
    fc.property(
      fc
        .array(message, { minLength: 1, maxLength: 8 })
        .chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      ([sent, delivered]) => {
        expect(newest(delivered)).toEqual(newest(sent))
      },
    ),
  )
})

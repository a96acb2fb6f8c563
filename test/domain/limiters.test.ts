import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createFixedWindowLimiter,
  createRollingLimiter,
  type Limiter,
  newLimits,
} from '../../mocks/http/limiter.ts'

const open = (area: 'subscriptions' | 'gateway', limit: number, windowMs = 60_000) => {
  let time = 1_000_000
  const limits = newLimits()
  const options = { limit, windowMs, now: () => time, isOff: () => false }
  const limiter: Limiter =
    area === 'gateway'
      ? createRollingLimiter(() => limits.gateway ?? [], options)
      : createFixedWindowLimiter(() => limits.subscriptions, options)
  const at = (next: number, bucket = 'all') => {
    time = next
    return limiter(bucket)
  }
  return { limits, at }
}

describe('the rolling limiter', () => {
  const create = (limit: number, windowMs?: number) => open('gateway', limit, windowMs)

  test('ignores calls of the future once the clock went back, and refuses all with a limit of zero', () => {
    const { at } = create(1)
    at(10_000_000)
    expect([at(0).allowed, at(1).allowed]).toEqual([true, false])
    expect(create(0).at(0)).toEqual({ allowed: false, limit: 0, remaining: 0, resetAt: 60_000 })
  })

  test('agrees with a log of all accepted calls', () => {
    const calls = fc.array(fc.nat({ max: 40 }), { maxLength: 200 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), calls, (limit, gaps) => {
        const { at } = create(limit, 100)
        const accepted: number[] = []
        let time = 0
        for (const gap of gaps) {
          time += gap
          const expected = accepted.filter((call) => call > time - 100).length < limit
          expect(at(time).allowed).toBe(expected)
          if (expected) accepted.push(time)
        }
      }),
    )
  })
})

test('a fixed window begins with the first call of a bucket, and refused calls do not count', () => {
  const { limits, at } = open('subscriptions', 2)
  expect(at(12_345, 'a')).toEqual({ allowed: true, limit: 2, remaining: 1, resetAt: 72_345 })
  expect(at(72_344, 'a')).toEqual({ allowed: true, limit: 2, remaining: 0, resetAt: 72_345 })
  expect(at(72_344, 'a')).toEqual({ allowed: false, limit: 2, remaining: 0, resetAt: 72_345 })
  expect(at(72_344, 'b').allowed).toBe(true)
  expect(at(72_345, 'a')).toEqual({ allowed: true, limit: 2, remaining: 1, resetAt: 132_345 })
  // The windows that have ended are forgotten.
  expect([at(132_344, 'c').remaining, [...limits.subscriptions.keys()]]).toEqual([1, ['a', 'c']])
  // The clock went back.
  expect(at(1_000, 'a').remaining).toBe(1)
})

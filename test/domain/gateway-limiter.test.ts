import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRollingLimiter } from '../../mocks/domain/limiter.ts'

const create = (limit: number, windowMs = 60_000) => {
  let time = 1_000_000
  const limiter = createRollingLimiter({ limit, windowMs, now: () => time })
  return {
    limiter,
    at(next: number) {
      time = next
      return limiter.take('all')
    },
  }
}

describe('the rolling limiter', () => {
  it('lets the limit pass in any window, refuses the next and says when it would pass', () => {
    const { at } = create(3)
    expect([at(0), at(10), at(20)].map(({ remaining }) => remaining)).toEqual([2, 1, 0])
    expect(at(59_999)).toEqual({ allowed: false, limit: 3, remaining: 0, resetAt: 60_000 })
    expect(at(60_000)).toMatchObject({ allowed: true, remaining: 0, resetAt: 60_010 })
    expect(at(60_009).allowed).toBe(false)
    expect(at(60_010).allowed).toBe(true)
  })

  it('does not count refused calls', () => {
    const { at } = create(1)
    at(0)
    for (let time = 1; time < 60_000; time += 100) expect(at(time).allowed).toBe(false)
    expect(at(60_000).allowed).toBe(true)
  })

  it('is one limit for all buckets, and new after a reset', () => {
    const { limiter } = create(2)
    expect([limiter.take('a'), limiter.take('b'), limiter.take('c')].map(({ allowed }) => allowed)).toEqual([
      true,
      true,
      false,
    ])
    limiter.reset()
    expect(limiter.take('c').allowed).toBe(true)
  })

  it('does not let calls of the future hold up a clock that went back', () => {
    const { at } = create(1)
    at(10_000_000)
    expect(at(0).allowed).toBe(true)
    expect(at(1).allowed).toBe(false)
  })

  it('refuses everything when the limit is zero', () => {
    expect(create(0).at(0)).toEqual({ allowed: false, limit: 0, remaining: 0, resetAt: 60_000 })
  })

  it('agrees with a log of all accepted calls', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat({ max: 40 }), { maxLength: 200 }),
        (limit, gaps) => {
          const { at } = create(limit, 100)
          const accepted: number[] = []
          let time = 0
          for (const gap of gaps) {
            time += gap
            const expected = accepted.filter((call) => call > time - 100).length < limit
            expect(at(time).allowed).toBe(expected)
            if (expected) accepted.push(time)
          }
        },
      ),
    )
  })
})

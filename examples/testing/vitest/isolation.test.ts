import { testNumbers } from 'mandatekit/mocks'
import { describe, expect, vi } from 'vitest'
import { test } from './fixtures.ts'

/** Creates a function that each test awaits. The promise resolves when all tests have called the function. */
const createGate = (tests: number) => {
  let open: () => void = () => undefined
  let missing = tests
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return () => {
    missing -= 1
    if (missing === 0) open()
    return opened
  }
}

const started = createGate(3)
const charged = createGate(3)

describe.concurrent('three tests that run at the same time', () => {
  test.for(['a', 'b', 'c'])(
    'test %s sees only its own charge, clock and requests',
    async (id, { mock, shop, expect }) => {
      await started()
      // All three tests use the same order id, and therefore the same idempotency key.
      expect(
        await shop.charge({ id: '1', msisdn: testNumbers.succeeds, amount: id.charCodeAt(0) }),
      ).toMatchObject({
        kind: 'done',
      })
      await charged()
      expect(mock.state.charges().map(({ amount }) => amount)).toEqual([id.charCodeAt(0)])
      expect(mock.requests.all()).toHaveLength(1)
      if (id === 'a') await mock.clock.advance({ days: 30 })
      expect(mock.clock.now()).toBe(Date.parse(id === 'a' ? '2027-01-31T06:00:00Z' : '2027-01-01T06:00:00Z'))
    },
  )
})

test('fake timers do not delay calls', async ({ mock, shop }) => {
  vi.useFakeTimers()
  try {
    expect(await shop.charge({ id: '1', msisdn: testNumbers.succeeds, amount: 250 })).toMatchObject({
      kind: 'done',
    })
    expect(mock.state.charges()).toHaveLength(1)
  } finally {
    vi.useRealTimers()
  }
})

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Fixture } from './subscriptions-fixture.ts'
import { body, fixture, value } from './subscriptions-fixture.ts'

describe('histories', () => {
  type Step = { readonly act: string; readonly target: number; readonly hours: number }
  const steps = fc.array(
    fc.record({
      act: fc.constantFrom('subscribe', 'authorize', 'decline', 'cancel', 'reverse', 'advance'),
      target: fc.nat({ max: 5 }),
      hours: fc.nat({ max: 300 }),
    }),
    { maxLength: 30 },
  )

  const perform = async (all: Fixture, { act, target, hours }: Step): Promise<unknown> => {
    const { clock, domain, merchant } = all
    const known = domain.subscriptions()[target]
    if (act === 'subscribe') return domain.subscribe(merchant, body({ requestID: `order-${target}` }))
    if (act === 'advance') return await clock.advance({ hours })
    if (act === 'reverse') return domain.reverse(String(domain.paymentsOf()[target]?.paymentId))
    if (act === 'cancel') return domain.cancel(merchant, known?.subscriptionId ?? 'none')
    if (act === 'authorize') return domain.authorize(known?.invoiceId ?? 'none', { payments: ['fail'] })
    return domain.decline(known?.invoiceId ?? 'none')
  }

  const history = (all: Fixture) =>
    JSON.stringify([
      all.domain.subscriptions(),
      all.domain.paymentsOf(),
      all.notifications,
      all.clock.timeline.entries(),
    ])

  test('the same seed gives the same history, byte by byte', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (path) => {
        const [left, right] = [fixture(), fixture()]
        for (const step of path) {
          expect(JSON.stringify(await perform(left, step))).toBe(JSON.stringify(await perform(right, step)))
        }
        expect(history(left)).toBe(history(right))
      }),
      { numRuns: 60 },
    )
  })

  test('a refused move changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (path) => {
        const all = fixture()
        for (const step of path) {
          const before = [history(all), JSON.stringify(all.domain.snapshot())]
          const result = await perform(all, step)
          if (typeof result === 'object' && result !== null && 'ok' in result && result.ok === false) {
            expect([history(all), JSON.stringify(all.domain.snapshot())]).toEqual(before)
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  test('snapshot and restore bring everything back, and what follows is the same', async () => {
    await fc.assert(
      fc.asyncProperty(steps, steps, fc.boolean(), async (past, future, clockFirst) => {
        const all = fixture()
        for (const step of past) await perform(all, step)
        const taken = structuredClone({
          clock: all.clock.snapshot(),
          ids: all.ids.snapshot(),
          domain: all.domain.snapshot(),
          notifications: all.notifications.length,
        })
        const before = history(all)
        for (const step of future) await perform(all, step)
        const after = history(all)
        const restore = () => {
          all.ids.restore(taken.ids)
          if (clockFirst) all.clock.restore(taken.clock)
          all.domain.restore(taken.domain)
          if (!clockFirst) all.clock.restore(taken.clock)
          all.notifications.length = taken.notifications
        }
        restore()
        restore()
        expect(history(all)).toBe(before)
        for (const step of future) await perform(all, step)
        expect(history(all)).toBe(after)
      }),
      { numRuns: 60 },
    )
  })
})

describe('seeds', () => {
  test('a subscription authorized in the past has its payments, silently, and goes on', async () => {
    const all = fixture({
      existing: [
        {
          request: { start: '2026-11-01', end: '2026-12-31', cycle: 'WEEKLY', amount: '9.90' },
          subscriptionId: 'sub-1',
          invoiceId: 'inv-1',
          createdAt: '2026-11-01T00:00:00Z',
          payments: ['fail'],
        },
        {
          request: { start: '2026-12-01', end: '2026-12-31', cycle: 'DAILY', amount: '1' },
          authorizedAt: false,
        },
      ],
    })
    const { clock, domain, ids, merchant, notifications } = all
    expect(domain.paymentsOf('sub-1').map(({ dueDate, status }) => [dueDate, status])).toEqual([
      ['2026-11-01', 'FAILED_PAYMENT'],
      ['2026-11-08', 'SUCCEEDED_PAYMENT'],
      ['2026-11-15', 'SUCCEEDED_PAYMENT'],
      ['2026-11-22', 'SUCCEEDED_PAYMENT'],
    ])
    expect(notifications).toEqual([])
    expect(value(domain.details(merchant, 'sub-1'))).toMatchObject({ enabled: 1, amount: 9.9 })
    expect(domain.subscriptions()[1]).toMatchObject({ requestStatus: 'INITIALIZED', active: false })
    await clock.advance({ days: 7 })
    expect(domain.paymentsOf('sub-1')).toHaveLength(5)
    expect(notifications).toHaveLength(1)
    clock.reset()
    ids.reset()
    domain.reset()
    expect(domain.paymentsOf()).toHaveLength(4)
    expect(clock.timeline.entries()).toHaveLength(2)
  })

  test('a token is known without a login, and impossible seeds are refused', () => {
    const { domain } = fixture({ tokens: [{ accessToken: 'known-token' }] })
    expect(value(domain.merchant('known-token'))).toEqual({ clientId: 'mock-client', username: 'mock-user' })
    const request = { start: '2026-11-01', end: '2026-12-31', cycle: 'DAILY', amount: '1' } as const
    const add = (seed: object) => () =>
      domain.add({ subscriptions: [{ request: { ...request, ...seed }, invoiceId: 'same' }] })
    expect(add({ start: '2026-11-31' })).toThrow(RangeError)
    expect(add({ end: '2026-10-31' })).toThrow(RangeError)
    expect(add({ cycle: 'MONTHLY' })).toThrow(RangeError)
    expect(add({ amount: '0' })).toThrow(RangeError)
    expect(add({ clientID: 'nobody' })).toThrow(/nobody/)
    add({})()
    expect(add({})).toThrow(/exists already/)
    expect(domain.subscriptions()).toHaveLength(1)
  })
})

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCalendar, dateText, parseDate } from '../../mocks/domain/calendar.ts'
import { DAY } from '../../mocks/domain/duration.ts'
import type { PaymentScript, SubscriptionsOptions } from '../../mocks/domain/subscriptions/options.ts'
import { CYCLE_DAYS } from '../../mocks/domain/subscriptions/schedule.ts'
import { dueDates, fixture, subscribe, value } from './subscriptions-fixture.ts'

const day = (text: string): number => parseDate(text) ?? Number.NaN
const START = Date.parse('2026-11-28T10:00:00Z')

const plans = fc.record({
  zone: fc.constantFrom('UTC', 'Asia/Dhaka', 'Europe/Berlin', 'America/Los_Angeles', 'Pacific/Apia'),
  cycle: fc.constantFrom('DAILY', 'WEEKLY', 'FIFTEEN_DAYS'),
  debitTime: fc.constantFrom('00:00', '02:30', '12:00:00', '23:59:59'),
  startIn: fc.integer({ min: -40, max: 200 }),
  length: fc.integer({ min: 0, max: 120 }),
  authorizeAfter: fc.integer({ min: 0, max: 23 * 3_600_000 }),
  cancelAfter: fc.option(fc.integer({ min: 0, max: 200 * DAY }), { nil: undefined }),
  script: fc.array(fc.constantFrom<PaymentScript>('succeed', 'fail'), { maxLength: 5 }),
  steps: fc.array(fc.integer({ min: 0, max: 20 * DAY }), { minLength: 1, maxLength: 12 }),
})

describe('payments of a subscription', () => {
  test('none before start or authorization, none after end or cancellation, one a due date, the cycle’s days apart', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const all = fixture({ timeZone: plan.zone, debitTime: plan.debitTime, startCutoff: false })
        const { clock, domain, merchant, notifications } = all
        const calendar = createCalendar(plan.zone)
        const startDay = calendar.dayAt(START) + plan.startIn
        const ids = subscribe(all, {
          start: dateText(startDay),
          end: dateText(startDay + plan.length),
          cycle: plan.cycle,
        })
        await clock.advance(plan.authorizeAfter)
        const authorizedAt = clock.now()
        value(domain.authorize(ids.invoiceId, { payments: plan.script }))
        const cancelAt =
          plan.cancelAfter === undefined ? Number.POSITIVE_INFINITY : authorizedAt + plan.cancelAfter
        for (const step of plan.steps) {
          const rest = cancelAt - clock.now()
          if (rest >= 0 && rest <= step) {
            await clock.advance(rest)
            value(domain.cancel(merchant, ids.subscriptionId))
            await clock.advance(step - rest)
          } else await clock.advance(step)
        }
        const cancelledAt = clock.now() >= cancelAt ? cancelAt : Number.POSITIVE_INFINITY

        const payments = domain.paymentsOf(ids.subscriptionId)
        const due = payments.map(({ dueDate }) => day(dueDate))
        const expected: number[] = []
        for (let date = startDay; date <= startDay + plan.length; date += CYCLE_DAYS[plan.cycle]) {
          const at = calendar.instantOf(date, debitSeconds(plan.debitTime))
          if (at >= authorizedAt && at <= Math.min(cancelledAt, clock.now())) expected.push(date)
        }
        expect(due).toEqual(expected)
        expect(payments.map(({ status }) => status)).toEqual(
          payments.map((_, index) =>
            plan.script[index] === 'fail' ? 'FAILED_PAYMENT' : 'SUCCEEDED_PAYMENT',
          ),
        )
        expect(
          notifications.flatMap(({ type, paymentId }) =>
            type === 'SUBSCRIPTION_PAYMENT' ? [paymentId] : [],
          ),
        ).toEqual(payments.map(({ paymentId }) => String(paymentId)))
        const living = clock.timeline.entries().filter(({ kind }) => kind === 'subscriptions.due')
        expect(living.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 150 },
    )
  })

  test('FIFTEEN_DAYS from 2028-02-20 is next due on 2028-03-06', async () => {
    const all = fixture({}, { clock: '2028-02-20T00:00:00Z' })
    const ids = subscribe(all, { start: '2028-02-20', end: '2028-04-01', cycle: 'FIFTEEN_DAYS' })
    value(all.domain.authorize(ids.invoiceId))
    await all.clock.advance({ days: 60 })
    expect(dueDates(all, ids.subscriptionId)).toEqual(['2028-02-20', '2028-03-06', '2028-03-21'])
  })

  test('DAILY crosses 28 and 29 February and the ends of months', async () => {
    for (const [year, expected] of [
      ['2027', ['2027-02-27', '2027-02-28', '2027-03-01', '2027-03-02']],
      ['2028', ['2028-02-27', '2028-02-28', '2028-02-29', '2028-03-01']],
    ] as const) {
      const all = fixture({}, { clock: `${year}-02-27T00:00:00Z` })
      const ids = subscribe(all, { start: `${year}-02-27`, end: `${year}-12-31` })
      value(all.domain.authorize(ids.invoiceId))
      await all.clock.advance({ days: 4 })
      expect(dueDates(all, ids.subscriptionId)).toEqual(expected)
    }
  })

  test('Europe/Berlin has one payment a date when the clocks change, at the debit time', async () => {
    for (const [start, end] of [
      ['2026-03-27', '2026-04-01'],
      ['2026-10-23', '2026-10-28'],
    ] as const) {
      const all = fixture({ timeZone: 'Europe/Berlin' }, { clock: `${start}T00:00:00Z` })
      const ids = subscribe(all, { start, end })
      value(all.domain.authorize(ids.invoiceId))
      await all.clock.advance({ days: 10 })
      const payments = all.domain.paymentsOf(ids.subscriptionId)
      expect(payments.map(({ transactionDate }) => transactionDate)).toEqual(
        payments.map(({ dueDate }) => `${dueDate} 12:00:00`),
      )
      expect(payments).toHaveLength(6)
    }
  })

  test('the first is due on the day itself when the payer authorizes before the debit time, also at its very second', async () => {
    for (const [at, first] of [
      ['2026-11-28T11:59:59Z', '2026-11-28'],
      ['2026-11-28T12:00:00Z', '2026-11-28'],
      ['2026-11-28T12:00:00.001Z', '2026-11-29'],
    ] as const) {
      const all = fixture({}, { clock: at })
      const ids = subscribe(all)
      value(all.domain.authorize(ids.invoiceId))
      await all.clock.advance({ days: 1 })
      expect(dueDates(all, ids.subscriptionId)[0]).toBe(first)
    }
  })

  test('time that went by unseen is made up for, each payment at its own time', () => {
    const all = fixture()
    const ids = subscribe(all)
    value(all.domain.authorize(ids.invoiceId))
    void all.clock.set('2026-12-01T13:00:00Z')
    expect(all.domain.paymentsOf().map(({ transactionDate }) => transactionDate)).toEqual([
      '2026-11-28 12:00:00',
      '2026-11-29 12:00:00',
      '2026-11-30 12:00:00',
      '2026-12-01 12:00:00',
    ])
  })

  test('dunning tries a failed payment again, never after the end, and the next cycle goes on', async () => {
    const all = fixture({ dunning: { retries: 2, everyDays: 3 } })
    const ids = subscribe(all, { cycle: 'WEEKLY', end: '2026-12-07' })
    value(all.domain.authorize(ids.invoiceId, { payments: ['fail', 'fail', 'succeed', 'fail', 'fail'] }))
    await all.clock.advance({ days: 60 })
    expect(
      all.domain
        .paymentsOf(ids.subscriptionId)
        .map((payment) => [payment.dueDate, payment.transactionDate, payment.status]),
    ).toEqual([
      ['2026-11-28', '2026-11-28 12:00:00', 'FAILED_PAYMENT'],
      ['2026-11-28', '2026-12-01 12:00:00', 'FAILED_PAYMENT'],
      ['2026-11-28', '2026-12-04 12:00:00', 'SUCCEEDED_PAYMENT'],
      ['2026-12-05', '2026-12-05 12:00:00', 'FAILED_PAYMENT'],
    ])
  })

  test('daily dunning retries the old due date before the new one is charged', async () => {
    const all = fixture({ dunning: { retries: 1, everyDays: 1 } })
    const ids = subscribe(all, { end: '2026-11-30' })
    value(all.domain.authorize(ids.invoiceId, { payments: ['fail', 'succeed', 'fail'] }))
    await all.clock.advance({ days: 10 })
    expect(dueDates(all, ids.subscriptionId)).toEqual([
      '2026-11-28',
      '2026-11-28',
      '2026-11-29',
      '2026-11-29',
      '2026-11-30',
    ])
    expect(all.clock.timeline.entries()).toEqual([])
  })
})

describe('start and end', () => {
  const starts = (at: string, start: string, more = {}) =>
    fixture({ timeZone: 'Asia/Dhaka' }, { clock: at }).domain.subscribe(
      { clientId: 'mock-client', username: 'mock-user' },
      { ...requestFields, start, ...more },
    ).ok

  test('Asia/Dhaka: at 18:10Z today is the next day, and today is a start until 17:30:00Z of it', () => {
    const all = fixture({ timeZone: 'Asia/Dhaka', pastStart: 'refuse' }, { clock: '2026-11-28T18:10:00Z' })
    const asks = (start: string) => all.domain.subscribe(all.merchant, { ...requestFields, start }).ok
    expect([asks('2026-11-28'), asks('2026-11-29')]).toEqual([false, true])
    expect(starts('2026-11-28T17:29:00Z', '2026-11-28')).toBe(true)
    expect(starts('2026-11-28T17:30:00Z', '2026-11-28')).toBe(true)
    expect(starts('2026-11-28T17:30:01Z', '2026-11-28')).toBe(false)
    expect(starts('2026-11-28T17:31:00Z', '2026-11-28')).toBe(false)
    expect(starts('2026-11-28T17:31:00Z', '2026-11-29')).toBe(true)
    expect(starts('2026-11-28T17:31:00Z', '2026-11-27')).toBe(true)
  })

  test('start 2028-02-29: end 2030-02-28 is accepted, 2030-03-01 is not', () => {
    const at = '2026-11-28T10:00:00Z'
    expect(starts(at, '2028-02-29', { end: '2030-02-28' })).toBe(true)
    expect(starts(at, '2028-02-29', { end: '2030-03-01' })).toBe(false)
  })

  test('maxEnd can count from today, count other days, or be off', () => {
    const asks = (maxEnd: SubscriptionsOptions['maxEnd'], end: string) => {
      const { domain, merchant } = fixture({ maxEnd })
      return domain.subscribe(merchant, { ...requestFields, start: '2026-12-28', end }).ok
    }
    expect(asks({ from: 'today', days: 730 }, '2028-11-27')).toBe(true)
    expect(asks({ from: 'today', days: 730 }, '2028-11-28')).toBe(false)
    expect(asks({ from: 'start', days: 10 }, '2027-01-08')).toBe(false)
    expect(asks(false, '2099-12-31')).toBe(true)
  })
})

const requestFields = {
  clientID: 'mock-client',
  requestID: 'order-1',
  start: '2026-11-28',
  end: '2026-12-28',
  userReturnURL: 'https://shop.test/return',
  cycle: 'DAILY',
  amount: '25.00',
}

function debitSeconds(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number)
  return hours * 3600 + minutes * 60 + seconds
}

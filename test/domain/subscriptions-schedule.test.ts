import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { internalsOf } from '../../mocks/assemble.ts'
import type { Mock, MockOptions } from '../../mocks/core.ts'
import { CYCLE_DAYS } from '../../mocks/subscriptions/billing.ts'
import type { PaymentScript } from '../../mocks/subscriptions/options.ts'
import { createCalendar, dateText } from '../../mocks/time/calendar.ts'
import { DAY } from '../../mocks/time/duration.ts'
import { dayNumber } from '../../src/contract/formats.ts'
import { open } from '../mock/open.ts'

const day = (text: string): number => dayNumber(text) ?? Number.NaN
const START = '2026-11-28T10:00:00Z'

const fieldsOf = (fields: object) => ({ start: '2026-11-28', end: '2027-11-28', cycle: 'DAILY', ...fields })

const planned = (mock: Mock) => [...internalsOf(mock).currentState().clock.agenda.planned.values()]

/** Payments of a subscription some days after its authorization. */
const paymentsAfter = async (
  { clock, ...subscriptions }: NonNullable<MockOptions['subscriptions']> & Pick<MockOptions, 'clock'>,
  days: number,
  fields: object,
  script: readonly PaymentScript[] = [],
) => {
  const { mock, subscription } = await open({ clock: clock ?? START, subscriptions })
  await subscription(fieldsOf(fields), script)
  await mock.clock.advance({ days })
  return { mock, payments: mock.state.payments() }
}

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
  test('are due from start and authorization to end or cancellation, one a due date, the cycle’s days apart', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const options = { timeZone: plan.zone, debitTime: plan.debitTime, startCutoff: false } as const
        const { mock, s, subscribe } = await open({ clock: START, subscriptions: options })
        const { clock, payer, notifications, state } = mock
        const calendar = createCalendar(plan.zone)
        const startDay = calendar.dayAt(clock.now()) + plan.startIn
        const [start, end] = [dateText(startDay), dateText(startDay + plan.length)]
        await subscribe({ start, end, cycle: plan.cycle })
        await clock.advance(plan.authorizeAfter)
        const authorizedAt = clock.now()
        const [{ invoiceId = '', subscriptionId = '' } = {}] = state.subscriptions()
        payer.authorize(invoiceId, { payments: plan.script })
        const cancelAt =
          plan.cancelAfter === undefined ? Number.POSITIVE_INFINITY : authorizedAt + plan.cancelAfter
        for (const step of plan.steps) {
          const rest = cancelAt - clock.now()
          const cancels = rest >= 0 && rest <= step
          if (cancels) {
            await clock.advance(rest)
            expect((await s(`/api/v1.0/subscription/${subscriptionId}/cancel`)).status).toBe(200)
          }
          await clock.advance(cancels ? step - rest : step)
        }
        const cancelledAt = clock.now() >= cancelAt ? cancelAt : Number.POSITIVE_INFINITY

        const payments = state.payments()
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
          notifications
            .all()
            .flatMap(({ type, paymentId }) => (type === 'SUBSCRIPTION_PAYMENT' ? [paymentId] : [])),
        ).toEqual(payments.map(({ paymentId }) => String(paymentId)))
        const living = planned(mock).filter(({ kind }) => kind === 'subscriptions.due')
        expect(living.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 150 },
    )
  })

  test.each<[string, string, object, number, string[]]>([
    ['FIFTEEN_DAYS', '2028-02-20', {}, 31, ['2028-02-20', '2028-03-06', '2028-03-21']],
    ['DAILY', '2027-02-27', {}, 4, ['2027-02-27', '2027-02-28', '2027-03-01', '2027-03-02']],
    ['DAILY', '2028-02-27', {}, 4, ['2028-02-27', '2028-02-28', '2028-02-29', '2028-03-01']],
    ['DAILY', '2026-03-28', { timeZone: 'Europe/Berlin' }, 3, ['2026-03-28', '2026-03-29', '2026-03-30']],
    ['DAILY', '2026-10-24', { timeZone: 'Europe/Berlin' }, 3, ['2026-10-24', '2026-10-25', '2026-10-26']],
  ])(
    'case 31: %s from %s with %o: in %i days they are due at noon of %j',
    async (cycle, start, options, days, dates) => {
      const end = dateText(day(start) + 90)
      const clock = `${start}T00:00:00Z`
      const { payments } = await paymentsAfter({ ...options, clock }, days, { cycle, start, end })
      expect(payments.map(({ dueDate }) => dueDate)).toEqual(dates)
      expect(payments.map(({ transactionDate }) => transactionDate)).toEqual(
        dates.map((date) => `${date} 12:00:00`),
      )
    },
  )
})

function debitSeconds(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.split(':').map(Number)
  return hours * 3600 + minutes * 60 + seconds
}

import { expect, test } from 'vitest'
import { ORDER, openMock } from '../support/mock-clients.ts'
import { refusal } from '../support/refusal.ts'

const open = (clock: string, timeZone = 'UTC') => openMock({ clock, subscriptions: { timeZone } })

test('case 30: in Dhaka the day begins at 18:00Z, and a start on it is accepted until 17:30Z', async () => {
  const start = async (clock: string, day: string) => {
    const { subscriptions } = open(clock, 'Asia/Dhaka')
    return refusal(subscriptions.subscribe({ ...ORDER, start: day }))
  }
  expect(await start('2026-12-01T17:29:00Z', '2026-12-01')).toBeUndefined()
  expect(await start('2026-12-01T17:31:00Z', '2026-12-01')).toBe('api_error rejected')
  expect(await start('2026-12-01T18:10:00Z', '2026-12-02')).toBeUndefined()

  // A subscription that starts in the first minutes of its day has its first payment on that day.
  const { mock, subscriptions } = open('2026-12-01T18:10:00Z', 'Asia/Dhaka')
  const { invoiceID } = await subscriptions.subscribe({ ...ORDER, start: '2026-12-02' })
  mock.payer.authorize(invoiceID)
  await mock.clock.advance({ hours: 12 })
  expect(mock.state.payments().map(({ dueDate }) => dueDate)).toEqual(['2026-12-02'])
})

const dueDates = async (clock: string, order: object, days: number, timeZone?: string) => {
  const { mock, subscriptions } = open(clock, timeZone)
  const { invoiceID } = await subscriptions.subscribe({ ...ORDER, ...order })
  mock.payer.authorize(invoiceID)
  await mock.clock.advance({ days })
  return mock.state.payments().map(({ dueDate }) => dueDate)
}

test('case 31: fifteen days after 2028-02-20 is 2028-03-06, and DAILY has every day at the ends of months', async () => {
  const fortnights = { start: '2028-02-20', end: '2028-04-30', cycle: 'FIFTEEN_DAYS' }
  expect(await dueDates('2028-02-20T06:00:00Z', fortnights, 40)).toEqual([
    '2028-02-20',
    '2028-03-06',
    '2028-03-21',
  ])
  const leap = { start: '2028-02-27', end: '2028-12-31' }
  expect(await dueDates('2028-02-27T06:00:00Z', leap, 3)).toEqual(
    ['2028-02-27', '2028-02-28', '2028-02-29', '2028-03-01'].slice(0, 3),
  )
  const common = { start: '2027-02-27', end: '2027-12-31' }
  expect(await dueDates('2027-02-27T06:00:00Z', common, 3)).toEqual([
    '2027-02-27',
    '2027-02-28',
    '2027-03-01',
  ])
})

test('case 31: Berlin has one payment a day when its clocks change', async () => {
  for (const [start, days] of [
    ['2027-03-26', 5],
    ['2027-10-29', 5],
  ] as const) {
    const order = { start, end: '2028-01-31' }
    const dates = await dueDates(`${start}T06:00:00Z`, order, days, 'Europe/Berlin')
    expect(new Set(dates).size).toBe(dates.length)
    expect(dates).toHaveLength(days)
  }
})

test('case 32: a start on 2028-02-29 may end on 2030-02-28 and no day later', async () => {
  const end = (day: string) => {
    const { subscriptions } = open('2028-02-20T06:00:00Z')
    return refusal(subscriptions.subscribe({ ...ORDER, start: '2028-02-29', end: day }))
  }
  expect(await end('2030-02-28')).toBeUndefined()
  // The client refuses it before it sends a request.
  expect(await end('2030-03-01')).toBe('invalid_request not-sent')
})

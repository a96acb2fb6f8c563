import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { invoiceIdFrom, isMandateKitError, monthlyDueDate, renewalKey, toInstant } from '../../src/index.ts'
import { loosely, refusedBy } from '../support/refused.ts'

describe('renewalKey', () => {
  it('has the documented format', () => {
    expect(renewalKey('ch_1', '2026-12-01')).toBe('renewal_ch_1_2026-12-01_1')
    expect(renewalKey('ch_1', '2026-12-01', 2)).toBe('renewal_ch_1_2026-12-01_2')
    expect(renewalKey('ä:b/1', '2028-02-29')).toBe('renewal_-e4--3a-b-2f-1_2028-02-29_1')
  })

  it('differs for every mandate, due date and attempt, and can be a header', () => {
    // A segment of dots is refused, because proxies resolve it.
    const id = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => !text.split(/[/\\]/).some((segment) => segment === '.' || segment === '..'))
    const day = fc
      .integer({ min: 0, max: 40_000 })
      .map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10))
    const input = fc.tuple(id, day, fc.integer({ min: 1, max: 99 }))
    const property = fc.property(input, input, (one, other) => {
      const keys = [renewalKey(...one), renewalKey(...other)]
      expect(keys[0] === keys[1]).toBe(JSON.stringify(one) === JSON.stringify(other))
      for (const key of keys) expect(key).toMatch(/^[\x21-\x7e]+$/)
    })
    const keyOf = (id: string): [string, string, number] => [id, '2026-12-01', 1]
    fc.assert(property, { examples: [[keyOf('a/b'), keyOf('a-2f-b')]] })
  })

  it.each([
    ['ch_1', '2026-02-30', 1],
    ['ch_1', new Date(0), 1],
    ['ch_1', '2026-12-01', 0],
    ['ch_1', '2026-12-01', 1.5],
    ['', '2026-12-01', 1],
    [undefined, '2026-12-01', 1],
  ])('refuses %j, %j, %j', async (id, cycle, attempt) => {
    await refusedBy(() => renewalKey(loosely(id), loosely(cycle), attempt))
  })
})

describe('monthlyDueDate', () => {
  it.each([
    ['2027-01-31', 0, '2027-01-31'],
    ['2027-01-31', 1, '2027-02-28'],
    ['2027-01-31', 2, '2027-03-31'],
    ['2027-01-31', 13, '2028-02-29'],
    ['2026-12-01', 1, '2027-01-01'],
  ])('of %s and %i is %s', (anchor, number, date) => {
    expect(monthlyDueDate(anchor, number)).toBe(date)
  })

  it.each([
    ['9999-12-31', 1],
    ['9999-01-01', 12],
    ['9500-01-31', 10_000],
  ])(
    'case 99: refuses %s and %i, which is after the year 9999: no date of the API can say it',
    async (anchor, number) => {
      const { issues } = await refusedBy(() => monthlyDueDate(anchor, number))
      expect(issues).toMatchObject([
        { field: 'number', rule: expect.stringMatching(/^a whole number from 0 to \d+$/) },
      ])
      expect(monthlyDueDate('9999-11-30', 1)).toBe('9999-12-30')
    },
  )

  it('a due date is in the month that was counted, on the day of the anchor or the last day', () => {
    const day = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(day, fc.integer({ min: 0, max: 600 }), (date, number) => {
        const anchor = date.toISOString().slice(0, 10)
        const due = monthlyDueDate(anchor, number)
        const months = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7))
        expect(months(due) - months(anchor)).toBe(number)
        const next = new Date(`${due}T00:00:00Z`)
        next.setUTCDate(next.getUTCDate() + 1)
        expect(due.slice(8) === anchor.slice(8) || next.getUTCDate() === 1).toBe(true)
        expect(due.slice(8) <= anchor.slice(8)).toBe(true)
      }),
    )
  })
})

describe('toInstant', () => {
  it.each([
    ['2026-11-28 12:00:00', 'Asia/Dhaka', '2026-11-28T06:00:00.000Z'],
    ['2026-11-28', 'Asia/Dhaka', '2026-11-27T18:00:00.000Z'],
    ['2026-11-28 00:00:00', 'America/Los_Angeles', '2026-11-28T08:00:00.000Z'],
    ['2026-11-28T12:00:00.250000Z', 'Asia/Dhaka', '2026-11-28T12:00:00.250Z'],
    ['2026-11-28 12:00:00+06:00', 'UTC', '2026-11-28T06:00:00.000Z'],
    // The hour that clocks in Berlin show twice, and the one that they skip.
    ['2026-10-25 02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2026-03-29 02:30:00', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['2026-03-29 03:00:00', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ])('reads %s in %s as %s', (naive, zone, instant) => {
    expect(toInstant(naive, zone).toISOString()).toBe(instant)
  })

  it('reads what each zone writes', () => {
    const zones = fc.constantFrom('Asia/Dhaka', 'America/New_York', 'Pacific/Chatham', 'Australia/Lord_Howe')
    const moments = fc.date({ min: new Date('1990-01-01'), max: new Date('2050-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(zones, moments, (timeZone, moment) => {
        const show = (date: Date) => date.toLocaleString('sv-SE', { timeZone })
        expect(show(toInstant(show(moment), timeZone))).toBe(show(moment))
      }),
    )
  })

  it.each([
    ['2026-02-30 12:00:00', 'UTC'],
    ['2026-11-28 24:00:00', 'UTC'],
    ['tomorrow', 'UTC'],
    ['2026-11-28 12:00:00', 'Mars/Olympus'],
    ['2026-11-28 12:00:00', undefined],
    [null, 'UTC'],
  ])('refuses %j in %j', async (naive, zone) => {
    await refusedBy(() => toInstant(loosely(naive), loosely(zone)))
  })
})

it.each([
  ['https://shop.example/return?invoiceID=inv%2F1', 'inv/1'],
  ['https://shop.example/return?a=1&invoiceid=inv-1#x', 'inv-1'],
  ['/return?invoiceId=inv-1', 'inv-1'],
  ['https://shop.example/return?other=1', undefined],
  ['https://shop.example/return?invoiceID=', undefined],
  ['', undefined],
  // The parameter in its own casing comes before one of the merchant.
  ['https://shop.example/return?invoiceid=shop-7&invoiceID=42', '42'],
  ['https://shop.example/return?invoiceID=&invoiceId=43', '43'],
  [new URL('https://shop.example/?invoiceID=7'), '7'],
  // Case 78: a server appends its parameter to an address that has a query.
  ['https://shop.example/return?order=1?invoiceID=INV-1', 'INV-1'],
  ['https://shop.example/return?next=/a?b&invoiceID=INV-3', 'INV-3'],
  ['https://shop.example/return?next=/a?invoiceID=OLD&invoiceid=INV-4', 'INV-4'],
  ['https://shop.example/return?next=/a?invoiceID=OLD?invoiceID=INV-5', 'INV-5'],
  // A fragment is no query: it comes from the page, not from the server that redirects.
  ['https://shop.example/#/return?invoiceID=INV-6', undefined],
  ['https://shop.example/back#?invoiceID=evil', undefined],
  ['https://shop.example/back?invoiceID=INV-7#?invoiceID=evil', 'INV-7'],
])('cases 78 and 110: invoiceIdFrom finds in %s: %s', (url, id) => {
  expect(invoiceIdFrom(url)).toBe(id)
})

it('isMandateKitError recognizes an error of another realm', () => {
  const make = `Object.defineProperty(new Error('x'), Symbol.for('mandatekit.error'), { value: true })`
  const foreign: unknown = runInNewContext(make)
  expect(foreign).not.toBeInstanceOf(Error)
  expect(isMandateKitError(foreign)).toBe(true)
})

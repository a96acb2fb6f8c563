import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCalendar, dateText, isoMicroseconds, parseTimeOfDay } from '../../mocks/time/calendar.ts'
import { dayNumber } from '../../src/contract/formats.ts'

const ZONES = [
  'UTC',
  'Asia/Dhaka',
  'Asia/Kathmandu',
  'Europe/Berlin',
  'America/Los_Angeles',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Pacific/Apia',
]
const zones = fc.constantFrom(...ZONES)
const day = (text: string): number => dayNumber(text) ?? Number.NaN
const instant = (text: string): number => Date.parse(text)

describe('calendar of a zone', () => {
  test('agrees with the platform at any instant', () => {
    expect(isoMicroseconds(instant('2026-11-28T18:10:00.123Z'))).toBe('2026-11-28T18:10:00.123000Z')
    const instants = fc.integer({
      min: instant('1990-01-01T00:00:00Z'),
      max: instant('2037-12-31T00:00:00Z'),
    })
    void fc.assert(
      fc.property(zones, instants, (timeZone, at) => {
        const expected = new Date(at).toLocaleString('sv-SE', { timeZone })
        expect(createCalendar(timeZone).dateTimeText(at)).toBe(expected)
      }),
    )
  })

  test('finds the instant of a time of day: the way back gives the same day and time, except in a gap', () => {
    const times = fc.integer({ min: 0, max: 86_399 })
    const days = fc.integer({ min: day('2010-01-01'), max: day('2035-12-31') })
    void fc.assert(
      fc.property(zones, days, times, (timeZone, date, second) => {
        const calendar = createCalendar(timeZone)
        const at = calendar.instantOf(date, second)
        const back = calendar.dayAt(at) * 86_400 + calendar.secondOfDayAt(at)
        const skipped = back - (date * 86_400 + second)
        // Apia left out a whole day in 2011.
        expect(skipped === 0 || (skipped > 0 && skipped <= 86_400)).toBe(true)
        if (skipped === 0) expect(at % 1_000).toBe(0)
      }),
    )
  })

  test('reads a time that the clocks leave out with the offset before, and the first of a time that comes twice', () => {
    const berlin = createCalendar('Europe/Berlin')
    const halfPastTwo = parseTimeOfDay('02:30') ?? Number.NaN
    expect(berlin.instantOf(day('2026-03-29'), halfPastTwo)).toBe(instant('2026-03-29T01:30:00Z'))
    expect(berlin.dateTimeText(instant('2026-03-29T01:30:00Z'))).toBe('2026-03-29 03:30:00')
    expect(berlin.instantOf(day('2026-10-25'), halfPastTwo)).toBe(instant('2026-10-25T00:30:00Z'))
  })

  test('refuses an unknown zone, a day that does not exist and a wrong time of day', () => {
    expect(() => createCalendar('Mars/Olympus')).toThrow(/IANA time zone/)
    for (const text of ['2026-02-30', '2026-13-01', '26-01-01', '0001-1-1', '2026-01-01T00:00:00Z', '']) {
      expect(dayNumber(text)).toBeUndefined()
    }
    for (const text of ['24:00', '12:60', '12', '12:00:00.5']) expect(parseTimeOfDay(text)).toBeUndefined()
    expect(dateText(day('2028-02-29') + 1)).toBe('2028-03-01')
  })
})

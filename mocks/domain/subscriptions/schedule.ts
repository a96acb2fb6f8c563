import type { KnownCycle } from '../../../src/contract/subscriptions.ts'
import type { Calendar, Day } from '../calendar.ts'

/** Calendar days between two due dates of a cycle. */
export const CYCLE_DAYS = { DAILY: 1, WEEKLY: 7, FIFTEEN_DAYS: 15 } as const satisfies Record<
  KnownCycle,
  number
>

/** The fields from which the due dates of a subscription are calculated. */
export interface Terms {
  readonly startDay: Day
  readonly endDay: Day
  /** Calendar days between two due dates. */
  readonly step: number
}

/** The due dates of subscriptions in one zone at one time of day (row 23). A slot is the number of a due date, from 0. */
export type Schedule = ReturnType<typeof createSchedule>

/** Makes the due dates of a zone: start + n × 1, 7 or 15 calendar days, even when its clocks change. */
export const createSchedule = (calendar: Calendar, debitSecond: number) => {
  const day = ({ startDay, step }: Terms, slot: number): Day => startDay + slot * step
  const instant = (due: Day): number => calendar.instantOf(due, debitSecond)
  return {
    /** Returns the day of a slot. */
    day,
    /** Returns when payments of a due date are made. */
    instant,
    /** Returns the first slot that is due at an instant or later. It may be after the end. */
    firstSlot(terms: Terms, from: number): number {
      // When the clocks change, a time just before midnight can become one of the next day: start a day earlier.
      const back = calendar.dayAt(from) - 1 - terms.startDay
      let slot = Math.max(0, Math.ceil(back / terms.step))
      while (instant(day(terms, slot)) < from) slot += 1
      return slot
    },
    /** Returns when a subscription ends: the midnight after its last day. */
    end: ({ endDay }: Terms): number => calendar.instantOf(endDay + 1, 0),
  }
}

import type { KnownCycle } from '../../../src/contract/subscriptions.ts'
import type { Calendar, Day } from '../calendar.ts'

/** Calendar days between two due dates of a cycle. */
export const CYCLE_DAYS = { DAILY: 1, WEEKLY: 7, FIFTEEN_DAYS: 15 } as const satisfies Record<
  KnownCycle,
  number
>

/** Whether a text names a cycle (S1). */
export const isCycle = (text: string): text is KnownCycle => Object.hasOwn(CYCLE_DAYS, text)

/** What the due dates of a subscription follow from. */
export interface Terms {
  readonly startDay: Day
  readonly endDay: Day
  /** Calendar days between two due dates. */
  readonly step: number
}

/** The due dates of subscriptions in one zone at one time of day (row 23). A slot is a due date's number from 0. */
export interface Schedule {
  /** The day of a slot. */
  day(terms: Terms, slot: number): Day
  /** When payments of a due date are made. */
  instant(day: Day): number
  /** The first slot that is due at an instant or later; it may lie after the end. */
  firstSlot(terms: Terms, instant: number): number
  /** When a subscription is over: the midnight that ends its last day. */
  end(terms: Terms): number
}

/** Makes the due dates of a zone: start + n × 1, 7 or 15 calendar days, whatever its clocks do. */
export const createSchedule = (calendar: Calendar, debitSecond: number): Schedule => {
  const day = ({ startDay, step }: Terms, slot: number): Day => startDay + slot * step
  const instant = (due: Day): number => calendar.instantOf(due, debitSecond)
  return {
    day,
    instant,
    firstSlot(terms, from) {
      // A change of the clocks can push a time just before midnight into the next day: look a day back.
      const back = calendar.dayAt(from) - 1 - terms.startDay
      let slot = Math.max(0, Math.ceil(back / terms.step))
      while (instant(day(terms, slot)) < from) slot += 1
      return slot
    },
    end: ({ endDay }) => calendar.instantOf(endDay + 1, 0),
  }
}

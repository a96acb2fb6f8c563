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

/** Calculates due dates for one time zone and one time of day (row 23). A `slot` is the index of a due date. */
export type Schedule = ReturnType<typeof createSchedule>

/** Creates a schedule. The first due date is the subscription's start; the others follow every 1, 7 or 15 days. */
export const createSchedule = (calendar: Calendar, debitSecond: number) => {
  const day = ({ startDay, step }: Terms, slot: number): Day => startDay + slot * step
  const instant = (due: Day): number => calendar.instantOf(due, debitSecond)
  return {
    /** Returns the due date of a slot. */
    day,
    /** Returns the instant at which the payments of a due date happen. */
    instant,
    /** Returns the first slot that is due at or after an instant. The slot may be after the subscription's end. */
    firstSlot(terms: Terms, from: number): number {
      // The search starts one day early, because a clock change that skips 23:30 moves the day's payment past midnight.
      const back = calendar.dayAt(from) - 1 - terms.startDay
      let slot = Math.max(0, Math.ceil(back / terms.step))
      while (instant(day(terms, slot)) < from) slot += 1
      return slot
    },
    /** Returns the instant at which a subscription ends: midnight after its last day. */
    end: ({ endDay }: Terms): number => calendar.instantOf(endDay + 1, 0),
  }
}

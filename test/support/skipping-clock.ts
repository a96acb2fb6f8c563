import type { Clock } from '../../src/index.ts'

/** A clock that never waits: it records each wait, and moves forward by it. */
export interface SkippingClock extends Clock {
  readonly waits: number[]
}

export const skippingClock = (now = Date.parse('2026-11-28T12:00:00Z')): SkippingClock => {
  const waits: number[] = []
  let time = now
  return {
    waits,
    now: () => time,
    sleep: async (milliseconds) => {
      waits.push(milliseconds)
      time += milliseconds
    },
  }
}

import type { KnownCycle } from '../../src/contract/subscriptions.ts'

const WORDS: Readonly<Record<KnownCycle, string>> = {
  DAILY: 'every day',
  WEEKLY: 'every week',
  FIFTEEN_DAYS: 'every 15 days',
}

/** How often a cycle comes round, in words; a cycle that is not known as it is written. */
export const cycleInWords = (cycle: string): string => new Map(Object.entries(WORDS)).get(cycle) ?? cycle

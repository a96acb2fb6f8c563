import type { Outcome } from './actions.ts'

const KEPT = 100

/** Keeps what became of the last actions, so that the page that follows one can tell it by its number. */
export interface Notices {
  /** Keeps an outcome; gives its number. */
  add(outcome: Outcome): number
  /** The outcome of a number as it stands in an address; `undefined` for one that is not kept. */
  of(number: string | null): Outcome | undefined
}

/** The text itself never stands in the address: nobody can make the panel say something by a link. */
export const createNotices = (): Notices => {
  const kept = new Map<string, Outcome>()
  let count = 0
  return {
    add(outcome) {
      count += 1
      kept.set(String(count), outcome)
      kept.delete(String(count - KEPT))
      return count
    },
    of: (number) => (number === null ? undefined : kept.get(number)),
  }
}

import { SECOND } from '../duration.ts'
import type { SubscriptionsOptions } from './options.ts'

/** Failures of one username: when they were, and until when they lock it. */
interface Failures {
  readonly times: number[]
  lockedUntil: number | undefined
}

/** What a snapshot holds of it. */
export type LockoutSnapshot = readonly (readonly [string, Failures])[]

/** Counts failed logins and locks usernames (Authentication, area S, rule 4; row 35). */
export interface Lockout {
  /** Until when a username is locked, or `undefined`. */
  lockedUntil(username: string): number | undefined
  fail(username: string): void
  /** A success clears the count. */
  succeed(username: string): void
  reset(): void
  snapshot(): LockoutSnapshot
  restore(snapshot: LockoutSnapshot): void
}

// From here on usernames whose failures no longer matter are looked for and dropped.
const MANY_USERNAMES = 1_000

/** Makes the count of failed logins. Attempts while locked are not to be reported: they do not prolong the lock. */
export const createLockout = (rule: SubscriptionsOptions['lockout'], now: () => number): Lockout => {
  const byUsername = new Map<string, Failures>()
  let sweepFrom = MANY_USERNAMES
  const windowLength = rule === false ? 0 : rule.windowSeconds * SECOND

  const isForgotten = ({ times, lockedUntil }: Failures, time: number): boolean =>
    lockedUntil === undefined ? (times.at(-1) ?? 0) <= time - windowLength : lockedUntil <= time

  const sweep = (time: number): void => {
    for (const [username, failures] of byUsername) {
      if (isForgotten(failures, time)) byUsername.delete(username)
    }
    sweepFrom = Math.max(MANY_USERNAMES, byUsername.size * 2)
  }

  const load = (entries: LockoutSnapshot): void => {
    byUsername.clear()
    for (const [username, { times, lockedUntil }] of entries) {
      byUsername.set(username, { times: [...times], lockedUntil })
    }
  }

  return {
    lockedUntil(username) {
      const until = byUsername.get(username)?.lockedUntil
      return until !== undefined && now() < until ? until : undefined
    },
    fail(username) {
      if (rule === false) return
      const time = now()
      if (byUsername.size >= sweepFrom) sweep(time)
      const known = byUsername.get(username)
      // A lock that has passed took its failures with it.
      const before = known === undefined || known.lockedUntil !== undefined ? [] : known.times
      const times = [...before.filter((at) => at > time - windowLength), time]
      const lockedUntil = times.length >= rule.attempts ? time + rule.durationSeconds * SECOND : undefined
      byUsername.set(username, { times, lockedUntil })
    },
    succeed: (username) => void byUsername.delete(username),
    reset: () => byUsername.clear(),
    snapshot: () => [...byUsername].map(([username, failures]) => [username, structuredClone(failures)]),
    restore: load,
  }
}

import type { Clock } from '../clock.ts'
import type { InputIssue } from '../errors.ts'
import { systemClock } from '../system-clock.ts'
import {
  clockIssues,
  isFields,
  refuse,
  unknownNames,
  unless,
  whileReading,
} from '../transport/input-issues.ts'
import type { Claim, DedupeStore } from './dedupe-store.ts'
import { steadyClock } from './steady-clock.ts'

/** Options of `memoryDedupe`. */
export interface MemoryDedupeOptions {
  /**
   * Most ids remembered at once, 100 000 by default (about 20 MB). When they are more, the oldest committed ids are
   * forgotten first; ids in progress never are: a claim beyond the bound is refused instead, and delivered again later.
   */
  readonly limit?: number | undefined
  /**
   * What leases and ages are told by. By default leases run on real time that nobody can set, and the ages of
   * processed ids on the machine's time.
   */
  readonly clock?: Clock | undefined
}

interface Lease {
  readonly owner: string
  readonly endsAt: number
}

/** What `memoryDedupe` offers besides the store's methods. */
export interface MemoryDedupe extends DedupeStore {
  /** How many ids are held now, in progress or committed. */
  readonly size: number
}

const issuesOf = (options: unknown): InputIssue[] => {
  if (!isFields(options)) {
    return unless(false, 'options', 'an object such as { limit: 10_000 }', options)
  }
  const { limit, clock } = options
  const holds = limit === undefined || (typeof limit === 'number' && limit >= 1)
  return [
    ...unknownNames(options, ['limit', 'clock'], 'option of memoryDedupe'),
    ...unless(holds, 'limit', 'a number from 1', limit, { from: 1 }),
    ...clockIssues(clock),
  ]
}

/**
 * Remembers processed notifications in this process's memory: enough for one process, forgotten at its end. For
 * several processes, or across restarts, give the handler a shared store (`mandatekit/stores`).
 *
 * @throws {InvalidRequestError} when `limit` is not a number from 1.
 */
export const memoryDedupe = (options: MemoryDedupeOptions = {}): MemoryDedupe =>
  whileReading('memoryDedupe', 'options', () => {
    refuse('memoryDedupe', issuesOf(options))
    return memoryDedupeTimedBy(options.clock ?? steadyClock, options)
  })

/** The same with leases on a clock of their own. */
export const memoryDedupeTimedBy = (
  leaseClock: Clock,
  { limit = 100_000, clock = systemClock }: MemoryDedupeOptions,
): MemoryDedupe => {
  const leases = new Map<string, Lease>()
  const committed = new Map<string, number>()
  let claims = 0

  const holds = (id: string, owner: string): boolean => {
    const lease = leases.get(id)
    return lease !== undefined && lease.owner === owner && lease.endsAt > leaseClock.now()
  }

  /** Forgets what has ended, oldest first, then whole successes until one more id fits. */
  const makeRoom = (): void => {
    const now = clock.now()
    for (const [id, endsAt] of committed) {
      const isFull = leases.size + committed.size >= limit
      if (endsAt > now && !isFull) break
      committed.delete(id)
    }
    if (leases.size < limit) return
    for (const [id, { endsAt }] of leases) if (endsAt <= leaseClock.now()) leases.delete(id)
    if (leases.size >= limit) throw new Error(`memoryDedupe: ${limit} notifications are in progress already`)
  }

  const claim = async (id: string, leaseMilliseconds: number): Promise<Claim> => {
    const now = leaseClock.now()
    if ((committed.get(id) ?? 0) > clock.now()) return { state: 'committed' }
    if ((leases.get(id)?.endsAt ?? 0) > now) return { state: 'in-progress' }
    leases.delete(id)
    makeRoom()
    claims += 1
    const owner = String(claims)
    leases.set(id, { owner, endsAt: now + leaseMilliseconds })
    return { state: 'claimed', owner }
  }

  return {
    claim,
    async extend(id, owner, leaseMilliseconds) {
      if (!holds(id, owner)) return false
      leases.set(id, { owner, endsAt: leaseClock.now() + leaseMilliseconds })
      return true
    },
    async commit(id, owner, ttlMilliseconds) {
      const held = holds(id, owner)
      if (leases.get(id)?.owner === owner) leases.delete(id)
      // Deleted first, so that the Map's order stays the order of commits, which is the order of forgetting.
      committed.delete(id)
      committed.set(id, clock.now() + ttlMilliseconds)
      return held
    },
    async release(id, owner) {
      if (leases.get(id)?.owner === owner) leases.delete(id)
    },
    get size() {
      return leases.size + committed.size
    },
  }
}

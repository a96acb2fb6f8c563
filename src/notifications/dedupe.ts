import { check, clockOption } from '../check.ts'
import type { Clock } from '../clock.ts'
import { steadyClock, systemClock } from '../clock.ts'
import type { Input } from '../contract/fields.ts'
import { optional, strict, wholeNumber, withDefault } from '../contract/fields.ts'
import { randomId } from '../contract/formats.ts'

/**
 * The result of a claim. `claimed`: the caller holds the id until the lease ends, and `owner` proves it to the other
 * methods. `in-progress`: another caller holds a lease that has not ended. `committed`: the id was processed.
 */
export type Claim =
  | { readonly state: 'claimed'; readonly owner: string }
  | { readonly state: 'in-progress' | 'committed' }

/**
 * Remembers which notifications were processed, for one process or for a fleet. Every method is atomic: of all callers
 * that claim an id at once, one receives `claimed`. A method that cannot reach its backend rejects: the handler then
 * responds 503, and the sender delivers again.
 */
export interface DedupeStore {
  /** Claims an id. It can be claimed again when its lease has ended or it was released. Each claim has its own owner. */
  claim(id: string, leaseMilliseconds: number): Promise<Claim>
  /** Extends the lease to `leaseMilliseconds` from now. `false`: `owner` no longer holds the id. */
  extend(id: string, owner: string, leaseMilliseconds: number): Promise<boolean>
  /**
   * Marks an id as processed for `ttlMilliseconds`, even if another process holds it, because the work is done.
   * `false`: the lease of `owner` was lost before, so another process may have processed the notification too.
   */
  commit(id: string, owner: string, ttlMilliseconds: number): Promise<boolean>
  /** Gives an id back, so that it can be claimed at once. Does nothing when `owner` no longer holds it. */
  release(id: string, owner: string): Promise<void>
}

/** A dedupe store in memory. */
export interface MemoryDedupeStore extends DedupeStore {
  /** Number of ids held now, in progress or committed. */
  readonly size: number
}

const LIMIT = 100_000
const memoryOptions = {
  /**
   * Maximum number of ids, 100 000 by default (about 20 MB). Above it, the oldest committed ids are forgotten first.
   * Ids in progress are never forgotten: another claim is rejected instead, and the sender delivers again later.
   */
  limit: withDefault(wholeNumber(1), LIMIT),
  /** The time of leases and of committed ids. By default, leases run on real time, and ids age on the system's time. */
  clock: optional(clockOption),
}
/** Options of `createMemoryDedupeStore`. */
export interface MemoryDedupeStoreOptions extends Input<typeof memoryOptions> {}

/**
 * Remembers processed notifications in the memory of this process. A store of `mandatekit/stores` survives a restart,
 * and can serve several processes.
 *
 * @throws {InvalidRequestError} when `limit` is not a whole number from 1.
 */
export const createMemoryDedupeStore = (options: MemoryDedupeStoreOptions = {}): MemoryDedupeStore => {
  const { limit, clock } = check('createMemoryDedupeStore', strict(memoryOptions, 'option'), options)
  return createMemoryStore(clock ?? steadyClock, clock ?? systemClock, limit)
}

/** Creates the same store with its leases on a clock of their own. */
export const createMemoryStore = (leaseClock: Clock, clock: Clock, limit = LIMIT): MemoryDedupeStore => {
  const leases = new Map<string, { readonly owner: string; readonly endsAt: number }>()
  const committed = new Map<string, number>()

  const owns = (id: string, owner: string): boolean => leases.get(id)?.owner === owner
  const isLeased = (id: string): boolean => (leases.get(id)?.endsAt ?? 0) > leaseClock.now()

  /** Forgets what has ended, oldest first, then committed ids until one more id fits. */
  const makeRoom = (): void => {
    const now = clock.now()
    for (const [id, endsAt] of committed) {
      if (endsAt > now && leases.size + committed.size < limit) break
      committed.delete(id)
    }
    if (leases.size < limit) return
    for (const id of leases.keys()) if (!isLeased(id)) leases.delete(id)
    if (leases.size >= limit) throw new Error(`${limit} notifications are in progress already`)
  }

  return {
    async claim(id, leaseMilliseconds) {
      if ((committed.get(id) ?? 0) > clock.now()) return { state: 'committed' }
      if (isLeased(id)) return { state: 'in-progress' }
      leases.delete(id)
      makeRoom()
      const owner = randomId()
      leases.set(id, { owner, endsAt: leaseClock.now() + leaseMilliseconds })
      return { state: 'claimed', owner }
    },
    async extend(id, owner, leaseMilliseconds) {
      if (!owns(id, owner) || !isLeased(id)) return false
      leases.set(id, { owner, endsAt: leaseClock.now() + leaseMilliseconds })
      return true
    },
    async commit(id, owner, ttlMilliseconds) {
      const held = owns(id, owner) && isLeased(id)
      if (owns(id, owner)) leases.delete(id)
      // Deleted first, so that the Map keeps the order of commits, which is the order of forgetting.
      committed.delete(id)
      committed.set(id, clock.now() + ttlMilliseconds)
      return held
    },
    async release(id, owner) {
      if (owns(id, owner)) leases.delete(id)
    },
    get size() {
      return leases.size + committed.size
    },
  }
}

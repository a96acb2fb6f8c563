import { check, clockOption } from '../check.ts'
import { type Clock, steadyClock, systemClock } from '../clock.ts'
import { type Input, optional, strict, wholeNumber, withDefault } from '../contract/fields.ts'
import { randomId } from '../contract/formats.ts'

/**
 * The result of a claim. A claim reserves an id for a limited time, the lease. `claimed`: the caller holds the id until
 * the lease ends, and passes `owner` to the store's other methods. `in-progress`: another caller holds the id.
 * `committed`: the id is marked as processed.
 */
export type Claim =
  | { readonly state: 'claimed'; readonly owner: string }
  | { readonly state: 'in-progress' | 'committed' }

/**
 * Stores the ids of processed notifications. Each id consists of all fields of a message except the timestamp. Every
 * method is atomic: if callers claim an id at the same time, only one receives `claimed`. A method rejects if it cannot
 * reach the database. If `claim` rejects, the handler responds 503.
 */
export interface DedupeStore {
  /** Claims an id for a new owner. The id can be claimed again after a release or after the lease has ended. */
  claim(id: string, leaseMilliseconds: number): Promise<Claim>
  /** Extends the lease to `leaseMilliseconds` from now. Resolves to false if `owner` no longer holds the id. */
  extend(id: string, owner: string, leaseMilliseconds: number): Promise<boolean>
  /**
   * Marks an id as processed for `ttlMilliseconds`, even if another owner holds the id. Resolves to false if `owner`
   * no longer holds the id: another caller may have processed the same notification too.
   */
  commit(id: string, owner: string, ttlMilliseconds: number): Promise<boolean>
  /**
   * Returns whether an id is marked as processed. Optional. If the store has this method, the handler responds 200 to a
   * known duplicate without verifying it, so the duplicate needs no lookup in the API.
   */
  has?(id: string): Promise<boolean> | boolean
  /** Releases an id, so that the next claim succeeds at once. Does nothing if `owner` no longer holds the id. */
  release(id: string, owner: string): Promise<void>
}

/** A dedupe store in memory. */
export interface MemoryDedupeStore extends DedupeStore {
  /** The number of ids in the store: ids in progress and committed ids. */
  readonly size: number
}

const LIMIT = 100_000
const memoryOptions = {
  /**
   * Maximum number of ids. Default: 100 000 (about 30 MB). A full store drops the oldest committed ids, but never
   * ids in progress. If all ids are in progress, a new claim rejects, and the handler responds 503.
   */
  limit: withDefault(wholeNumber(1), LIMIT),
  /**
   * Clock for leases and for the handler's `dedupeTtl`. By default, leases use a monotonic clock, and `dedupeTtl` uses
   * the system's clock.
   */
  clock: optional(clockOption),
}
/** Options of `createMemoryDedupeStore`. */
export interface MemoryDedupeStoreOptions extends Input<typeof memoryOptions> {}

/**
 * Creates a store that keeps the ids of processed notifications in the memory of this process. If ids must survive a
 * restart, or if several processes share them, use a store from `mandatekit/stores`.
 *
 * @throws {InvalidRequestError} if `limit` is not a whole number, or is less than 1.
 */
export const createMemoryDedupeStore = (options: MemoryDedupeStoreOptions = {}): MemoryDedupeStore => {
  const { limit, clock } = check('createMemoryDedupeStore', strict(memoryOptions, 'option'), options)
  return createMemoryStore(clock ?? steadyClock, clock ?? systemClock, limit)
}

/** Creates a memory store. `leaseClock` measures leases, and `clock` measures how long ids are kept. */
export const createMemoryStore = (leaseClock: Clock, clock: Clock, limit = LIMIT): MemoryDedupeStore => {
  const leases = new Map<string, { readonly owner: string; readonly endsAt: number }>()
  const committed = new Map<string, number>()

  const has = (id: string): boolean => (committed.get(id) ?? 0) > clock.now()
  const owns = (id: string, owner: string): boolean => leases.get(id)?.owner === owner
  const isLeased = (id: string): boolean => (leases.get(id)?.endsAt ?? 0) > leaseClock.now()

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
    has,
    async claim(id, leaseMilliseconds) {
      if (has(id)) return { state: 'committed' }
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
      // `delete` before `set` moves the id to the end of the Map. `makeRoom` needs this order to find the oldest ids.
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

/**
 * What a claim found.
 *
 * - `claimed`: the id is yours until the lease ends; `owner` proves it to `extend`, `commit` and `release`.
 * - `in-progress`: someone else holds a lease that has not ended.
 * - `committed`: the id was processed to success.
 */
export type Claim =
  | {
      readonly state: 'claimed'
      /** Proves that the id is yours. */
      readonly owner: string
    }
  | { readonly state: 'in-progress' }
  | { readonly state: 'committed' }

/**
 * Remembers which notifications were processed, for one process or for a fleet. Every method is atomic: of any number
 * of callers that claim an id at once, one receives `claimed`.
 *
 * A method that cannot reach its store rejects; the handler then answers 503 and the sender delivers again.
 */
export interface DedupeStore {
  /**
   * Claims an id for `leaseMilliseconds`. An id whose lease has ended, or that was released, can be claimed again.
   * Each claim that succeeds has an owner of its own, so that a former holder cannot end the next one's lease.
   */
  claim(id: string, leaseMilliseconds: number): Promise<Claim>
  /**
   * Prolongs the lease to `leaseMilliseconds` from now. `false`: `owner` does not hold the id any more.
   */
  extend(id: string, owner: string, leaseMilliseconds: number): Promise<boolean>
  /**
   * Marks an id as processed for `ttlMilliseconds`, whoever holds it: what was processed is processed, and must not be
   * done again because a lease ended too early. `true` when `owner` held the id until now; `false` when the lease was
   * lost before, so that someone else may have processed it too.
   */
  commit(id: string, owner: string, ttlMilliseconds: number): Promise<boolean>
  /** Gives an id back, so that it can be claimed at once. Does nothing when `owner` does not hold it any more. */
  release(id: string, owner: string): Promise<void>
}

import type { Clock } from '../clock.ts'

/** How long a claim holds, in milliseconds. */
export interface Lease {
  /** A claim ends this long after its process last gave a sign of life. */
  readonly duration: number
  /** The longest a claim is prolonged for one run of your code. */
  readonly limit: number
}

/** What keeping a lease needs. */
export interface KeepLeaseOptions {
  readonly clock: Clock
  readonly lease: Lease
  /** Aborted when the work has ended. */
  readonly finished: AbortSignal
  /** Aborted here when the work should stop: its lease is lost, or its time is over. */
  readonly over: AbortController
}

/**
 * Prolongs a lease three times in its duration while the work runs. Ends with `finished` when the work has ended, or
 * with `limit` when the work has had its time: the lease is then left to end by itself. An extension that fails
 * (`undefined`) is tried again next time; a lease that was lost (`false`), or that was not prolonged until its end,
 * aborts the work, which may still succeed.
 */
export const keepLease = async (
  extend: () => Promise<boolean | undefined>,
  { clock, lease, finished, over }: KeepLeaseOptions,
): Promise<'finished' | 'limit'> => {
  const stopAt = clock.now() + lease.limit
  let endsAt = clock.now() + lease.duration
  while (!finished.aborted) {
    const wait = Math.min(lease.duration / 3, stopAt - clock.now())
    try {
      await clock.sleep(Math.max(wait, 0), finished)
    } catch {
      return 'finished'
    }
    if (finished.aborted) return 'finished'
    if (clock.now() >= stopAt) {
      over.abort(new Error('The notification was not processed within lease.limit'))
      return 'limit'
    }
    if (over.signal.aborted) continue
    const askedAt = clock.now()
    const extended = await extend()
    if (extended === true) endsAt = askedAt + lease.duration
    // The store may count the next claimer's lease already, also when this process cannot reach it.
    if (extended === false || clock.now() >= endsAt) {
      over.abort(new Error('The lease of the notification was lost'))
    }
  }
  return 'finished'
}

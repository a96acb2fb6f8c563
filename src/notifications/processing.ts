import type { Clock } from '../clock.ts'
import type { CarefulStore } from './careful-store.ts'
import type { Lease } from './lease.ts'
import { keepLease } from './lease.ts'
import type { Notification } from './notification.ts'
import type { Report } from './report.ts'

/**
 * What became of one delivery.
 *
 * - `done`: processed to success, now or before.
 * - `failed`: the work threw; the id was given back.
 * - `busy`: someone else is at it, or it takes too long; its result is not known.
 * - `unavailable`: the store could not be asked.
 */
export type Processed = 'done' | 'failed' | 'busy' | 'unavailable'

/** The merchant's code for one notification. */
export type Work = (signal: AbortSignal) => unknown

/** What processing needs. Times in milliseconds. */
export interface ProcessingOptions {
  readonly store: CarefulStore
  readonly clock: Clock
  readonly lease: Lease
  /** How long a duplicate waits for the delivery that is being processed in this process. */
  readonly patience: number
  readonly report: Report
}

type Settled = { readonly ok: true } | { readonly ok: false; readonly error: unknown }

const settle = async (work: Work, signal: AbortSignal): Promise<Settled> => {
  try {
    await work(signal)
    return { ok: true }
  } catch (error) {
    return { ok: false, error }
  }
}

/**
 * Runs work once for each notificationId: claimed, run, committed; given back when it fails. Deliveries of one id
 * within this process share one run.
 */
export const createProcessing = (options: ProcessingOptions) => {
  const { store, clock, lease, patience, report } = options
  const running = new Map<string, Promise<Processed>>()

  const conclude = async (notification: Notification, owner: string, result: Settled): Promise<Processed> => {
    if (result.ok) {
      const held = await store.commit(notification, owner)
      if (held === false) report({ kind: 'lease-lost', notification })
      return 'done'
    }
    report({ kind: 'handler-failed', notification, error: result.error })
    await store.release(notification, owner)
    return 'failed'
  }

  const execute = async (notification: Notification, owner: string, work: Work): Promise<Processed> => {
    const over = new AbortController()
    const finished = new AbortController()
    const concluded = settle(work, over.signal).then((result) => {
      finished.abort()
      return conclude(notification, owner, result)
    })
    const limited = keepLease(() => store.extend(notification, owner), {
      clock,
      lease,
      finished: finished.signal,
      over,
    })
    const first = await Promise.race([concluded, limited])
    if (first !== 'limit') return first === 'finished' ? concluded : first
    report({ kind: 'handler-too-slow', notification })
    return 'busy'
  }

  const claimAndExecute = async (notification: Notification, work: Work): Promise<Processed> => {
    const claim = await store.claim(notification)
    if (claim === undefined) return 'unavailable'
    if (claim.state === 'committed') return 'done'
    return claim.state === 'claimed' ? execute(notification, claim.owner, work) : 'busy'
  }

  const waitFor = async (run: Promise<Processed>): Promise<Processed> => {
    const settled = new AbortController()
    const outOfPatience = clock.sleep(patience, settled.signal).then(
      (): Processed => 'busy',
      (): Processed => 'busy',
    )
    const result = await Promise.race([run, outOfPatience])
    settled.abort()
    // The first delivery answers for the failure; a duplicate only says that nothing was processed.
    return result === 'failed' ? 'busy' : result
  }

  return async (notification: Notification, work: Work): Promise<Processed> => {
    const { notificationId: id } = notification
    const current = running.get(id)
    if (current !== undefined) return waitFor(current)
    const run = claimAndExecute(notification, work).finally(() => running.delete(id))
    running.set(id, run)
    return run
  }
}

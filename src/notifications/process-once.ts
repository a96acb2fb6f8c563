import { type Clock, waitAtMost } from '../clock.ts'
import { isObject } from '../contract/fields.ts'
import type { Claim, DedupeStore } from './dedupe.ts'
import type { HandlerSettings, Report } from './options.ts'
import type { MerchantNotification } from './parse.ts'

/** Result of a delivery. `in-progress`: another delivery holds the key, the listener was too slow, or the claim failed. */
type Processed = 'processed' | 'duplicate' | 'in-progress' | 'failed'

/**
 * Returns the text under which a notification is claimed and committed. It covers every fact, because an attacker may
 * guess the id of a later notification and send a genuine one under this id: the later one must not count as its
 * duplicate. The timestamp is not covered, because a sender may renew the timestamp of a redelivery.
 */
const keyOf = (notification: MerchantNotification): string => {
  const { notificationId, type, status, subscriptionId, paymentId } = notification
  const sentType = type === 'UNKNOWN' ? notification.receivedType : type
  return JSON.stringify([notificationId, sentType, status, subscriptionId, paymentId])
}

/** Calls the listener for one notification. */
export type Work = (signal: AbortSignal) => Promise<unknown>

const MAX_UNCOMMITTED = 10_000
const STATES: ReadonlySet<unknown> = new Set<Claim['state']>(['claimed', 'in-progress', 'committed'])

/** Returns whether a result is valid for a method of a dedupe store. */
const isPossible = (method: keyof DedupeStore, result: unknown): boolean => {
  if (method === 'claim') return isObject(result) && STATES.has(result.state)
  return method === 'release' || typeof result === 'boolean'
}

const ignore = (): void => undefined

/** A call of a listener in this process. After `endsAt`, new deliveries do not wait for it: it may never end. */
interface Run {
  endsAt: number
  result?: Promise<Processed>
}

/**
 * Returns a function that runs a listener once for each notification. The function claims the notification's key, runs
 * the listener, and commits or releases the key. Concurrent deliveries of one key share one run in this process.
 */
export const createProcessOnce = (
  { lease, responseTimeout, dedupeTtl, timeouts }: HandlerSettings,
  store: DedupeStore,
  clock: Clock,
  report: Report,
) => {
  const running = new Map<string, Run>()
  // Processed notifications that the store failed to record. Later deliveries of these are duplicates.
  const uncommitted = new Set<string>()

  /** Calls the store, with a timeout. After a failure, reports the failure and resolves to undefined. */
  const ask = async <Value>(
    notification: MerchantNotification,
    method: keyof DedupeStore,
    call: () => Promise<Value>,
  ): Promise<Value | undefined> => {
    try {
      const what = `${method} of the dedupe store`
      const result = await waitAtMost((async () => call())(), timeouts.store, undefined, what)
      if (isPossible(method, result)) return result
      throw new Error(`${method} of the dedupe store returned an invalid result`)
    } catch (error) {
      report({ kind: 'store-failed', notification, method, error })
      return undefined
    }
  }

  const claimAndRun = async (
    notification: MerchantNotification,
    work: Work,
    own: Run,
  ): Promise<Processed> => {
    const key = keyOf(notification)
    if (uncommitted.has(key)) return 'duplicate'
    const claiming = (async () => store.claim(key, lease.duration))()
    const claim = await ask(notification, 'claim', () => claiming)
    if (claim?.state === 'claimed') return run(notification, work, claim.owner, own)
    if (claim !== undefined) return claim.state === 'committed' ? 'duplicate' : 'in-progress'
    // If the claim succeeds after the timeout, `giveBack` releases the key, so that a redelivery need not wait.
    const giveBack = (late: Claim) => (late.state === 'claimed' ? store.release(key, late.owner) : undefined)
    claiming.then(giveBack).catch(ignore)
    return 'in-progress'
  }

  /** Runs the listener while holding the lease. Commits the key after a success, or releases it after a failure. */
  const run = (
    notification: MerchantNotification,
    work: Work,
    owner: string,
    own: Run,
  ): Promise<Processed> => {
    const key = keyOf(notification)
    const stop = new AbortController()
    const finished = new AbortController()
    const commit = () => ask(notification, 'commit', () => store.commit(key, owner, dedupeTtl))

    const workAndCommit = async (): Promise<Processed> => {
      try {
        await work(stop.signal).finally(() => finished.abort())
      } catch (error) {
        report({ kind: 'handler-failed', notification, error })
        await ask(notification, 'release', () => store.release(key, owner))
        return 'failed'
      }
      const held = await commit()
      if (held === false) report({ kind: 'lease-lost', notification })
      // A commit that timed out may have taken effect, so `false` from the second commit does not prove a lost lease.
      if (held === undefined && (await commit()) === undefined) {
        uncommitted.add(key)
        const [oldest = key] = uncommitted
        if (uncommitted.size > MAX_UNCOMMITTED) uncommitted.delete(oldest)
      }
      return 'processed'
    }

    /** Extends the lease until the listener ends or `lease.limit` passes. Aborts the listener after a lost lease. */
    const keepLease = async (): Promise<Processed> => {
      const limitAt = clock.now() + lease.limit
      own.endsAt = clock.now() + lease.duration
      for (;;) {
        const pause = Math.min(lease.duration / 3, limitAt - clock.now())
        await clock.sleep(Math.max(pause, 0), finished.signal).catch(ignore)
        if (finished.signal.aborted) return result
        if (clock.now() >= limitAt) {
          stop.abort(new Error('The notification was not processed within lease.limit'))
          report({ kind: 'handler-too-slow', notification })
          return 'in-progress'
        }
        if (stop.signal.aborted) continue
        const askedAt = clock.now()
        const extended = await ask(notification, 'extend', () => store.extend(key, owner, lease.duration))
        if (extended === true) own.endsAt = askedAt + lease.duration
        // After `endsAt`, another process may hold the lease, so the listener must stop.
        if (extended === false || clock.now() >= own.endsAt) {
          stop.abort(new Error('The lease of the notification was lost'))
        }
      }
    }

    const result = workAndCommit()
    // `Promise.race`, because the response must not wait for a call of `store.extend` that hangs.
    return Promise.race([result, keepLease()])
  }

  /** Whether the listener succeeded for an earlier delivery. If the store cannot tell, the claim decides. */
  const isProcessed = async (notification: MerchantNotification): Promise<boolean> => {
    const key = keyOf(notification)
    if (uncommitted.has(key)) return true
    return store.has !== undefined && (await ask(notification, 'has', async () => store.has?.(key))) === true
  }

  const processOnce = async (notification: MerchantNotification, work: Work): Promise<Processed> => {
    const key = keyOf(notification)
    const first = running.get(key)
    if (first?.result === undefined || first.endsAt <= clock.now()) {
      const own: Run = { endsAt: clock.now() + timeouts.store + lease.duration }
      running.set(key, own)
      own.result = claimAndRun(notification, work, own).finally(() => {
        if (running.get(key) === own) running.delete(key)
      })
      return own.result
    }
    // Some runtimes stop the first delivery when its request ends. `first.result` then rejects or never settles.
    const result = await waitAtMost(first.result, responseTimeout).catch(() => 'in-progress' as const)
    if (result === 'processed') return 'duplicate'
    // If the listener failed, the first delivery gets a 500 response, and a concurrent delivery gets 503.
    return result === 'failed' ? 'in-progress' : result
  }
  return Object.assign(processOnce, { isProcessed })
}

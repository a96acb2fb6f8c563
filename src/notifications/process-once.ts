import { type Clock, waitAtMost } from '../clock.ts'
import { isObject } from '../contract/fields.ts'
import type { DedupeStore } from './dedupe.ts'
import type { HandlerSettings, Report } from './options.ts'
import type { MerchantNotification } from './parse.ts'

/**
 * The result of a delivery. `in-progress`: another delivery is running, the listener is too slow, or the claim failed.
 */
type Outcome =
  | { readonly result: 'processed' | 'duplicate' | 'in-progress' }
  | { readonly result: 'failed'; readonly error: unknown }

type Work = (signal: AbortSignal) => Promise<unknown>

/** A listener's call in this process. The call may hang, so new deliveries wait for its result only until `endsAt`. */
interface Run {
  endsAt: number
  outcome?: Promise<Outcome>
}

const MAX_UNCOMMITTED = 10_000
/**
 * Returns whether a store's result is valid. Without this check, nobody would notice that a store always returns
 * undefined.
 */
const isPossible = (method: keyof DedupeStore, result: unknown): boolean => {
  if (method === 'release') return true
  if (method !== 'claim') return typeof result === 'boolean'
  return isObject(result) && /^(?:claimed|in-progress|committed)$/.test(String(result.state))
}

/**
 * Returns the key under which a notification is claimed and committed: every field except the timestamp, which may be
 * new in a redelivery. The id alone is not enough. An attacker could guess the next notification's id, and send an old
 * notification with this id. Then the next notification would count as a duplicate.
 */
const keyOf = (notification: MerchantNotification): string => {
  const { notificationId, type, status, subscriptionId, paymentId } = notification
  const sentType = type === 'UNKNOWN' ? notification.receivedType : type
  return JSON.stringify([notificationId, sentType, status, subscriptionId, paymentId])
}

/** Claims a notification's key, runs the listener once for concurrent deliveries, and commits or releases the key. */
export const createProcessOnce = (
  { lease, responseTimeout, dedupeTtl, timeouts }: HandlerSettings,
  store: DedupeStore,
  clock: Clock,
  report: Report,
) => {
  const running = new Map<string, Run>()
  // Processed notifications that the store failed to record. Their later deliveries are duplicates.
  const uncommitted = new Set<string>()

  /** Calls the store, with a timeout. If the call fails, reports the error and resolves to undefined. */
  const callStore = async <Value>(
    notification: MerchantNotification,
    method: keyof DedupeStore,
    call: () => Promise<Value>,
  ): Promise<Value | undefined> => {
    const what = `${method} of the dedupe store`
    try {
      const result = await waitAtMost(call(), timeouts.store, undefined, what)
      if (isPossible(method, result)) return result
      throw new Error(`${what} returned an invalid result`)
    } catch (error) {
      report({ kind: 'store-failed', notification, method, error })
      return undefined
    }
  }

  /** Runs the listener while holding the lease. Commits the key after a success, or releases it after a failure. */
  const run = (notification: MerchantNotification, work: Work, owner: string, own: Run): Promise<Outcome> => {
    const key = keyOf(notification)
    const stop = new AbortController()
    const finished = new AbortController()
    const commit = () => callStore(notification, 'commit', async () => store.commit(key, owner, dedupeTtl))

    const workAndCommit = async (): Promise<Outcome> => {
      try {
        await work(stop.signal).finally(() => finished.abort())
      } catch (error) {
        report({ kind: 'handler-failed', notification, error })
        await callStore(notification, 'release', async () => store.release(key, owner))
        return { result: 'failed', error }
      }
      const held = await commit()
      if (held === false) report({ kind: 'lease-lost', notification })
      // A commit that timed out may have taken effect, so `false` from the second commit does not prove a lost lease.
      if (held === undefined && (await commit()) === undefined) {
        uncommitted.add(key)
        const [oldest = key] = uncommitted
        if (uncommitted.size > MAX_UNCOMMITTED) uncommitted.delete(oldest)
      }
      return { result: 'processed' }
    }

    /** Extends the lease until the listener ends or `lease.limit` passes. Aborts the listener if the lease is lost. */
    const keepLease = async (): Promise<Outcome> => {
      const limitAt = clock.now() + lease.limit
      own.endsAt = clock.now() + lease.duration
      for (;;) {
        const pause = Math.min(lease.duration / 3, limitAt - clock.now())
        await clock.sleep(Math.max(pause, 0), finished.signal).catch(() => undefined)
        if (finished.signal.aborted) return outcome
        if (clock.now() >= limitAt) {
          stop.abort(new Error('The notification was not processed within lease.limit'))
          report({ kind: 'handler-too-slow', notification })
          return { result: 'in-progress' }
        }
        if (stop.signal.aborted) continue
        const askedAt = clock.now()
        const extended = await callStore(notification, 'extend', async () =>
          store.extend(key, owner, lease.duration),
        )
        if (extended) own.endsAt = askedAt + lease.duration
        // After `endsAt`, another process may hold the lease, so the listener must stop.
        if (extended === false || clock.now() >= own.endsAt)
          stop.abort(new Error('The lease of the notification was lost'))
      }
    }

    const outcome = workAndCommit()
    // `Promise.race`, because the response must not wait for a call of `store.extend` that hangs.
    return Promise.race([outcome, keepLease()])
  }

  const claimAndRun = async (notification: MerchantNotification, work: Work, own: Run): Promise<Outcome> => {
    const key = keyOf(notification)
    if (uncommitted.has(key)) return { result: 'duplicate' }
    const claiming = (async () => store.claim(key, lease.duration))()
    const claim = await callStore(notification, 'claim', () => claiming)
    if (claim?.state === 'claimed') return run(notification, work, claim.owner, own)
    // If the claim succeeds after the timeout, the key is released, so that a redelivery need not wait.
    if (claim === undefined)
      claiming
        .then((late) => (late.state === 'claimed' ? store.release(key, late.owner) : undefined))
        .catch(() => undefined)
    return { result: claim?.state === 'committed' ? 'duplicate' : 'in-progress' }
  }

  /** Waits for another delivery's result, but at most `responseTimeout`: the runtime may have stopped that delivery. */
  const share = async (outcome: Promise<Outcome>): Promise<Outcome> => {
    const shared = await waitAtMost(outcome, responseTimeout).catch(() => undefined)
    // If the listener failed, the first delivery gets a 500 response, and a concurrent delivery gets 503.
    if (shared === undefined || shared.result === 'failed') return { result: 'in-progress' }
    return shared.result === 'processed' ? { result: 'duplicate' } : shared
  }

  return {
    /** Returns whether a notification was processed. If the store fails, returns false, and `claim` checks again. */
    isProcessed: async (notification: MerchantNotification): Promise<boolean> => {
      const key = keyOf(notification)
      if (uncommitted.has(key)) return true
      return (await callStore(notification, 'has', async () => store.has?.(key) ?? false)) === true
    },

    process: (notification: MerchantNotification, work: Work): Promise<Outcome> => {
      const key = keyOf(notification)
      const first = running.get(key)
      if (first?.outcome !== undefined && first.endsAt > clock.now()) return share(first.outcome)
      const own: Run = { endsAt: clock.now() + timeouts.store + lease.duration }
      running.set(key, own)
      own.outcome = claimAndRun(notification, work, own).finally(() => {
        if (running.get(key) === own) running.delete(key)
      })
      return own.outcome
    },
  }
}

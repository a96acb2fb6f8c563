import { withTimeout } from '../auth/timeout.ts'
import type { Claim, DedupeStore } from './dedupe-store.ts'
import type { Notification } from './notification.ts'
import type { Report } from './report.ts'

/** What a careful store needs. Times in milliseconds. */
export interface CarefulStoreOptions {
  readonly store: DedupeStore
  /** The longest wait for one call of the store, in real time. */
  readonly timeout: number
  /** How long a claim holds without a sign of life. */
  readonly leaseDuration: number
  /** How long a success is remembered. */
  readonly remember: number
  readonly report: Report
}

/** A dedupe store for notifications: a call that fails is reported and resolves to `undefined`. */
export interface CarefulStore {
  claim(notification: Notification): Promise<Claim | undefined>
  extend(notification: Notification, owner: string): Promise<boolean | undefined>
  /** Marks a success; one that the store cannot be told is kept here, and told with the next success. */
  commit(notification: Notification, owner: string): Promise<boolean | undefined>
  release(notification: Notification, owner: string): Promise<void>
}

const MOST_UNTOLD = 10_000
const TOLD_AT_ONCE = 100
const STATES: ReadonlySet<unknown> = new Set<Claim['state']>(['claimed', 'in-progress', 'committed'])

const ignore = (): void => undefined

/** A store that may throw, hang, lie or be lost in the middle, made safe to use. */
export const createCarefulStore = (options: CarefulStoreOptions): CarefulStore => {
  const { store, timeout, leaseDuration, remember, report } = options
  // Successes that the store could not be told, by id with their owner: this process at least does not repeat them.
  const untold = new Map<string, string>()
  let isTelling = false

  /** A call of the store, which may throw, hang, or give no promise at all. */
  const call = <Value>(work: () => Promise<Value>): Promise<Value> =>
    withTimeout((async () => work())(), timeout, 'The dedupe store')

  const attempt = async <Value>(
    notification: Notification,
    method: 'claim' | 'extend' | 'commit' | 'release',
    work: () => Promise<Value>,
  ): Promise<Value | undefined> => {
    try {
      return await call(work)
    } catch (error) {
      report({ kind: 'store-failed', notification, method, error })
      return undefined
    }
  }

  const claimOnce = async (id: string): Promise<Claim> => {
    const claim: Claim | undefined = await store.claim(id, leaseDuration)
    if (claim !== undefined && STATES.has(claim?.state)) return claim
    throw new Error('The dedupe store gave a claim an answer that is none of its own')
  }

  /** Tells the store, now that it answers, of successes that it could not be told of before. */
  const tellUntold = async (): Promise<void> => {
    if (isTelling) return
    isTelling = true
    try {
      for (const [id, owner] of [...untold].slice(0, TOLD_AT_ONCE)) {
        await call(() => store.commit(id, owner, remember))
        untold.delete(id)
      }
    } catch {
      // Reported when it failed first; the next success tries again.
    } finally {
      isTelling = false
    }
  }

  const commit: CarefulStore['commit'] = async (notification, owner) => {
    const { notificationId: id } = notification
    const tell = () => attempt(notification, 'commit', () => store.commit(id, owner, remember))
    let held = await tell()
    // A first answer that was lost may have been a success: the second then finds no lease, which is no loss.
    if (held === undefined && (await tell()) !== undefined) held = true
    untold.delete(id)
    if (held === undefined) untold.set(id, owner)
    else if (untold.size > 0) void tellUntold()
    const [oldest] = untold.keys()
    if (untold.size > MOST_UNTOLD && oldest !== undefined) untold.delete(oldest)
    return held
  }

  return {
    async claim(notification) {
      const { notificationId: id } = notification
      const earlierOwner = untold.get(id)
      if (earlierOwner !== undefined) {
        await commit(notification, earlierOwner)
        return { state: 'committed' }
      }
      const asked = claimOnce(id)
      const claim = await attempt(notification, 'claim', () => asked)
      if (claim === undefined) {
        // Granted too late, nobody would hold it: the redelivery would wait for its lease.
        asked
          .then((late) => (late.state === 'claimed' ? store.release(id, late.owner) : undefined))
          .catch(ignore)
      }
      return claim
    },
    extend: (notification, owner) =>
      attempt(notification, 'extend', () => store.extend(notification.notificationId, owner, leaseDuration)),
    commit,
    async release(notification, owner) {
      await attempt(notification, 'release', () => store.release(notification.notificationId, owner))
    },
  }
}

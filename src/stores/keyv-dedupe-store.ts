import { randomMark } from '../auth/fingerprint.ts'
import { createKeyedMutex } from '../auth/keyed-mutex.ts'
import type { Clock } from '../clock.ts'
import type { Claim, DedupeStore } from '../notifications/dedupe-store.ts'
import { systemClock } from '../system-clock.ts'
import { clockIssues, refuse } from '../transport/input-issues.ts'
import type { KeyvLike, KeyvOptions } from './keyv-access.ts'
import { accessKeyv } from './keyv-access.ts'

/** Options of a dedupe store over Keyv. */
export interface KeyvDedupeStoreOptions extends KeyvOptions {
  /** Tells when a lease ends. Default: the machine's time. */
  readonly clock?: Clock
}

type Entry =
  | { readonly state: 'committed' }
  | { readonly state: 'claimed'; readonly owner: string; readonly until: number }

const readEntry = (value: unknown): Entry | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'object' && 'state' in value) {
    const { state } = value
    if (state === 'committed') return { state }
    if (state === 'claimed' && 'owner' in value && 'until' in value) {
      const { owner, until } = value
      if (typeof owner === 'string' && typeof until === 'number') return { state, owner, until }
    }
  }
  throw new Error('Keyv holds something else under the key of a notification')
}

/**
 * Remembers processed notifications in a Keyv with any backend, so that they survive a restart. Keyv has no atomic
 * step: claims are atomic **within one process** only. For several processes use `createRedisDedupeStore`.
 *
 * When the backend fails every method rejects: the handler answers 503, and the sender delivers again.
 *
 * @throws {InvalidRequestError} at once when it is given no Keyv.
 */
export const createKeyvDedupeStore = (keyv: KeyvLike, options: KeyvDedupeStoreOptions = {}): DedupeStore => {
  const access = accessKeyv(keyv, options, ['prefix', 'clock'])
  const { clock = systemClock } = options
  refuse('stores.keyv', clockIssues(clock))
  const inTurn = createKeyedMutex()
  const keyOf = (id: string) => `notification:${id}`
  const read = async (id: string) => readEntry(await access.get(keyOf(id)))
  const holds = (entry: Entry | undefined, owner: string): boolean =>
    entry?.state === 'claimed' && entry.owner === owner && clock.now() < entry.until
  const claimFor = (id: string, owner: string, lease: number) =>
    access.set(keyOf(id), { state: 'claimed', owner, until: clock.now() + lease } satisfies Entry, lease)
  return {
    claim: (id, leaseMilliseconds) =>
      inTurn(id, async (): Promise<Claim> => {
        const entry = await read(id)
        if (entry?.state === 'committed') return { state: 'committed' }
        if (entry !== undefined && clock.now() < entry.until) return { state: 'in-progress' }
        const owner = randomMark()
        await claimFor(id, owner, leaseMilliseconds)
        return { state: 'claimed', owner }
      }),
    extend: (id, owner, leaseMilliseconds) =>
      inTurn(id, async () => {
        if (!holds(await read(id), owner)) return false
        await claimFor(id, owner, leaseMilliseconds)
        return true
      }),
    commit: (id, owner, ttlMilliseconds) =>
      inTurn(id, async () => {
        const held = holds(await read(id), owner)
        await access.set(keyOf(id), { state: 'committed' } satisfies Entry, ttlMilliseconds)
        return held
      }),
    release: (id, owner) =>
      inTurn(id, async () => {
        if (holds(await read(id), owner)) await access.delete(keyOf(id))
      }),
  }
}

import { createKeyedMutex, type TokenStore } from '../auth/token-store.ts'
import { check, clockOption, objectWith } from '../check.ts'
import { systemClock } from '../clock.ts'
import { anyText, type Input, isObject, strict, withDefault } from '../contract/fields.ts'
import { randomId } from '../contract/formats.ts'
import type { Claim, DedupeStore } from '../notifications/dedupe.ts'

/** The methods of Keyv 5 and Keyv 6 that the stores use. Any backend of Keyv works. */
export interface KeyvLike {
  /** Resolves to the value under the key, or to undefined if the key has no value. */
  get(key: string): Promise<unknown>
  /** Stores a value for `timeToLive` milliseconds. Resolves to false when the value was not stored. */
  set(key: string, value: unknown, timeToLive?: number): Promise<unknown>
  /** Deletes the value under the key. */
  delete(key: string): Promise<unknown>
  /** Adds a listener for failures of the backend. If `on` is absent, the store treats a failed read as a missing key. */
  on?(event: 'error', listener: (error: unknown) => void): unknown
}

const keyvOptions = {
  /** Prefix of every key. Default: no prefix, because Keyv has its own option `namespace`. */
  prefix: withDefault(anyText, ''),
}
/** Options of every store that uses Keyv. */
export interface KeyvOptions extends Input<typeof keyvOptions> {}

const keyvDedupeStoreOptions = {
  ...keyvOptions,
  /** The clock that determines when a claim ends. Default: the system's clock. */
  clock: withDefault(clockOption, systemClock),
}
/** Options of a dedupe store that uses Keyv. */
export interface KeyvDedupeStoreOptions extends Input<typeof keyvDedupeStoreOptions> {}

/** Wraps a Keyv, so that a failed call rejects. Keyv itself emits `error` and resolves to undefined. */
const accessKeyv = (given: KeyvLike, prefix: string) => {
  const keyv = check('stores.keyv', objectWith<KeyvLike>('a Keyv', 'get', 'set', 'delete'), given, 'keyv')
  let failures = 0
  keyv.on?.('error', () => {
    failures += 1
  })
  const watch = async (method: 'get' | 'set' | 'delete', key: string, ...rest: [unknown?, number?]) => {
    const before = failures
    const result: unknown = await keyv[method](prefix + key, ...rest)
    if (failures > before) throw new Error(`Keyv reported an error during ${method}`)
    return result
  }
  return {
    get: (key: string) => watch('get', key),
    set: async (key: string, value: unknown, timeToLive: number) => {
      const isStored = await watch('set', key, value, Math.max(1, Math.ceil(timeToLive)))
      if (isStored === false) throw new Error('Keyv did not store the value')
    },
    delete: (key: string) => watch('delete', key),
  }
}

/**
 * Keeps tokens in a Keyv, so that processes share them. After a rejected login, all processes pause their logins. Keyv
 * has no locks, so if several processes find no token, each logs in. To share one login, use `createRedisTokenStore`,
 * or your own store with `withLock`. If the backend fails, API calls do not fail: each process keeps its own token.
 *
 * @throws {InvalidRequestError} if an argument is invalid.
 * @example
 * new SubscriptionsClient({ baseUrl, credentials, tokenStore: createKeyvTokenStore(new Keyv(backend)) })
 */
export const createKeyvTokenStore = (keyv: KeyvLike, options: KeyvOptions = {}): TokenStore => {
  const { prefix } = check('stores.keyv', strict(keyvOptions, 'option'), options)
  // The cast is safe, because the client checks every record that a store returns.
  return accessKeyv(keyv, prefix) as TokenStore
}

interface Entry {
  readonly state: 'committed' | 'claimed'
  readonly owner?: string
  readonly until?: number
}

const readEntry = (value: unknown): Partial<Entry> => {
  if (value === undefined || value === null) return {}
  if (isObject(value) && (value.state === 'committed' || value.state === 'claimed')) return value
  throw new Error('another program wrote this key in Keyv: give the store its own prefix')
}

/**
 * Stores the ids of processed notifications in a Keyv. With a persistent backend, the ids survive a restart. Keyv has
 * no atomic operations, so two processes can claim the same id at the same time. For several processes, use
 * `createRedisDedupeStore`. If the backend fails, every method rejects, and the notification handler responds
 * with 503, so that the sender can retry.
 *
 * @throws {InvalidRequestError} if an argument is invalid.
 */
export const createKeyvDedupeStore = (keyv: KeyvLike, options: KeyvDedupeStoreOptions = {}): DedupeStore => {
  const { prefix, clock } = check('stores.keyv', strict(keyvDedupeStoreOptions, 'option'), options)
  const access = accessKeyv(keyv, `${prefix}notification:`)
  const mutex = createKeyedMutex()
  const inTurn = <Result>(id: string, decide: (entry: Partial<Entry>) => Promise<Result>) =>
    mutex(id, async () => decide(readEntry(await access.get(id))))
  const isLeased = ({ until = 0 }: Partial<Entry>): boolean => clock.now() < until
  const holds = (entry: Partial<Entry>, owner: string) => entry.owner === owner && isLeased(entry)
  const save = (id: string, entry: Entry, timeToLive: number) => access.set(id, entry, timeToLive)
  const lease = (id: string, owner: string, duration: number) =>
    save(id, { state: 'claimed', owner, until: clock.now() + duration }, duration)
  return {
    claim: (id, leaseMilliseconds) =>
      inTurn(id, async (entry): Promise<Claim> => {
        if (entry.state === 'committed') return { state: 'committed' }
        if (isLeased(entry)) return { state: 'in-progress' }
        const owner = randomId()
        await lease(id, owner, leaseMilliseconds)
        return { state: 'claimed', owner }
      }),
    has: async (id) => readEntry(await access.get(id)).state === 'committed',
    extend: (id, owner, leaseMilliseconds) =>
      inTurn(id, async (entry) => {
        if (!holds(entry, owner)) return false
        await lease(id, owner, leaseMilliseconds)
        return true
      }),
    commit: (id, owner, ttlMilliseconds) =>
      inTurn(id, async (entry) => {
        const held = holds(entry, owner)
        await save(id, { state: 'committed' }, ttlMilliseconds)
        return held
      }),
    release: (id, owner) =>
      inTurn(id, async (entry) => {
        if (holds(entry, owner)) await access.delete(id)
      }),
  }
}

import { type Clock, waitAtMost } from '../clock.ts'
import { RateLimitError } from '../errors.ts'
import { describeError } from './authorizer.ts'
import { LOGIN } from './credentials.ts'
import * as records from './token-record.ts'
import { createKeyedMutex, type TokenStore } from './token-store.ts'

const STORE_LIMIT = 5_000
/** A call waits at most this many ms (real time) for the login of another client or process. */
const LOCK_LIMIT = 30_000
/** A failed store is not called for this many ms. After `LOCK_LIMIT`, calls fail with this `retryAfterMs`. */
const PAUSE = 5_000
/** The longest `timeToLive` of a record, in ms. Every record with a refresh token has this `timeToLive`. */
const MAX_KEPT_MS = 2_592_000_000

// The clients that use the same store share a mutex and the records that this process wrote last. So only one of them
// logs in, even if the store fails.
const createShared = () => ({
  inTurn: createKeyedMutex(),
  memory: new Map<string, { readonly record: records.TokenRecord; isSaved: boolean }>(),
})
const sharedParts = new WeakMap<TokenStore, ReturnType<typeof createShared>>()

type Lock = (key: string, task: () => Promise<void>) => Promise<unknown>

/** Adds the version of the record's format to a key: other versions of this package may not understand the record. */
const versioned = (key: string): string => `${key}:${records.RECORD_VERSION}`

/** Reads and writes token records in a store. If the store fails, memory replaces it, so that API calls do not fail. */
export const createResilientStore = (store: TokenStore, clock: Clock, report: (message: string) => void) => {
  const shared = sharedParts.get(store) ?? createShared()
  sharedParts.set(store, shared)
  const { inTurn, memory } = shared
  let failedAt = Number.NEGATIVE_INFINITY
  let saving: Promise<unknown> | undefined

  const isSuspended = (): boolean => {
    const since = clock.now() - failedAt
    return since >= 0 && since < PAUSE
  }

  /** Calls the store. For 5 s after a failure, skips the call. Returns `undefined` for a failed or skipped call. */
  const callStore = async <Result>(
    method: keyof TokenStore,
    work: () => Promise<Result> | Result,
    limit = STORE_LIMIT,
  ): Promise<Result | undefined> => {
    if (isSuspended()) return undefined
    try {
      return await waitAtMost((async () => work())(), limit)
    } catch (error) {
      failedAt = clock.now()
      report(`The token store failed: ${method}() failed (${describeError(error)}). Tokens stay in memory.`)
      return undefined
    }
  }

  /** Takes the store's lock. If the store fails or has no lock, locks in memory. Returns whether the store failed. */
  const lock = async (key: string, over: AbortSignal): Promise<boolean> => {
    const released = new Promise<void>((release) => over.addEventListener('abort', () => release()))
    const lockWith = (withLock: Lock) =>
      new Promise<true>((start, fail) => {
        const hold = () => {
          start(true)
          return released
        }
        // After `over` is aborted, nobody needs the lock, so its failure no longer counts.
        void released.then(hold)
        // A `withLock` that resolves without having run its task has failed too.
        withLock(key, hold).then(fail, fail)
      })
    const ofStore: Lock = async (...task) => store.withLock?.(...task)
    if (store.withLock && (await callStore('withLock', () => lockWith(ofStore), Infinity))) return false
    await lockWith(inTurn)
    return isSuspended()
  }

  return {
    async read(key: string): Promise<records.TokenRecord> {
      const { record: own, isSaved } = memory.get(key) ?? { record: records.EMPTY_RECORD, isSaved: true }
      const found = await callStore('get', () => store.get(versioned(key)))
      if (found === undefined || found === null) return own
      const record = records.readTokenRecord(found)
      if (record !== undefined) return records.mergeRecords(record, own, isSaved)
      report('The token store returned an unreadable record.')
      return own
    },

    /** Keeps a record in memory, and starts to save it in the store. Until it is saved, `locked()` holds the lock. */
    write(key: string, given: records.TokenRecord, timeToLive: number): void {
      // Some databases reject `undefined` or save it as null.
      const kept = { record: JSON.parse(JSON.stringify(given)), isSaved: false }
      memory.set(key, kept)
      saving = callStore('set', async () => {
        await store.set(versioned(key), kept.record, Math.min(timeToLive, MAX_KEPT_MS))
        kept.isSaved = true
      })
    },

    /**
     * Waits until no other client or process is logging in, then runs the task. If the store failed, the lock covers
     * only this process, and `isAlone` is true. If the task fails after it called `write`, waits until the record is
     * saved, then throws the task's error. If the lock is not free within 30 s, throws an error with `retryAfterMs`.
     */
    async locked<Result>(
      key: string,
      task: (isAlone: boolean) => Promise<Result>,
      signal: AbortSignal,
    ): Promise<Result> {
      const over = new AbortController()
      const isAlone = await waitAtMost(lock(key, over.signal), LOCK_LIMIT, signal).catch((error: unknown) => {
        over.abort()
        if (signal.aborted) throw error
        const message = `${LOGIN} failed: another client or process is logging in. Calling again is safe.`
        const call = { operation: LOGIN, phase: 'wait', outcome: 'not-sent', attempts: 0 } as const
        throw new RateLimitError(message, { ...call, retryable: true, retryAfterMs: PAUSE })
      })
      // In a worker, the save of an earlier request may never end, so this task must not wait for that save.
      saving = undefined
      try {
        return await task(isAlone)
      } catch (error) {
        // The process may exit after the error. If the rejected login were not saved, the next process would log in.
        await saving
        throw error
      } finally {
        void Promise.resolve(saving).then(() => over.abort())
      }
    },
  }
}

import { steadyClock, withTimeout } from '../clock.ts'
import type { TokenRecord } from './token-record.ts'

/**
 * Keeps the token and the rejected logins of a client. Clients and processes that use the same store share this data,
 * so that one login serves all of them.
 *
 * Records are plain JSON data that contains tokens, so protect the store like the credentials. Keys contain the base
 * URL, the client id and the username, so that one store can serve several merchants. Keys contain no secret.
 *
 * If a method throws, rejects or takes longer than 5 s (`withLock`: 30 s to get the lock), the client uses its own
 * memory for 5 s. The client calls `onUnexpected`, and the API call does not fail.
 */
export interface TokenStore {
  /** Returns the record of a key, or `undefined`. The client checks a record before use. */
  get(key: string): Promise<TokenRecord | undefined> | TokenRecord | undefined
  /** Saves a record. The store may delete the record after `timeToLive` milliseconds. */
  set(key: string, record: TokenRecord, timeToLive: number): Promise<unknown> | unknown
  /** Deletes a record. */
  delete(key: string): Promise<unknown> | unknown
  /**
   * Locks the key, runs the task, and returns the task's result or error. While one process holds the lock, other
   * processes wait. The lock must expire, so that a killed process does not block the other processes. If a store has
   * no `withLock`, several processes may log in at the same time.
   */
  withLock?<Result>(key: string, task: () => Promise<Result>): Promise<Result>
}

/** Runs tasks that have the same key one after another. Tasks with different keys run in parallel. */
export type KeyedMutex = <Result>(
  key: string,
  task: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>

/** Longest wait for an earlier task, in milliseconds. A task in a worker may never end, so the wait needs a limit. */
const LONGEST_TURN = 60_000

/** Creates a mutex for this process. A task waits for earlier tasks to end or be aborted, at most 60 s for each. */
export const createKeyedMutex = (): KeyedMutex => {
  const turns = new Map<string, { readonly over: Promise<void>; readonly endsAt: number }>()
  return (key, task, signal) => {
    const before = turns.get(key)
    const now = steadyClock.now()
    const wait = Math.max(0, (before?.endsAt ?? now) - now)
    const run = before ? withTimeout(before.over, wait, 'A turn').then(task, task) : task()
    const over = new Promise<void>((end) => {
      run.then(
        () => end(),
        () => end(),
      )
      signal?.addEventListener('abort', () => end())
    })
    const turn = { over, endsAt: now + wait + LONGEST_TURN }
    turns.set(key, turn)
    void over.then(() => turns.get(key) === turn && turns.delete(key))
    return run
  }
}

/** Creates the default store, which keeps tokens in memory. Clients share a token only if they use the same store. */
export const createMemoryTokenStore = (): TokenStore => {
  const records = new Map<string, TokenRecord>()
  return {
    get: (key) => records.get(key),
    set: (key, record) => void records.set(key, record),
    delete: (key) => records.delete(key),
  }
}

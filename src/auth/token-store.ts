import type { TokenRecord } from './token-record.ts'

/**
 * Keeps the token and the rejected logins of a client. Clients and processes that use the same store share this data,
 * so that one login serves all of them.
 *
 * Records are plain JSON data and hold tokens, so keep the store as safe as the credentials. Keys contain the base
 * URL, the client and the user, so that one store can serve several merchants and hosts. Keys hold no secret.
 *
 * If a method of a store throws, rejects or takes longer than 5 s, the client uses its own memory for 5 s. The
 * client reports the failure through `onUnexpected`. The call does not fail.
 */
export interface TokenStore {
  /** Returns the record of a key, or `undefined`. The client checks a record before use. */
  get(key: string): Promise<TokenRecord | undefined> | TokenRecord | undefined
  /** Saves a record. The store may delete the record after `timeToLive` milliseconds. */
  set(key: string, record: TokenRecord, timeToLive: number): Promise<unknown> | unknown
  /** Deletes a record. */
  delete(key: string): Promise<unknown> | unknown
  /**
   * Locks the key, runs the task, and returns the task's result or error. While one process holds the lock, others
   * wait. The lock must have an expiry, so that a killed process does not block the others. If a store has no
   * `withLock`, several processes may log in at the same time.
   */
  withLock?<Result>(key: string, task: () => Promise<Result>): Promise<Result>
}

/** Runs the tasks for one key one after the other. Tasks for different keys run in parallel. */
export type KeyedMutex = <Result>(key: string, task: () => Promise<Result>) => Promise<Result>

/** Creates a mutex for this process. A failed task does not block the next task. */
export const createKeyedMutex = (): KeyedMutex => {
  const tails = new Map<string, Promise<unknown>>()
  return (key, task) => {
    const run = Promise.resolve(tails.get(key)).then(task)
    const end = () => tails.get(key) === tail && tails.delete(key)
    const tail: Promise<unknown> = run.then(end, end)
    tails.set(key, tail)
    return run
  }
}

/** Creates the default store. It keeps tokens in memory. Clients share a token only if they use the same store. */
export const createMemoryTokenStore = (): Required<TokenStore> => {
  const records = new Map<string, TokenRecord>()
  return {
    get: (key) => records.get(key),
    set: (key, record) => void records.set(key, record),
    delete: (key) => records.delete(key),
    withLock: createKeyedMutex(),
  }
}

import { steadyClock, waitAtMost } from '../clock.ts'
import type { TokenRecord } from './token-record.ts'

/**
 * Keeps the token and the rejected logins of a client. Clients and processes that use the same store share this data,
 * so that one login serves all of them.
 *
 * Records are plain JSON data that contains tokens, so protect the store like the credentials. Keys contain the base
 * URL, the client id and the username, so that one store can serve several merchants. Keys contain no secret.
 *
 * If a method fails, or if `get` or `set` takes longer than 5 s, the client uses its own memory for 5 s and calls
 * `onUnexpected`. The API call does not fail. Before a login in these 5 s, the client waits for a random time of up to
 * 10 s, so that not all processes log in at once.
 */
export interface TokenStore {
  /** Returns a key's record, or `undefined` if there is none. The key ends with the version of the record's format. */
  get(key: string): Promise<TokenRecord | undefined> | TokenRecord | undefined
  /** Saves a record. The store may delete the record after `timeToLive` milliseconds. */
  set(key: string, record: TokenRecord, timeToLive: number): Promise<unknown> | unknown
  /** Deletes a record. */
  delete(key: string): Promise<unknown> | unknown
  /**
   * Locks the key, runs the task, and settles with the task's result or error. While another process holds the lock,
   * `withLock` must wait, not reject. After 30 s, the waiting API call fails with a `retryable` error. The lock must
   * expire, so that a killed process does not block the other processes. If a store has no `withLock`, several
   * processes may log in at the same time. The key contains no version, because processes with different versions
   * of this package must share the lock.
   */
  withLock?<Result>(key: string, task: () => Promise<Result>): Promise<Result>
}

/** How long a task waits for the running task, in milliseconds. In a worker, the running task may never end. */
const MAX_TURN_MS = 60_000

/** Creates a mutex for this process. A task waits at most 60 s for the running task with the same key. */
export const createKeyedMutex = () => {
  const running = new Map<string, { readonly result: Promise<unknown>; readonly endsAt: number }>()
  return async <Result>(key: string, task: () => Promise<Result>): Promise<Result> => {
    const leave = (turn: unknown) => running.get(key) === turn && running.delete(key)
    for (let turn = running.get(key); turn !== undefined; turn = running.get(key)) {
      // Each waiting task has its own timer, because in a worker the timers of an ended request never fire.
      await waitAtMost(turn.result, turn.endsAt - steadyClock.now()).catch(() => undefined)
      leave(turn)
    }
    const result = task()
    const turn = { result, endsAt: steadyClock.now() + MAX_TURN_MS }
    running.set(key, turn)
    return result.finally(() => leave(turn))
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

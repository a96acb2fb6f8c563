import type { TokenRecord } from './token-record.ts'

/**
 * Where a client keeps its token and the logins that were rejected. Clients and processes with the same store share
 * both: one login serves all of them.
 *
 * Records are plain JSON data and hold tokens, so keep the store as safe as the credentials. Keys name the base URL, the
 * client and the user, so that one store may serve several merchants and hosts. Keys hold no secret.
 *
 * A store may fail in any way. When a method throws, rejects or takes longer than 5 s, the client goes on with its own
 * memory for a while and reports it through `onUnexpected`. A call never fails because of its store.
 */
export interface TokenStore {
  /** Returns the record of a key, or `undefined`. The client checks it before use. */
  get(key: string): Promise<TokenRecord | undefined> | TokenRecord | undefined
  /** Keeps a record. Nobody needs it after `timeToLive` milliseconds. */
  set(key: string, record: TokenRecord, timeToLive: number): Promise<unknown> | unknown
  /** Deletes a record. */
  delete(key: string): Promise<unknown> | unknown
  /**
   * Runs the task while no other process runs one for the same key, and settles as the task does. The lock must expire
   * by itself, so that a killed process does not stop the others. Without this method, processes that find no token at
   * the same moment each log in.
   */
  withLock?<Result>(key: string, task: () => Promise<Result>): Promise<Result>
}

/** Runs tasks of one key one after the other. Tasks of other keys run beside them. */
export type KeyedMutex = <Result>(key: string, task: () => Promise<Result>) => Promise<Result>

/** Makes a mutex within this process. A task that fails lets the next one run. */
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

/** Makes the default store: this process's memory. Clients share nothing unless they are given the same store. */
export const createMemoryTokenStore = (): Required<TokenStore> => {
  const records = new Map<string, TokenRecord>()
  return {
    get: (key) => records.get(key),
    set: (key, record) => void records.set(key, record),
    delete: (key) => records.delete(key),
    withLock: createKeyedMutex(),
  }
}

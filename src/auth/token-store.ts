import { createKeyedMutex } from './keyed-mutex.ts'
import type { TokenRecord } from './token-record.ts'

/**
 * Where a client keeps its token and its memory of refused logins. Give the same store to several clients or
 * processes and they share both: one login for all of them.
 *
 * Records are plain JSON data, and hold tokens: keep the store as safe as the credentials. Keys name the base URL,
 * the client and the user, so that one store may serve several merchants and hosts; they hold no secret.
 *
 * A store may fail in any way. A method that throws, rejects or takes longer than 5 s makes the client go on with
 * its own memory for a while, and is reported through `onUnexpected`; a call never fails because of it.
 */
export interface TokenStore {
  /** The record of a key, or `undefined`. What comes back is checked before use. */
  get(key: string): Promise<TokenRecord | undefined> | TokenRecord | undefined
  /** Keeps a record. After `timeToLive` milliseconds nobody needs it any more. */
  set(key: string, record: TokenRecord, timeToLive: number): Promise<unknown> | unknown
  /** Forgets a record. */
  delete(key: string): Promise<unknown> | unknown
  /**
   * Runs the task while no other process runs one for the same key, and settles as the task does. A lock needs an
   * end of its own, so that a killed process does not stop the others. Without this method, processes that find no
   * token at the same moment each log in.
   */
  withLock?<Result>(key: string, task: () => Promise<Result>): Promise<Result>
}

/** The default store: this process's memory. Clients share nothing unless they are given the same store. */
export const createMemoryTokenStore = (): Required<TokenStore> => {
  const records = new Map<string, TokenRecord>()
  return {
    get: (key) => records.get(key),
    set: (key, record) => {
      records.set(key, record)
    },
    delete: (key) => {
      records.delete(key)
    },
    withLock: createKeyedMutex(),
  }
}

/** The key of a merchant's record: base URL without its trailing slashes, client and user. No secret goes in. */
export const tokenKey = (baseUrl: string, clientId: string, username: string): string =>
  ['token', baseUrl.replace(/\/+$/, ''), clientId, username].map(encodeURIComponent).join(':')

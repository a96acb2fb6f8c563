import type { Clock } from '../clock.ts'
import { withTimeout } from '../clock.ts'
import { failureOf } from './credentials.ts'
import type { TokenRecord } from './token-record.ts'
import { EMPTY_RECORD, readTokenRecord } from './token-record.ts'
import type { KeyedMutex, TokenStore } from './token-store.ts'
import { createKeyedMutex } from './token-store.ts'

/** Longest wait for one operation of a store, in milliseconds of real time. */
const STORE_LIMIT = 5_000
/** Longest wait for another process's lock, in milliseconds of real time. */
const LOCK_LIMIT = 30_000
/** After a store fails, the client does not use the store for this time, in milliseconds. */
const SUSPENSION = 5_000
/** Longest time that a store keeps a record, in milliseconds. The specification shows no lifetime of refresh tokens. */
const LONGEST_KEPT = 2_592_000_000

// In one process, clients with the same store and user log in one after another, even if the store has no lock.
const mutexes = new WeakMap<TokenStore, KeyedMutex>()

/** Reads and writes token records in a store. If the store fails, uses memory, so that the call does not fail. */
export class RecordKeeper {
  readonly #store: TokenStore
  readonly #inTurn: KeyedMutex
  readonly #clock: Clock
  readonly #report: (message: string) => void
  readonly #memory = new Map<string, { readonly record: TokenRecord; isSaved: boolean }>()
  #failedAt = Number.NEGATIVE_INFINITY
  #saving: Promise<unknown> | undefined

  constructor(store: TokenStore, clock: Clock, report: (message: string) => void) {
    this.#store = store
    this.#inTurn = mutexes.get(store) ?? createKeyedMutex()
    mutexes.set(store, this.#inTurn)
    this.#clock = clock
    this.#report = report
  }

  /** Returns a key's record from the store. A newer, unsaved token in memory replaces the record's token. */
  async read(key: string): Promise<TokenRecord> {
    const { record: own, isSaved } = this.#memory.get(key) ?? { record: EMPTY_RECORD, isSaved: true }
    const found = await this.#ask('get', () => this.#store.get(key))
    if (found === undefined || found === null) return own
    const record = readTokenRecord(found)
    if (record === undefined) this.#report('The token store returned an unreadable record.')
    const isNewer = !isSaved && (own.token?.obtainedAt ?? 0) > (record?.token?.obtainedAt ?? 0)
    return record === undefined ? own : { ...record, ...(isNewer && { token: own.token }) }
  }

  /** Keeps a record in memory, and starts to save it in the store. `locked` holds the lock until the save ends. */
  write(key: string, given: TokenRecord, timeToLive: number): void {
    // Some databases reject `undefined` or save it as null.
    const record = JSON.parse(JSON.stringify(given)) as TokenRecord
    const kept = { record, isSaved: false }
    this.#memory.set(key, kept)
    this.#saving = this.#ask('set', async () => {
      await this.#store.set(key, record, Math.min(timeToLive, LONGEST_KEPT))
      kept.isSaved = true
    })
  }

  /**
   * Runs the task exactly once: after earlier tasks for the key, and under the store's lock. If the lock fails, runs
   * the task without a lock. Returns the task's result without waiting for the record to be saved. If the task
   * fails, waits until the record is saved, then throws.
   */
  locked<Result>(key: string, task: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    return new Promise((resolve, reject) => {
      let run: Promise<unknown> | undefined
      const fail = async (error: unknown) => {
        // The process may exit after the error. If the rejection is not saved, the next process logs in again.
        await this.#saving
        reject(error)
      }
      const work = async () => {
        // In a worker, the save of an earlier request may never end, so this task must not wait for that save.
        this.#saving = undefined
        await task().then(resolve, fail)
        await this.#saving
      }
      const once = () => {
        run ??= work()
        return run
      }
      const underLock = async () => {
        const start = () =>
          new Promise<void>((started, failed) => {
            const locked = () => {
              started()
              return once()
            }
            const lock = async () => this.#store.withLock?.(key, locked)
            lock().then(() => started(), failed)
          })
        // The time limit applies to the wait for the lock, not to the task.
        await this.#ask('withLock', start, LOCK_LIMIT)
        await once()
      }
      void this.#inTurn(key, underLock, signal)
    })
  }

  /** Calls the store. Returns `undefined` if the store fails. Does not call a store that failed less than 5 s ago. */
  async #ask<Result>(
    operation: string,
    work: () => Promise<Result> | Result,
    limit = STORE_LIMIT,
  ): Promise<Result | undefined> {
    const since = this.#clock.now() - this.#failedAt
    if (since >= 0 && since < SUSPENSION) return undefined
    try {
      return await withTimeout((async () => work())(), limit, 'The token store')
    } catch (error) {
      this.#failedAt = this.#clock.now()
      this.#report(`The token store failed: ${operation}() ended in ${failureOf(error)}. Memory is used.`)
      return undefined
    }
  }
}

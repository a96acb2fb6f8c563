import type { Clock } from '../clock.ts'
import { withTimeout } from '../clock.ts'
import { failureOf } from './credentials.ts'
import type { TokenRecord } from './token-record.ts'
import { EMPTY_RECORD, hasLoginSince, readTokenRecord } from './token-record.ts'
import type { KeyedMutex, TokenStore } from './token-store.ts'
import { createKeyedMutex } from './token-store.ts'

/** Longest wait for one operation of a store, in milliseconds of real time. */
const STORE_LIMIT = 5_000
/** Longest wait for another process's lock, in milliseconds of real time. */
const LOCK_LIMIT = 150_000
/** How long the client does not use a store after a failure, in milliseconds. */
const SUSPENSION = 5_000
/** Longest time to keep a record, in milliseconds. The specification shows no lifetime for refresh tokens. */
const LONGEST_KEPT = 2_592_000_000

// Clients of one process that share a store take turns, even if the store has no lock.
const mutexes = new WeakMap<TokenStore, KeyedMutex>()

/** Returns the later of two entries. Either entry may be missing. */
const later = <Entry>(one: Entry | undefined, other: Entry | undefined, time: (entry: Entry) => number) => {
  if (one === undefined || other === undefined) return one ?? other
  return time(other) > time(one) ? other : one
}

/** Reads and writes the records of a store, with memory as a fallback. A failing store does not make a call fail. */
export class RecordKeeper {
  readonly #store: TokenStore
  readonly #inTurn: KeyedMutex
  readonly #clock: Clock
  readonly #report: (message: string) => void
  readonly #memory = new Map<string, { readonly record: TokenRecord; isSaved: boolean }>()
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(store: TokenStore, clock: Clock, report: (message: string) => void) {
    this.#store = store
    this.#inTurn = mutexes.get(store) ?? createKeyedMutex()
    mutexes.set(store, this.#inTurn)
    this.#clock = clock
    this.#report = report
  }

  /** Returns the record of a key. Adds data that only the client's memory has. */
  async read(key: string): Promise<TokenRecord> {
    const { record: own, isSaved } = this.#memory.get(key) ?? { record: EMPTY_RECORD, isSaved: true }
    const found = await this.#ask('get', () => this.#store.get(key))
    if (found === undefined || found === null) return own
    const record = readTokenRecord(found)
    if (record === undefined) {
      this.#report('The token store returned an unreadable record.')
      return own
    }
    const isOver = own.pause !== undefined && hasLoginSince(record, own.pause.at, own.token?.id)
    const pause = later(isOver ? undefined : own.pause, record.pause, ({ at }) => at)
    if (isSaved) return { ...record, pause }
    const refusals = [...record.refusals, ...own.refusals]
    return {
      ...record,
      pause,
      token: later(own.token, record.token, ({ obtainedAt }) => obtainedAt),
      salt: own.salt ?? record.salt,
      refusals: [...new Map(refusals.map((refusal) => [refusal.fingerprint, refusal])).values()],
    }
  }

  /** Keeps a record in memory and in the store. */
  async write(key: string, given: TokenRecord, timeToLive: number): Promise<void> {
    // Some databases reject `undefined` or save it as null.
    const record = JSON.parse(JSON.stringify(given)) as TokenRecord
    const kept = { record, isSaved: false }
    this.#memory.set(key, kept)
    await this.#ask('set', async () => {
      await this.#store.set(key, record, Math.min(timeToLive, LONGEST_KEPT))
      kept.isSaved = true
    })
  }

  /** Runs the task exactly once, under the store's lock. If the lock fails, runs the task without a lock. */
  async locked<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    let run: Promise<Result> | undefined
    const once = (): Promise<Result> => {
      run ??= this.#inTurn(key, task)
      return run
    }
    let lock: Promise<unknown> = Promise.resolve()
    // True: the task has started under the lock. False: the lock ended before the task started.
    const acquire = () =>
      new Promise<boolean>((resolve, reject) => {
        const locked = async () => {
          resolve(true)
          return once()
        }
        lock = (async () => this.#store.withLock?.(key, locked))()
        lock.then(() => resolve(false), reject)
      })
    const isLocked = await this.#ask('withLock', acquire, LOCK_LIMIT)
    const result = once()
    if (isLocked === true) {
      // If the task fails, `lock` rejects too. The store itself has not failed then.
      const [{ status }] = await Promise.allSettled([result])
      // The process may exit right after this call, so the call waits until the lock is released.
      await this.#ask('withLock', () => (status === 'fulfilled' ? lock : lock.catch(() => undefined)))
    }
    return result
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

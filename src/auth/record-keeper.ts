import type { Clock } from '../clock.ts'
import { failureOf } from './credentials.ts'
import type { KeyedMutex } from './keyed-mutex.ts'
import { createKeyedMutex } from './keyed-mutex.ts'
import { runLocked } from './locked-run.ts'
import { withTimeout } from './timeout.ts'
import type { StoredToken, TokenRecord } from './token-record.ts'
import { EMPTY_RECORD, readTokenRecord } from './token-record.ts'
import type { TokenStore } from './token-store.ts'

/** Longest wait for one operation of a store, in milliseconds of real time. */
const STORE_LIMIT = 5_000
/** Longest wait for another process's lock, in milliseconds of real time. */
const LOCK_LIMIT = 150_000
/** After a failure a store is left alone for this long, in milliseconds. */
const SUSPENSION = 5_000

// Clients of one process that share a store without a lock of its own still take turns.
const mutexes = new WeakMap<TokenStore, KeyedMutex>()

const mutexOf = (store: TokenStore): KeyedMutex => {
  const known = mutexes.get(store)
  if (known !== undefined) return known
  const mutex = createKeyedMutex()
  mutexes.set(store, mutex)
  return mutex
}

const newer = (one: StoredToken | undefined, other: StoredToken | undefined): StoredToken | undefined => {
  if (one === undefined || other === undefined) return one ?? other
  return other.obtainedAt > one.obtainedAt ? other : one
}

/** A record with the pause that this process was asked for, unless somebody has been given a token since. */
const withOwnPause = (record: TokenRecord, { pause, token }: TokenRecord): TokenRecord => {
  if (pause === undefined || record.pause !== undefined) return record
  const since = record.token
  const isOver = since !== undefined && since.id !== token?.id && since.obtainedAt > pause.at
  return isOver ? record : { ...record, pause }
}

/** The records of a store, with this process's memory behind it: whatever a store does, no caller fails by it. */
export class RecordKeeper {
  readonly #store: TokenStore
  readonly #clock: Clock
  readonly #report: (message: string) => void
  readonly #memory = new Map<string, TokenRecord>()
  /** Keys whose newest record is in memory alone, since the store did not take it. */
  readonly #unsaved = new Set<string>()
  #failedAt: number | undefined

  constructor(store: TokenStore, clock: Clock, report: (message: string) => void) {
    this.#store = store
    this.#clock = clock
    this.#report = report
  }

  /** The record of a key as the store has it. Memory fills in what the store lost or did not take. */
  async read(key: string): Promise<TokenRecord> {
    const own = this.#memory.get(key) ?? EMPTY_RECORD
    const found = await this.#ask('get', async () => this.#store.get(key))
    if (found === undefined || found === null) return own
    const record = readTokenRecord(found)
    if (record === undefined) {
      this.#report(
        'The token store returned a record that cannot be read; it is ignored and will be overwritten.',
      )
      return own
    }
    if (!this.#unsaved.has(key)) return withOwnPause(record, own)
    const known = new Set(own.refusals.map(({ fingerprint }) => fingerprint))
    const token = newer(own.token, record.token)
    return {
      ...record,
      ...(token === undefined ? {} : { token }),
      ...(own.salt === undefined ? {} : { salt: own.salt }),
      ...(own.pause === undefined ? {} : { pause: own.pause }),
      refusals: [...record.refusals.filter(({ fingerprint }) => !known.has(fingerprint)), ...own.refusals],
      unauthorizedRenewals: own.unauthorizedRenewals,
    }
  }

  async write(key: string, record: TokenRecord, timeToLive: number): Promise<void> {
    this.#memory.set(key, record)
    this.#unsaved.add(key)
    const saved = await this.#ask('set', async () => {
      await this.#store.set(key, record, timeToLive)
      return true
    })
    if (saved === true) this.#unsaved.delete(key)
  }

  /** Runs the task once, under the store's lock when that can be had, else in turn within this process. */
  async locked<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const store = this.#store
    const inTurn = () => mutexOf(store)(key, task)
    if (store.withLock === undefined || this.#suspended()) return inTurn()
    return runLocked({
      lock: (once) => (store.withLock === undefined ? once() : store.withLock(key, once)),
      task,
      withoutLock: inTurn,
      lockLimit: LOCK_LIMIT,
      releaseLimit: STORE_LIMIT,
      onFailure: (error) => this.#fail('withLock', error),
    })
  }

  async #ask<Result>(operation: string, work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#suspended()) return undefined
    try {
      return await withTimeout(work(), STORE_LIMIT, 'The token store')
    } catch (error) {
      this.#fail(operation, error)
      return undefined
    }
  }

  #suspended(): boolean {
    if (this.#failedAt === undefined) return false
    const since = this.#clock.now() - this.#failedAt
    return since >= 0 && since < SUSPENSION
  }

  #fail(operation: string, error: unknown): void {
    this.#failedAt = this.#clock.now()
    this.#report(
      `The token store failed: ${operation}() ended in ${failureOf(error)}. This process goes on with its own memory.`,
    )
  }
}

import { type Clock, waitAtMost } from '../clock.ts'
import { RateLimitError } from '../errors.ts'
import { failureOf, LOGIN } from './credentials.ts'
import { EMPTY_RECORD, RECORD_VERSION, readTokenRecord, type TokenRecord } from './token-record.ts'
import { createKeyedMutex, type KeyedMutex, type TokenStore } from './token-store.ts'

/** Longest wait for one operation of a store, in milliseconds of real time. */
const STORE_LIMIT = 5_000
/** Longest wait for another client's or process's login, in milliseconds of real time. */
const LOCK_LIMIT = 30_000
/** After that wait, the caller should wait this many milliseconds. */
const BUSY_PAUSE = 5_000
/** After a store fails, the client does not use the store for this time, in milliseconds. */
const SUSPENSION = 5_000
/** Longest time that a store keeps a record, in milliseconds. The specification shows no lifetime of refresh tokens. */
const LONGEST_KEPT = 2_592_000_000

interface Kept {
  readonly record: TokenRecord
  isSaved: boolean
}

/** What the clients of one store share in this process, so that they log in once even if the store fails. */
interface Shared {
  readonly inTurn: KeyedMutex
  readonly memory: Map<string, Kept>
}
const sharedParts = new WeakMap<TokenStore, Shared>()

const inTime = <Result>(work: () => Promise<Result> | Result): Promise<Result> =>
  waitAtMost((async () => work())(), STORE_LIMIT, undefined, 'The token store')

/** Adds the version to a key, because another version of this package could not read the record. */
const versioned = (key: string): string => `${key}:${RECORD_VERSION}`

/** Reads and writes token records in a store. If the store fails, uses memory, so that the call does not fail. */
export class RecordKeeper {
  readonly #store: TokenStore
  readonly #shared: Shared
  readonly #clock: Clock
  readonly #report: (message: string) => void
  #failedAt = Number.NEGATIVE_INFINITY
  #saving: Promise<unknown> | undefined

  constructor(store: TokenStore, clock: Clock, report: (message: string) => void) {
    this.#store = store
    this.#shared = sharedParts.get(store) ?? { inTurn: createKeyedMutex(), memory: new Map() }
    sharedParts.set(store, this.#shared)
    this.#clock = clock
    this.#report = report
  }

  /** Returns a key's record from the store. A newer, unsaved token in memory replaces the record's token. */
  async read(key: string): Promise<TokenRecord> {
    const { record: own, isSaved } = this.#shared.memory.get(key) ?? { record: EMPTY_RECORD, isSaved: true }
    const found = await this.#ask('get', () => inTime(() => this.#store.get(versioned(key))))
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
    this.#shared.memory.set(key, kept)
    this.#saving = this.#ask('set', async () => {
      await inTime(() => this.#store.set(versioned(key), record, Math.min(timeToLive, LONGEST_KEPT)))
      kept.isSaved = true
    })
  }

  /**
   * Runs the task when no other client or process logs in. If the store fails, runs the task with `isAlone`. Returns the
   * task's result without waiting for the record to be saved. If the task fails, waits until the record is saved, then
   * throws. If another process holds the lock for 30 s, throws an error with `retryAfterMs`.
   */
  async locked<Result>(
    key: string,
    task: (isAlone: boolean) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const over = new AbortController()
    const isAlone = await waitAtMost(this.#turn(key, over.signal), LOCK_LIMIT, signal).catch(
      (error: unknown) => {
        over.abort()
        if (signal.aborted) throw error
        const message = `${LOGIN} failed: another client or process is logging in, and has no token yet. Calling again is safe.`
        const call = { operation: LOGIN, phase: 'wait', outcome: 'not-sent', attempts: 0 } as const
        throw new RateLimitError(message, { ...call, retryable: true, retryAfterMs: BUSY_PAUSE })
      },
    )
    // In a worker, the save of an earlier request may never end, so this task must not wait for that save.
    this.#saving = undefined
    try {
      return await task(isAlone)
    } catch (error) {
      // The process may exit after the error. If the rejection is not saved, the next process logs in again.
      await this.#saving
      throw error
    } finally {
      void Promise.resolve(this.#saving).then(() => over.abort())
    }
  }

  /**
   * Waits for earlier tasks of the key, and then for the store's lock. Keeps both until `over` is aborted. Resolves to
   * whether the store failed, so that other processes may log in at the same time.
   */
  #turn(key: string, over: AbortSignal): Promise<boolean> {
    return new Promise((grant) => {
      const released = new Promise<void>((release) => over.addEventListener('abort', () => release()))
      const hold = (isAlone: boolean) => {
        grant(isAlone)
        return released
      }
      const lock = () =>
        new Promise<true>((started, failed) => {
          const held = () => {
            started(true)
            return over.aborted ? undefined : hold(false)
          }
          // After the wait for the lock has ended, a failure of the lock has no meaning.
          void released.then(() => started(true))
          const locking = async () => this.#store.withLock?.(key, async () => held())
          locking().then(() => failed(new Error('withLock() did not run its task')), failed)
        })
      const turn = async () => {
        if (over.aborted) return
        const hasLock = this.#store.withLock !== undefined && (await this.#ask('withLock', lock))
        await (hasLock ? released : hold(this.#isSuspended()))
      }
      void this.#shared.inTurn(key, turn)
    })
  }

  /** Whether the store failed less than 5 s ago. Such a store is not called. */
  #isSuspended(): boolean {
    const since = this.#clock.now() - this.#failedAt
    return since >= 0 && since < SUSPENSION
  }

  /** Calls the store. Returns `undefined` if the store fails or is suspended. */
  async #ask<Result>(operation: string, work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#isSuspended()) return undefined
    try {
      return await work()
    } catch (error) {
      this.#failedAt = this.#clock.now()
      this.#report(`The token store failed: ${operation}() ended in ${failureOf(error)}. Memory is used.`)
      return undefined
    }
  }
}

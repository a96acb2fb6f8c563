import { methodIssues, refuse, whileReading } from '../transport/input-issues.ts'
import { storeOptionIssues } from './store-options.ts'

/** What a store needs of a Keyv (5 or 6) with any backend. */
export interface KeyvLike {
  /** Resolves to what is kept under the key; undefined when nothing is. */
  get(key: string): Promise<unknown>
  /** Keeps a value for `timeToLive` milliseconds; resolving to false means that it was not taken. */
  set(key: string, value: unknown, timeToLive?: number): Promise<unknown>
  /** Forgets what is kept under the key. */
  delete(key: string): Promise<unknown>
  /** Tells of the backend's failures; without it a failure cannot be told from an empty key. */
  on?(event: 'error', listener: (error: unknown) => void): unknown
}

/** Options of every store over Keyv. */
export interface KeyvOptions {
  /** Stands before every key. Default: none; a Keyv has a namespace of its own. */
  readonly prefix?: string
}

const METHODS = ['get', 'set', 'delete'] as const satisfies (keyof KeyvLike)[]

/** A Keyv whose failures reject. */
export interface KeyvAccess {
  get(key: string): Promise<unknown>
  set(key: string, value: unknown, timeToLive: number): Promise<void>
  delete(key: string): Promise<void>
}

/**
 * Keyv turns failures of its backend into an `error` event, and an answer as if nothing were there. "Not there" and
 * "cannot tell" are different things here: an operation during which an error was heard rejects.
 */
export const accessKeyv = (
  keyv: KeyvLike,
  options: KeyvOptions,
  names: readonly string[] = ['prefix'],
): KeyvAccess => {
  const prefix = whileReading('stores.keyv', 'keyv', () => {
    refuse('stores.keyv', [
      ...methodIssues('keyv', 'a Keyv', METHODS, keyv),
      ...storeOptionIssues(options, names),
    ])
    return options.prefix ?? ''
  })
  let failures = 0
  keyv.on?.('error', () => {
    failures += 1
  })
  const heard = async <Result>(operation: string, work: () => Promise<Result>): Promise<Result> => {
    const before = failures
    const result = await work()
    if (failures > before) throw new Error(`Keyv reported an error during ${operation}`)
    return result
  }
  return {
    get: (key) => heard('get', () => keyv.get(prefix + key)),
    set: async (key, value, timeToLive) => {
      const taken = await heard('set', () =>
        keyv.set(prefix + key, value, Math.max(1, Math.ceil(timeToLive))),
      )
      if (taken === false) throw new Error('Keyv did not take the value')
    },
    delete: async (key) => {
      await heard('delete', () => keyv.delete(prefix + key))
    },
  }
}

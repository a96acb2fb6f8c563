import type { ChargeMoment } from './charges.ts'

/** Keys that executed, by scope: the charge as it was answered. A key is as old as its charge. */
export type KeyTable = Map<string, ChargeMoment>

/** Where a key counts: within a credential, a route and the id in the path (row 73). */
export const keyScope = (
  credential: string,
  route: 'charge' | 'renew',
  pathId: string,
  key: string,
): string =>
  // A header's value has no line break, so no two scopes run together.
  `${route}\n${credential}\n${pathId}\n${key}`

const PURGE_FROM = 1024

/** Finds and keeps the first result of each key. Only executed results are stored. */
export interface KeyStore {
  find(scope: string): ChargeMoment | undefined
  store(scope: string, moment: ChargeMoment): void
}

/** The keys of `table()`, forgotten after `ttl` milliseconds. */
export const createKeyStore = (table: () => KeyTable, ttl: number | false, now: () => number): KeyStore => {
  let purgeAt = PURGE_FROM
  const isOld = (record: ChargeMoment): boolean => ttl !== false && record.charge.createdAt + ttl <= now()

  /** Now and then, so that the cost of a call stays flat. */
  const purge = (keys: KeyTable): void => {
    for (const [scope, record] of keys) if (isOld(record)) keys.delete(scope)
    purgeAt = Math.max(PURGE_FROM, keys.size * 2)
  }

  return {
    find(scope) {
      const record = table().get(scope)
      return record === undefined || isOld(record) ? undefined : record
    },
    store(scope, moment) {
      const keys = table()
      if (ttl !== false && keys.size >= purgeAt) purge(keys)
      keys.set(scope, moment)
    },
  }
}

import type { TokenRecord } from '../auth/token-record.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { RedisClient, RedisOptions } from './redis-commands.ts'
import { DEFAULT_PREFIX, sendCommandWith } from './redis-commands.ts'
import { withRedisLock } from './redis-lock.ts'

/** Options of a token store over Redis. */
export interface RedisTokenStoreOptions extends RedisOptions {
  /**
   * How long a lock outlives a process that was killed with it, in milliseconds. Default: 10 000. A living process
   * prolongs its lock for as long as its login takes.
   */
  readonly lockTime?: number
}

const LOCK_TIME = 10_000

/** What stands in Redis, parsed. Text that is no JSON goes on as text: the client reports and overwrites it. */
const parse = (reply: unknown): unknown => {
  if (typeof reply !== 'string') return undefined
  try {
    return JSON.parse(reply)
  } catch {
    return reply
  }
}

/**
 * Shares tokens and refused logins through Redis or Valkey: one login for a whole fleet. Give it a connected client
 * of node-redis or ioredis; the client stays yours to configure and to close.
 *
 * When Redis is down, slow (`commandTimeout`), full or holds something else under a key, each process goes on with
 * its own memory: at most one login a process and token lifetime, and no call fails. Records expire with what they hold.
 *
 * @throws {InvalidRequestError} at once when it is given no client.
 * @example
 * const redis = await createClient({ url }).on('error', log).connect()
 * new SubscriptionsClient({ baseUrl, credentials, tokenStore: createRedisTokenStore(redis) })
 */
export const createRedisTokenStore = (
  client: RedisClient,
  options: RedisTokenStoreOptions = {},
): Required<TokenStore> => {
  const send = sendCommandWith(client, options, ['commandTimeout', 'lockTime'])
  const { prefix = DEFAULT_PREFIX, lockTime = LOCK_TIME } = options
  return {
    // The client checks what a store returns, whatever its type says.
    get: async (key) => parse(await send('GET', prefix + key)) as TokenRecord | undefined,
    set: (key, record, timeToLive) =>
      send('SET', prefix + key, JSON.stringify(record), 'PX', String(Math.max(1, Math.ceil(timeToLive)))),
    delete: (key) => send('DEL', prefix + key),
    withLock: (key, task) => withRedisLock(send, `${prefix}lock:${key}`, lockTime, task),
  }
}

import type { TokenRecord } from '../auth/token-record.ts'
import type { TokenStore } from '../auth/token-store.ts'
import { check, duration } from '../check.ts'
import { MAX_TIMER_MS, steadyClock, waitAtMost } from '../clock.ts'
import type { Input, Output } from '../contract/fields.ts'
import * as fields from '../contract/fields.ts'
import { randomId } from '../contract/formats.ts'
import { readJson } from '../json.ts'
import type { Claim, DedupeStore } from '../notifications/dedupe.ts'

/** A client of the package `redis` (node-redis), or an object with the same `sendCommand`. */
export interface NodeRedisClient {
  /** Sends a command, such as `['GET', 'key']`, and resolves to its reply. */
  sendCommand(command: readonly string[]): Promise<unknown>
}

/** A client of the package `ioredis`, or an object with the same `call`. */
export interface IoredisClient {
  /** Sends a command, such as `call('GET', 'key')`, and resolves to its reply. */
  call(command: string, ...parameters: string[]): Promise<unknown>
}

/**
 * The connection of a store to Redis or Valkey: a connected client of node-redis or ioredis, an ioredis `Cluster`, or a
 * function that sends one command. Use a function for pools, other clients, and node-redis clusters and sentinels. The
 * store sends the commands GET, SET, DEL and EVAL. Each command has one key, so that the function can choose the node
 * of a cluster.
 *
 * @example createRedisDedupeStore((command, key) => cluster.sendCommand(key, false, [...command])) // node-redis
 */
export type RedisClient =
  | NodeRedisClient
  | IoredisClient
  | ((command: readonly string[], key: string) => Promise<unknown>)

const redisOptions = {
  /** Prefix of every key. Default: `mandatekit:`. */
  prefix: fields.withDefault(fields.anyText, 'mandatekit:'),
  /** Time limit of a command in milliseconds, including the wait for a connection. Default: 2 000. */
  commandTimeout: fields.withDefault(duration(), 2_000),
}
/** Options of every store that uses Redis. */
export interface RedisOptions extends Input<typeof redisOptions> {}

const redisTokenStoreOptions = {
  ...redisOptions,
  /** The login lock of a dead process ends after this many ms. A running process extends its lock. Default: 10 000. */
  lockTime: fields.withDefault(duration(MAX_TIMER_MS), 10_000),
}
/** Options of a token store that uses Redis. */
export interface RedisTokenStoreOptions extends Input<typeof redisTokenStoreOptions> {}

const isClient = (value: unknown): value is RedisClient => {
  if (typeof value === 'function' || (fields.isObject(value) && 'call' in value)) return true
  // In a cluster or sentinel of node-redis, `sendCommand` has at least three parameters, so a function must call it.
  const { sendCommand } = fields.isObject(value) ? value : {}
  return typeof sendCommand === 'function' && sendCommand.length < 3
}
const clientField = fields.guarded(
  'a connected client of redis or ioredis, or a function that sends one command: for a cluster of node-redis (command, key) => cluster.sendCommand(key, false, [...command]), for a sentinel (command) => sentinel.sendCommand(false, [...command])',
  isClient,
)

// A wrong client may return an object such as `{ result }`, which the store must not mistake for a reply of Redis.
// `SubscriptionsClient` reports an error's name but not its message, so this error has its own name.
const unexpectedReply = (command: string): Error => {
  const error = new Error(`Redis ${command}: the client returned a value that is not a reply of Redis`)
  return Object.assign(error, { name: 'UnexpectedRedisReply' })
}

const ttlText = (value: number): string => String(Math.max(1, Math.ceil(value)))

const connect = (given: RedisClient, { prefix, commandTimeout }: Output<typeof redisOptions>) => {
  const client = check('stores.redis', clientField, given, 'client')
  const dispatch = async (key: string, ...command: [string, ...string[]]): Promise<unknown> => {
    const sent = async () => {
      if (typeof client === 'function') return client(command, key)
      // The `sendCommand` of ioredis takes other parameters than the `sendCommand` of node-redis.
      return 'call' in client ? client.call(...command) : client.sendCommand(command)
    }
    const reply = await waitAtMost(sent(), commandTimeout, undefined, `Redis ${command[0]}`)
    // A client may be configured to return bytes instead of text.
    return ArrayBuffer.isView(reply) ? new TextDecoder().decode(reply) : reply
  }
  const send = (command: string, key: string, ...parameters: string[]): Promise<unknown> =>
    dispatch(prefix + key, command, prefix + key, ...parameters)
  const run = (script: string, key: string, owner: string, milliseconds = 0): Promise<unknown> =>
    dispatch(prefix + key, 'EVAL', script, '1', prefix + key, owner, ttlText(milliseconds))
  return {
    send,
    run,
    get: async (key: string): Promise<string | undefined> => {
      const reply = await send('GET', key)
      if (reply !== null && typeof reply !== 'string') throw unexpectedReply('GET')
      return reply ?? undefined
    },
    /** Runs a script that returns 1 or 0, and converts the reply to a boolean. */
    evalBoolean: async (...parameters: Parameters<typeof run>): Promise<boolean> => {
      const reply = await run(...parameters)
      if (reply === 1 || reply === '1') return true
      if (reply === 0 || reply === '0') return false
      throw unexpectedReply('EVAL')
    },
  }
}

// Redis runs each script atomically. ARGV[1] is the owner, and ARGV[2] is a duration in milliseconds. If a
// Redis client sends a script again after a lost reply, the second run has the same effect as the first.
const EXTEND_OWNED =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
const RELEASE_OWNED =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

// A lock without an expiry does not come from this store and would never end, so the script replaces the lock.
const ACQUIRE = `if redis.call('PTTL', KEYS[1]) >= 0 and redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`

// The value of a claimed key is the owner, `lease:…`. The value of a committed key is `committed:lease:…`. A lease
// without an expiry would block its notification forever, so the script replaces the lease.
const CLAIM = `local held = redis.call('GET', KEYS[1])
if held then
  if string.find(held, 'committed:', 1, true) == 1 then return 'committed' end
  if string.find(held, 'lease:', 1, true) ~= 1 then return 'foreign' end
  if held ~= ARGV[1] and redis.call('PTTL', KEYS[1]) >= 0 then return 'in-progress' end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 'claimed'`
const COMMIT = `local held = redis.call('GET', KEYS[1])
local committed = 'committed:' .. ARGV[1]
redis.call('SET', KEYS[1], committed, 'PX', ARGV[2])
if held == ARGV[1] or held == committed then return 1 end
return 0`

// The longest wait for a lock, in milliseconds. The client waits no longer for a lock either.
const LOCK_WAIT_MS = 30_000

/** Waits for a lock, then runs a task. Extends the lock while the task runs, because locks expire after `lockTime`. */
const withRedisLock = async <Result>(
  { run, evalBoolean }: ReturnType<typeof connect>,
  key: string,
  lockTime: number,
  task: () => Promise<Result>,
): Promise<Result> => {
  const owner = randomId()
  const stop = new AbortController()
  const keep = async () => {
    let isHeld = true
    while (isHeld) {
      await steadyClock.sleep(lockTime / 3, stop.signal)
      // After a failed extension, the loop tries again, because Redis may recover before the lock expires.
      isHeld = await evalBoolean(EXTEND_OWNED, key, owner, lockTime).catch(() => true)
    }
  }
  const giveUpAt = steadyClock.now() + LOCK_WAIT_MS
  try {
    for (
      let pause = 10;
      !(await evalBoolean(ACQUIRE, key, owner, lockTime));
      pause = Math.min(pause * 1.5, 200)
    ) {
      if (steadyClock.now() >= giveUpAt) throw new Error(`The login lock was held for ${LOCK_WAIT_MS} ms`)
      await steadyClock.sleep(pause * (0.5 + Math.random() / 2))
    }
    keep().catch(() => undefined)
    return await task()
  } finally {
    stop.abort()
    // Redis may have set the lock although its reply was lost. If the release fails, the lock expires anyway.
    await run(RELEASE_OWNED, key, owner).catch(() => undefined)
  }
}

/**
 * Keeps tokens in Redis or Valkey, so that processes share one login. After a rejected login, all processes pause their
 * logins. Pass a connected client of node-redis or ioredis; the store does not close it. Keys expire within 30 days.
 *
 * If Redis is down or full, exceeds `commandTimeout` or returns invalid data, API calls do not fail. Each process then
 * keeps its own token in memory, and logs in once per token lifetime.
 *
 * @throws {InvalidRequestError} if `client` or an option is invalid.
 * @example
 * const redis = await createClient({ url }).on('error', log).connect()
 * new SubscriptionsClient({ baseUrl, credentials, tokenStore: createRedisTokenStore(redis) })
 */
export const createRedisTokenStore = (
  client: RedisClient,
  options: RedisTokenStoreOptions = {},
): Required<TokenStore> => {
  const settings = check('stores.redis', fields.strict(redisTokenStoreOptions, 'option'), options)
  const redis = connect(client, settings)
  return {
    get: async (key) => {
      const text = await redis.get(key)
      const json = readJson(text ?? 'null')
      // `SubscriptionsClient` checks the record, and reports and overwrites an invalid record.
      return (json.ok ? (json.value ?? undefined) : text) as TokenRecord | undefined
    },
    set: async (key, record, timeToLive) => {
      const reply = await redis.send('SET', key, JSON.stringify(record), 'PX', ttlText(timeToLive))
      if (reply !== 'OK') throw unexpectedReply('SET')
    },
    delete: (key) => redis.send('DEL', key),
    withLock: (key, task) => withRedisLock(redis, `lock:${key}`, settings.lockTime, task),
  }
}

/**
 * Stores the ids of processed notifications in Redis or Valkey, for any number of processes. If several processes claim
 * a notification at the same time, only one process succeeds. Pass a connected client of node-redis or ioredis.
 *
 * If Redis is down, slow or full, every method rejects. The notification handler then responds with 503, so that the
 * sender can retry. Configure Redis with persistence and the eviction policy `noeviction`, so that Redis keeps the
 * ids. Two payment providers may use the same id, so give each provider's store its own prefix.
 *
 * @throws {InvalidRequestError} if `client` or an option is invalid.
 */
export const createRedisDedupeStore = (client: RedisClient, options: RedisOptions = {}): DedupeStore => {
  const { get, run, evalBoolean } = connect(
    client,
    check('stores.redis', fields.strict(redisOptions, 'option'), options),
  )
  const keyOf = (id: string): string => `notification:${id}`
  const release = async (id: string, owner: string) =>
    void (await evalBoolean(RELEASE_OWNED, keyOf(id), owner))
  return {
    claim: async (id, leaseMilliseconds): Promise<Claim> => {
      const owner = `lease:${randomId()}`
      try {
        const state = await run(CLAIM, keyOf(id), owner, leaseMilliseconds)
        if (state === 'claimed') return { state, owner }
        if (state === 'committed' || state === 'in-progress') return { state }
        if (state === 'foreign')
          throw new Error('another program wrote this key in Redis: give the store its own prefix')
        throw unexpectedReply('EVAL')
      } catch (error) {
        // Redis may have run the claim, or may still run the claim, so the id must be released.
        release(id, owner).catch(() => undefined)
        throw error
      }
    },
    extend: (id, owner, leaseMilliseconds) => evalBoolean(EXTEND_OWNED, keyOf(id), owner, leaseMilliseconds),
    has: async (id) => (await get(keyOf(id)))?.startsWith('committed:') ?? false,
    commit: (id, owner, ttlMilliseconds) => evalBoolean(COMMIT, keyOf(id), owner, ttlMilliseconds),
    release,
  }
}

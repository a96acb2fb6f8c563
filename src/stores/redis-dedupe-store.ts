import { randomMark } from '../auth/fingerprint.ts'
import type { Claim, DedupeStore } from '../notifications/dedupe-store.ts'
import type { RedisClient, RedisOptions } from './redis-commands.ts'
import { DEFAULT_PREFIX, sendCommandWith } from './redis-commands.ts'
import { EXTEND_OWNED, RELEASE_OWNED } from './redis-scripts.ts'

const COMMITTED = 'committed:'
const LEASE = 'lease:'
const FOREIGN = 'foreign'

// Each script is one atomic step. A key holds its owner's mark while it is claimed, and behind `committed:` afterwards.
// Clients send a command again when its reply was lost: a second claim or commit of one owner says what the first did.
// A lease always has an end: one without would keep its message from being processed for ever.
const CLAIM = `local held = redis.call('GET', KEYS[1])
if held then
  if string.sub(held, 1, ${COMMITTED.length}) == '${COMMITTED}' then return 'committed' end
  if string.sub(held, 1, ${LEASE.length}) ~= '${LEASE}' then return '${FOREIGN}' end
  if held ~= ARGV[1] and redis.call('PTTL', KEYS[1]) >= 0 then return 'in-progress' end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 'claimed'`
const COMMIT = `local held = redis.call('GET', KEYS[1])
local committed = '${COMMITTED}' .. ARGV[1]
redis.call('SET', KEYS[1], committed, 'PX', ARGV[2])
if held == ARGV[1] or held == committed then return 1 end
return 0`

const milliseconds = (value: number): string => String(Math.max(1, Math.ceil(value)))

/**
 * Remembers processed notifications in Redis or Valkey, for any number of processes: of all that claim an id at once,
 * one receives it. Give it a connected client of node-redis or ioredis.
 *
 * When Redis is down, slow or full every method rejects: the handler answers 503, and the sender delivers again. A
 * process that dies gives its claim up when its lease ends. Redis must keep what it was told: configure persistence
 * and an eviction policy that spares keys (`noeviction`), or a restart forgets which notifications were processed.
 *
 * Ids are unique for one sender: give the stores of two platforms a `prefix` each, or one's message may pass for the
 * other's.
 *
 * @throws {InvalidRequestError} at once when it is given no client.
 */
export const createRedisDedupeStore = (client: RedisClient, options: RedisOptions = {}): DedupeStore => {
  const send = sendCommandWith(client, options)
  const { prefix = DEFAULT_PREFIX } = options
  const run = (script: string, id: string, ...parameters: string[]) =>
    send('EVAL', script, '1', `${prefix}notification:${id}`, ...parameters)
  return {
    claim: async (id, leaseMilliseconds): Promise<Claim> => {
      const owner = LEASE + randomMark()
      const state = await run(CLAIM, id, owner, milliseconds(leaseMilliseconds)).catch((error: unknown) => {
        // The client may send the claim later: nobody would hold it, and the redelivery would wait for its lease.
        void run(RELEASE_OWNED, id, owner).catch(() => undefined)
        throw error
      })
      if (state === 'claimed') return { state, owner }
      if (state === 'committed' || state === 'in-progress') return { state }
      if (state === FOREIGN) throw new Error('Redis holds something else under the key of a notification')
      throw new Error('Redis gave a claim a reply that is not one of its own')
    },
    extend: async (id, owner, leaseMilliseconds) =>
      Number(await run(EXTEND_OWNED, id, owner, milliseconds(leaseMilliseconds))) === 1,
    commit: async (id, owner, ttlMilliseconds) =>
      Number(await run(COMMIT, id, owner, milliseconds(ttlMilliseconds))) === 1,
    release: async (id, owner) => {
      await run(RELEASE_OWNED, id, owner)
    },
  }
}

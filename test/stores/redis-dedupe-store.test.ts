import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRedisDedupeStore } from '../../src/stores/index.ts'
import { type Connection, connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { itKeepsTheRules, ownerOf } from './dedupe-rules.ts'

const KEY = 'mandatekit:notification:n-1'

describe.skipIf(!redisIsInstalled()).each(['node-redis', 'ioredis'] as const)(
  'dedupe in Redis over %s',
  (kind) => {
    let redis: RedisServer
    let connection: Connection

    beforeAll(async () => {
      redis = await RedisServer.start()
      connection = await connections[kind](redis.url)
    })

    afterAll(async () => {
      connection.close()
      await redis.close()
    })

    beforeEach(async () => {
      await connection.send('FLUSHALL')
    })

    const afterLease = (id = 'n-1') =>
      expect.poll(() => connection.send('PTTL', `mandatekit:notification:${id}`)).toBe(-2)

    itKeepsTheRules({ create: async () => createRedisDedupeStore(connection.client), afterLease })

    it('commits what was processed after Redis lost everything, and returns that the lease was lost', async () => {
      const store = createRedisDedupeStore(connection.client)
      const owner = ownerOf(await store.claim('n-1', 10_000))
      await connection.send('FLUSHALL')
      expect(await store.commit('n-1', owner, 60_000)).toBe(false)
      expect(await store.claim('n-1', 10_000)).toEqual({ state: 'committed' })
    })

    it('rejects while Redis is full, or holds a list or other text under the key', async () => {
      const { send } = connection
      const store = createRedisDedupeStore(connection.client)
      await send('RPUSH', KEY, 'garbage')
      await expect(store.claim('n-1', 10_000)).rejects.toThrow()
      await send('SET', KEY, 'garbage')
      await expect(store.claim('n-1', 10_000)).rejects.toThrow('the value of another program')
      expect(await send('GET', KEY)).toBe('garbage')
      await send('CONFIG', 'SET', 'maxmemory', '1')
      await expect(store.claim('n-2', 10_000)).rejects.toThrow()
      await send('CONFIG', 'SET', 'maxmemory', '0')
      ownerOf(await store.claim('n-2', 10_000))
    })

    it('gives out an id whose lease lost its end', async () => {
      const { send } = connection
      const store = createRedisDedupeStore(connection.client)
      const former = ownerOf(await store.claim('n-1', 10_000))
      await send('PERSIST', KEY)
      expect(ownerOf(await store.claim('n-1', 10_000))).not.toBe(former)
      expect(await store.claim('n-1', 10_000)).toEqual({ state: 'in-progress' })
    })

    it('rejects on a replica that only reads, and works on a master', async () => {
      const { send } = connection
      const store = createRedisDedupeStore(connection.client)
      const owner = ownerOf(await store.claim('n-1', 60_000))
      await send('REPLICAOF', '127.0.0.1', '1')
      await expect(store.claim('n-2', 10_000)).rejects.toThrow(/READONLY|read only/)
      await expect(store.commit('n-1', owner, 60_000)).rejects.toThrow(/READONLY|read only/)
      await send('REPLICAOF', 'NO', 'ONE')
      expect(await store.commit('n-1', owner, 60_000)).toBe(true)
      ownerOf(await store.claim('n-2', 10_000))
    })

    it('gives the same results when a client retries each command', async () => {
      const { send } = connection
      const store = createRedisDedupeStore(async (command) => {
        await send(...command)
        return send(...command)
      })
      const owner = ownerOf(await store.claim('n-1', 10_000))
      expect(await store.extend('n-1', owner, 10_000)).toBe(true)
      expect(await store.commit('n-1', owner, 60_000)).toBe(true)
      expect(await store.claim('n-1', 10_000)).toEqual({ state: 'committed' })
      await store.release('n-2', ownerOf(await store.claim('n-2', 10_000)))
      ownerOf(await store.claim('n-2', 10_000))
    })

    it('rejects in time while Redis is down, and works again when it is up', async () => {
      const store = createRedisDedupeStore(connection.client, { commandTimeout: 100 })
      await redis.kill()
      await expect(store.claim('n-1', 10_000)).rejects.toThrow()
      await redis.resume()
      const claim = async () => (await store.claim('n-2', 10_000).catch(() => undefined))?.state
      await expect.poll(claim).toBe('claimed')
    })
  },
)

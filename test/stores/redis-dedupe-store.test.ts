import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRedisDedupeStore } from '../../src/stores/index.ts'
import { deferred } from '../support/deferred.ts'
import { payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Connection } from '../support/redis-clients.ts'
import { connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { itKeepsTheRules, ownerOf } from './dedupe-rules.ts'

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

    // Redis keeps its own, real time.
    const afterLease = (id = 'n-1') =>
      expect.poll(() => connection.send('PTTL', `mandatekit:notification:${id}`)).toBe(-2)

    itKeepsTheRules({ create: async () => createRedisDedupeStore(connection.client), afterLease })

    it('rejects, and loses no claim to nobody, while Redis holds something else or is full', async () => {
      const { send } = connection
      const store = createRedisDedupeStore(connection.client)
      await send('RPUSH', 'mandatekit:notification:n-1', 'garbage')
      await expect(store.claim('n-1', 10_000)).rejects.toThrow()
      await send('CONFIG', 'SET', 'maxmemory', '1')
      await expect(store.claim('n-2', 10_000)).rejects.toThrow()
      await send('CONFIG', 'SET', 'maxmemory', '0')
      ownerOf(await store.claim('n-2', 10_000))
    })

    it('rejects, rather than wait for ever, while text that is not its own stands under a key', async () => {
      const { send } = connection
      const store = createRedisDedupeStore(connection.client)
      await send('SET', 'mandatekit:notification:n-1', 'garbage')
      await expect(store.claim('n-1', 10_000)).rejects.toThrow('something else')
      expect(await send('GET', 'mandatekit:notification:n-1')).toBe('garbage')
      await send('DEL', 'mandatekit:notification:n-1')
      ownerOf(await store.claim('n-1', 10_000))
    })

    it('lets an id be claimed whose lease has lost its end', async () => {
      const { send } = connection
      const store = createRedisDedupeStore(connection.client)
      const former = ownerOf(await store.claim('n-1', 10_000))
      await send('PERSIST', 'mandatekit:notification:n-1')
      expect(ownerOf(await store.claim('n-1', 10_000))).not.toBe(former)
      expect(await store.claim('n-1', 10_000)).toEqual({ state: 'in-progress' })
    })

    it('keeps the same id of two platforms apart by their prefixes', async () => {
      const one = createRedisDedupeStore(connection.client, { prefix: 'one:' })
      const two = createRedisDedupeStore(connection.client, { prefix: 'two:' })
      await one.commit('n-1', ownerOf(await one.claim('n-1', 10_000)), 60_000)
      ownerOf(await two.claim('n-1', 10_000))
      expect(await one.claim('n-1', 10_000)).toEqual({ state: 'committed' })
    })

    it('rejects on a replica that only reads, and works when it is a master again', async () => {
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

    it('that forgets everything while code runs still learns of its success, and the loss is reported', async () => {
      const work = deferred()
      const onPayment = vi.fn(() => work.promise)
      const { deliver, kinds } = openReceiver({
        dedupe: createRedisDedupeStore(connection.client),
        onPayment,
      })
      const first = deliver(payment())
      await expect.poll(() => onPayment.mock.calls.length).toBe(1)
      await connection.send('FLUSHALL')
      work.resolve()
      expect(await first).toBe(200)
      expect(kinds()).toEqual(['lease-lost'])
      expect(await deliver(payment())).toBe(200)
      expect(onPayment).toHaveBeenCalledOnce()
    })

    it('says the same when a client sends a command again whose reply was lost', async () => {
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

    it('reads replies that a client gives as bytes', async () => {
      const { send } = connection
      const store = createRedisDedupeStore(async (command) => {
        const reply = await send(...command)
        return typeof reply === 'string' ? Buffer.from(reply) : reply
      })
      await store.commit('n-1', ownerOf(await store.claim('n-1', 10_000)), 60_000)
      expect(await store.claim('n-1', 10_000)).toEqual({ state: 'committed' })
    })

    it('rejects in time while Redis is down, and works again when it is up', async () => {
      const store = createRedisDedupeStore(connection.client, { commandTimeout: 100 })
      await redis.kill()
      await expect(store.claim('n-1', 10_000)).rejects.toThrow()
      await redis.resume()
      await expect
        .poll(
          () =>
            store.claim('n-2', 10_000).then(
              ({ state }) => state,
              () => 'down',
            ),
          { timeout: 10_000 },
        )
        .toBe('claimed')
    }, 20_000)
  },
)

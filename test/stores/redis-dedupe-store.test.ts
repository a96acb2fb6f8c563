import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRedisDedupeStore } from '../../src/stores/index.ts'
import { sendCommandWith } from '../../src/stores/redis-commands.ts'
import { itKeepsTheRules, ownerOf } from './dedupe-rules.ts'
import type { Connection } from './redis-clients.ts'
import { connections } from './redis-clients.ts'
import { RedisServer, redisIsInstalled } from './redis-server.ts'

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
      await sendCommandWith(connection.client, {})('FLUSHALL')
    })

    // Redis keeps its own, real time.
    const afterLease = (id = 'n-1') =>
      expect
        .poll(() => sendCommandWith(connection.client, {})('PTTL', `mandatekit:notification:${id}`))
        .toBe(-2)

    itKeepsTheRules({ create: async () => createRedisDedupeStore(connection.client), afterLease })

    it('rejects, and loses no claim to nobody, while Redis holds something else or is full', async () => {
      const send = sendCommandWith(connection.client, {})
      const store = createRedisDedupeStore(connection.client)
      await send('RPUSH', 'mandatekit:notification:n-1', 'garbage')
      await expect(store.claim('n-1', 10_000)).rejects.toThrow()
      await send('CONFIG', 'SET', 'maxmemory', '1')
      await expect(store.claim('n-2', 10_000)).rejects.toThrow()
      await send('CONFIG', 'SET', 'maxmemory', '0')
      ownerOf(await store.claim('n-2', 10_000))
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

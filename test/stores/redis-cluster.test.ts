import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createRedisDedupeStore, createRedisTokenStore, type RedisClient } from '../../src/stores/index.ts'
import { connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { EMPTY_RECORD, ownerOf } from './stores.ts'

/** Two nodes that share the slots: a command with its key in the wrong place goes to the wrong node. */
describe.skipIf(!redisIsInstalled())('a cluster of Redis', () => {
  const nodes: RedisServer[] = []
  const closing: (() => unknown)[] = []

  beforeAll(async () => {
    nodes.push(...(await Promise.all([0, 1].map(() => RedisServer.start(['--cluster-enabled', 'yes'])))))
    const [first, second] = await Promise.all(
      nodes.map(async ({ url }) => {
        const { send, close } = await connections.ioredis(url)
        closing.push(close)
        return send
      }),
    )
    await first?.('CLUSTER', 'ADDSLOTSRANGE', '0', '8191')
    await second?.('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383')
    await second?.('CLUSTER', 'SET-CONFIG-EPOCH', '2')
    await first?.('CLUSTER', 'MEET', '127.0.0.1', String(nodes[1]?.port))
    for (const send of [first, second]) {
      const ready = async () => {
        const [info, slots] = [await send?.('CLUSTER', 'INFO'), await send?.('CLUSTER', 'SLOTS')]
        return /cluster_state:ok/.test(String(info)) && Array.isArray(slots) && slots.length === 2
      }
      await vi.waitUntil(ready, { timeout: 40_000, interval: 50 })
    }
  })

  afterAll(async () => {
    for (const close of closing.reverse()) close()
    await Promise.all(nodes.map((node) => node.close()))
  })

  const clients: Record<string, () => Promise<RedisClient>> = {
    ioredis: async () => {
      const cluster = new Cluster(nodes.map(({ port }) => ({ host: '127.0.0.1', port })))
      closing.push(() => cluster.disconnect())
      return cluster
    },
    'node-redis, by a function': async () => {
      const cluster = createCluster({ rootNodes: nodes.map(({ url }) => ({ url })) })
      cluster.on('error', () => undefined)
      await cluster.connect()
      closing.push(() => cluster.destroy())
      return (command, key) => cluster.sendCommand(key, false, [...command])
    },
  }

  it.each(Object.entries(clients))(
    'serves tokens, locks and claims on every node through %s',
    async (kind, connect) => {
      const client = await connect()
      const prefix = `${kind.replace(/\W/g, '-')}:`
      const tokens = createRedisTokenStore(client, { prefix })
      const dedupe = createRedisDedupeStore(client, { prefix })
      for (let index = 0; index < 20; index += 1) {
        const key = `key-${index}`
        await tokens.withLock(key, async () => tokens.set(key, EMPTY_RECORD, 60_000))
        expect(await tokens.get(key)).toEqual(EMPTY_RECORD)
        await tokens.delete(key)
        expect(await tokens.get(key)).toBeUndefined()
        const owner = ownerOf(await dedupe.claim(key, 60_000))
        expect(await dedupe.extend(key, owner, 60_000)).toBe(true)
        await dedupe.release(key, owner)
        expect(await dedupe.commit(key, ownerOf(await dedupe.claim(key, 60_000)), 60_000)).toBe(true)
        expect(await dedupe.claim(key, 60_000)).toEqual({ state: 'committed' })
      }
    },
  )
})

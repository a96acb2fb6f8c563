import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createNotificationHandler } from '../../src/notifications/index.ts'
import { createRedisDedupeStore } from '../../src/stores/index.ts'
import { delivery, payment } from '../support/messages.ts'
import { createRandom, shuffled } from '../support/random.ts'
import { type Connection, connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'

const MESSAGES = 300
const SEED = Math.floor(Math.random() * 1e9)

describe.skipIf(!redisIsInstalled())('a Redis that writes to disk', { timeout: 120_000 }, () => {
  let redis: RedisServer
  let open: Connection[]

  beforeEach(async () => {
    redis = await RedisServer.start(['--appendonly', 'yes', '--appendfsync', 'always'])
    open = [await connections.ioredis(redis.url), await connections['node-redis'](redis.url)]
  })

  afterEach(async () => {
    for (const connection of open) connection.close()
    await redis.close()
  })

  it(`and is killed and started again: each of many doubled messages succeeds once (seed ${SEED})`, async () => {
    const random = createRandom(SEED)
    const handled: string[] = []
    const reports = new Set<string>()
    const receivers = open.map(({ client }) =>
      createNotificationHandler({
        verify: 'none',
        dedupe: createRedisDedupeStore(client, { commandTimeout: 1_000 }),
        lease: { duration: 20_000 },
        onSubscription: () => undefined,
        onPayment: async ({ notificationId }) => {
          await pause(random() * 5)
          handled.push(notificationId)
        },
        onUnexpected: ({ kind }) => reports.add(kind),
      }),
    )
    const ids = Array.from({ length: MESSAGES }, (_, index) => `n-${index}`)
    const waiting = shuffled([...ids, ...ids.slice(0, MESSAGES / 5)], random)
    let restarted: Promise<void> | undefined
    const restart = async () => {
      await redis.kill()
      await redis.resume()
    }
    const sender = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        if (handled.length > MESSAGES / 3) restarted ??= restart()
        const receive = receivers[Math.floor(random() * receivers.length)]
        const answer = await receive?.(delivery(payment({ notificationId: id })))
        if (answer?.status === 200) continue
        waiting.push(id)
        await pause(50)
      }
    }
    await Promise.all(Array.from({ length: 20 }, sender))
    await restarted
    expect(reports).toContain('store-failed')
    expect([...handled].sort()).toEqual([...ids].sort())
  })
})

import { setTimeout as pause } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createMemoryDedupeStore,
  createNotificationHandler,
  type DedupeStore,
} from '../../src/notifications/index.ts'
import { createRedisDedupeStore } from '../../src/stores/index.ts'
import { delivery, payment } from '../support/messages.ts'
import { startProcess } from '../support/processes.ts'
import { createRandom, shuffled } from '../support/random.ts'
import { connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { sized } from '../support/sizes.ts'

const MESSAGES = sized(10_000, 300)
const DUPLICATES = MESSAGES / 5
const WARM_UP = 0.25 * (MESSAGES + DUPLICATES)
const RECEIVER = new URL('./fleet-receiver.ts', import.meta.url)
const SEED = Math.floor(Math.random() * 1e9)

const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `n-${index}`)

/** Ids to deliver in random order: each message once, a fifth of them twice. */
const campaign = (random: () => number, count = MESSAGES): string[] => {
  const ids = idsOf(count)
  return shuffled([...ids, ...shuffled(ids, random).slice(0, count / 5)], random)
}

/** Delivers all, many at once, and again later what did not receive 200. Returns the number of deliveries. */
const deliverAll = async (ids: readonly string[], post: (id: string) => Promise<number>, wait = 0) => {
  const waiting = [...ids]
  let next = 0
  let most = ids.length * 20
  const sender = async () => {
    for (let id = waiting[next]; id !== undefined; id = waiting[next]) {
      next += 1
      const status = await post(id)
      if (status !== 200) waiting.push(id)
      if (status !== 200 && wait > 0) await pause(wait)
      most -= 1
      if (most === 0) throw new Error('The deliveries do not end.')
    }
  }
  await Promise.all(Array.from({ length: 64 }, sender))
  return next
}

/** Receivers in this process, one for each store, that fail at random. */
const openReceivers = (stores: readonly DedupeStore[], random: () => number, failing: number) => {
  const handled: string[] = []
  const reports = new Set<string>()
  const receivers = stores.map((dedupe) =>
    createNotificationHandler({
      verify: 'none',
      dedupe,
      lease: { duration: 20_000 },
      onSubscription: () => undefined,
      onPayment: async ({ notificationId }) => {
        await pause(random() * 5)
        if (random() < failing) throw new Error('failed at random')
        handled.push(notificationId)
      },
      onUnexpected: ({ kind }) => reports.add(kind),
    }),
  )
  const post = async (id: string): Promise<number> => {
    const receive = receivers[Math.floor(random() * receivers.length)]
    return (await receive?.(delivery(payment({ notificationId: id }))))?.status ?? 0
  }
  return { handled, reports, post }
}

test(`${MESSAGES} notifications to a receiver that fails at random succeed once each, in bounded memory (seed ${SEED})`, async () => {
  const random = createRandom(SEED)
  const dedupe = createMemoryDedupeStore({ limit: 15_000 })
  const { handled, post } = openReceivers([dedupe], random, 0.2)
  expect(await deliverAll(campaign(random), post)).toBeGreaterThan(MESSAGES + DUPLICATES)
  expect(handled.toSorted()).toEqual(idsOf(MESSAGES).toSorted())
  expect(dedupe.size).toBe(MESSAGES)
})

interface Result {
  readonly handled: string[]
  readonly failures: number
  readonly reports: Record<string, number>
}

describe.skipIf(!redisIsInstalled())('with a Redis', { timeout: 240_000 }, () => {
  /** Starts a Redis that ends with the test. */
  const startRedis = async (...settings: string[]) => {
    const redis = await RedisServer.start(settings)
    onTestFinished(() => redis.close())
    return redis
  }

  test(`that writes to disk and is killed and started again, each of 300 doubled messages succeeds once (seed ${SEED})`, async () => {
    const random = createRandom(SEED)
    const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always')
    const open = [await connections.ioredis(redis.url), await connections['node-redis'](redis.url)]
    const stores = open.map(({ client }) => createRedisDedupeStore(client, { commandTimeout: 1_000 }))
    const { handled, reports, post } = openReceivers(stores, random, 0)
    const restart = async () => {
      await redis.kill()
      await redis.resume()
    }
    let restarted: Promise<void> | undefined
    const postAndRestart = (id: string) => {
      if (handled.length > 100) restarted ??= restart()
      return post(id)
    }
    await deliverAll(campaign(random, 300), postAndRestart, 50)
    await restarted
    for (const connection of open) connection.close()
    expect(reports).toContain('store-failed')
    expect(handled.toSorted()).toEqual(idsOf(300).toSorted())
  })

  test(`${MESSAGES} notifications in random order, a fifth of them twice, to four processes that fail at random: each succeeds once (seed ${SEED})`, async () => {
    const random = createRandom(SEED)
    const { url } = await startRedis()
    const kinds = ['node-redis', 'ioredis', 'node-redis', 'ioredis']
    const start = (kind: string, index: number) =>
      startProcess<number>(RECEIVER, [url, kind, SEED + index], ['--expose-gc'])
    const fleet = await Promise.all(kinds.map(start))
    const agent = new Agent({ connections: 16 })
    const post = async (id: string): Promise<number> => {
      const port = fleet[Math.floor(random() * fleet.length)]?.first
      const body = JSON.stringify(payment({ notificationId: id }))
      const answer = await request(`http://127.0.0.1:${port}/`, { method: 'POST', body, dispatcher: agent })
      await answer.body.dump()
      return answer.statusCode
    }
    const askAll = <Answer>(word: string) => Promise.all(fleet.map(({ ask }) => ask<Answer>(word)))

    const ids = campaign(random)
    await deliverAll(ids.slice(0, WARM_UP), post)
    const before = await askAll<{ heap: number }>('heap')
    await deliverAll(ids.slice(WARM_UP), post)
    const after = await askAll<{ heap: number }>('heap')
    await agent.close()
    const results = await askAll<Result>('end')

    const handled = results.flatMap((result) => result.handled)
    expect(handled.toSorted()).toEqual(idsOf(MESSAGES).toSorted())
    for (const result of results) {
      expect(result.handled.length).toBeGreaterThan(MESSAGES / 8)
      expect(result.failures).toBeGreaterThan(MESSAGES / 100)
      // On a busy machine a command to Redis may time out, which is reported; a claim is never lost.
      expect(result.reports).toMatchObject({ 'handler-failed': result.failures })
      expect(result.reports).not.toHaveProperty('lease-lost')
    }
    // A receiver itself keeps its list of handled ids: some 2 000 short texts.
    for (const [index, { heap }] of after.entries())
      expect(heap - (before[index]?.heap ?? 0)).toBeLessThan(8 * 1024 * 1024)
  })
})

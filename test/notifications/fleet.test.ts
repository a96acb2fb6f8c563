import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMemoryDedupeStore, createNotificationHandler } from '../../src/notifications/index.ts'
import { delivery, payment } from '../support/messages.ts'
import { createRandom, shuffled } from '../support/random.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { sized } from '../support/sizes.ts'

const MESSAGES = sized(10_000, 300)
const DUPLICATES = MESSAGES / 5
const WARM_UP = 0.25 * (MESSAGES + DUPLICATES)
const RECEIVER = fileURLToPath(new URL('./fleet-receiver.ts', import.meta.url))
const SEED = Math.floor(Math.random() * 1e9)

/** Ids to deliver in random order: each message once, a fifth of them twice. */
const campaign = (random: () => number): string[] => {
  const ids = Array.from({ length: MESSAGES }, (_, index) => `n-${index}`)
  return shuffled([...ids, ...shuffled(ids, random).slice(0, DUPLICATES)], random)
}

/** Delivers all, many at once, and again later what did not receive 200. Returns the number of deliveries. */
const deliverAll = async (ids: readonly string[], post: (id: string) => Promise<number>): Promise<number> => {
  const waiting = [...ids]
  let next = 0
  let most = ids.length * 20
  const sender = async () => {
    for (let id = waiting[next]; id !== undefined; id = waiting[next]) {
      next += 1
      if ((await post(id)) !== 200) waiting.push(id)
      most -= 1
      if (most === 0) throw new Error('The deliveries do not end.')
    }
  }
  await Promise.all(Array.from({ length: 64 }, sender))
  return next
}

interface Result {
  readonly handled: string[]
  readonly failures: number
  readonly reports: Record<string, number>
}

describe.skipIf(!redisIsInstalled())('four processes with one Redis', { timeout: 240_000 }, () => {
  let redis: RedisServer
  let fleet: ChildProcess[] = []

  beforeEach(async () => {
    redis = await RedisServer.start()
  })

  afterEach(async () => {
    for (const receiver of fleet) receiver.kill('SIGKILL')
    await redis.close()
  })

  test(`${MESSAGES} notifications in random order, a fifth of them twice, to receivers that fail at random: each succeeds once (seed ${SEED})`, async () => {
    const random = createRandom(SEED)
    fleet = ['node-redis', 'ioredis', 'node-redis', 'ioredis'].map((kind, index) =>
      fork(RECEIVER, [redis.url, kind, String(SEED + index)], { execArgv: ['--expose-gc', '--no-warnings'] }),
    )
    const ports = await Promise.all(
      fleet.map(async (receiver) => (await once(receiver, 'message'))[0] as number),
    )
    const agent = new Agent({ connections: 16 })
    const post = async (id: string): Promise<number> => {
      const port = ports[Math.floor(random() * ports.length)]
      const body = JSON.stringify(payment({ notificationId: id }))
      const answer = await request(`http://127.0.0.1:${port}/`, { method: 'POST', body, dispatcher: agent })
      await answer.body.dump()
      return answer.statusCode
    }
    const ask = async <Answer>(receiver: ChildProcess, word: string): Promise<Answer> => {
      const answered = once(receiver, 'message')
      receiver.send(word)
      return (await answered)[0] as Answer
    }
    const heaps = () => Promise.all(fleet.map((receiver) => ask<{ heap: number }>(receiver, 'heap')))

    const ids = campaign(random)
    await deliverAll(ids.slice(0, WARM_UP), post)
    const before = await heaps()
    await deliverAll(ids.slice(WARM_UP), post)
    const after = await heaps()
    await agent.close()
    const results = await Promise.all(fleet.map((receiver) => ask<Result>(receiver, 'end')))

    const handled = results.flatMap((result) => result.handled)
    expect(handled).toHaveLength(MESSAGES)
    expect(new Set(handled).size).toBe(MESSAGES)
    for (const result of results) {
      expect(result.handled.length).toBeGreaterThan(MESSAGES / 8)
      expect(result.failures).toBeGreaterThan(MESSAGES / 100)
      // On a busy machine a command to Redis may time out, which is reported; a claim is never lost.
      expect(result.reports).toMatchObject({ 'handler-failed': result.failures })
      expect(result.reports).not.toHaveProperty('lease-lost')
    }
    // A receiver itself keeps its list of handled ids: some 2 000 short texts.
    for (const [index, { heap }] of after.entries()) {
      expect(heap - (before[index]?.heap ?? 0)).toBeLessThan(8 * 1024 * 1024)
    }
  })
})

test(`the same in one process, whose memory stays bounded (seed ${SEED})`, async () => {
  const random = createRandom(SEED)
  const dedupe = createMemoryDedupeStore({ limit: 15_000 })
  const handled: string[] = []
  const handler = createNotificationHandler({
    verify: 'none',
    dedupe,
    onSubscription: () => undefined,
    onPayment: async ({ notificationId }) => {
      await new Promise((resolve) => setImmediate(resolve))
      if (random() < 0.2) throw new Error('failed at random')
      handled.push(notificationId)
    },
  })
  const deliveries = await deliverAll(
    campaign(random),
    async (id) => (await handler(delivery(payment({ notificationId: id })))).status,
  )
  expect(deliveries).toBeGreaterThan(MESSAGES + DUPLICATES)
  expect(handled).toHaveLength(MESSAGES)
  expect(new Set(handled).size).toBe(MESSAGES)
  expect(dedupe.size).toBe(MESSAGES)
})

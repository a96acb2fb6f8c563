import { GatewayClient } from 'mandatekit'
import { createMock, type FaultEffect } from 'mandatekit/mocks/core'
import { type Job, PgBoss } from 'pg-boss'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { JobData } from '../../examples/queues/pg-boss.ts'
import {
  addJob,
  createQueues,
  createRecords,
  handle,
  KEY_LIFETIME,
  startWorker,
  TABLES,
} from '../../examples/queues/pg-boss.ts'
import { MOCK_CHARGE } from '../support/mock-clients.ts'
import { PostgresServer, postgresIsInstalled } from '../support/postgres-server.ts'
import { Killed, simulatePgBoss } from './pg-boss-simulator.ts'

const QUEUE = 'gateway'

/** A mock, and a job that charges once under its key. */
const openShop = (...faults: FaultEffect[]) => {
  const mock = createMock()
  for (const fault of faults) mock.faults.add({ operation: 'gateway.charge', ...fault })
  const gateway = new GatewayClient({
    ...mock.clientOptions.gateway,
    fetch: mock.fetch,
    retry: false,
    rateLimit: 'throw',
  })
  const run = ({ key }: JobData) => gateway.charge(MOCK_CHARGE, { idempotencyKey: key })
  return { mock, gateway, run, charges: () => mock.state.charges().length }
}
const LOST: FaultEffect = { kind: 'lost-response' }
const DOWN: FaultEffect = { kind: 'status', status: 503 }
const LIMITED: FaultEffect = { kind: 'rate-limit', retryAfter: 300 }
const INVALID: FaultEffect = {
  kind: 'status',
  status: 422,
  body: { error: { code: 'invalid_msisdn', message: 'x' } },
}

describe('case 117: the recipe for pg-boss, on a simulator with the rules of pg-boss', () => {
  afterEach(() => void vi.useRealTimers())

  const open = (...faults: FaultEffect[]) => {
    const shop = openShop(...faults)
    const queue = simulatePgBoss(QUEUE)
    const work = (job: Job<JobData>) => handle(queue.boss as never, queue.records, job, shop.run)
    /** Works until no job waits. */
    const drain = async () => {
      for (let run = 0; run < 50; run += 1) {
        queue.endPause()
        if (!(await queue.workOnce(work))) return
      }
    }
    const add = (key: string) => addJob(queue.boss as never, QUEUE, { key })
    return { ...queue, shop, work, drain, add, states: () => queue.rows().map(({ state }) => state) }
  }

  test('a plain send for an active job returns null, which is why the recipe completes the job first', async () => {
    const { add, workOnce } = open()
    expect(await add('order-1')).toBe('1')
    expect(await add('order-1')).toBeNull()
    await workOnce(async () => {
      expect(await add('order-1')).toBeNull()
      return [{ id: '1', status: 'completed' }]
    })
    expect(await add('order-1')).toBe('2')
  })

  test.each([
    ['a lost response', [LOST]],
    ['an outage, a rate limit and a lost response', [DOWN, LIMITED, LOST]],
  ])('after %s, the job runs until its charge exists, and charges once', async (_, faults) => {
    const { shop, add, drain, states } = open(...faults)
    await add('order-1')
    await drain()
    expect(states()).toEqual([...faults, ''].map(() => 'completed'))
    expect(shop.charges()).toBe(1)
  })

  test('a job that would fail again is kept as failed, and a bug in your own code is retried', async () => {
    const { shop, add, drain, states, workOnce, rows } = open(INVALID)
    await add('order-1')
    await drain()
    expect([states(), shop.charges()]).toEqual([['failed'], 0])
    await add('order-2')
    await workOnce(() => Promise.reject(new Error('bug')))
    expect(rows().at(-1)).toMatchObject({ state: 'created', retryCount: 1 })
    await drain()
    expect([states(), shop.charges()]).toEqual([['failed', 'completed'], 1])
  })

  test('during a pause no job sends a request, and each starts within 10 s of its end', async () => {
    const { shop, add, workOnce, work, records, rows } = open(LIMITED)
    for (const key of ['order-1', 'order-2', 'order-3']) await add(key)
    for (let run = 0; run < 3; run += 1) await workOnce(work)
    expect(shop.mock.requests.of('gateway.charge')).toHaveLength(1)
    const until = await records.pausedUntil(QUEUE)
    expect(until).toBeGreaterThan(Date.now())
    const [own, ...others] = rows().filter(({ state }) => state === 'created')
    expect(Math.abs((own?.startAfter ?? 0) - until)).toBeLessThan(1_000)
    expect(others).toHaveLength(2)
    for (const { startAfter } of others) {
      expect(startAfter).toBeGreaterThanOrEqual(until)
      expect(startAfter).toBeLessThan(until + 10_000)
    }
  })

  test('after a kill and the life of its key, a job sends nothing, also if it is added again', async () => {
    const { shop, add, workOnce, work, sentAt, states } = open()
    await add('order-1')
    await workOnce((job) => work(job).then(() => Promise.reject(new Killed())))
    sentAt.set('order-1', Date.now() - KEY_LIFETIME - 1)
    for (const expected of [['failed'], ['failed', 'failed']]) {
      await workOnce(work)
      expect(states()).toEqual(expected)
      await add('order-1')
    }
    expect(shop.mock.requests.of('gateway.charge')).toHaveLength(1)
  })

  test('a poll runs at any age, because its call has no idempotency key', async () => {
    const { boss, workOnce, records, states } = open()
    const days = [0, 1, 2]
    for (const day of days) {
      vi.setSystemTime(Date.now() + day * 86_400_000)
      await addJob(boss as never, QUEUE, { key: 'poll_ch_1', hasNoKey: true })
      await workOnce((job) => handle(boss as never, records, job, async () => undefined))
    }
    expect(states()).toEqual(days.map(() => 'completed'))
  })

  test.each([
    ['a key of another charge', []],
    ['a lost response and a 401', [LOST, { kind: 'status', status: 401 }] as const],
  ])('after %s, a job is kept, and sends nothing if it is added again', async (_, faults) => {
    const { shop, add, drain, states } = open(...faults)
    if (faults.length === 0)
      await shop.gateway.charge({ ...MOCK_CHARGE, amount: 1 }, { idempotencyKey: 'order-1' })
    for (let added = 0; added < 2; added += 1) {
      await add('order-1')
      await drain()
      expect(states().at(-1)).toBe('failed')
    }
    expect(shop.mock.requests.of('gateway.charge')).toHaveLength(2)
  })

  const points = ['complete', 'send', 'commit', 'committed'] as const
  test.each(points.flatMap((point) => [1, 2, 3].map((count) => [point, count] as const)))(
    'a kill after %s, %i times, loses no job and charges once',
    async (point, count) => {
      const queue = open(LOST, DOWN, LOST)
      let kills = 0
      queue.points.crash = (at) => {
        if (at !== point || kills === count) return
        kills += 1
        throw new Killed(point)
      }
      await queue.add('order-1')
      await queue.drain()
      expect(kills).toBe(count)
      expect(queue.states().filter((state) => state !== 'completed')).toEqual([])
      expect(queue.shop.charges()).toBe(1)
    },
  )
})

describe.skipIf(!postgresIsInstalled())('the recipe for pg-boss, on PostgreSQL', () => {
  let server: PostgresServer
  let boss: PgBoss
  let queue = QUEUE
  let queues = 0

  beforeAll(async () => {
    server = await PostgresServer.start()
    boss = new PgBoss({ connectionString: server.url, schedule: false })
    boss.on('error', () => undefined)
    await boss.start()
    await boss.getDb().executeSql(TABLES)
  })

  afterAll(async () => {
    await boss.stop({ graceful: false })
    await server.close()
  })

  beforeEach(async () => {
    queues += 1
    queue = `gateway-${queues}`
    await createQueues(boss, queue)
  })

  const states = async (name = queue) =>
    (await boss.findJobs<JobData>(name)).map(({ state }) => state as string).sort()
  /** Fetches a job, also one that should start later, and works on it as a worker of pg-boss does. */
  const workOnce = async (
    run: Parameters<typeof handle>[3],
    given: Pick<PgBoss, 'complete' | 'send' | 'getDb'> = boss,
  ) => {
    const [job] = await boss.fetch<JobData>(queue, { ignoreStartAfter: true })
    if (job === undefined) return false
    try {
      const [result] = await handle(given, createRecords(boss.getDb()), job, run)
      if (result?.status === 'completed') await boss.complete(queue, job)
    } catch {
      await boss.fail(queue, job)
    }
    return true
  }

  test('send returns null while the job of a key is active', async () => {
    expect(await addJob(boss, queue, { key: 'order-1' })).toEqual(expect.any(String))
    const [job] = await boss.fetch<JobData>(queue)
    expect(await addJob(boss, queue, { key: 'order-1' })).toBeNull()
    await boss.complete(queue, job?.id ?? '')
    expect(await addJob(boss, queue, { key: 'order-1' })).toEqual(expect.any(String))
  })

  test('after an outage and a lost response, the job runs again and charges once', async () => {
    const shop = openShop(DOWN, LOST)
    await addJob(boss, queue, { key: 'order-1' })
    while (await workOnce(shop.run));
    expect(await states()).toEqual(['completed', 'completed', 'completed'])
    expect(shop.charges()).toBe(1)
  })

  test.each(['complete', 'send'] as const)(
    'if the connection dies after %s in the transaction, the job stays and charges once',
    async (point) => {
      const shop = openShop(LOST)
      let kills = 0
      const die = async (db: Parameters<typeof boss.send>[2]) => {
        if (db?.db === undefined || kills > 0) return
        kills += 1
        await db.db.executeSql('SELECT pg_terminate_backend(pg_backend_pid())')
      }
      const dying: Parameters<typeof handle>[0] = {
        getDb: () => boss.getDb(),
        complete: async (...input) => {
          const result = await boss.complete(...input)
          if (point === 'complete') await die(input[3])
          return result
        },
        send: async (name: unknown, data?: unknown, options?: never) => {
          const id = await boss.send(name as string, data as object, options)
          if (point === 'send') await die(options)
          return id
        },
      }
      await addJob(boss, queue, { key: 'order-1' })
      await workOnce(shop.run, dying)
      expect(kills).toBe(1)
      expect(await states()).toEqual(['retry'])
      while (await workOnce(shop.run));
      expect(await states()).toEqual(['completed'])
      expect(shop.charges()).toBe(1)
    },
  )

  test('after the life of its key, a job that redrive moves back sends nothing', async () => {
    const shop = openShop()
    await addJob(boss, queue, { key: 'order-1' })
    await workOnce(shop.run)
    await boss.getDb().executeSql('UPDATE first_requests SET sent_at = sent_at - $1', [KEY_LIFETIME])
    await addJob(boss, queue, { key: 'order-1' })
    await startWorker(boss, queue, shop.run)
    for (let redrives = 0; redrives < 2; redrives += 1) {
      await expect.poll(() => states(`${queue}-failed`)).toEqual(['created'])
      expect(await boss.redrive(`${queue}-failed`)).toBe(1)
    }
    expect(shop.mock.requests.of('gateway.charge')).toHaveLength(1)
    await boss.offWork(queue)
  })

  test('a worker pauses its queue, keeps a failed job in the other queue, and takes it back after a repair', async () => {
    const shop = openShop(INVALID)
    await addJob(boss, queue, { key: 'order-1' })
    await startWorker(boss, queue, shop.run)
    await expect.poll(() => states(`${queue}-failed`)).toEqual(['created'])
    expect(shop.charges()).toBe(0)
    expect(await boss.redrive(`${queue}-failed`)).toBe(1)
    await expect.poll(() => shop.charges()).toBe(1)
    shop.mock.faults.add({ operation: 'gateway.charge', ...LIMITED })
    await addJob(boss, queue, { key: 'order-2' })
    const records = createRecords(boss.getDb())
    await expect.poll(() => records.pausedUntil(queue)).toBeGreaterThan(Date.now())
    const until = await records.pausedUntil(queue)
    await records.pause(queue, until - 1_000)
    expect(await records.pausedUntil(queue)).toBe(until)
    const sent = shop.mock.requests.of('gateway.charge').length
    await addJob(boss, queue, { key: 'order-3' })
    const postponed = async () =>
      (await boss.findJobs<JobData>(queue)).filter(
        ({ data, state }) => data.key === 'order-3' && state === 'completed',
      )
    await expect.poll(postponed).toHaveLength(1)
    expect(shop.mock.requests.of('gateway.charge')).toHaveLength(sent)
    await boss.offWork(queue)
  })
})

import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deferred } from '../support/deferred.ts'
import { connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { TokenServer } from '../support/token-server.ts'

const WORKER = fileURLToPath(new URL('./fleet-worker.ts', import.meta.url))

describe.skipIf(!redisIsInstalled())('a fleet with one Redis', { timeout: 240_000 }, () => {
  let redis: RedisServer
  let api: TokenServer
  let fleet: ChildProcess[]

  beforeEach(async () => {
    fleet = []
    redis = await RedisServer.start()
    api = await TokenServer.start()
  })

  afterEach(async () => {
    for (const worker of fleet) worker.kill('SIGKILL')
    await redis.close()
  })

  /** How often a lock was prolonged. */
  const extensions = async (): Promise<number> => {
    const connection = await connections.ioredis(redis.url)
    const statistics = String(await connection.send('INFO', 'commandstats'))
    connection.close()
    return Number(/cmdstat_pexpire:calls=(\d+)/.exec(statistics)?.[1] ?? 0)
  }

  const start = async (kind: 'node-redis' | 'ioredis', calls: number, lockTime = 10_000) => {
    const worker = fork(WORKER, [api.url, redis.url, kind, String(calls), String(lockTime)])
    fleet.push(worker)
    await once(worker, 'message')
    return worker
  }

  const run = async (worker: ChildProcess) => {
    worker.send('go')
    const [result] = (await once(worker, 'message')) as [
      { failed: number; failures: string[]; reports: string[] },
    ]
    return result
  }

  it('of 8 processes with 1 000 cold calls each logs in once in all', async () => {
    const kinds = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? 'node-redis' : 'ioredis'))
    const workers = await Promise.all(kinds.map((kind) => start(kind as 'node-redis' | 'ioredis', 1000)))
    const results = await Promise.all(workers.map(run))
    expect(results).toEqual(workers.map(() => ({ failed: 0, failures: [], reports: [] })))
    expect(api.tokenRequests).toHaveLength(1)
    expect(api.calls).toHaveLength(8000)
  })

  it('whose Redis is killed and started again during the login goes on: no call fails, at most one login a process', async () => {
    const slow = deferred()
    api.onToken = async (_request, index) => {
      await slow.promise
      return { status: 200, body: api.tokenBody(index) }
    }
    const kinds = ['node-redis', 'ioredis', 'node-redis', 'ioredis'] as const
    const workers = await Promise.all(kinds.map((kind) => start(kind, 100)))
    const results = Promise.all(workers.map(run))
    await expect.poll(() => api.tokenRequests.length, { timeout: 30_000 }).toBe(1)
    await redis.kill()
    await redis.resume()
    slow.resolve()
    expect((await results).map(({ failed }) => failed)).toEqual([0, 0, 0, 0])
    expect(api.calls).toHaveLength(400)
    expect(api.tokenRequests.length).toBeLessThanOrEqual(4)
  })

  it('with wrong credentials makes one login in all', async () => {
    api.onToken = () => ({ status: 401 })
    const workers = await Promise.all(
      (['node-redis', 'ioredis', 'node-redis', 'ioredis'] as const).map((kind) => start(kind, 100)),
    )
    const results = await Promise.all(workers.map(run))
    expect(results.map(({ failed }) => failed)).toEqual([100, 100, 100, 100])
    expect(api.tokenRequests).toHaveLength(1)
  })

  it.each(['node-redis', 'ioredis'] as const)(
    'of %s goes on within the lock’s time when the holder of the lock is killed',
    async (kind) => {
      const never = deferred()
      const lockTime = 1_500
      let secondLogin = Number.POSITIVE_INFINITY
      api.onToken = async (_request, index) => {
        if (index === 1) await never.promise
        secondLogin = performance.now()
        return { status: 200, body: api.tokenBody(index) }
      }
      const holder = await start(kind, 1, lockTime)
      const heir = await start(kind, 10, lockTime)
      holder.send('go')
      await expect.poll(() => api.tokenRequests.length).toBe(1)
      const waiting = run(heir)
      holder.kill('SIGKILL')
      await once(holder, 'exit')
      const killed = performance.now()
      expect(await waiting).toEqual({ failed: 0, failures: [], reports: [] })
      // The lock's time, and what a loaded machine needs to ask again; nobody waits for the client's 150 s.
      expect(secondLogin - killed).toBeLessThan(lockTime + 3_000)
      expect(api.tokenRequests).toHaveLength(2)
      never.resolve()
    },
  )

  it('waits longer than the lock’s time for a holder that lives', async () => {
    const slow = deferred()
    api.onToken = async (_request, index) => {
      await slow.promise
      return { status: 200, body: api.tokenBody(index) }
    }
    const workers = await Promise.all([start('node-redis', 10, 300), start('ioredis', 10, 300)])
    const results = Promise.all(workers.map(run))
    await expect.poll(() => api.tokenRequests.length).toBe(1)
    // Prolonged each 100 ms: after five times the lock would have ended.
    await expect.poll(() => extensions(), { timeout: 30_000 }).toBeGreaterThanOrEqual(5)
    expect(api.tokenRequests).toHaveLength(1)
    slow.resolve()
    expect(await results).toEqual([
      { failed: 0, failures: [], reports: [] },
      { failed: 0, failures: [], reports: [] },
    ])
    expect(api.tokenRequests).toHaveLength(1)
  })
})

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../support/deferred.ts'
import { startProcess } from '../support/processes.ts'
import { connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { sized } from '../support/sizes.ts'
import { TokenServer } from '../support/token-server.ts'

type Kind = keyof typeof connections

/** How the calls of a process ended. */
interface Result {
  readonly failed: number
  readonly failures: string[]
  readonly reports: string[]
}

const SUCCESS: Result = { failed: 0, failures: [], reports: [] }
const BOTH = ['node-redis', 'ioredis'] as const
const PAIRS = Array.from({ length: sized(2, 1) }, () => BOTH).flat()
const FLEET = Array.from({ length: sized(2, 1) }, () => PAIRS).flat()
const CALLS = sized(1000, 50)
const WORKER = new URL('./fleet-worker.ts', import.meta.url)

describe.skipIf(!redisIsInstalled())('a fleet with one Redis', { timeout: 240_000 }, () => {
  let redis: RedisServer
  let api: TokenServer

  beforeEach(async () => {
    redis = await RedisServer.start()
    onTestFinished(() => redis.close())
    api = await TokenServer.start()
  })

  /** How often a lock was extended. */
  const extensions = async (): Promise<number> => {
    const connection = await connections.ioredis(redis.url)
    const statistics = String(await connection.send('INFO', 'commandstats'))
    connection.close()
    return Number(/cmdstat_pexpire:calls=(\d+)/.exec(statistics)?.[1] ?? 0)
  }

  const start = (kind: Kind, calls: number, lockTime = 10_000) =>
    startProcess(WORKER, [api.url, redis.url, kind, calls, lockTime])
  const startAll = (kinds: readonly Kind[], calls: number, lockTime?: number) =>
    Promise.all(kinds.map((kind) => start(kind, calls, lockTime)))
  const run = (worker: Awaited<ReturnType<typeof start>>) => worker.ask<Result>('go')
  /** Waits until a process asks for a token. */
  const loginBegins = () => expect.poll(() => api.tokenRequests.length).toBe(1)

  it(`case 12: of ${FLEET.length} processes with ${CALLS} calls each logs in once in all`, async () => {
    const workers = await startAll(FLEET, CALLS)
    expect(await Promise.all(workers.map(run))).toEqual(workers.map(() => SUCCESS))
    expect(api.tokenRequests).toHaveLength(1)
    expect(api.calls).toHaveLength(FLEET.length * CALLS)
  })

  it('whose Redis is killed and started again during the login fails no call, with one login for each process at most', async () => {
    const held = api.holdLogins()
    const results = Promise.all((await startAll(PAIRS, 100)).map(run))
    await loginBegins()
    await redis.kill()
    await redis.resume()
    held.resolve()
    expect((await results).map(({ failed }) => failed)).toEqual(PAIRS.map(() => 0))
    expect(api.calls).toHaveLength(PAIRS.length * 100)
    expect(api.tokenRequests.length).toBeLessThanOrEqual(PAIRS.length)
  })

  it.each(BOTH.slice(0, sized(2, 1)))(
    'of %s goes on within lockTime when the holder of the lock is killed',
    async (kind) => {
      const never = deferred()
      const lockTime = 1_500
      let secondLogin = Number.POSITIVE_INFINITY
      api.onToken = async (_request, index) => {
        if (index === 1) await never.promise
        secondLogin = performance.now()
        return { status: 200, body: api.tokenBody(index) }
      }
      const [holder, heir] = [await start(kind, 1, lockTime), await start(kind, 10, lockTime)]
      const killHolder = holder.tell('go')
      await loginBegins()
      const waiting = run(heir)
      await killHolder()
      const killed = performance.now()
      expect(await waiting).toEqual(SUCCESS)
      // A busy machine may need seconds to ask again; without the lock's end the client would wait 150 s.
      expect(secondLogin - killed).toBeLessThan(lockTime + 30_000)
      expect(api.tokenRequests).toHaveLength(2)
      never.resolve()
    },
  )

  it('waits longer than lockTime for a living holder of the lock', async () => {
    const held = api.holdLogins()
    const results = Promise.all((await startAll(BOTH, 10, 3_000)).map(run))
    await loginBegins()
    // The holder extends its lock each second: after four extensions the lock would have ended.
    await expect.poll(() => extensions()).toBeGreaterThanOrEqual(4)
    expect(api.tokenRequests).toHaveLength(1)
    held.resolve()
    expect(await results).toEqual([SUCCESS, SUCCESS])
    expect(api.tokenRequests).toHaveLength(1)
  })
})

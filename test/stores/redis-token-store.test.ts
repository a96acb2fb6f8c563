import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createRedisTokenStore } from '../../src/stores/index.ts'
import { CREDENTIALS } from '../support/clients.ts'
import { createMerchant, recordKey } from '../support/merchant.ts'
import { type Connection, connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { api, clock, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

beforeEach(() => {
  // A login without the store waits up to 10 s at random.
  clock.skips = 10_000
})

const HOUR = 3_600_000

describe.skipIf(!redisIsInstalled()).each(['node-redis', 'ioredis'] as const)('a Redis behind %s', (kind) => {
  let redis: RedisServer
  let reports: string[]
  let open: Connection[]

  beforeAll(async () => {
    redis = await RedisServer.start()
  })

  beforeEach(async () => {
    reports = []
    open = []
    await command('FLUSHALL')
  })

  afterEach(() => {
    redis.thaw()
    for (const connection of open) connection.close()
  })

  afterAll(() => redis.close())

  const connect = async () => {
    const connection = await connections[kind](redis.url)
    open.push(connection)
    return connection
  }

  /** A process of its own, as far as stores can tell. */
  const merchant = async (commandTimeout = 2_000) =>
    createMerchant(api.url, clock, {
      tokenStore: createRedisTokenStore((await connect()).client, { commandTimeout, lockTime: 1_000 }),
      onUnexpected: ({ message }) => reports.push(message),
    })

  const command = async (...words: string[]) => (await connect()).send(...words)

  const KEY = () => `mandatekit:${recordKey(api.url)}`
  const LOCK = 'mandatekit:lock:key'

  it('shares one token, which expires with its record, and holds no other secret', async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => merchant()))
    await Promise.all(clients.flatMap(({ details }) => [details(), details(), details()]))
    expect(api.tokenRequests).toHaveLength(1)
    const left = Number(await command('PTTL', KEY()))
    expect(left).toBeGreaterThan(HOUR - 100_000)
    expect(left).toBeLessThanOrEqual(HOUR)
    expect(reports).toEqual([])
    const record = String(await command('GET', KEY()))
    expect(record).toContain('access-1')
    for (const secret of [CREDENTIALS.password, CREDENTIALS.clientSecret, 'refresh-1']) {
      expect(record).not.toContain(secret)
    }
    expect(await command('KEYS', '*')).toEqual([KEY()])
  })

  it('that is down at the start costs one login for each process, and is used when it is up', async () => {
    await redis.kill()
    const one = await merchant(100)
    const other = await merchant(100)
    await Promise.all(Array.from({ length: 20 }, () => Promise.all([one.details(), other.details()])))
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports.length).toBeGreaterThan(0)
    await redis.resume()
    const loginsOfAnHour = async () => {
      clock.jump(HOUR)
      const before = api.tokenRequests.length
      await one.details()
      await other.details()
      return api.tokenRequests.length - before
    }
    await expect.poll(loginsOfAnHour).toBe(1)
  })

  it('that freezes delays a call by seconds, and costs one login for each process', async () => {
    const { details } = await merchant(100)
    await details()
    redis.freeze()
    clock.jump(HOUR)
    await Promise.all(Array.from({ length: 20 }, () => details()))
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports[0]).toContain('token store failed')
  })

  it.each<[string, () => readonly string[], readonly string[]]>([
    ['is full', () => ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['is a replica that only reads', () => ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    ['has a list under the key', () => ['RPUSH', KEY(), 'garbage'], ['FLUSHALL']],
  ])('that %s costs one login for each process, and retries no rejected login', async (_, spoil, repair) => {
    await command(...spoil())
    const [one, other] = [await merchant(), await merchant()]
    for (let call = 0; call < 5; call += 1) await Promise.all([one.details(), other.details()])
    expect(api.tokenRequests).toHaveLength(2)
    api.refuse(401, { errorCode: '17' })
    for (let call = 0; call < 5; call += 1) {
      clock.jump(call === 0 ? HOUR : 10_000)
      await expect(one.details()).rejects.toMatchObject({ code: 'authentication_failed' })
    }
    expect(api.tokenRequests).toHaveLength(3)
    expect(reports[0]).toContain('failed')
    await command(...repair)
  })

  it('with garbage under the key has it overwritten by one login', async () => {
    await command('SET', KEY(), 'garbage')
    await (await merchant()).details()
    await (await merchant()).details()
    expect(api.tokenRequests).toHaveLength(1)
    expect(reports[0]).toContain('unreadable record')
  })

  it('gives its lock to one task at a time', async () => {
    const store = createRedisTokenStore((await connect()).client, { lockTime: 400 })
    let running = 0
    const task = async () => {
      running += 1
      await new Promise((resolve) => setTimeout(resolve, 20))
      running -= 1
      return running
    }
    expect(await Promise.all([1, 2, 3].map(() => store.withLock('key', task)))).toEqual([0, 0, 0])
  })

  it('keeps the lock of another owner until it ends', async () => {
    const store = createRedisTokenStore((await connect()).client, { lockTime: 400 })
    await command('SET', LOCK, 'another owner', 'PX', '300')
    const begun = performance.now()
    await store.withLock('key', async () => undefined)
    expect(performance.now() - begun).toBeGreaterThan(200)
    await store.withLock('key', () => command('SET', LOCK, 'a thief'))
    expect(await command('GET', LOCK)).toBe('a thief')
  })

  it.each([
    ['SET', 'left behind'],
    ['RPUSH', 'garbage'],
  ])('ignores a lock without an end (%s)', async (word, value) => {
    const store = createRedisTokenStore((await connect()).client)
    await command(word, LOCK, value)
    expect(await store.withLock('key', async () => 'ran')).toBe('ran')
    expect(await command('EXISTS', LOCK)).toBe(0)
  })

  it('gives its lock to a client that retries a command whose reply was lost', async () => {
    const { send } = await connect()
    const twice = async (words: readonly string[]) => {
      await send(...words)
      return send(...words)
    }
    const store = createRedisTokenStore(twice, { lockTime: 60_000 })
    expect(await store.withLock('key', async () => 'ran')).toBe('ran')
    expect(await command('EXISTS', LOCK)).toBe(0)
  })

  it('extends its lock again after a command that failed', async () => {
    const { send } = await connect()
    let extensions = 0
    const failFirst = async (words: readonly string[]) => {
      if (words[0] === 'EVAL' && words[1]?.includes('PEXPIRE')) extensions += 1
      if (extensions === 1) throw new Error('connection reset')
      return send(...words)
    }
    const store = createRedisTokenStore(failFirst, { lockTime: 600 })
    await store.withLock('key', async () => {
      await expect.poll(() => extensions).toBeGreaterThanOrEqual(4)
      expect(await command('EXISTS', LOCK)).toBe(1)
    })
  })

  it('releases its lock when the task fails', async () => {
    const store = createRedisTokenStore((await connect()).client)
    const failing = store.withLock('key', () => Promise.reject(new Error('of the task')))
    await expect(failing).rejects.toThrow('of the task')
    expect(await store.withLock('key', async () => 'next')).toBe('next')
  })
})

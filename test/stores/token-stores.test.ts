import { Keyv } from 'keyv'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TokenStore } from '../../src/index.ts'
import { createKeyvTokenStore, createRedisTokenStore } from '../../src/stores/index.ts'
import { CREDENTIALS } from '../support/clients.ts'
import { createMerchant, recordKey } from '../support/merchant.ts'
import { api, clock, useTokenServer } from '../support/token-set-up.ts'
import { closeRedis, connect, fragileKeyv, redis, redisKinds } from './stores.ts'

useTokenServer()

const HOUR = 3_600_000
let reports: string[]

beforeEach(() => {
  reports = []
  // A login without the store waits up to 10 s at random.
  clock.skips = 10_000
  clock.jump(Date.now() - clock.now())
})
afterAll(closeRedis)

/** A client of the API with a store, and what it reports. */
const open = (tokenStore: TokenStore) =>
  createMerchant(api.url, clock, { tokenStore, onUnexpected: ({ message }) => reports.push(message) })

/** Each connects a store as a process of its own does. */
const stores: readonly (readonly [string, () => Promise<() => Promise<TokenStore>>])[] = [
  [
    'a Keyv',
    async () => {
      const keyv = new Keyv()
      return async () => createKeyvTokenStore(keyv)
    },
  ],
  ...redisKinds.map(
    (kind) =>
      [
        `Redis over ${kind}`,
        async () => {
          await (await connect(kind)).send('FLUSHALL')
          return async () => createRedisTokenStore((await connect(kind)).client)
        },
      ] as const,
  ),
]

it.each(stores)('one token and one rejected login in %s serve every client', async (_, start) => {
  const create = await start()
  const clients = await Promise.all(Array.from({ length: 5 }, async () => open(await create())))
  // In a Keyv, clients of different store objects do not wait for each other.
  await clients[0]?.details()
  await Promise.all(clients.flatMap(({ details }) => [details(), details()]))
  expect(api.tokenRequests).toHaveLength(1)
  api.refuse(403, { errorCode: '17' })
  clock.jump(HOUR)
  for (const { details } of clients) await expect(details()).rejects.toMatchObject({ code: 'locked_out' })
  expect(api.tokenRequests).toHaveLength(2)
  expect(reports).toEqual([])
})

it.each([true, false])(
  'tokens in a Keyv that fails do not fail a call (with a listener: %s)',
  async (withListener) => {
    const { keyv, failing } = fragileKeyv(withListener)
    const { details } = open(createKeyvTokenStore(keyv))
    for (const method of ['get', 'set'] as const) {
      failing.clear()
      failing.add(method)
      clock.jump(HOUR)
      await details()
      await details()
      expect(reports.splice(0)).toEqual([expect.stringContaining('token store failed')])
    }
    expect(api.tokenRequests).toHaveLength(2)
  },
)

describe.each(redisKinds)('a Redis behind %s', (kind) => {
  const command = async (...words: string[]) => (await connect(kind)).send(...words)

  beforeEach(async () => {
    await command('FLUSHALL')
  })
  afterEach(async () => (await redis()).thaw())

  /** A process of its own, as far as stores can tell. */
  const merchant = async (commandTimeout = 2_000) =>
    open(createRedisTokenStore((await connect(kind)).client, { commandTimeout, lockTime: 1_000 }))

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
    for (const secret of [CREDENTIALS.password, CREDENTIALS.clientSecret, 'refresh-1'])
      expect(record).not.toContain(secret)
    expect(await command('KEYS', '*')).toEqual([KEY()])
  })

  it('that is down at the start costs one login for each process, and is used when it is up', async () => {
    await (await redis()).kill()
    const [one, other] = [await merchant(100), await merchant(100)]
    await Promise.all(Array.from({ length: 20 }, () => Promise.all([one.details(), other.details()])))
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports.length).toBeGreaterThan(0)
    await (await redis()).resume()
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
    ;(await redis()).freeze()
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

  describe('has a lock that', () => {
    const store = async (lockTime = 60_000) =>
      createRedisTokenStore((await connect(kind)).client, { lockTime })

    it('one task holds at a time', async () => {
      const { withLock } = await store()
      let running = 0
      const task = async () => {
        running += 1
        await new Promise((resolve) => setTimeout(resolve, 20))
        running -= 1
        return running
      }
      expect(await Promise.all([1, 2, 3].map(() => withLock('key', task)))).toEqual([0, 0, 0])
    })

    it('another owner keeps until it ends', async () => {
      const { withLock } = await store()
      await command('SET', LOCK, 'another owner', 'PX', '300')
      const begun = performance.now()
      await withLock('key', async () => undefined)
      expect(performance.now() - begun).toBeGreaterThan(200)
      await withLock('key', () => command('SET', LOCK, 'a thief'))
      expect(await command('GET', LOCK)).toBe('a thief')
    })

    it.each([
      ['SET', 'left behind'],
      ['RPUSH', 'garbage'],
    ])('is ignored without an end (%s)', async (word, value) => {
      await command(word, LOCK, value)
      expect(await (await store()).withLock('key', async () => 'ran')).toBe('ran')
      expect(await command('EXISTS', LOCK)).toBe(0)
    })

    it('a client gets that retries a command whose reply was lost', async () => {
      const { send } = await connect(kind)
      const twice = async (words: readonly string[]) => {
        await send(...words)
        return send(...words)
      }
      const { withLock } = createRedisTokenStore(twice, { lockTime: 60_000 })
      expect(await withLock('key', async () => 'ran')).toBe('ran')
      expect(await command('EXISTS', LOCK)).toBe(0)
    })

    it('is extended again after a command that failed', async () => {
      const { send } = await connect(kind)
      let extensions = 0
      const failFirst = async (words: readonly string[]) => {
        if (words[0] === 'EVAL' && words[1]?.includes('PEXPIRE')) extensions += 1
        if (extensions === 1) throw new Error('connection reset')
        return send(...words)
      }
      await createRedisTokenStore(failFirst, { lockTime: 600 }).withLock('key', async () => {
        await expect.poll(() => extensions).toBeGreaterThanOrEqual(4)
        expect(await command('EXISTS', LOCK)).toBe(1)
      })
    })

    it('is free after a task that fails', async () => {
      const { withLock } = await store()
      const failing = withLock('key', () => Promise.reject(new Error('of the task')))
      await expect(failing).rejects.toThrow('of the task')
      expect(await withLock('key', async () => 'next')).toBe('next')
    })
  })
})

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRedisTokenStore } from '../../src/stores/index.ts'
import { CREDENTIALS } from '../support/clients.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createMerchant, recordKey } from '../support/merchant.ts'
import type { Connection } from '../support/redis-clients.ts'
import { connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'
import { TokenServer } from '../support/token-server.ts'

describe.skipIf(!redisIsInstalled()).each(['node-redis', 'ioredis'] as const)('a Redis behind %s', (kind) => {
  let redis: RedisServer
  let api: TokenServer
  let clock: ManualClock
  let reports: string[]
  let open: Connection[]

  beforeEach(async () => {
    redis = await RedisServer.start()
    api = await TokenServer.start()
    clock = new ManualClock()
    reports = []
    open = []
  })

  afterEach(async () => {
    redis.thaw()
    for (const connection of open) connection.close()
    await redis.close()
  })

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

  it('shares one token, which expires with its record', async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => merchant()))
    await Promise.all(clients.flatMap(({ details }) => [details(), details(), details()]))
    expect(api.tokenRequests).toHaveLength(1)
    const left = Number(await command('PTTL', KEY()))
    expect(left).toBeGreaterThan(3_500_000)
    expect(left).toBeLessThanOrEqual(3_600_000)
    expect(reports).toEqual([])
  })

  it('holds no password and no client secret, and no key but the record when all is done', async () => {
    const { details } = await merchant()
    await details()
    const record = String(await command('GET', KEY()))
    expect(record).toContain('access-1')
    for (const secret of [CREDENTIALS.password, CREDENTIALS.clientSecret, 'refresh-1']) {
      expect(record).not.toContain(secret)
    }
    expect(await command('KEYS', '*')).toEqual([KEY()])
  })

  it('shares refused logins', async () => {
    api.onToken = () => ({ status: 403 })
    for (const { details } of [await merchant(), await merchant(), await merchant()]) {
      await expect(details()).rejects.toMatchObject({ code: 'locked_out', status: 403 })
    }
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('that is down at the start costs one login a process, and is used once it is up', async () => {
    await redis.kill()
    const one = await merchant(100)
    const other = await merchant(100)
    await Promise.all(Array.from({ length: 20 }, () => Promise.all([one.details(), other.details()])))
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports.length).toBeGreaterThan(0)
    await redis.resume()
    clock.jump(3_600_000)
    await expect
      .poll(
        async () => {
          clock.jump(3_600_000)
          const before = api.tokenRequests.length
          await one.details()
          await other.details()
          return api.tokenRequests.length - before
        },
        { timeout: 10_000 },
      )
      .toBe(1)
  })

  it('that is killed and started again in the middle stops no call', async () => {
    const one = await merchant(200)
    const other = await merchant(200)
    await one.details()
    await other.details()
    await redis.kill()
    await Promise.all([one.details(), other.details()])
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(3_600_000)
    await Promise.all([one.details(), other.details()])
    expect(api.tokenRequests).toHaveLength(3)
    await redis.resume()
    await Promise.all([one.details(), other.details()])
    api.accepts = (token) => !['access-1', 'access-2', 'access-3'].includes(token)
    clock.jump(10_000)
    await Promise.all([one.details(), other.details()])
    expect(api.tokenRequests.length).toBeLessThanOrEqual(5)
  })

  it('that freezes holds a call up for seconds at most, and one login a process goes on', async () => {
    const { details } = await merchant(100)
    await details()
    redis.freeze()
    clock.jump(3_600_000)
    const begun = performance.now()
    await Promise.all(Array.from({ length: 20 }, () => details()))
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports[0]).toContain('token store failed')
  })

  it('that is full costs one login a process and repeats no refused login', async () => {
    await command('CONFIG', 'SET', 'maxmemory', '1')
    const one = await merchant()
    const other = await merchant()
    for (let call = 0; call < 5; call += 1) await Promise.all([one.details(), other.details()])
    expect(api.tokenRequests).toHaveLength(2)
    api.onToken = () => ({ status: 401 })
    clock.jump(3_600_000)
    for (let call = 0; call < 5; call += 1) {
      clock.jump(10_000)
      await expect(one.details()).rejects.toMatchObject({ code: 'authentication_failed' })
    }
    expect(api.tokenRequests).toHaveLength(3)
    expect(reports.length).toBeGreaterThan(0)
  })

  it.each([
    ['text', ['SET', 'garbage']],
    ['another’s JSON', ['SET', '{"token":"x"}']],
  ])(
    'with %s under the key is overwritten by one login and reported',
    async (_name, [word = '', value = '']) => {
      await command(word, KEY(), value)
      await (await merchant()).details()
      await (await merchant()).details()
      expect(api.tokenRequests).toHaveLength(1)
      expect(reports[0]).toContain('unreadable record')
    },
  )

  it('with a list under the key leaves each process to its own memory', async () => {
    await command('RPUSH', KEY(), 'garbage')
    const { details } = await merchant()
    for (let call = 0; call < 5; call += 1) await details()
    expect(api.tokenRequests).toHaveLength(1)
    expect(reports[0]).toContain('failed')
  })

  it('keeps a lock from who does not own it, and gives it up in time', async () => {
    const store = createRedisTokenStore((await connect()).client, { lockTime: 400 })
    const order: string[] = []
    const task = (name: string) => async () => {
      order.push(`${name} in`)
      await new Promise((resolve) => setTimeout(resolve, 20))
      order.push(`${name} out`)
      return name
    }
    const results = await Promise.all(['a', 'b', 'c'].map((name) => store.withLock('key', task(name))))
    expect(results).toEqual(['a', 'b', 'c'])
    expect(order).toHaveLength(6)
    for (let step = 0; step < 6; step += 2) {
      expect(order[step + 1]).toBe(order[step]?.replace('in', 'out'))
    }
    await command('SET', 'mandatekit:lock:key', 'somebody else', 'PX', '300')
    const begun = performance.now()
    await store.withLock('key', async () => undefined)
    expect(performance.now() - begun).toBeGreaterThan(200)
    await store.withLock('key', () => command('SET', 'mandatekit:lock:key', 'a thief'))
    expect(await command('GET', 'mandatekit:lock:key')).toBe('a thief')
  })

  it('takes a lock that has no end for none: it stops nobody', async () => {
    const store = createRedisTokenStore((await connect()).client)
    for (const [word = '', ...values] of [
      ['SET', 'left behind'],
      ['RPUSH', 'garbage'],
    ]) {
      await command(word, 'mandatekit:lock:key', ...values)
      expect(await store.withLock('key', async () => 'ran')).toBe('ran')
      expect(await command('EXISTS', 'mandatekit:lock:key')).toBe(0)
    }
  })

  it('gives a lock to a client that asks again since the reply was lost', async () => {
    const { send } = await connect()
    const store = createRedisTokenStore(
      async (words) => {
        await send(...words)
        return send(...words)
      },
      { lockTime: 60_000 },
    )
    expect(await store.withLock('key', async () => 'ran')).toBe('ran')
    expect(await command('EXISTS', 'mandatekit:lock:key')).toBe(0)
  })

  it('goes on prolonging its lock after a command that failed', async () => {
    const { send } = await connect()
    const extensions: unknown[] = []
    const store = createRedisTokenStore(
      async (words) => {
        const isExtension = words[0] === 'EVAL' && words[1]?.includes('PEXPIRE')
        if (isExtension && extensions.push('asked') === 1) throw new Error('connection reset')
        return send(...words)
      },
      { lockTime: 600 },
    )
    await store.withLock('key', async () => {
      await expect.poll(() => extensions.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(4)
      expect(await command('EXISTS', 'mandatekit:lock:key')).toBe(1)
    })
  })

  it('that forgets everything costs one login when the token ends, and no call', async () => {
    const clients = [await merchant(), await merchant(), await merchant()]
    await Promise.all(clients.map(({ details }) => details()))
    await command('FLUSHALL')
    await Promise.all(clients.map(({ details }) => details()))
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(3_600_000)
    await Promise.all(clients.map(({ details }) => details()))
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports).toEqual([])
  })

  it('that became a replica which only reads costs one login a process and no call', async () => {
    await command('REPLICAOF', '127.0.0.1', '1')
    const clients = [await merchant(), await merchant()]
    for (let call = 0; call < 3; call += 1) await Promise.all(clients.map(({ details }) => details()))
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports[0]).toContain('token store failed')
  })

  it('lets a task’s failure through its lock, and the lock go', async () => {
    const store = createRedisTokenStore((await connect()).client)
    await expect(store.withLock('key', () => Promise.reject(new Error('of the task')))).rejects.toThrow(
      'of the task',
    )
    expect(await store.withLock('key', async () => 'next')).toBe('next')
  })
})

import { Keyv } from 'keyv'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMemoryDedupeStore, type DedupeStore } from '../../src/notifications/index.ts'
import { createKeyvDedupeStore, createRedisDedupeStore } from '../../src/stores/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import type { Connection } from '../support/redis-clients.ts'
import { sized } from '../support/sizes.ts'
import { closeRedis, connect, fragileKeyv, ownerOf, redis, redisKinds } from './stores.ts'

const IDS = sized(1_000_000, 20_000)
/**
 * Leases in milliseconds that have ended after `pass`. The longer one lives through a few commands on a busy machine.
 */
const SHORT = 50
const LONGER = 600
const IN_PROGRESS = { state: 'in-progress' }
const COMMITTED = { state: 'committed' }

let clock: ManualClock

beforeEach(() => {
  clock = new ManualClock(Date.now())
  // Keyv keeps committed ids on the machine's time.
  vi.useFakeTimers({ toFake: ['Date'], now: clock.now() })
})
afterEach(() => {
  vi.useRealTimers()
})
afterAll(closeRedis)

interface Opened {
  readonly store: DedupeStore
  /** Waits until a short lease of an id has ended. */
  readonly pass: (id?: string) => Promise<unknown>
}

const jump = async () => {
  clock.jump(LONGER * 2)
  vi.setSystemTime(clock.now())
}

const openRedis = async (kind: 'node-redis' | 'ioredis'): Promise<Opened & Connection> => {
  const connection = await connect(kind)
  await connection.send('FLUSHALL')
  return {
    ...connection,
    store: createRedisDedupeStore(connection.client),
    pass: async (id = 'n-1') =>
      expect.poll(() => connection.send('PTTL', `mandatekit:notification:${id}`)).toBe(-2),
  }
}

const stores: readonly (readonly [string, () => Promise<Opened>])[] = [
  ['memory', async () => ({ store: createMemoryDedupeStore({ clock }), pass: jump })],
  [
    'a Keyv',
    async () => ({ store: createKeyvDedupeStore(new Keyv({ store: new Map() }), { clock }), pass: jump }),
  ],
  ...redisKinds.map((kind) => [`Redis over ${kind}`, () => openRedis(kind)] as const),
]

describe.each(stores)('dedupe in %s', (_, open) => {
  let store: DedupeStore
  let pass: Opened['pass']

  beforeEach(async () => {
    ;({ store, pass } = await open())
  })

  const claim = (id = 'n-1', lease = 10_000) => store.claim(id, lease)
  const own = async (id?: string, lease?: number) => ownerOf(await claim(id, lease))

  it('gives an id to one of a hundred parallel claims', async () => {
    const claims = await Promise.all(Array.from({ length: 100 }, () => claim()))
    expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1)
    expect(claims.filter(({ state }) => state === 'in-progress')).toHaveLength(99)
  })

  it('does not give out a committed id, and gives out others', async () => {
    expect(await store.commit('n-1', await own(), 60_000)).toBe(true)
    expect(await claim()).toEqual(COMMITTED)
    await own('n-2')
  })

  it('has an id from its commit to the end of its time, and no claimed, released or unknown id', async () => {
    expect(await store.has?.('n-1')).toBe(false)
    const owner = await own()
    expect(await store.has?.('n-1')).toBe(false)
    await store.commit('n-1', owner, LONGER)
    expect(await store.has?.('n-1')).toBe(true)
    await pass()
    expect(await store.has?.('n-1')).toBe(false)
    await own()
    await store.release('n-2', await own('n-2'))
    expect(await store.has?.('n-2')).toBe(false)
    await own('n-2')
  })

  it('gives out an id after its lease, and the former owner can neither extend nor release it', async () => {
    const former = await own('n-1', SHORT)
    await pass()
    const next = await own()
    expect(next).not.toBe(former)
    await store.release('n-1', former)
    expect(await store.extend('n-1', former, 10_000)).toBe(false)
    expect(await claim()).toEqual(IN_PROGRESS)
    expect(await store.extend('n-1', next, 10_000)).toBe(true)
  })

  it('commits what a former owner processed, and returns that the lease was lost', async () => {
    const former = await own('n-1', SHORT)
    await pass()
    const next = await own()
    expect(await store.commit('n-1', former, 60_000)).toBe(false)
    expect(await claim()).toEqual(COMMITTED)
    await store.release('n-1', next)
    expect(await claim()).toEqual(COMMITTED)
  })

  it('keeps an extended lease', async () => {
    const owner = await own('n-1', LONGER)
    await own('n-2', LONGER)
    expect(await store.extend('n-1', owner, 60_000)).toBe(true)
    await pass('n-2')
    expect(await claim()).toEqual(IN_PROGRESS)
  })
})

describe('dedupe in memory', () => {
  it('refuses a claim beyond its limit while as many are in progress, until a lease ends', async () => {
    const store = createMemoryDedupeStore({ clock, limit: 2 })
    await store.claim('a', 1000)
    await store.claim('b', 2000)
    await expect(store.claim('c', 1000)).rejects.toThrow('2 notifications are in progress already')
    expect(await store.claim('a', 1000)).toEqual(IN_PROGRESS)
    clock.jump(1000)
    ownerOf(await store.claim('c', 1000))
  })

  it('keeps no id after its time', async () => {
    const store = createMemoryDedupeStore({ clock })
    for (let index = 0; index < 1000; index += 1) {
      const id = `n-${index}`
      await store.commit(id, ownerOf(await store.claim(id, 1000)), 10_000)
      clock.jump(100)
    }
    expect(store.size).toBeLessThanOrEqual(101)
  })

  it('counts an id as new that is committed again', async () => {
    const store = createMemoryDedupeStore({ clock, limit: 2 })
    for (const id of ['a', 'b', 'a']) await store.commit(id, 'anybody', 60_000)
    ownerOf(await store.claim('c', 1000))
    expect(await store.claim('a', 1000)).toEqual(COMMITTED)
  })

  it(`keeps the newest of ${IDS} ids within its limit`, async () => {
    const store = createMemoryDedupeStore({ limit: 1000 })
    for (let index = 0; index < IDS; index += 1) {
      const id = `n-${index}`
      const claim = await store.claim(id, 1000)
      await store.commit(id, claim.state === 'claimed' ? claim.owner : '', 60_000)
    }
    expect(store.size).toBe(1000)
    expect(await store.claim(`n-${IDS - 1000}`, 1000)).toEqual(COMMITTED)
    ownerOf(await store.claim(`n-${IDS - 1001}`, 1000))
  })
})

describe('dedupe in a Keyv', () => {
  it.each(['get', 'set'] as const)('rejects a claim when %s fails', async (method) => {
    const { keyv, failing } = fragileKeyv(true)
    const store = createKeyvDedupeStore(keyv, { clock })
    await store.commit('n-1', ownerOf(await store.claim('n-1', 10_000)), 60_000)
    failing.add(method)
    if (method === 'get') await expect(store.claim('n-1', 10_000)).rejects.toThrow()
    await expect(store.claim('n-2', 10_000)).rejects.toThrow()
    failing.clear()
    expect(await store.claim('n-1', 10_000)).toEqual(COMMITTED)
  })

  it('rejects when another value is under the key', async () => {
    const keyv = new Keyv()
    await keyv.set('notification:n-1', 'garbage')
    await expect(createKeyvDedupeStore(keyv, { clock }).claim('n-1', 10_000)).rejects.toThrow()
  })
})

describe.each(redisKinds)('dedupe in Redis over %s', (kind) => {
  const KEY = 'mandatekit:notification:n-1'
  let opened: Opened & Connection

  beforeEach(async () => {
    opened = await openRedis(kind)
  })

  it('commits what was processed after Redis lost everything, and returns that the lease was lost', async () => {
    const { store, send } = opened
    const owner = ownerOf(await store.claim('n-1', 10_000))
    await send('FLUSHALL')
    expect(await store.commit('n-1', owner, 60_000)).toBe(false)
    expect(await store.claim('n-1', 10_000)).toEqual(COMMITTED)
  })

  it('rejects while Redis is full, or holds a list or other text under the key', async () => {
    const { store, send } = opened
    await send('RPUSH', KEY, 'garbage')
    await expect(store.claim('n-1', 10_000)).rejects.toThrow()
    await send('SET', KEY, 'garbage')
    await expect(store.claim('n-1', 10_000)).rejects.toThrow('another program wrote this key')
    expect(await send('GET', KEY)).toBe('garbage')
    await send('CONFIG', 'SET', 'maxmemory', '1')
    await expect(store.claim('n-2', 10_000)).rejects.toThrow()
    await send('CONFIG', 'SET', 'maxmemory', '0')
    ownerOf(await store.claim('n-2', 10_000))
  })

  it('gives out an id whose lease lost its end', async () => {
    const { store, send } = opened
    const former = ownerOf(await store.claim('n-1', 10_000))
    await send('PERSIST', KEY)
    expect(ownerOf(await store.claim('n-1', 10_000))).not.toBe(former)
    expect(await store.claim('n-1', 10_000)).toEqual(IN_PROGRESS)
  })

  it('rejects on a replica that only reads, and works on a master', async () => {
    const { store, send } = opened
    const owner = ownerOf(await store.claim('n-1', 60_000))
    await send('REPLICAOF', '127.0.0.1', '1')
    await expect(store.claim('n-2', 10_000)).rejects.toThrow(/READONLY|read only/)
    await expect(store.commit('n-1', owner, 60_000)).rejects.toThrow(/READONLY|read only/)
    await send('REPLICAOF', 'NO', 'ONE')
    expect(await store.commit('n-1', owner, 60_000)).toBe(true)
    ownerOf(await store.claim('n-2', 10_000))
  })

  it('gives the same results when a client retries each command', async () => {
    const store = createRedisDedupeStore(async (command) => {
      await opened.send(...command)
      return opened.send(...command)
    })
    const owner = ownerOf(await store.claim('n-1', 10_000))
    expect(await store.extend('n-1', owner, 10_000)).toBe(true)
    expect(await store.commit('n-1', owner, 60_000)).toBe(true)
    expect(await store.claim('n-1', 10_000)).toEqual(COMMITTED)
    await store.release('n-2', ownerOf(await store.claim('n-2', 10_000)))
    ownerOf(await store.claim('n-2', 10_000))
  })

  it('rejects in time while Redis is down, and works again when it is up', async () => {
    const store = createRedisDedupeStore(opened.client, { commandTimeout: 100 })
    await (await redis()).kill()
    await expect(store.claim('n-1', 10_000)).rejects.toThrow()
    await (await redis()).resume()
    const claim = async () => (await store.claim('n-2', 10_000).catch(() => undefined))?.state
    await expect.poll(claim).toBe('claimed')
  })
})

import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryTokenStore } from '../../src/index.ts'
import { createMemoryDedupeStore, type DedupeStore } from '../../src/notifications/index.ts'
import {
  createKeyvTokenStore,
  createRedisDedupeStore,
  createRedisTokenStore,
} from '../../src/stores/index.ts'
import { errorOf } from '../support/clients.ts'
import { deferred } from '../support/deferred.ts'
import { createMerchant, type MerchantOptions } from '../support/merchant.ts'
import { payment } from '../support/messages.ts'
import { openReceiver } from '../support/receiver.ts'
import { api, clock, useTokenServer } from '../support/token-set-up.ts'
import { EMPTY_RECORD } from './stores.ts'

useTokenServer()

beforeEach(() => {
  // A login without the store waits up to 10 s at random.
  clock.skips = 10_000
})
afterEach(() => vi.useRealTimers())

/** A client of the API, and what it reported. */
const merchantWith = (options: MerchantOptions) => {
  const reports: string[] = []
  const onUnexpected = ({ message }: { readonly message: string }) => reports.push(message)
  return { ...createMerchant(api.url, clock, { onUnexpected, ...options }), reports }
}

/** Any number of calls finish although no timer fires, so that none waits for a time limit. */
const callsWithoutTimers = async (details: () => Promise<void>) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await Promise.all(Array.from({ length: 10 }, details))
  await details()
  expect(api.tokenRequests).toHaveLength(1)
}

/** A Redis that is empty. */
const redis = ([name]: readonly string[]): unknown => ({ GET: null, SET: 'OK', EVAL: 1 })[name ?? '']

type Reply = (command: readonly string[]) => unknown

const failed = /not a reply of Redis/
const wrong: [string, Reply][] = [
  ['{ result }', (command) => ({ result: redis(command) })],
  ['nothing', () => undefined],
  ['an error and a reply', (command) => [null, redis(command)]],
  ['an error as a value', () => new Error('READONLY')],
]
test.each(wrong)(
  'case 69: a function that returns %s is reported, and the process goes on with its memory',
  async (_, reply) => {
    const tokenStore = createRedisTokenStore(async (command) => reply(command))
    const { details, reports } = merchantWith({ tokenStore })
    await callsWithoutTimers(details)
    expect(reports).toEqual([expect.stringMatching(/token store failed: get\(\).*UnexpectedRedisReply/)])
  },
)

test.each<[string, unknown]>([
  ['{ result }', { result: 'OK' }],
  ['nothing', undefined],
  ['an error as text', 'ERR unknown command'],
  ['a number that is neither 0 nor 1', 2],
])('case 69: every method of a store rejects if its function returns %s', async (_, reply) => {
  const tokens = createRedisTokenStore(async () => reply)
  const dedupe = createRedisDedupeStore(async () => reply)
  const calls = [
    tokens.set('key', EMPTY_RECORD, 1000),
    tokens.withLock('key', async () => 'ran'),
    dedupe.claim('n-1', 1000),
    dedupe.extend('n-1', 'owner', 1000),
    dedupe.commit('n-1', 'owner', 1000),
    // Any text may be a value.
    ...(typeof reply === 'string' ? [] : [tokens.get('key'), dedupe.has?.('n-1')]),
  ]
  for (const call of calls) await expect(call).rejects.toThrow(failed)
})

test('case 69: bytes, and numbers as text, are replies of Redis', async () => {
  const reply = (command: readonly string[]) => (command[0] === 'EVAL' ? '1' : Buffer.from('OK'))
  const tokens = createRedisTokenStore(async (command) => reply(command))
  await tokens.set('key', EMPTY_RECORD, 1000)
  expect(await tokens.withLock('key', async () => 'ran')).toBe('ran')
  const committed = createRedisDedupeStore(async () => Buffer.from('committed'))
  expect(await committed.claim('n-1', 1000)).toEqual({ state: 'committed' })
})

test('case 69: a Keyv that wraps its values is reported, and the process goes on with its memory', async () => {
  const values = new Map<string, unknown>()
  const keyv = {
    get: async (key: string) => ({ value: values.get(key) }),
    set: async (key: string, value: unknown) => values.set(key, value),
    delete: async (key: string) => values.delete(key),
  }
  const { details, reports } = merchantWith({ tokenStore: createKeyvTokenStore(keyv) })
  await callsWithoutTimers(details)
  expect(new Set(reports)).toEqual(new Set(['The token store returned an unreadable record.']))
})

test.each<[keyof DedupeStore, unknown]>([
  ['claim', { result: 'claimed' }],
  ['claim', undefined],
  ['commit', undefined],
  ['commit', 'OK'],
  ['extend', { result: 1 }],
])('case 69: a dedupe store whose %s returns %j has failed and is reported', async (method, result) => {
  const dedupe = { ...createMemoryDedupeStore(), [method]: async () => result }
  const work = deferred()
  const { clock: time, deliver, reports } = openReceiver({ dedupe, onPayment: () => work.promise })
  const response = deliver(payment())
  if (method === 'extend') await time.advance(20_000)
  work.resolve()
  expect(await response).toBe(method === 'claim' ? 503 : 200)
  expect(reports[0]).toMatchObject({ kind: 'store-failed', method })
  // The process itself remembers a success that it could not record.
  expect(await deliver(payment())).toBe(method === 'claim' ? 503 : 200)
})

const readOnly: Reply = (command) => {
  if (command[0] === 'GET') return null
  throw new Error("READONLY You can't write against a read only replica.")
}
const lockReply =
  (reply: unknown): Reply =>
  (command) =>
    command[0] === 'EVAL' ? reply : redis(command)
test.each<[string, Reply]>([
  ['a replica that only reads', readOnly],
  ['2', lockReply(2)],
  ['OK', lockReply('OK')],
  ['null', lockReply(null)],
])('case 70: a call waits for no limit if the reply for the lock is %s', async (_, reply) => {
  const tokenStore = createRedisTokenStore(async (command) => reply(command))
  const { details, reports } = merchantWith({ tokenStore })
  await callsWithoutTimers(details)
  expect(reports).toEqual([expect.stringMatching(/token store failed: withLock\(\)/)])
})

/** A store whose method is finished only when the test resolves `held`. */
const slowStore = (method: 'set' | 'unlock') => {
  const held = deferred()
  const asked = deferred()
  const memory = createMemoryTokenStore()
  let free: Promise<unknown> = Promise.resolve()
  const tokenStore = {
    ...memory,
    set: async (...record: Parameters<typeof memory.set>) => {
      asked.resolve()
      if (method === 'set') await held.promise
      await memory.set(...record)
    },
    withLock: <Result>(_key: string, task: () => Promise<Result>) => {
      const turn = free.then(async () => {
        const result = await task()
        if (method === 'unlock') await held.promise
        return result
      })
      free = turn.catch(() => undefined)
      return turn
    },
  }
  return { held, asked: asked.promise, tokenStore }
}

/** Whether work ends within a time that is longer than a call takes that does not wait for its store. */
const isDoneSoon = (work: Promise<unknown>) =>
  Promise.race([work.then(() => true), new Promise((resolve) => setTimeout(resolve, 100, false))])

test.each(['set', 'unlock'] as const)(
  'case 70: a call that has its token does not wait for a slow %s of the store',
  async (method) => {
    const { held, tokenStore } = slowStore(method)
    const { login, details, reports } = merchantWith({ tokenStore })
    await login()
    await details()
    held.resolve()
    expect([api.tokenRequests.length, reports]).toEqual([1, []])
  },
)

test.each(['one store', 'one backend'])(
  'case 70: the lock is kept during a slow set, so that other clients of %s do not log in',
  async (kind) => {
    const { held, tokenStore } = slowStore('set')
    const other = kind === 'one store' ? tokenStore : { ...tokenStore }
    await merchantWith({ tokenStore }).details()
    const later = merchantWith({ tokenStore: other }).details()
    const isEarly = await isDoneSoon(later)
    held.resolve()
    await later
    // Clients of one store object share the unsaved token in memory, so they need not wait.
    expect([isEarly, api.tokenRequests.length]).toEqual([kind === 'one store', 1])
  },
)

test('case 70: a rejected login is saved before the call fails, so that a restart does not retry it', async () => {
  api.refuse(401, { errorCode: '17' })
  const { held, asked, tokenStore } = slowStore('set')
  const failing = errorOf(merchantWith({ tokenStore }).details())
  await asked
  const isEarly = await isDoneSoon(failing)
  held.resolve()
  await failing
  await errorOf(merchantWith({ tokenStore }).details())
  expect([isEarly, api.tokenRequests.length]).toEqual([false, 1])
})

const cluster = () => createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] })
const sentinel = () => createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] })
test.each<[string, () => unknown, form?: RegExp]>([
  ['cluster is refused, and the error names the function to pass', cluster, /cluster\.sendCommand\(key/],
  ['sentinel is refused, and the error names the function to pass', sentinel, /sentinel\.sendCommand\(false/],
  ['client is accepted', createClient],
  ['pool is accepted', createClientPool],
])('case 106: a node-redis %s', (_, make, form) => {
  for (const create of [createRedisTokenStore, createRedisDedupeStore]) {
    const attempt = expect(() => Reflect.apply(create, undefined, [make()]))
    if (form === undefined) attempt.not.toThrow()
    else attempt.toThrow(form)
  }
})

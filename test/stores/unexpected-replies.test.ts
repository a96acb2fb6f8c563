import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { describe, expect, it } from 'vitest'
import { createRedisDedupeStore, createRedisTokenStore } from '../../src/stores/index.ts'

const record = { version: 2, blocks: [], unauthorizedRenewals: [] } as const

describe('a store fails when its function returns', () => {
  it.each<[string, unknown]>([
    ['a wrapped reply', { result: 'OK' }],
    ['nothing', undefined],
    ['an error as text', 'ERR unknown command'],
    ['a number that is neither 0 nor 1', 2],
  ])('%s', async (_what, reply) => {
    const client = async () => reply
    const tokens = createRedisTokenStore(client)
    const dedupe = createRedisDedupeStore(client)
    const failed = /not a reply of Redis/
    if (typeof reply !== 'string') await expect(tokens.get('key')).rejects.toThrow(failed)
    await expect(tokens.set('key', record, 1000)).rejects.toThrow(failed)
    await expect(tokens.withLock('key', async () => 'ran')).rejects.toThrow(failed)
    await expect(dedupe.claim('n-1', 1000)).rejects.toThrow(failed)
    if (typeof reply !== 'string') await expect(dedupe.has?.('n-1')).rejects.toThrow(failed)
    await expect(dedupe.extend('n-1', 'owner', 1000)).rejects.toThrow(failed)
    await expect(dedupe.commit('n-1', 'owner', 1000)).rejects.toThrow(failed)
  })

  it('but not bytes, or numbers as text', async () => {
    const reply = (command: readonly string[]) => (command[0] === 'EVAL' ? '1' : Buffer.from('OK'))
    const tokens = createRedisTokenStore(async (command) => reply(command))
    await tokens.set('key', record, 1000)
    expect(await tokens.withLock('key', async () => 'ran')).toBe('ran')
    const committed = createRedisDedupeStore(async () => Buffer.from('committed'))
    expect(await committed.claim('n-1', 1000)).toEqual({ state: 'committed' })
  })
})

const nodeRedis: [string, () => unknown, RegExp][] = [
  [
    'cluster',
    () => createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] }),
    /cluster\.sendCommand\(key/,
  ],
  [
    'sentinel',
    () => createSentinel({ name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }),
    /sentinel\.sendCommand\(false/,
  ],
]

it.each(nodeRedis)(
  'case 106: a %s of node-redis is refused, and the error names the function to pass',
  (_, make, form) => {
    for (const create of [createRedisTokenStore, createRedisDedupeStore]) {
      expect(() => Reflect.apply(create, undefined, [make()])).toThrow(form)
    }
  },
)

it('a client and a pool of node-redis are accepted', () => {
  for (const client of [createClient(), createClientPool()]) {
    expect(() => Reflect.apply(createRedisTokenStore, undefined, [client])).not.toThrow()
  }
})

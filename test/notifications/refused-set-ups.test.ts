import { describe, expect, test } from 'vitest'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import {
  createMemoryDedupeStore,
  createNotificationHandler,
  hmacVerifier,
  isNewer,
  lookupVerifier,
  reconcile,
  toNodeHandler,
} from '../../src/notifications/index.ts'
import {
  createKeyvDedupeStore,
  createKeyvTokenStore,
  createRedisDedupeStore,
  createRedisTokenStore,
} from '../../src/stores/index.ts'
import { API_KEY, CREDENTIALS } from '../support/clients.ts'
import { loosely, refusedBy, refusedFields, SECRET } from '../support/refused.ts'

const gateway = new GatewayClient({ baseUrl: 'http://127.0.0.1:9', apiKey: API_KEY })
const subscriptions = new SubscriptionsClient({ baseUrl: 'http://127.0.0.1:9', credentials: CREDENTIALS })
const base = { verify: 'none', onSubscription: () => undefined, onPayment: () => undefined } as const
const signature = { header: 'x-signature', secrets: SECRET }

const first = (all: AsyncIterable<unknown>) => all[Symbol.asyncIterator]().next()

describe('a handler is not made', () => {
  test.each<[field: string, options: object]>([
    ['verify', { verify: undefined }],
    ['verify', { verify: true }],
    ['onSubscription', { onSubscription: undefined }],
    ['onPayment', { onPayment: 'book' }],
    ['maxBytes', { maxBytes: '64' }],
    ['lease.duration', { lease: { duration: 0 } }],
    ['lease.duration', { lease: { duration: Number.POSITIVE_INFINITY } }],
    ['lease.limit', { lease: { limit: -1 } }],
    ['dedupeTtl', { dedupeTtl: 0 }],
    ['responseTimeout', { responseTimeout: Number.NaN }],
    ['timeouts.verify', { timeouts: { verify: 0 } }],
    ['timeouts.store', { timeouts: { store: 3_000_000_000 } }],
    ['onUnknown', { onUnknown: 'ignore' }],
    ['onUnexpected', { onUnexpected: console }],
    ['dedupe', { dedupe: new Map() }],
    ['deduplicate', { deduplicate: {} }],
    ['timeouts.verifier', { timeouts: { verifier: 5 } }],
    ['lease.ms', { lease: { ms: 5 } }],
  ])('with a wrong %s: %o', async (field, options) => {
    expect(await refusedFields(() => createNotificationHandler({ ...base, ...options }))).toEqual([field])
  })

  test('without options', async () => {
    await refusedBy(() => createNotificationHandler(loosely(undefined)))
    await refusedBy(() => toNodeHandler(loosely(undefined)))
  })

  test('but without a wait for duplicates, and with a lease that has no limit, it is', () => {
    const options = { ...base, responseTimeout: 0, lease: { limit: Number.POSITIVE_INFINITY } }
    expect(() => createNotificationHandler(options)).not.toThrow()
  })
})

describe('a verifier is not made', () => {
  test.each<[field: string, options: object]>([
    ['secrets', { secrets: undefined }],
    ['secrets', { secrets: '' }],
    ['secrets', { secrets: [] }],
    ['secrets', { secrets: [SECRET, ''] }],
    ['secrets', { secrets: [SECRET, undefined] }],
    ['secrets', { secrets: new Uint8Array() }],
    ['header', { header: ' ' }],
    ['header', { header: 'x signature' }],
    ['encoding', { encoding: 'HEX' }],
    ['algorithm', { algorithm: 'sha256' }],
    ['prefix', { prefix: 7 }],
    ['secret', { secret: SECRET }],
  ])('with a wrong %s, such as an unset environment variable: %o', async (field, options) => {
    expect(await refusedFields(() => hmacVerifier({ ...signature, ...options }))).toEqual([field])
  })

  test('with the client of the other area, or none', async () => {
    expect(await refusedFields(() => lookupVerifier(loosely(gateway)))).toEqual(['client'])
    expect(await refusedFields(() => lookupVerifier(loosely(undefined)))).toEqual(['client'])
    expect(() => lookupVerifier(subscriptions)).not.toThrow()
  })
})

describe('a store is not made', () => {
  test.each<[string, (client: never) => unknown, unknown]>([
    ['Redis for tokens', createRedisTokenStore, undefined],
    ['Redis for tokens', createRedisTokenStore, {}],
    ['Redis for notifications', createRedisDedupeStore, 'redis://127.0.0.1'],
    ['Keyv for tokens', createKeyvTokenStore, {}],
    ['Keyv for notifications', createKeyvDedupeStore, undefined],
  ])('without a %s: %j', async (_, make, client) => {
    const [field] = await refusedFields(() => make(loosely(client)))
    expect(field).toMatch(/^(client|keyv)/)
  })

  test.each<[field: string, options: object]>([
    ['commandTimeout', { commandTimeout: '5' }],
    ['prefix', { prefix: 5 }],
    ['perfix', { perfix: 'a:' }],
  ])('with a wrong %s', async (field, options) => {
    expect(await refusedFields(() => createRedisDedupeStore(async () => null, options))).toEqual([field])
    expect(await refusedFields(() => createRedisTokenStore(async () => null, options))).toEqual([field])
  })

  test.each([0, Number.NaN, '10'])('with the limit %j', async (limit) => {
    expect(await refusedFields(() => createMemoryDedupeStore({ limit: loosely(limit) }))).toEqual(['limit'])
  })
})

describe('a reconciliation is not begun', () => {
  const charge = { chargeId: 'ch_1', status: 'failed' }

  test.each<[field: string, options: object]>([
    ['concurrency', { expected: [], concurrency: 0 }],
    ['concurrency', { expected: [], concurrency: 1.5 }],
    ['gateway', { expected: [], gateway: {} }],
    ['expected', { gateway }],
  ])('with a wrong %s', async (field, options) => {
    const [named] = await refusedFields(() => reconcile(loosely(options)))
    expect(named).toMatch(new RegExp(`^${field}`))
  })

  test('of a charge without the client that reads it', async () => {
    expect(await refusedFields(() => first(reconcile({ expected: [charge] })))).toEqual(['gateway'])
    const expected = [{ subscriptionId: 'a', payments: [] }]
    expect(await refusedFields(() => first(reconcile({ expected })))).toEqual(['subscriptions'])
  })

  test('of an entry that names neither a subscription nor a charge', async () => {
    await refusedBy(() => first(reconcile({ gateway, expected: loosely([{ status: 'failed' }]) })))
  })
})

test('notifications are not compared by a date that is none: nothing would be newer than it', async () => {
  const one = { occurredAt: new Date(0), status: 'CANCELLED' }
  const broken = { occurredAt: new Date(Number.NaN), status: 'SUCCEEDED' }
  expect(await refusedFields(() => isNewer(one, broken))).toEqual(['b.occurredAt'])
  expect(await refusedFields(() => isNewer(broken, one))).toEqual(['a.occurredAt'])
})

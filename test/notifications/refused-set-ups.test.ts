import { describe, expect, test } from 'vitest'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import {
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

describe('a handler is not created', () => {
  test.each<[field: string, options: object]>([
    ['verify', { verify: undefined }],
    ['onPayment', { onPayment: 'book' }],
    ['maxBytes', { maxBytes: '64' }],
    ['lease.duration', { lease: { duration: 0 } }],
    ['dedupeTtl', { dedupeTtl: 0 }],
    ['responseTimeout', { responseTimeout: Number.NaN }],
    ['onUnknown', { onUnknown: 'ignore' }],
    ['dedupe', { dedupe: new Map() }],
    ['deduplicate', { deduplicate: {} }],
  ])('with a wrong %s: %o', async (field, options) => {
    expect(await refusedFields(() => createNotificationHandler({ ...base, ...options }))).toEqual([field])
  })

  test('without options', async () => {
    await refusedBy(() => createNotificationHandler(loosely(undefined)))
    await refusedBy(() => toNodeHandler(loosely(undefined)))
  })
})

describe('a verifier is not created', () => {
  test.each<[field: string, options: object]>([
    ['secrets', { secrets: undefined }],
    ['secrets', { secrets: '' }],
    ['secrets', { secrets: [] }],
    ['secrets', { secrets: [SECRET, ''] }],
    ['secrets', { secrets: new Uint8Array() }],
    ['header', { header: ' ' }],
    ['encoding', { encoding: 'HEX' }],
    ['prefix', { prefix: 7 }],
    ['secret', { secret: SECRET }],
  ])('with a wrong %s, such as an unset environment variable: %o', async (field, options) => {
    expect(await refusedFields(() => hmacVerifier({ ...signature, ...options }))).toEqual([field])
  })

  test('with the client of the other area, or none', async () => {
    expect(await refusedFields(() => lookupVerifier(loosely(gateway)))).toEqual(['client'])
    expect(await refusedFields(() => lookupVerifier(loosely(undefined)))).toEqual(['client'])
    expect(() => lookupVerifier(subscriptions)).not.toThrow()
    expect(await refusedFields(() => lookupVerifier(subscriptions, loosely({ clock: Date })))).toEqual([
      'clock',
    ])
  })
})

describe('a store is not created', () => {
  test.each<[string, (client: never) => unknown, unknown]>([
    ['Redis for tokens', createRedisTokenStore, undefined],
    ['Redis for notifications', createRedisDedupeStore, 'redis://127.0.0.1'],
    ['Keyv for tokens', createKeyvTokenStore, {}],
    ['Keyv for notifications', createKeyvDedupeStore, undefined],
  ])('without a %s: %j', async (_, make, client) => {
    const [field] = await refusedFields(() => make(loosely(client)))
    expect(field).toMatch(/^(client|keyv)/)
  })

  test.each<[field: string, options: object]>([
    ['commandTimeout', { commandTimeout: '5' }],
    ['perfix', { perfix: 'a:' }],
  ])('with a wrong %s', async (field, options) => {
    expect(await refusedFields(() => createRedisDedupeStore(async () => null, options))).toEqual([field])
    expect(await refusedFields(() => createRedisTokenStore(async () => null, options))).toEqual([field])
  })
})

describe('a reconciliation does not start', () => {
  const charge = { chargeId: 'ch_1', status: 'failed' }

  test.each<[field: string, options: object]>([
    ['concurrency', { expected: [], concurrency: 0 }],
    ['gateway', { expected: [], gateway: {} }],
    ['expected', { gateway }],
  ])('with a wrong %s', async (field, options) => {
    const [named] = await refusedFields(() => reconcile(loosely(options)))
    expect(named).toMatch(new RegExp(`^${field}`))
  })

  test('without the client of an entry, or with an entry of neither kind', async () => {
    expect(await refusedFields(() => first(reconcile({ expected: [charge] })))).toEqual(['gateway'])
    const expected = [{ subscriptionId: 'a', payments: [] }]
    expect(await refusedFields(() => first(reconcile({ expected })))).toEqual(['subscriptions'])
    await refusedBy(() => first(reconcile({ gateway, expected: loosely([{ status: 'failed' }]) })))
  })
})

test('isNewer refuses an invalid date, because nothing would be newer', async () => {
  const one = { occurredAt: new Date(0), status: 'CANCELLED' }
  const broken = { occurredAt: new Date(Number.NaN), status: 'SUCCEEDED' }
  expect(await refusedFields(() => isNewer(one, broken))).toEqual(['b.occurredAt'])
  expect(await refusedFields(() => isNewer(broken, one))).toEqual(['a.occurredAt'])
})

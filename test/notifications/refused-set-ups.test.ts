import { expect, test } from 'vitest'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import {
  createNotificationHandler,
  hmacVerifier,
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
const dedupe = { claim: 1, extend: 1, commit: 1, release: 1 }

/** What is created, from options that would be complete without the given ones. */
const makers = {
  createNotificationHandler: (options: object) => createNotificationHandler({ ...base, ...options }),
  hmacVerifier: (options: object) => hmacVerifier({ header: 'x-signature', secrets: SECRET, ...options }),
  lookupVerifier: (options: object) => lookupVerifier(subscriptions, loosely(options)),
  createRedisDedupeStore: (options: object) => createRedisDedupeStore(async () => null, options),
  createRedisTokenStore: (options: object) => createRedisTokenStore(async () => null, options),
  reconcile: (options: object) => reconcile({ expected: [], gateway, ...options }),
  'a loop over reconcile': (options: object) =>
    reconcile({ expected: [], ...options })
      [Symbol.asyncIterator]()
      .next(),
}

test.each<[keyof typeof makers, field: string, options: object]>([
  ['createNotificationHandler', 'verify', { verify: undefined }],
  ['createNotificationHandler', 'onPayment', { onPayment: 'book' }],
  ['createNotificationHandler', 'maxBytes', { maxBytes: '64' }],
  ['createNotificationHandler', 'lease.duration', { lease: { duration: 0 } }],
  ['createNotificationHandler', 'dedupeTtl', { dedupeTtl: 0 }],
  ['createNotificationHandler', 'responseTimeout', { responseTimeout: Number.NaN }],
  ['createNotificationHandler', 'onUnknown', { onUnknown: 'ignore' }],
  ['createNotificationHandler', 'dedupe', { dedupe: new Map() }],
  ['createNotificationHandler', 'dedupe', { dedupe }],
  ['createNotificationHandler', 'deduplicate', { deduplicate: {} }],
  ['hmacVerifier', 'secrets', { secrets: undefined }],
  ['hmacVerifier', 'secrets', { secrets: '' }],
  ['hmacVerifier', 'secrets', { secrets: [] }],
  ['hmacVerifier', 'secrets', { secrets: [SECRET, ''] }],
  ['hmacVerifier', 'secrets', { secrets: new Uint8Array() }],
  ['hmacVerifier', 'header', { header: ' ' }],
  ['hmacVerifier', 'encoding', { encoding: 'HEX' }],
  ['hmacVerifier', 'prefix', { prefix: 7 }],
  ['hmacVerifier', 'secret', { secret: SECRET }],
  ['lookupVerifier', 'clock', { clock: Date }],
  ['createRedisDedupeStore', 'commandTimeout', { commandTimeout: '5' }],
  ['createRedisDedupeStore', 'perfix', { perfix: 'a:' }],
  ['createRedisTokenStore', 'commandTimeout', { commandTimeout: '5' }],
  ['createRedisTokenStore', 'perfix', { perfix: 'a:' }],
  ['reconcile', 'concurrency', { concurrency: 0 }],
  ['reconcile', 'gateway', { gateway: {} }],
  ['reconcile', 'expected', { expected: undefined }],
  ['a loop over reconcile', 'gateway', { expected: [{ chargeId: 'ch_1', status: 'failed' }] }],
  ['a loop over reconcile', 'subscriptions', { expected: [{ subscriptionId: 'a', payments: [] }] }],
  ['a loop over reconcile', 'subscriptions', { gateway, expected: [{ status: 'failed' }] }],
])('%s refuses a wrong %s, such as an unset environment variable: %o', async (name, field, options) => {
  expect(await refusedFields(() => makers[name](options))).toEqual([field])
})

test.each<[string, (given: never) => unknown, unknown]>([
  ['createNotificationHandler', createNotificationHandler, undefined],
  ['toNodeHandler', toNodeHandler, undefined],
  ['lookupVerifier', lookupVerifier, gateway],
  ['lookupVerifier', lookupVerifier, undefined],
  ['createRedisTokenStore', createRedisTokenStore, undefined],
  ['createRedisDedupeStore', createRedisDedupeStore, 'redis://127.0.0.1'],
  ['createKeyvTokenStore', createKeyvTokenStore, {}],
  ['createKeyvDedupeStore', createKeyvDedupeStore, undefined],
])('%s refuses another first argument: %o', async (_, make, given) => {
  const { issues } = await refusedBy(() => make(loosely(given)))
  for (const { field } of issues) expect(field).toMatch(/^(?:client|keyv|handler|options|verify|on)/)
})

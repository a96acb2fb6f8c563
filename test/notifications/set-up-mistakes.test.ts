import { describe, expect, test } from 'vitest'
import { GatewayClient, InvalidRequestError } from '../../src/index.ts'
import { createNotificationHandler, lookupVerifier, toNodeHandler } from '../../src/notifications/index.ts'
import {
  createKeyvDedupeStore,
  createKeyvTokenStore,
  createRedisDedupeStore,
  createRedisTokenStore,
} from '../../src/stores/index.ts'

const listeners = { verify: 'none', onPayment: () => undefined, onSubscription: () => undefined } as const
const gateway = new GatewayClient({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key' })

const thrownBy = (make: () => unknown): unknown => {
  try {
    return make()
  } catch (error) {
    return error
  }
}

const CLIENT = /client must be a connected client of redis or ioredis, or a function .*, received /
const KEYV = /keyv must be a Keyv: an object with the methods get, set, delete, received /
const READS = /client must be a SubscriptionsClient: .* details, cancellation, payment, received /

describe('a mistake in the set-up is refused at once, in words that say what is needed', () => {
  test.each<[string, (...given: never[]) => unknown, readonly unknown[], RegExp]>([
    ['no options', createNotificationHandler, [], /options must be an object with verify.*received nothing/],
    [
      'an option that does not exist',
      createNotificationHandler,
      [{ ...listeners, deduplicate: {} }],
      /deduplicate is no option; did you mean dedupe\?$/,
    ],
    [
      'a time limit that does not exist',
      createNotificationHandler,
      [{ ...listeners, timeouts: { verifier: 5 } }],
      /timeouts\.verifier is no option; did you mean timeouts\.verify\?$/,
    ],
    [
      'a part of the lease that does not exist',
      createNotificationHandler,
      [{ ...listeners, lease: { ms: 5 } }],
      /lease\.ms is no option; there are duration, limit\.$/,
    ],
    ['no client to look up with', lookupVerifier, [], READS],
    ['the other client', lookupVerifier, [gateway], READS],
    [
      'the other client, which lacks what is needed',
      lookupVerifier,
      [gateway],
      /received an object without details, cancellation, payment\.$/,
    ],
    ['no handler', toNodeHandler, [], /handler must be the handler that createNotificationHandler makes/],
    ['no Redis for tokens', createRedisTokenStore, [], CLIENT],
    ['an empty Redis for tokens', createRedisTokenStore, [{}], CLIENT],
    ['no Redis for notifications', createRedisDedupeStore, [], CLIENT],
    ['an address in the place of a Redis', createRedisDedupeStore, ['redis://127.0.0.1'], CLIENT],
    ['no Keyv for tokens', createKeyvTokenStore, [], KEYV],
    ['an empty Keyv for tokens', createKeyvTokenStore, [{}], KEYV],
    ['an empty Keyv for notifications', createKeyvDedupeStore, [{}], KEYV],
    ['a list in the place of a Keyv', createKeyvDedupeStore, [[]], KEYV],
  ])('%s', (_, make, given, words) => {
    const error = thrownBy(() => make(...(given as never[])))
    expect(error).toBeInstanceOf(InvalidRequestError)
    expect(String(error)).toMatch(words)
  })
})

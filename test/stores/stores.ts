import { Keyv } from 'keyv'
import { expect, onTestFinished } from 'vitest'
import type { Claim } from '../../src/notifications/index.ts'
import { type Connection, connections } from '../support/redis-clients.ts'
import { RedisServer, redisIsInstalled } from '../support/redis-server.ts'

/** The clients of Redis, if a server is there to connect to. */
export const redisKinds = redisIsInstalled() ? (['node-redis', 'ioredis'] as const) : []

let server: Promise<RedisServer> | undefined

/** The Redis of a test file. */
export const redis = (): Promise<RedisServer> => (server ??= RedisServer.start())

export const closeRedis = async () => {
  await (await server)?.close()
  server = undefined
}

/** Connects to the Redis of the file until the test ends. */
export const connect = async (kind: keyof typeof connections): Promise<Connection> => {
  const connection = await connections[kind]((await redis()).url)
  onTestFinished(connection.close)
  return connection
}

export const ownerOf = (claim: Claim): string => {
  expect(claim.state).toBe('claimed')
  return claim.state === 'claimed' ? claim.owner : ''
}

/** A record of the token store without a token. */
export const EMPTY_RECORD = { version: 2, blocks: [], unauthorizedRenewals: [] } as const

/** A Keyv with a backend whose methods can fail. */
export const fragileKeyv = (withListener: boolean) => {
  const failing = new Set<'get' | 'set'>()
  const store = new Map<string, unknown>()
  for (const method of ['get', 'set'] as const) {
    const work = store[method].bind(store) as (...all: unknown[]) => never
    store[method] = (...all: unknown[]) => {
      if (failing.has(method)) throw new Error('the backend is down')
      return work(...all)
    }
  }
  const keyv = new Keyv({ store })
  if (withListener) keyv.on('error', () => undefined)
  return { keyv, failing }
}

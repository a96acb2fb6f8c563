// One process of a fleet: waits for the word, makes its calls at once, tells how they went.

import { systemClock } from '../../src/index.ts'
import { createRedisTokenStore } from '../../src/stores/index.ts'
import { createMerchant } from '../support/merchant.ts'
import { connections } from '../support/redis-clients.ts'

const [apiUrl = '', redisUrl = '', kind = '', calls = '1', lockTime = '10000'] = process.argv.slice(2)
const { client } = await connections[kind === 'ioredis' ? 'ioredis' : 'node-redis'](redisUrl)
const tokenStore = createRedisTokenStore(client, {
  lockTime: Number(lockTime),
  // A process that starts a thousand calls on a loaded machine may be late to read a reply that is there.
  commandTimeout: 4_500,
})
const reports: string[] = []

/** All calls ask for a token at once; their requests then share 20 connections, as a server's listen queue is short. */
const inTurns = (connections: number): typeof fetch => {
  let free = connections
  const queue: (() => void)[] = []
  return async (input, init) => {
    if (free === 0) await new Promise<void>((resolve) => queue.push(resolve))
    else free -= 1
    try {
      return await fetch(input, init)
    } finally {
      const next = queue.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

const merchant = createMerchant(apiUrl, systemClock, {
  tokenStore,
  fetch: inTurns(20),
  // A busy machine takes its time over 8 000 calls.
  timeout: 200_000,
  totalTimeout: 200_000,
  retry: false,
  onUnexpected: ({ message }) => reports.push(message),
})

process.once('message', async () => {
  const results = await Promise.allSettled(Array.from({ length: Number(calls) }, () => merchant.details()))
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))
  // The process stays until the test ends it: if it ended now, it could not release the lock of a failed login.
  process.send?.({ failed: failures.length, failures: [...new Set(failures)].slice(0, 3), reports })
})
process.send?.('ready')

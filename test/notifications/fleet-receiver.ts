// One process of a fleet that receives notifications: its code fails at random, and it tells at the end what it did.

import { createServer } from 'node:http'
import { createNotificationHandler, toNodeHandler } from '../../src/notifications/index.ts'
import { createRedisDedupeStore } from '../../src/stores/index.ts'
import { listen } from '../support/listen.ts'
import { createRandom } from '../support/random.ts'
import { connections } from '../support/redis-clients.ts'

const [redisUrl = '', kind = '', seed = '1'] = process.argv.slice(2)
const { client, close } = await connections[kind === 'ioredis' ? 'ioredis' : 'node-redis'](redisUrl)
const random = createRandom(Number(seed))
const handled: string[] = []
let failures = 0
const reports: Record<string, number> = {}

const handler = createNotificationHandler({
  verify: 'none',
  dedupe: createRedisDedupeStore(client),
  onSubscription: () => undefined,
  onPayment: async ({ notificationId }) => {
    // Long enough for duplicates to arrive in between.
    const turns = Math.floor(random() * 20)
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    if (random() < 0.2) {
      failures += 1
      throw new Error('failed at random')
    }
    handled.push(notificationId)
  },
  onUnexpected: ({ kind: name }) => {
    reports[name] = (reports[name] ?? 0) + 1
  },
})

const server = createServer(toNodeHandler(handler))
const heap = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

process.on('message', (word) => {
  if (word === 'heap') process.send?.({ heap: heap() })
  if (word !== 'end') return
  process.send?.({ handled, failures, reports }, () => {
    server.close()
    server.closeAllConnections()
    close()
    process.disconnect()
  })
})
process.send?.(await listen(server))

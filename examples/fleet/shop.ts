import { createServer } from 'node:http'
import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import express from 'express'
import { type NewOrder, openBooks } from './books.ts'
import {
  chargeKey,
  connectionOf,
  type Jobs,
  jobFor,
  type NewJob,
  notificationOptions,
  openQueues,
  type Settings,
} from './queues.ts'

const HEADERS = ['content-type', 'content-encoding', 'x-signature'] as const

/** Opens the shop. Its web server receives notifications, and shows the queues at `/queues`. */
export const openShop = async (settings: Settings) => {
  const books = openBooks(settings.database)
  // If Redis is down, a command to Redis fails at once, so the sender of a notification gets a 503 and retries later.
  const connection = { ...connectionOf(settings), maxRetriesPerRequest: 1, enableOfflineQueue: false }
  const queues = openQueues(settings, connection)
  await Promise.all(queues.all.map((queue) => queue.waitUntilReady()))
  const { nightly } = queues
  await nightly.upsertJobScheduler('every-minute', { every: settings.minute }, { name: 'plan', data: {} })
  await nightly.upsertJobScheduler('every-night', { pattern: '0 3 * * *' }, { name: 'reconcile', data: {} })

  const app = express()
  // The body stays unparsed, because a signature covers the raw bytes.
  const raw = express.raw({ type: () => true, limit: '64kb' })
  app.post('/notifications', raw, async ({ headers, body }, response) => {
    // Other headers, such as cookies, may contain secrets, which a queue should not store.
    const kept = Object.fromEntries(HEADERS.map((name) => [name, headers[name]]))
    // The job's id does not come from the delivery. BullMQ ignores a second job with the same id, so a forged delivery
    // with a genuine id could make BullMQ ignore the genuine delivery.
    const text = Buffer.isBuffer(body) ? body.toString() : ''
    const data: Jobs['subscriptions']['notification'] = { headers: kept, body: text, receivedAt: Date.now() }
    const added = queues.subscriptions.add('notification', data, notificationOptions)
    // Responds with 2xx only after Redis has stored the job, because the sender does not retry after a 2xx.
    await added.then(
      () => response.sendStatus(202),
      () => response.sendStatus(503),
    )
  })
  const board = new ExpressAdapter()
  board.setBasePath('/queues')
  createBullBoard({ queues: queues.all.map((queue) => new BullMQAdapter(queue)), serverAdapter: board })
  // In production, protect the board with a login: it shows the data of jobs, and can retry and delete jobs.
  app.use('/queues', board.getRouter())

  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`

  /** Adds the job of a request that the database already contains. If Redis is down, the planner adds the job later. */
  const add = (job: NewJob) => queues.add(job).catch(() => undefined)
  return {
    url,
    books,
    queues,
    /** Stores an order in the database, then adds its job to a queue. */
    async order(order: NewOrder): Promise<void> {
      books.placeOrder(order)
      await add(order.kind === 'mandate' ? jobFor.charge(order.id) : jobFor.subscribe(order.id))
    },
    /**
     * Adds a job with the payer's code. Rejects if Redis is down, because the planner does not know the code and
     * therefore cannot add the job later.
     */
    confirm(orderId: string, otp: string): Promise<void> {
      const { confirm_try } = books.charge(chargeKey(orderId))
      return queues.add(jobFor.confirm(orderId, otp, confirm_try))
    },
    async cancel(subscriptionId: string): Promise<void> {
      books.wantCancel(subscriptionId)
      await add(jobFor.cancel(subscriptionId))
    },
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      await queues.close()
      books.close()
    },
  }
}

import { createServer } from 'node:http'
import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { ExpressAdapter } from '@bull-board/express'
import express from 'express'
import type { NewOrder } from './books.ts'
import { openBooks } from './books.ts'
import type { NewJob, Settings } from './queues.ts'
import { connectionOf, jobFor, openQueues } from './queues.ts'

const HEADERS = ['content-type', 'content-encoding', 'x-signature'] as const

/** The shop's web server: takes orders and notifications, and shows the queues at `/queues`. */
export const openShop = async (settings: Settings) => {
  const books = openBooks(settings.database)
  // A request must not wait for Redis: the sender of a notification gets a 503, and delivers again.
  const connection = { ...connectionOf(settings), maxRetriesPerRequest: 1, enableOfflineQueue: false }
  const queues = openQueues(settings, connection)
  await Promise.all(queues.all.map((queue) => queue.waitUntilReady()))
  const { nightly } = queues
  await nightly.upsertJobScheduler('every-minute', { every: settings.minute }, { name: 'plan', data: {} })
  await nightly.upsertJobScheduler('every-night', { pattern: '0 3 * * *' }, { name: 'reconcile', data: {} })

  const app = express()
  // The bytes have to stay as they are, because a signature covers them.
  const raw = express.raw({ type: () => true, limit: '64kb' })
  app.post('/notifications', raw, async ({ headers, body }, response) => {
    // Only these headers matter, and a cookie or a key has no place in a queue.
    const kept = Object.fromEntries(HEADERS.map((name) => [name, headers[name]]))
    // No job id: the delivery is not verified yet, and a forged copy must not keep a genuine one away.
    const delivery = { headers: kept, body: Buffer.isBuffer(body) ? body.toString() : '' }
    const added = queues.subscriptions.add('notification', delivery)
    // 2xx only when Redis has the job. From then on, the shop is responsible for the notification.
    await added.then(
      () => response.sendStatus(202),
      () => response.sendStatus(503),
    )
  })
  const board = new ExpressAdapter()
  board.setBasePath('/queues')
  createBullBoard({ queues: queues.all.map((queue) => new BullMQAdapter(queue)), serverAdapter: board })
  // In production, put your login in front of the board: it shows job data, and can retry and delete jobs.
  app.use('/queues', board.getRouter())

  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`

  /** Adds a job that the books already contain. If Redis is down, the planner adds it later. */
  const add = (job: NewJob) => queues.add(job).catch(() => undefined)
  return {
    url,
    books,
    queues,
    /** Places an order: first in the books, then in the queue. */
    async order(order: NewOrder): Promise<void> {
      books.placeOrder(order)
      await add(order.kind === 'mandate' ? jobFor.charge(order.id) : jobFor.subscribe(order.id))
    },
    /** The payer has entered the code. The code is in the job only, so the page has to show a failure. */
    confirm: (orderId: string, otp: string) => queues.add(jobFor.confirm(orderId, otp)),
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

import type { Job } from 'bullmq'
import { DelayedError, RateLimitError, UnrecoverableError, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { GatewayClient, isMandateKitError, nextStep, SubscriptionsClient } from 'mandatekit'
import { createNotificationHandler, lookupVerifier } from 'mandatekit/notifications'
import { createRedisDedupeStore, createRedisTokenStore } from 'mandatekit/stores'
import { openBooks } from './books.ts'
import type { Run, Shop } from './jobs.ts'
import { jobs, Later, orderOf } from './jobs.ts'
import type { QueueName, Settings } from './queues.ts'
import { connectionOf, limiterFor, openQueues, queueNames } from './queues.ts'

// One process of the fleet: node examples/fleet/worker.ts. Start any number, on any number of machines.

const settings = JSON.parse(process.env.SHOP_SETTINGS ?? '') as Settings
const { baseUrl, apiKey, credentials, loginCooldown, limits, lockDuration, minute, timeout } = settings
const log = (what: string, more: unknown = '') =>
  console.log(new Date().toISOString(), process.pid, what, more)

// The stores have a connection of their own: their commands must fail fast, and BullMQ's must wait for Redis.
const redis = new Redis({ ...settings.redis, maxRetriesPerRequest: 1 })
redis.on('error', ({ message }) => log('Redis:', message))

const common = {
  baseUrl,
  // A job must not sleep while it holds a place: long waits go back to the queue, for all workers.
  rateLimit: 'throw',
  retry: { limit: 2, maxWait: 900 },
  timeout,
} as const
const tokenStore = createRedisTokenStore(redis, { lockTime: lockDuration })
const area = { ...common, credentials, loginCooldown, tokenStore }
const gateway = new GatewayClient({ ...common, apiKey })
const subscriptions = new SubscriptionsClient(area)
const wait = { rateLimit: 'wait', retry: { limit: 10 } } as const
const patient = {
  gateway: new GatewayClient({ ...common, apiKey, ...wait }),
  subscriptions: new SubscriptionsClient({ ...area, ...wait }),
}

const books = openBooks(settings.database)
const queues = openQueues(settings)
const notifications = createNotificationHandler({
  verify: lookupVerifier(subscriptions),
  dedupe: createRedisDedupeStore(redis),
  // After a kill, the job waits for the lock and the notification for the lease. With equal times, it waits once.
  lease: { duration: lockDuration },
  onSubscription: async (notification) => {
    const { subscriptionId, status } = notification
    if ((await orderOf(shop, subscriptionId)) === undefined)
      return log('Not an order of ours:', subscriptionId)
    books.setStatus(subscriptionId, notification)
    // The payer, or the provider, may cancel too.
    if (status === 'CANCELLED') books.cancelled(subscriptionId)
  },
  onPayment: async ({ paymentId, subscriptionId, status }) => {
    if ((await orderOf(shop, subscriptionId)) === undefined)
      return log('Not an order of ours:', subscriptionId)
    books.book(paymentId, subscriptionId, status)
  },
  onUnexpected: (report) => log('Notification:', report.kind),
})
const shop: Shop = { books, queues, subscriptions, gateway, notifications, patient }

/** Pauses are in real minutes. A fast run has shorter ones. */
const inTime = (milliseconds: number): number => Math.ceil((milliseconds * minute) / 60_000)

/** Decides what happens to a job after an error: BullMQ reads it from the error that this function throws. */
const settle = async (queue: QueueName, job: Job, token: string, error: unknown): Promise<never> => {
  const later = async (afterMs: number): Promise<never> => {
    // A job that is moved and not failed uses up no attempt. An outage of an hour therefore costs no job.
    await job.moveToDelayed(Date.now() + inTime(afterMs), token)
    throw new DelayedError()
  }
  if (error instanceof Later) return later(error.afterMs)
  // A bug, or a busy database: BullMQ's attempts and backoff.
  if (!isMandateKitError(error)) throw error
  const next = nextStep(error)
  log(`${job.name} ${job.id}: ${next.step}:`, error)
  switch (next.step) {
    case 'pause-queue':
      // Every job would fail. The pause holds all workers, and the job goes back without using up an attempt. The
      // client tries again after `loginCooldown` at the latest.
      await queues[queue].rateLimit(Math.ceil(Math.min(next.afterMs, loginCooldown)))
      throw new RateLimitError()
    case 'retry':
      return later(next.afterMs)
    case 'find-out':
      // Each job begins by finding out what an earlier run did.
      return later(1_000)
    case 'fail':
      // The job would fail again: it waits for a person, in Bull Board.
      throw new UnrecoverableError(error.message)
  }
}
const work = (queue: QueueName, perMinute: number, requestsPerJob: number, concurrency: number) => {
  const worker = new Worker(
    queue,
    // BullMQ passes a signal only to a function of three parameters without defaults.
    async (job, token, signal) => {
      const run = (jobs[queue] as Record<string, Run<never> | undefined>)[job.name]
      if (run === undefined) throw new UnrecoverableError(`There is no job ${job.name}.`)
      try {
        return await run(job.data as never, shop, signal ?? AbortSignal.any([]))
      } catch (error) {
        return settle(queue, job, token ?? '', error)
      }
    },
    {
      connection: connectionOf(settings),
      concurrency,
      // Without a limiter, `rateLimit` of a queue has no effect.
      limiter: limiterFor(perMinute, settings, requestsPerJob),
      // A worker renews its locks. A killed worker's job starts again when its lock has ended: see `lease` above.
      lockDuration,
      stalledInterval: lockDuration / 2,
      // By default, a job fails after its worker was killed twice. These jobs may run any number of times.
      maxStalledCount: 1_000,
    },
  )
  // Another worker may start the job. Its client calls end, and nothing that they bring is written.
  worker.on('lockRenewalFailed', (ids) => ids.forEach((id) => void worker.cancelJob(id)))
  worker.on('failed', (job, error) => log(`${job?.name} ${job?.id} failed:`, error))
  worker.on('error', (error) => log('Worker:', error.message))
  return worker
}

const workers = [
  // A notification takes up to three requests.
  work('subscriptions', limits.subscriptions, 3, 8),
  work('gateway', limits.gateway, 1, 8),
  work('nightly', 60, 1, 1),
]
log(`works on ${queueNames.join(', ')}`)

// A deployment sends SIGTERM: finish the jobs that run, and take no other.
process.once('SIGTERM', async () => {
  await Promise.all(workers.map((worker) => worker.close()))
  await queues.close()
  redis.disconnect()
  books.close()
})

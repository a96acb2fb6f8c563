import { UnrecoverableError, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import { createNotificationHandler, lookupVerifier } from 'mandatekit/notifications'
import { createRedisDedupeStore, createRedisTokenStore } from 'mandatekit/stores'
import { openBooks } from './books.ts'
import { jobs, listenersFor, type Run, type Shop } from './jobs.ts'
import type { QueueName, Settings } from './queues.ts'
import { connectionOf, limiterFor, openQueues, prefix, queueId, queueNames } from './queues.ts'
import { settleFor } from './settle.ts'

// Run: node examples/fleet/worker.ts, with the settings as JSON in SHOP_SETTINGS. You can run several workers at once.

const settings = JSON.parse(process.env.SHOP_SETTINGS ?? '') as Settings
const { baseUrl, apiKey, credentials, concurrency, keyLifetime, limits, lockDuration, minute } = settings
const { loginCooldown, timeout } = settings
const log = (what: string, more: unknown = '') =>
  console.log(new Date().toISOString(), process.pid, what, more)

// The stores have their own connection, because their commands must fail fast. BullMQ's commands wait for Redis.
const redis = new Redis({ ...settings.redis, maxRetriesPerRequest: 1 })
redis.on('error', ({ message }) => log('Redis:', message))

const common = {
  baseUrl,
  // The client throws an error instead of waiting long, because a job that waits would occupy its worker.
  rateLimit: 'throw',
  retry: { limit: 2, maxWait: 900 },
  timeout,
  totalTimeout: 4 * timeout,
} as const
// Notification ids are unique within one account only, so each account has its own prefix.
const storePrefix = `mandatekit:${settings.account}:`
const tokenStore = createRedisTokenStore(redis, { prefix: storePrefix, lockTime: lockDuration })
const area = { ...common, credentials, loginCooldown, tokenStore }
const gateway = new GatewayClient({ ...common, apiKey, keyLifetime })
const subscriptions = new SubscriptionsClient(area)
const wait = { rateLimit: 'wait', retry: { limit: 10 } } as const
const patient = {
  gateway: new GatewayClient({ ...common, apiKey, keyLifetime, ...wait }),
  subscriptions: new SubscriptionsClient({ ...area, ...wait }),
}

const books = openBooks(settings.database)
const queues = openQueues(settings)
const notifications = createNotificationHandler({
  verify: lookupVerifier(subscriptions),
  dedupe: createRedisDedupeStore(redis, { prefix: storePrefix }),
  // After a worker is killed, the lock of its job and the lease of its notification expire together. The next run
  // starts when the lock has expired, so it does not have to wait for the lease.
  lease: { duration: lockDuration },
  ...listenersFor(() => shop),
  onUnexpected: (report) => log('Notification:', report.kind),
})
const shop: Shop = {
  books,
  queues,
  subscriptions,
  gateway,
  notifications,
  patient,
  keyLifetime,
  // The number of jobs that the limiter lets through in an hour, which has 720 windows of 5 s.
  renewalsPerHour: 720 * limiterFor(limits.gateway, settings).max,
}

const work = (queue: QueueName, perMinute: number, requestsPerJob: number, concurrency: number) => {
  // In a test, `minute` is less than 60 s. All waits then become shorter by the same factor.
  const settle = settleFor(queues[queue], books.markUnclear, minute / 60_000)
  const worker = new Worker(
    queueId(queue, settings),
    // BullMQ passes a signal only to a function of three parameters without defaults.
    async (job, token, signal) => {
      const run = (jobs[queue] as Record<string, Run<never> | undefined>)[job.name]
      if (run === undefined) throw new UnrecoverableError(`Unknown job ${job.name}.`)
      try {
        return await run(job.data as never, shop, signal ?? AbortSignal.any([]))
      } catch (error) {
        log(`${job.name} ${job.id}:`, error)
        return settle(error, job, token ?? '', books.firstSentAt(job.id ?? ''))
      }
    },
    {
      connection: connectionOf(settings),
      prefix,
      concurrency,
      // Without a limiter, `queue.rateLimit()` has no effect.
      limiter: limiterFor(perMinute, settings, requestsPerJob),
      // A running worker renews its locks. The job of a killed worker starts again when the lock expires.
      lockDuration,
      stalledInterval: lockDuration / 2,
      // By default, a job fails if its worker is killed twice. These jobs may run any number of times.
      maxStalledCount: 1_000,
    },
  )
  // Another worker may start a job whose lock was not renewed, so this worker aborts its own run of the job.
  worker.on('lockRenewalFailed', (ids) => ids.forEach((id) => void worker.cancelJob(id)))
  worker.on('failed', (job, error) => log(`${job?.name} ${job?.id} failed:`, error))
  worker.on('error', (error) => log('Worker:', error.message))
  return worker
}

const workers = [
  // The job of a notification sends up to three requests.
  work('subscriptions', limits.subscriptions, 3, concurrency),
  work('gateway', limits.gateway, 1, concurrency),
  work('nightly', 60, 1, 1),
]
log(`works on ${queueNames.join(', ')}`)

// A deployment sends SIGTERM. The worker then finishes its running jobs, and starts no other jobs.
process.once('SIGTERM', async () => {
  await Promise.all(workers.map((worker) => worker.close()))
  await queues.close()
  redis.disconnect()
  books.close()
})

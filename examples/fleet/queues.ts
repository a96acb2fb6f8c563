import { type ConnectionOptions, type JobsOptions, Queue } from 'bullmq'
import type { RedisOptions } from 'ioredis'
import { type Credentials, renewalKey } from 'mandatekit'
import type { QueuedDelivery } from 'mandatekit/notifications'

/**
 * The settings of each process of the shop. In production, read the settings from the environment. A process works for
 * one account: a merchant with two accounts starts two web servers and two sets of workers.
 */
export interface Settings {
  /** The name of the account. Each account has its own queues, so that a pause for one account does not stop the others. */
  readonly account: string
  /** The address of Redis: `{ host, port, password }`, or `{ path }` of a socket. */
  readonly redis: Pick<RedisOptions, 'host' | 'port' | 'password' | 'path'>
  /** Path of the shop's SQLite file. */
  readonly database: string
  readonly baseUrl: string
  readonly apiKey: string
  readonly credentials: Credentials
  /** Requests per minute that each API allows. */
  readonly limits: { readonly subscriptions: number; readonly gateway: number }
  /** How many jobs of each queue a worker process runs at once. */
  readonly concurrency: number
  /** The clients' option `timeout`: the time limit of a request, in milliseconds. */
  readonly timeout: number
  /** The length of a minute for limiters, planner and delays, in milliseconds: 60 000. In a test, use less. */
  readonly minute: number
  /** How long a job's lock lasts without renewal, in milliseconds. Then another worker may take the job. */
  readonly lockDuration: number
  /** The client's option `loginCooldown`: the pause after a rejected login, in milliseconds. */
  readonly loginCooldown: number
  /** The client's option `keyLifetime`: how long the gateway keeps an idempotency key, in milliseconds. */
  readonly keyLifetime: number
}

/** The jobs of each queue. Each API has its own queue, so that a pause for one API does not stop the other. */
export interface Jobs {
  subscriptions: {
    subscribe: { orderId: string }
    cancel: { subscriptionId: string }
    /** `receivedAt`: when the web server stored the delivery, in milliseconds. */
    notification: QueuedDelivery & { receivedAt: number }
  }
  gateway: {
    charge: { orderId: string }
    confirm: { orderId: string; otp: string; attempt: number }
    /** The job's data contains the due date, so a run after midnight uses the same date. */
    renew: { mandateId: string; dueDate: string; attempt: number }
    poll: { chargeId: string }
  }
  nightly: { plan: { today?: string }; reconcile: Record<string, never> }
}
export type QueueName = keyof Jobs
export const queueNames = ['subscriptions', 'gateway', 'nightly'] as const satisfies QueueName[]

/** The job with the smallest number runs first. `settle` gives 0 to a call that may have been executed. */
const PRIORITY = { checkout: 1, poll: 2, notification: 2, renewal: 3 } as const

/**
 * The options of a notification's job. Anyone can send notifications, so their jobs run after the calls for which a
 * payer waits. Without a priority, BullMQ would run them first.
 */
export const notificationOptions = {
  priority: PRIORITY.notification,
  removeOnFail: { age: 7 * 86_400 },
} satisfies JobsOptions

/** A job to add. BullMQ ignores the job if the queue already has a job with the same id. */
export interface NewJob {
  readonly queue: QueueName
  readonly name: string
  readonly data: object
  readonly opts: JobsOptions & { readonly jobId: string; readonly priority: number }
}
const job = <Queue extends QueueName, Name extends keyof Jobs[Queue] & string>(
  queue: Queue,
  name: Name,
  data: Jobs[Queue][Name] & object,
  opts: NewJob['opts'],
): NewJob => ({ queue, name, data, opts })

export const chargeKey = (orderId: string): string => `charge_${orderId}`

/** Creates jobs with their ids. BullMQ does not allow an id that contains `:` or is a plain number. */
export const jobFor = {
  subscribe: (orderId: string) =>
    job(
      'subscriptions',
      'subscribe',
      { orderId },
      { jobId: `subscribe_${orderId}`, priority: PRIORITY.checkout },
    ),
  cancel: (subscriptionId: string) => {
    const opts = { jobId: `cancel_${subscriptionId}`, priority: PRIORITY.checkout }
    return job('subscriptions', 'cancel', { subscriptionId }, opts)
  },
  charge: (orderId: string) =>
    job('gateway', 'charge', { orderId }, { jobId: chargeKey(orderId), priority: PRIORITY.checkout }),
  /** The id contains the number of the try, because BullMQ would ignore a second code under the id of the first. */
  confirm: (orderId: string, otp: string, attempt: number) => {
    const jobId = `confirm_${orderId}_${attempt}`
    // Redis must not keep the code longer than necessary.
    const opts = { jobId, priority: PRIORITY.checkout, removeOnComplete: true, removeOnFail: true }
    return job('gateway', 'confirm', { orderId, otp, attempt }, opts)
  },
  renew: (mandateId: string, dueDate: string, attempt: number) => {
    const opts = { jobId: renewalKey(mandateId, dueDate, attempt), priority: PRIORITY.renewal }
    return job('gateway', 'renew', { mandateId, dueDate, attempt }, opts)
  },
  poll: (chargeId: string) =>
    job('gateway', 'poll', { chargeId }, { jobId: `poll_${chargeId}`, priority: PRIORITY.poll }),
}

export const connectionOf = ({ redis }: Settings): ConnectionOptions => ({
  ...redis,
  // With null, a command waits until Redis runs again, instead of failing. BullMQ's workers require null.
  maxRetriesPerRequest: null,
  retryStrategy: (times) => Math.min(times * 50, 1000),
})

const jobOptions: JobsOptions = {
  // Only errors of the shop's own code and database use up attempts: see settle.ts.
  attempts: 20,
  backoff: { type: 'exponential', delay: 200, jitter: 0.5 },
  // Keeps each finished job for a day, because BullMQ adds no second job with the id of a kept job.
  removeOnComplete: { age: 86_400 },
  // BullMQ keeps a failed job until a person has repaired the cause and calls `retryFailed`.
  removeOnFail: false,
}

// Services that share a Redis need different prefixes. On a Redis Cluster, a prefix in braces keeps all keys of the
// queues on one node, for example `{shop}`.
export const prefix = 'shop'
export const queueId = (name: QueueName, { account }: Settings): string => `${name}_${account}`

export const openQueues = (settings: Settings, connection = connectionOf(settings)) => {
  const open = (name: QueueName) => {
    const queue = new Queue(queueId(name, settings), { connection, prefix, defaultJobOptions: jobOptions })
    // ioredis reconnects automatically, but without a listener, an `error` event would end the process.
    queue.on('error', () => undefined)
    return queue
  }
  const queues = Object.fromEntries(queueNames.map((name) => [name, open(name)])) as Record<QueueName, Queue>
  return {
    ...queues,
    all: Object.values(queues),
    /** Adds jobs, in one round trip per queue. Ignores a job if its queue already has a job with the same id. */
    async add(...jobs: readonly NewJob[]): Promise<void> {
      for (const name of queueNames) await queues[name].addBulk(jobs.filter(({ queue }) => queue === name))
    },
    close: () => Promise.all(Object.values(queues).map((queue) => queue.close())),
  }
}
export type Queues = ReturnType<typeof openQueues>

/** Lets all failed jobs of a queue run again, in steps of 1 000. Call it after a person has repaired the cause. */
export const retryFailed = (queue: Queue): Promise<void> => queue.retryJobs({ state: 'failed', count: 1000 })

/**
 * Returns the options of a queue's limiter, for an API that allows `perMinute` requests. All workers share the limit.
 *
 * The limiter counts in windows of 5 s. A minute overlaps up to 13 windows, so each window allows a thirteenth of
 * `perMinute`. With windows of a minute, two bursts at the border of two windows could exceed the API's limit. The
 * limiter counts jobs, so the limit is divided by the number of requests that a job sends.
 */
export const limiterFor = (perMinute: number, { minute }: Settings, requestsPerJob = 1) => ({
  max: Math.max(1, Math.floor(perMinute / 13 / requestsPerJob)),
  duration: minute / 12,
})

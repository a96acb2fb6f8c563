import type { ConnectionOptions, JobsOptions } from 'bullmq'
import { Queue } from 'bullmq'
import type { RedisOptions } from 'ioredis'
import type { Credentials } from 'mandatekit'
import { renewalKey } from 'mandatekit'
import type { QueuedDelivery } from 'mandatekit/notifications'

/** The settings of each process of the shop. In production, read the settings from the environment. */
export interface Settings {
  /** The address of Redis: `{ host, port, password }`, or `{ path }` of a socket. */
  readonly redis: Pick<RedisOptions, 'host' | 'port' | 'password' | 'path'>
  /** Path of the shop's SQLite file. */
  readonly database: string
  readonly baseUrl: string
  readonly apiKey: string
  readonly credentials: Credentials
  /** Requests per minute that each API allows. */
  readonly limits: { readonly subscriptions: number; readonly gateway: number }
  /** The clients' option `timeout`: the time limit of a request, in milliseconds. */
  readonly timeout: number
  /** How many milliseconds count as a minute in limiters, planner and delays: 60 000, or less for a fast run. */
  readonly minute: number
  /** The time until another worker may take a job whose lock is not renewed, in milliseconds. */
  readonly lockDuration: number
  /** The client's option `loginCooldown`: the pause after a rejected login, in milliseconds. */
  readonly loginCooldown: number
}

/** The jobs of each queue. Each API has its own queue, so that pausing calls to one API does not pause the other. */
export interface Jobs {
  subscriptions: {
    subscribe: { orderId: string }
    cancel: { subscriptionId: string }
    notification: QueuedDelivery
  }
  gateway: {
    charge: { orderId: string }
    confirm: { orderId: string; otp: string }
    /** The job's data contains the due date, so a run after midnight uses the same date. */
    renew: { mandateId: string; dueDate: string; attempt: number }
    poll: { chargeId: string }
  }
  nightly: { plan: { today?: string }; reconcile: Record<string, never> }
}
export type QueueName = keyof Jobs
export const queueNames = ['subscriptions', 'gateway', 'nightly'] as const satisfies QueueName[]

/** A job to add. BullMQ ignores the job if the queue already has a job with the same id. */
export interface NewJob {
  readonly queue: QueueName
  readonly name: string
  readonly id: string
  readonly data: object
}
const job = <Queue extends QueueName, Name extends keyof Jobs[Queue] & string>(
  queue: Queue,
  name: Name,
  id: string,
  data: Jobs[Queue][Name] & object,
): NewJob => ({ queue, name, id, data })

/** Creates jobs with their ids. BullMQ does not allow an id that contains `:` or is a plain number. */
export const jobFor = {
  subscribe: (orderId: string) => job('subscriptions', 'subscribe', `subscribe_${orderId}`, { orderId }),
  cancel: (subscriptionId: string) =>
    job('subscriptions', 'cancel', `cancel_${subscriptionId}`, { subscriptionId }),
  charge: (orderId: string) => job('gateway', 'charge', `charge_${orderId}`, { orderId }),
  confirm: (orderId: string, otp: string) =>
    job('gateway', 'confirm', `confirm_${orderId}`, { orderId, otp }),
  renew: (mandateId: string, dueDate: string, attempt: number) =>
    job('gateway', 'renew', renewalKey(mandateId, dueDate, attempt), { mandateId, dueDate, attempt }),
  poll: (chargeId: string) => job('gateway', 'poll', `poll_${chargeId}`, { chargeId }),
}

export const connectionOf = ({ redis }: Settings): ConnectionOptions => ({
  ...redis,
  // With null, a command waits until Redis runs again, instead of failing. BullMQ's workers require null.
  maxRetriesPerRequest: null,
  retryStrategy: (times) => Math.min(times * 50, 1000),
})

const jobOptions: JobsOptions = {
  // Only errors outside the API, such as a locked database, use up attempts: see `settle` in worker.ts.
  attempts: 20,
  backoff: { type: 'exponential', delay: 200, jitter: 0.5 },
  // Keeps each finished job for a day, because BullMQ adds no second job with the id of a kept job.
  removeOnComplete: { age: 86_400 },
  // BullMQ keeps a failed job until a person retries it in Bull Board.
  removeOnFail: false,
}

export const openQueues = (settings: Settings, connection = connectionOf(settings)) => {
  const open = (name: QueueName) => {
    const queue = new Queue(name, { connection, defaultJobOptions: jobOptions })
    // ioredis reconnects automatically, but without a listener, an `error` event would end the process.
    queue.on('error', () => undefined)
    return queue
  }
  const queues = Object.fromEntries(queueNames.map((name) => [name, open(name)])) as Record<QueueName, Queue>
  return {
    ...queues,
    all: Object.values(queues),
    /** Adds jobs. Ignores a job if the queue already has a job with the same id. */
    async add(...jobs: readonly NewJob[]): Promise<void> {
      for (const name of queueNames) {
        const own = jobs.filter(({ queue }) => queue === name)
        await queues[name].addBulk(own.map(({ name, data, id }) => ({ name, data, opts: { jobId: id } })))
      }
    },
    close: () => Promise.all(Object.values(queues).map((queue) => queue.close())),
  }
}
export type Queues = ReturnType<typeof openQueues>

/**
 * Returns the options of a queue's limiter, for an API that allows `perMinute` requests. All workers share the limit.
 *
 * The limiter counts in windows of 5 s. A minute overlaps up to 13 windows, so each window allows a thirteenth of
 * `perMinute`. With windows of a minute, two bursts at the border of two windows could exceed the API's limit.
 */
export const limiterFor = (perMinute: number, { minute }: Settings, requestsPerJob = 1) => ({
  max: Math.max(1, Math.floor(perMinute / 13 / requestsPerJob)),
  duration: minute / 12,
})

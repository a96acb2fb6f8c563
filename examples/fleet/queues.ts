import type { ConnectionOptions, JobsOptions } from 'bullmq'
import { Queue } from 'bullmq'
import type { RedisOptions } from 'ioredis'
import type { Credentials } from 'mandatekit'
import { renewalKey } from 'mandatekit'
import type { QueuedDelivery } from 'mandatekit/notifications'

/** What a process of the shop needs to know. Production reads this from the environment. */
export interface Settings {
  /** Where Redis is: `{ host, port, password }`, or `{ path }` of its socket. */
  readonly redis: Pick<RedisOptions, 'host' | 'port' | 'password' | 'path'>
  /** Path of the shop's SQLite file. */
  readonly database: string
  readonly baseUrl: string
  readonly apiKey: string
  readonly credentials: Credentials
  /** Requests per minute that each API allows. */
  readonly limits: { readonly subscriptions: number; readonly gateway: number }
  /** How long a request may take, in milliseconds: the clients' option. */
  readonly timeout: number
  /** The length of a minute in milliseconds: 60 000, or less in a fast run. All pauses of jobs become shorter too. */
  readonly minute: number
  /** How long a job belongs to a worker that does not renew its lock, in milliseconds. */
  readonly lockDuration: number
  /** The pause after a rejected login, in milliseconds: the client's option. */
  readonly loginCooldown: number
}

/** The jobs by queue. Each API has a queue of its own, because a pause or a limit of one must not stop the other. */
export interface Jobs {
  subscriptions: {
    subscribe: { orderId: string }
    cancel: { subscriptionId: string }
    notification: QueuedDelivery
  }
  gateway: {
    charge: { orderId: string }
    confirm: { orderId: string; otp: string }
    /** The due date and the attempt are in the job: a job that runs again after midnight must not compute them again. */
    renew: { mandateId: string; dueDate: string; attempt: number }
    poll: { chargeId: string }
  }
  nightly: { plan: { today?: string }; reconcile: Record<string, never> }
}
export type QueueName = keyof Jobs
export const queueNames = ['subscriptions', 'gateway', 'nightly'] as const satisfies QueueName[]

/** A job to add, with its id. BullMQ adds a job only if no job has its id. */
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

/** The ids of the jobs. In BullMQ, an id may contain no `:`, and may not be a plain number. */
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
  // A worker has to outlast a restart of Redis: BullMQ requires null, because its commands block.
  maxRetriesPerRequest: null,
  retryStrategy: (times) => Math.min(times * 50, 1000),
})

const jobOptions: JobsOptions = {
  // Only errors that the API did not cause use up attempts, such as a locked database. See `settle` in worker.ts.
  attempts: 20,
  backoff: { type: 'exponential', delay: 200, jitter: 0.5 },
  // A finished job keeps its id from being added again. The books decide what is open, so old jobs may go.
  removeOnComplete: { age: 86_400 },
  // A failed job waits for a person, who retries it in Bull Board.
  removeOnFail: false,
}

export const openQueues = (settings: Settings, connection = connectionOf(settings)) => {
  const open = (name: QueueName) => {
    const queue = new Queue(name, { connection, defaultJobOptions: jobOptions })
    // ioredis reconnects by itself. Without a listener, the error would end the process.
    queue.on('error', () => undefined)
    return queue
  }
  const queues = Object.fromEntries(queueNames.map((name) => [name, open(name)])) as Record<QueueName, Queue>
  return {
    ...queues,
    all: Object.values(queues),
    /** Adds jobs. A job that the queue already has is not added again. */
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
 * BullMQ's limiter for an API that allows `perMinute` requests. All workers of a queue share it.
 *
 * It counts in windows of 5 s, and leaves out a thirteenth: then no minute contains more than `perMinute` requests,
 * wherever the API's own minute begins. With one window of a minute, two bursts could meet in one minute of the API.
 */
export const limiterFor = (perMinute: number, { minute }: Settings, requestsPerJob = 1) => ({
  max: Math.max(1, Math.floor(perMinute / 13 / requestsPerJob)),
  duration: minute / 12,
})

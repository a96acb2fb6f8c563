import { isMandateKitError, nextStep } from 'mandatekit'
import type { Db, Job, JobResult, PgBoss } from 'pg-boss'

// Jobs that never charge twice, on pg-boss 12. Copy this file, and write `run` for your own jobs.

/** The data of a job. `key` is the job's identity, such as the result of `renewalKey`. */
export interface JobData {
  readonly key: string
  /** True for a call without an idempotency key, such as a poll or a cancellation. Such a job may run at any age. */
  readonly hasNoKey?: boolean
  /** Set by `settle` if the outcome of a request is unknown. */
  readonly mayHaveCharged?: boolean
}

/** Ask your payment provider how long the gateway keeps an idempotency key, and choose a shorter time. */
export const KEY_LIFETIME = 20 * 3_600_000

type Boss = Pick<PgBoss, 'complete' | 'send' | 'getDb'>

/** Facts that all processes share. They are rows of your database. */
export interface Records {
  /** When the pause of a queue ends, in milliseconds since 1970; 0 without a pause. */
  pausedUntil(queue: string): Promise<number>
  pause(queue: string, until: number): Promise<void>
  /**
   * Records the time of a key's first request, and returns this time. A later job with the same key gets the same time,
   * even if `redrive` or your own code has added the job.
   */
  firstSentAt(queue: string, key: string): Promise<number>
  /** Marks a key whose charge may exist: `firstSentAt` returns 0 from now on. */
  markUnclear(queue: string, key: string): Promise<void>
}

/** The tables that `createRecords` uses. Create them when you deploy. */
export const TABLES = `
CREATE TABLE IF NOT EXISTS queue_pauses (queue text PRIMARY KEY, until bigint NOT NULL);
CREATE TABLE IF NOT EXISTS first_requests (
  queue text, key text, sent_at bigint NOT NULL, PRIMARY KEY (queue, key)
)`

/** Keeps the records in the database of pg-boss. */
export const createRecords = (db: Db): Records => ({
  pausedUntil: async (queue) => {
    const { rows } = await db.executeSql('SELECT until FROM queue_pauses WHERE queue = $1', [queue])
    return Number(rows[0]?.until ?? 0)
  },
  pause: async (queue, until) => {
    // A shorter pause must not replace a longer one.
    const update = 'ON CONFLICT (queue) DO UPDATE SET until = greatest(queue_pauses.until, excluded.until)'
    await db.executeSql(`INSERT INTO queue_pauses VALUES ($1, $2) ${update}`, [queue, until])
  },
  firstSentAt: async (queue, key) => {
    // The update changes nothing, but makes the statement return the time that is already recorded.
    const sql = `INSERT INTO first_requests VALUES ($1, $2, $3)
      ON CONFLICT (queue, key) DO UPDATE SET sent_at = first_requests.sent_at RETURNING sent_at`
    const { rows } = await db.executeSql(sql, [queue, key, Date.now()])
    return Number(rows[0]?.sent_at ?? 0)
  },
  markUnclear: async (queue, key) => {
    await db.executeSql('UPDATE first_requests SET sent_at = 0 WHERE queue = $1 AND key = $2', [queue, key])
  },
})

/** Creates the queue of one API and account, and the queue of its failed jobs. */
export const createQueues = async (boss: Pick<PgBoss, 'createQueue'>, queue: string): Promise<void> => {
  const kept = { retentionSeconds: 365 * 86_400 }
  await boss.createQueue(`${queue}-failed`, kept)
  await boss.createQueue(queue, {
    ...kept,
    // At most one job with a `singletonKey` waits or runs.
    policy: 'exclusive',
    // pg-boss moves failed jobs to the other queue. After you repair the cause, `boss.redrive()` moves them back.
    // A job whose charge may exist then fails again without a request.
    deadLetter: `${queue}-failed`,
    // After this time without a heartbeat, pg-boss counts a worker as killed, and retries its job.
    heartbeatSeconds: 30,
    // A killed worker or an error of your own code uses up a retry. A pause or an error of the API does not.
    retryLimit: 1_000,
    retryDelay: 5,
    retryBackoff: true,
    retryDelayMax: 300,
  })
}

/** Adds a job. To add it in the transaction that writes your order, pass that transaction as `db`. */
export const addJob = (
  boss: Pick<Boss, 'send'>,
  queue: string,
  data: JobData,
  db?: Db,
): Promise<string | null> => boss.send(queue, data, { singletonKey: data.key, ...(db && { db }) })

/**
 * Runs the job again at the time `at`. In an exclusive queue, `send` returns null while the job is active, and a crash
 * between `complete` and `send` would lose the job. So one transaction completes the job and sends it again.
 */
const runAgain = async (boss: Boss, { data, ...job }: Job<JobData>, at: number): Promise<void> => {
  const transaction = await boss.getDb().beginTransaction?.()
  if (transaction === undefined) throw new Error('This adapter of pg-boss does not support transactions.')
  const { db } = transaction
  try {
    const attempt = { id: job.id, retryCount: job.retryCount }
    await boss.complete(job.name, attempt, null, { db })
    const startAfter = new Date(at)
    const id = await boss.send(job.name, data, { singletonKey: data.key, startAfter, db })
    // The error rolls the transaction back. The other worker then decides what happens to the job.
    if (id === null) throw new Error(`The job ${data.key} is active in another worker.`)
    await transaction.commit()
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}

/** Decides what happens to a job after an error. */
const settle = async (
  boss: Boss,
  records: Records,
  job: Job<JobData>,
  firstSentAt: number,
  error: unknown,
) => {
  const known = isMandateKitError(error) ? error : undefined
  const data = known?.outcome === 'unknown' ? { ...job.data, mayHaveCharged: true } : job.data
  const again = (afterMs: number) => runAgain(boss, { ...job, data }, Date.now() + afterMs)
  const next = nextStep(error, { firstSentAt })
  const isCharge = known?.idempotencyKey !== undefined
  const isRefused = next.step === 'fail' || (next.step === 'pause-queue' && next.reason === 'not-authorized')
  // After an unknown outcome, a refusal of a later run proves nothing, and a retry with another API key would charge
  // again. Only a person can find out whether the charge exists.
  if (isCharge && (next.step === 'find-out' || (isRefused && job.data.mayHaveCharged))) {
    await records.markUnclear(job.name, job.data.key)
    return 'deadletter'
  }
  switch (next.step) {
    case 'retry':
      return again(next.afterMs)
    case 'pause-queue':
      // The cause affects every job of this API and account, so the other jobs wait too.
      await records.pause(job.name, Date.now() + next.afterMs)
      return again(next.afterMs)
    case 'find-out':
      // The next run of the job must first read what this run did.
      return again(1_000)
    case 'fail':
      return 'deadletter'
    default:
      // A bug or a busy database: pg-boss retries the job with its own backoff.
      throw error
  }
}

/** Runs one job. Returns its result for a worker with `perJobResults`. */
export const handle = async (
  boss: Boss,
  records: Records,
  job: Job<JobData>,
  run: (data: JobData, signal: AbortSignal) => Promise<unknown>,
): Promise<JobResult[]> => {
  const result = async () => {
    const until = await records.pausedUntil(job.name)
    // The random part spreads the jobs, so that they do not all start when the pause ends.
    if (until > Date.now()) return runAgain(boss, job, until + Math.random() * 10_000)
    const { key, hasNoKey } = job.data
    const firstSentAt = hasNoKey ? Date.now() : await records.firstSentAt(job.name, key)
    // If the gateway has forgotten the key, a request would charge again, so a person must find out what the job did.
    // For a job that has sent nothing yet, `firstSentAt` is the current time.
    if (Date.now() - firstSentAt > KEY_LIFETIME) return 'deadletter'
    try {
      await run(job.data, job.signal)
    } catch (error) {
      return settle(boss, records, job, firstSentAt, error)
    }
  }
  // After `runAgain`, the job is already completed, so pg-boss ignores this `completed`.
  return [{ id: job.id, status: (await result()) ?? 'completed' }]
}

/** Starts a worker of a queue. */
export const startWorker = (
  boss: PgBoss,
  queue: string,
  run: Parameters<typeof handle>[3],
): Promise<string> => {
  const records = createRecords(boss.getDb())
  const options = { perJobResults: true, batchSize: 1, localConcurrency: 8 } as const
  return boss.work<JobData, unknown, typeof options>(queue, options, async ([job]) =>
    job === undefined ? [] : handle(boss, records, job, run),
  )
}

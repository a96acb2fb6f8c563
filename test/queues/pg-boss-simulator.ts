import type { Db, Job, JobResult, SendOptions } from 'pg-boss'
import type { JobData, Records } from '../../examples/queues/pg-boss.ts'

interface Row {
  readonly id: string
  readonly data: JobData
  readonly startAfter: number
  retryCount: number
  state: 'created' | 'active' | 'completed' | 'failed'
}

/** A process that was killed: its transaction is rolled back, and its job is run again. */
export class Killed extends Error {}

/**
 * The rules of pg-boss that the recipe relies on, in memory: in an exclusive queue, `send` returns null while a job of
 * the key waits or is active; only the attempt that was fetched completes a job; a transaction takes effect as a whole
 * at its commit; a killed worker's job runs again; failed jobs are kept.
 */
export const simulatePgBoss = (queue: string) => {
  let rows: Row[] = []
  let pausedUntil = 0
  const sentAt = new Map<string, number>()
  let nextId = 0
  /** Called at each step; may throw `Killed`. */
  const points = { crash: (_point: 'complete' | 'send' | 'commit' | 'committed'): void => undefined }

  const send = async (_queue: string, data: JobData, options: SendOptions): Promise<string | null> => {
    if (rows.some((row) => row.data.key === options.singletonKey && /created|active/.test(row.state)))
      return null
    nextId += 1
    const startAfter = Number(options.startAfter ?? 0)
    rows.push({ id: String(nextId), data, startAfter, retryCount: 0, state: 'created' })
    if (options.db) points.crash('send')
    return String(nextId)
  }
  const boss = {
    send,
    complete: async (
      _queue: string,
      attempt: { id: string; retryCount: number },
      _data: null,
      options: { db?: Db },
    ) => {
      for (const row of rows)
        if (row.id === attempt.id && row.retryCount === attempt.retryCount && row.state === 'active')
          row.state = 'completed'
      if (options.db) points.crash('complete')
      return {}
    },
    getDb: () => ({
      beginTransaction: async () => {
        const before = rows.map((row) => ({ ...row }))
        return {
          db: {} as Db,
          commit: async () => {
            points.crash('commit')
          },
          rollback: async () => {
            rows = before
          },
        }
      },
    }),
  }
  const records: Records = {
    pausedUntil: async () => pausedUntil,
    pause: async (_queue, until) => {
      pausedUntil = Math.max(pausedUntil, until)
    },
    firstSentAt: async (_queue, key) => sentAt.get(key) ?? Number(sentAt.set(key, Date.now()).get(key)),
    markUnclear: async (_queue, key) => void sentAt.set(key, 0),
  }

  /** Fetches the next job and works on it. Returns false if no job waits. Does not wait for `startAfter`. */
  const workOnce = async (handle: (job: Job<JobData>) => Promise<JobResult[]>): Promise<boolean> => {
    const row = rows.find(({ state }) => state === 'created')
    if (row === undefined) return false
    row.state = 'active'
    const { id, data, retryCount } = row
    const claimed = { id, name: queue, data, retryCount, signal: new AbortController().signal }
    const fetched = () => rows.find((one) => one.id === id && one.retryCount === retryCount)
    const retry = () => {
      const active = fetched()
      if (active?.state === 'active') Object.assign(active, { state: 'created', retryCount: retryCount + 1 })
    }
    try {
      const [result] = await handle({ ...claimed, expireInSeconds: 900, heartbeatSeconds: 30 })
      points.crash('committed')
      const active = fetched()
      if (active?.state === 'active') active.state = result?.status === 'completed' ? 'completed' : 'failed'
    } catch {
      retry()
    }
    return true
  }
  return {
    boss,
    records,
    sentAt,
    points,
    workOnce,
    rows: () => rows,
    endPause: () => {
      pausedUntil = 0
    },
  }
}

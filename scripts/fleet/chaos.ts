import type { JobType } from 'bullmq'
import { Redis } from 'ioredis'
import type { Mock } from 'mandatekit/mocks/core'
import type { Fleet } from '../../examples/fleet/fleet.ts'
import { msisdnOf } from './mock.ts'

export const WORKERS = 4
// In any 60 s, 401s cause at most three token renewals of a client. The run revokes tokens a bit less often.
const [MOST_REVOCATIONS, WINDOW] = [3, 65_000]
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Asks Redis again until it answers, because the run restarts Redis. */
export const untilAnswered = async <Reply>(ask: () => Promise<Reply>): Promise<Reply> => {
  for (;;) {
    try {
      return await ask()
    } catch {
      await sleep(200)
    }
  }
}

/** How often each misfortune happens. */
export interface Plan {
  readonly jobs: number
  readonly kills: number
  readonly restarts: number
  readonly revocations: number
}

/** Returns a function that reads the token that the fleet shares, to look for it in the logs. */
const tokenReader = (reader: Redis, tokens: Set<string>) => {
  let name: string | undefined
  return async (): Promise<void> => {
    name ??= (await reader.keys('mandatekit:*:token*')).find((key) => !key.includes('lock'))
    const record = name === undefined ? '' : ((await reader.get(name).catch(() => '')) ?? '')
    for (const [, token = ''] of record.matchAll(/"(?:access|refresh)Token":"([^"]+)"/g)) tokens.add(token)
  }
}

/** Does what goes wrong in a fleet, spread evenly over the jobs of the run. */
export const startChaos = (fleet: Fleet, mock: Mock, plan: Plan, done: () => number) => {
  const count = { kills: 0, restarts: 0, revocations: 0 }
  const tokens = new Set<string>()
  const reader = new Redis({ ...fleet.settings.redis, maxRetriesPerRequest: null })
  reader.on('error', () => undefined)
  const readTokens = tokenReader(reader, tokens)
  const isDue = (what: keyof typeof count): boolean =>
    count[what] < plan[what] && done() >= ((count[what] + 0.5) * plan.jobs * 0.9) / plan[what]
  const kill = async (): Promise<void> => {
    count.kills += 1
    await fleet.crashWorker(Math.floor(Math.random() * WORKERS))
  }
  let revokedAt: number[] = []
  const mayRevoke = (): boolean => {
    revokedAt = revokedAt.filter((at) => Date.now() - at < WINDOW)
    return revokedAt.length < MOST_REVOCATIONS
  }
  const revoke = (): void => {
    revokedAt.push(Date.now())
    mock.tokens.revoke()
  }
  let isOver = false
  const run = async (): Promise<void> => {
    while (!isOver) {
      // Some payers sometimes have no money.
      const msisdn = msisdnOf(10 * Math.floor((Math.random() * plan.jobs * 0.075) / 10))
      mock.payer.setBehavior(msisdn, Math.random() < 0.5 ? 'succeeds' : 'insufficient_funds')
      if (isDue('kills')) await kill()
      if (isDue('restarts')) {
        count.restarts += 1
        await fleet.redis.kill()
        await sleep(500)
        await fleet.redis.start()
      }
      await readTokens()
      // On the machine's time, the mock retries a delivery only when it is used next.
      if (isDue('revocations') && mayRevoke()) {
        count.revocations += 1
        revoke()
      }
      await sleep(200)
    }
  }
  const running = run()
  return {
    count,
    tokens,
    kill,
    /** Waits until the fleet may renew its token. Then does something, and revokes all tokens. */
    async revokeAfter(work: () => Promise<void>): Promise<void> {
      while (!mayRevoke()) await sleep(200)
      await work()
      revoke()
    },
    async stop(): Promise<void> {
      isOver = true
      await running
      reader.disconnect()
    },
  }
}

// If nothing happens for this time, in milliseconds, the run fails.
const STANDSTILL = 150_000

const UNFINISHED: JobType[] = ['failed', 'active', 'waiting', 'prioritized', 'delayed']

/** Counts the jobs that are done, and waits for conditions. */
export const watch = (fleet: Fleet) => {
  const started = Date.now()
  let completed = 0
  let changedAt = Date.now()
  const update = async (): Promise<void> => {
    const { subscriptions, gateway } = fleet.queues
    const counts = await Promise.all([subscriptions, gateway].map((queue) => queue.getJobCounts('completed')))
    // A finished `confirm` job is removed, because it holds the payer's code. Its charge shows that it is done.
    const confirmed = fleet.books.all(
      "SELECT 1 FROM charges WHERE mandate_id IS NULL AND status <> 'pending_confirmation'",
    ).length
    const now = counts.reduce((sum, one) => sum + (one.completed ?? 0), confirmed)
    if (now !== completed) changedAt = Date.now()
    completed = now
  }
  const timer = setInterval(() => void update().catch(() => undefined), 200)
  return {
    done: () => completed,
    stop: () => clearInterval(timer),
    async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
      while (!(await holds())) {
        if (Date.now() - changedAt > STANDSTILL) {
          const jobs = await Promise.all(fleet.queues.all.map((queue) => queue.getJobs(UNFINISHED, 0, 5)))
          for (const job of jobs.flat()) console.error(job.name, job.id, job.failedReason, job.data)
          console.error(fleet.books.openJobs().slice(0, 5), (await fleet.logs()).slice(-5_000))
          throw new Error(`${what}: nothing happens any more`)
        }
        await sleep(500)
      }
      const seconds = Math.round((Date.now() - started) / 1000)
      console.log(`${String(seconds).padStart(4)} s: ${what}; ${completed} jobs done`)
    },
  }
}

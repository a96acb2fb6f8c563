import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import type { Mock } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'
import type { Charge } from './books.ts'
import type { Settings } from './queues.ts'
import { openShop } from './shop.ts'

const kill = async (program: ChildProcess | undefined): Promise<void> => {
  if (program === undefined || program.exitCode !== null || program.signalCode !== null) return
  program.kill('SIGKILL')
  await once(program, 'exit')
}

/** Starts a Redis server that listens on a socket in `folder`. Only this run uses the server. */
const startRedis = async (folder: string) => {
  const path = join(folder, 'redis.sock')
  let running: ChildProcess | undefined
  const start = async (): Promise<void> => {
    // Redis must not lose jobs, so it evicts nothing, and writes each change to disk before it responds. With the
    // default `everysec`, a crash can lose the changes of the last two seconds. The planner and `reconcile` make up
    // for all lost jobs except `confirm`: the one-time code is only in the job, not in the shop's database.
    const keep = [
      '--maxmemory-policy',
      'noeviction',
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
      '--save',
      '',
    ]
    const place = ['--port', '0', '--unixsocket', path, '--dir', folder]
    running = spawn('redis-server', [...place, ...keep], { stdio: 'ignore' })
    await once(running, 'spawn').catch((cause: unknown) => {
      throw new Error('redis-server is not installed. Run: apt-get install -y redis-server', { cause })
    })
    const client = new Redis({ path, maxRetriesPerRequest: null, retryStrategy: () => 50 })
    client.on('error', () => undefined)
    await client.ping()
    client.disconnect()
  }
  await start()
  return { path, start, kill: () => kill(running) }
}

export interface FleetOptions {
  readonly mock: Mock
  readonly workers: number
  /** The one-time code that payers enter, or `false` if payers do nothing. */
  readonly otp?: string | false
  readonly settings?: Partial<Settings>
  /** Additional environment variables of the workers. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts Redis, the mock's server, the shop and the workers. All files are in a temporary folder. */
export const startFleet = async ({ mock, workers: count, otp = '123456', ...given }: FleetOptions) => {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-'))
  const redis = await startRedis(folder)
  const server = await startMockServer({ mock })
  const { subscriptions, gateway } = mock.clientOptions
  const settings: Settings = {
    account: 'main',
    redis: { path: redis.path },
    database: join(folder, 'shop.db'),
    baseUrl: server.url,
    credentials: subscriptions.credentials,
    apiKey: gateway.apiKey,
    limits: { subscriptions: 600, gateway: 120 },
    concurrency: 8,
    timeout: 30_000,
    minute: 60_000,
    lockDuration: 30_000,
    loginCooldown: 900_000,
    keyLifetime: 86_400_000,
    ...given.settings,
  }
  const shop = await openShop(settings)
  const disconnect = mock.notifications.connect(`${shop.url}/notifications`, {
    duplicate: 0.1,
    concurrency: 8,
    retries: { attempts: 100, delays: [{ seconds: 1 }] },
  })

  const logs = join(folder, 'workers.log')
  const workers: ChildProcess[] = []
  const startWorker = (index: number): void => {
    const log = openSync(logs, 'a')
    const program = join(import.meta.dirname, 'worker.ts')
    const env = { ...process.env, ...given.environment, SHOP_SETTINGS: JSON.stringify(settings) }
    workers[index] = spawn(process.execPath, [program], { stdio: ['ignore', log, log], env })
    closeSync(log)
  }
  for (let index = 0; index < count; index += 1) startWorker(index)

  // Simulated payers authorize every subscription request that has a url, and enter the code of every charge.
  const acted = new Set<string>()
  const isNew = (id: string): boolean => !acted.has(id) && Boolean(acted.add(id))
  const unconfirmed = () =>
    shop.books.all<Charge>("SELECT * FROM charges WHERE status = 'pending_confirmation'")
  const entryOf = ({ key, confirm_try }: Charge): string => `${key}_${confirm_try}`
  const letPayersAct = async (code: string): Promise<void> => {
    const { books } = shop
    for (const { invoice_id } of books.unmatched())
      if (invoice_id && isNew(invoice_id)) mock.payer.authorize(invoice_id)
    for (const charge of unconfirmed()) {
      const entry = entryOf(charge)
      if (isNew(entry)) await shop.confirm(charge.order_id, code).catch(() => acted.delete(entry))
    }
  }
  let acting = Promise.resolve()
  const payers = setInterval(() => {
    if (otp !== false) acting = acting.then(() => letPayersAct(otp))
  }, 250)

  return {
    ...shop,
    settings,
    redis,
    logs: () => readFile(logs, 'utf8'),
    /** Returns the number of unfinished jobs in the queues of the two APIs. */
    async waiting(): Promise<number> {
      const count = (queue: Queue) => queue.getJobCountByTypes('waiting', 'prioritized', 'active', 'delayed')
      return (await count(shop.queues.subscriptions)) + (await count(shop.queues.gateway))
    },
    /** Returns how many payers have not acted yet. If the clock moves by days before they act, their requests expire. */
    payersLeft(): number {
      const requests = shop.books.unmatched().map(({ invoice_id }) => invoice_id ?? '')
      return [...requests, ...unconfirmed().map(entryOf)].filter((id) => id !== '' && !acted.has(id)).length
    },
    /** Kills a worker without warning, if it runs, and starts another. */
    async crashWorker(index: number): Promise<void> {
      await kill(workers[index])
      startWorker(index)
    },
    async close(): Promise<void> {
      clearInterval(payers)
      await acting
      disconnect()
      await Promise.all(workers.map(kill))
      await shop.close()
      await server.close()
      await redis.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
export type Fleet = Awaited<ReturnType<typeof startFleet>>

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Fault, Mock } from 'mandatekit/mocks/core'
import { type Fleet, startFleet } from '../../examples/fleet/fleet.ts'
import { WORKERS, watch } from './chaos.ts'
import { atMost, type Finding, failedJobs, same } from './ledger.ts'
import { openMock } from './mock.ts'

const MINUTE = 1_200
const SLOTS = 200
const LOCK = 3_000

interface Case {
  readonly fault?: Fault
  /** Whether the password is wrong. Then nothing repairs the cause. */
  readonly isWrong?: boolean
  /** The number of workers that run before the cause begins. The others start a second later. */
  readonly first?: number
  /** What happens to the fleet. */
  readonly during?: (fleet: Fleet) => Promise<void>
  readonly after?: (fleet: Fleet) => Promise<void>
  readonly rejected: number
  readonly logins: number
}

/** Allows or denies every command on the keys of the stores. BullMQ's keys have another prefix, and remain usable. */
const allowStores = async ({ settings }: Fleet, isAllowed: boolean): Promise<void> => {
  const admin = new Redis({ ...settings.redis, maxRetriesPerRequest: 1 })
  await admin.call('ACL', 'SETUSER', 'default', 'resetkeys', isAllowed ? '~*' : '~shop:*')
  admin.disconnect()
}
const deadStore = {
  during: (fleet: Fleet) => allowStores(fleet, false),
  after: (fleet: Fleet) => allowStores(fleet, true),
}

const CASES: Readonly<Record<string, Case>> = {
  'killed inside its login': {
    fault: { operation: 'subscriptions.login', kind: 'latency', latencyMs: 20_000, executed: false },
    first: 1,
    during: (fleet) => fleet.crashWorker(0),
    rejected: 0,
    logins: 2,
  },
  'hanging token endpoint': {
    fault: { operation: 'subscriptions.login', kind: 'timeout', times: 'always' },
    rejected: 0,
    logins: 8,
  },
  'firewall page': {
    fault: { operation: 'subscriptions.login', kind: 'html', status: 403, times: 'always' },
    rejected: 0,
    logins: 8,
  },
  // Without a store, each process logs in for itself.
  'dead store': { ...deadStore, rejected: 0, logins: WORKERS + 1 },
  'wrong password': { isWrong: true, rejected: 2, logins: 2 },
  'wrong password, killed inside its login': {
    fault: { operation: 'subscriptions.login', kind: 'latency', latencyMs: 20_000, executed: false },
    first: 1,
    during: (fleet) => fleet.crashWorker(0),
    isWrong: true,
    rejected: 2,
    logins: 3,
  },
  // Without a store, processes cannot know of each other: each sends one rejected login. The first rejection also
  // pauses the queue of all processes. An operator runs a replica, and starts processes one by one (docs/tokens.md).
  'wrong password, dead store': { ...deadStore, isWrong: true, rejected: WORKERS, logins: WORKERS },
}

/** Waits for a login request. A request that the mock holds is not in its log yet. */
const started = async (mock: Mock, fault: Case['fault']): Promise<boolean> => {
  if (fault?.kind === 'latency' || fault?.kind === 'timeout') await sleep(2_000)
  else if (mock.requests.of('subscriptions.login').length === 0) return false
  return true
}

/** Counts the logins to which the mock itself, and not a fault, responded with one of the statuses. */
const loginsWith = (mock: Mock, ...statuses: readonly number[]): number =>
  mock.requests
    .of('subscriptions.login')
    .filter(({ fault, status = 0 }) => fault !== 'html' && statuses.includes(status)).length

const runCase = async (name: string, one: Case, mock: Mock, orders: number): Promise<Finding[]> => {
  const { fault, first = WORKERS, isWrong = false } = one
  const { credentials } = mock.clientOptions.subscriptions
  const settings = {
    minute: MINUTE,
    concurrency: SLOTS / WORKERS,
    lockDuration: LOCK,
    timeout: 2_500,
    // 15 of the run's minutes, as in production.
    loginCooldown: 15 * MINUTE,
    credentials: isWrong ? { ...credentials, password: 'old' } : credentials,
  }
  if (fault !== undefined) mock.faults.add(fault)
  const fleet = await startFleet({ mock, workers: 0, settings })
  const progress = watch(fleet)
  try {
    if (first === WORKERS) await one.during?.(fleet)
    for (let index = 0; index < first; index += 1) await fleet.crashWorker(index)
    const order = { amount: 5, msisdn: null, start: '2027-01-31', end: '2027-12-31' }
    for (let number = 0; number < orders; number += 1)
      await fleet.order({ ...order, kind: 'subscription', id: `subscription_${number}` })
    await progress.until(`${name}: begun`, () => started(mock, fault))
    for (let index = first; index < WORKERS; index += 1) await fleet.crashWorker(index)
    if (first < WORKERS) {
      await sleep(1_000)
      await one.during?.(fleet)
    }
    const rejected = () => loginsWith(mock, 400, 401)
    if (isWrong) await progress.until(`${name}: a login is rejected`, () => rejected() > 0)
    await sleep(3_000)
    mock.faults.clear()
    await one.after?.(fleet)
    const isDone = async () =>
      fleet.books.open() === 0 && fleet.payersLeft() === 0 && (await fleet.waiting()) === 0
    // A wrong password remains wrong: the jobs wait for the next login.
    if (!isWrong) await progress.until(`${name}: all orders are placed`, isDone)
    const active = mock.state.subscriptions().filter(({ active }) => active)
    return [
      atMost(`${name}: logins`, one.logins, mock.requests.of('subscriptions.login').length),
      atMost(`${name}: rejected logins`, one.rejected, rejected()),
      same(`${name}: lockouts`, 0, loginsWith(mock, 403)),
      same(`${name}: jobs that failed`, 0, await failedJobs(fleet)),
      same(`${name}: active subscriptions`, isWrong ? 0 : orders, active.length),
    ]
  } finally {
    progress.stop()
    await fleet.close()
  }
}

/** Breaks the first login of 200 slots in different ways. */
export const loginKilledRun = async (rules: 'spec' | 'strict', jobs: number): Promise<Finding[]> => {
  const cases = Object.entries(CASES)
  const findings: Finding[] = []
  // Most of a case is waiting.
  const lane = async (): Promise<void> => {
    for (let next = cases.shift(); next !== undefined; next = cases.shift()) {
      const mock = openMock({ rules, mandates: 0, minute: MINUTE })
      findings.push(...(await runCase(...next, mock, jobs)))
    }
  }
  await Promise.all([lane(), lane(), lane()])
  return findings
}

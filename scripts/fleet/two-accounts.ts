import { startFleet } from '../../examples/fleet/fleet.ts'
import { WORKERS, watch } from './chaos.ts'
import { lockAccount } from './kill-run.ts'
import { atMost, type Finding, failedJobs, same } from './ledger.ts'
import { openMock } from './mock.ts'

const MINUTE = 1_200
const LOCKED_SECONDS = 15

/** Two accounts share one Redis. One account is locked; the jobs of the other must not wait. */
export const twoAccountsRun = async (rules: 'spec' | 'strict', jobs: number): Promise<Finding[]> => {
  const open = () => openMock({ rules, mandates: 0, minute: MINUTE, lockedSeconds: LOCKED_SECONDS })
  const [lockedMock, freeMock] = [open(), open()]
  const settings = { minute: MINUTE, lockDuration: 3_000, loginCooldown: 1_000 * LOCKED_SECONDS }
  const locked = await startFleet({ mock: lockedMock, workers: 0, settings: { ...settings, account: 'one' } })
  const shared = { ...settings, redis: locked.settings.redis, account: 'two' }
  const free = await startFleet({ mock: freeMock, workers: WORKERS / 2, settings: shared })
  const [slow, fast] = [watch(locked), watch(free)]
  const orders = Math.ceil(jobs / 4)
  try {
    await lockAccount(locked)
    const order = { amount: 5, msisdn: null, start: '2027-01-31', end: '2027-12-31' } as const
    for (const fleet of [locked, free])
      for (let number = 0; number < orders; number += 1)
        await fleet.order({ ...order, kind: 'subscription', id: `subscription_${number}` })
    for (let index = 0; index < WORKERS / 2; index += 1) await locked.crashWorker(index)
    const isDone = (fleet: typeof free) => async () =>
      fleet.books.open() === 0 && fleet.books.unmatched().length === 0 && (await fleet.waiting()) === 0
    await fast.until('the free account is done', isDone(free))
    const early = lockedMock.state.subscriptions().length
    await slow.until('the locked account is done', isDone(locked))
    const logins = lockedMock.requests.of('subscriptions.login')
    // The first five are of another program.
    const refused = logins.slice(5).filter(({ status }) => status === 403).length
    const active = (mock: typeof freeMock) => mock.state.subscriptions().filter((one) => one.active).length
    return [
      same('subscriptions of the locked account when the other was done', 0, early),
      same('subscriptions of the free account', orders, active(freeMock)),
      same('subscriptions of the locked account at the end', orders, active(lockedMock)),
      atMost('logins of the locked account that were refused', 3, refused),
      same('logins of the free account', 1, freeMock.requests.of('subscriptions.login').length),
      same('jobs that failed', 0, (await failedJobs(locked)) + (await failedJobs(free))),
    ]
  } finally {
    slow.stop()
    fast.stop()
    await free.close()
    await locked.close()
  }
}

import { monthlyDueDate } from 'mandatekit'
import { type Fleet, startFleet } from '../../examples/fleet/fleet.ts'
import { type Plan, startChaos, untilAnswered, WORKERS, watch } from './chaos.ts'
import { atLeast, atMost, compare, type Finding, failedJobs, same } from './ledger.ts'
import { addFaults, merchant, msisdnOf, openMock, secrets } from './mock.ts'

const MINUTE = 1_200
const LOCKED_SECONDS = 4

const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** Another program of the merchant uses an old password, until the account is locked. */
export const lockAccount = async (fleet: Fleet): Promise<void> => {
  const { clientId: client_id, clientSecret: client_secret } = merchant
  const login = { grant_type: 'password', client_id, client_secret, username: 'shop-user', password: 'old' }
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await fetch(`${fleet.settings.baseUrl}/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(login),
    })
  }
}

/** Places orders, moves the clock and renews, while the fleet fails. Returns what was found at the end. */
export const killRun = async (
  rules: 'spec' | 'strict',
  plan: Plan,
  isLocked: boolean,
): Promise<Finding[]> => {
  const [orders, mandates] = [Math.ceil(plan.jobs * 0.115), Math.ceil(plan.jobs * 0.0863)]
  const lockedSeconds = isLocked ? LOCKED_SECONDS : 900
  const mock = openMock({ rules, mandates, minute: MINUTE, lockedSeconds })
  const settings = {
    minute: MINUTE,
    lockDuration: 4_000,
    timeout: 8_000,
    loginCooldown: LOCKED_SECONDS * 1_000,
  }
  const fleet = await startFleet({ mock, workers: WORKERS, otp: secrets.otp, settings })
  const progress = watch(fleet)
  const chaos = startChaos(fleet, mock, plan, progress.done)
  const { books, queues } = fleet
  const count = (sql: string): number =>
    books.all<{ n: number }>(`SELECT COUNT(*) AS n FROM ${sql}`)[0]?.n ?? 0
  const idle = async () => books.open() === 0 && (await fleet.waiting().catch(() => 1)) === 0
  /** Moves the clock. What is in pending_retry ends then, so its jobs look at once. */
  const advance = async (days: number): Promise<void> => {
    await mock.clock.advance({ days })
    await untilAnswered(() => queues.gateway.promoteJobs())
  }
  try {
    addFaults(mock)
    const order = { start: day(1), end: day(300), msisdn: null }
    for (let number = 0; number < orders; number += 1)
      await fleet.order({ ...order, id: `subscription_${number}`, kind: 'subscription', amount: 5 })
    for (let number = 0; number < mandates; number += 1)
      await fleet.order({
        ...order,
        id: `mandate_${number}`,
        kind: 'mandate',
        amount: 9,
        msisdn: msisdnOf(number),
      })
    await progress.until('all orders are placed', () => {
      const unmatched = count("orders WHERE kind = 'subscription' AND subscription_id IS NULL")
      return unmatched + count("charges WHERE status IS NULL OR status = 'pending_confirmation'") === 0
    })
    await advance(2)
    await progress.until('two days have passed', idle)
    if (isLocked) await chaos.revokeAfter(() => lockAccount(fleet))
    const ids = books.all<{ id: string }>('SELECT id FROM subscriptions ORDER BY id')
    for (const { id } of ids.filter((_, index) => index % 4 === 0)) await fleet.cancel(id)
    await progress.until('every fourth subscription is canceled', idle)
    for (const month of [1, 3]) {
      // From the first to the third month, the planner was down: it catches up.
      const today = monthlyDueDate(order.start, month)
      await untilAnswered(() => queues.nightly.add('plan', { today }))
      const due = month * count("charges WHERE mandate_id IS NULL AND status = 'succeeded'")
      const planned = () => count('charges WHERE due_date IS NOT NULL AND attempt = 1 AND id IS NOT NULL')
      await progress.until(`the renewals of month ${month} are made`, () => planned() === due)
      await advance(1)
      await progress.until('a day has passed', idle)
    }
    await progress.until('all tokens were revoked', () => chaos.count.revocations === plan.revocations)
    while (chaos.count.kills < plan.kills) {
      await chaos.kill()
      await advance(1)
      await progress.until('one day more, for the last kills', idle)
    }
    await chaos.stop()
    mock.faults.clear()
    const { id = '' } = await queues.nightly.add('reconcile', {})
    await progress.until(
      'the books are reconciled',
      async () => (await queues.nightly.getJobState(id)) === 'completed',
    )
    const found: Record<string, number> = (await queues.nightly.getJob(id))?.returnvalue ?? {}
    const differences = Object.entries(found).map(([kind, count]) => `${count} ${kind}`)

    const logins = mock.requests.of('subscriptions.login')
    const refused = logins.filter(({ status }) => status === 403).length
    const { kills, restarts, revocations } = chaos.count
    const confirmations = count('charges WHERE confirm_sent = 1')
    const logs = await fleet.logs()
    const hidden = [...Object.values(secrets), ...chaos.tokens]
    const leaked = hidden.filter((value) => logs.includes(value)).length
    const delivered = mock.notifications.deliveries().filter((one) => one.delivered).length
    const processed = (await queues.subscriptions.getCompleted()).filter(
      ({ name }) => name === 'notification',
    )
    const rejected = logs.match(/Notification: (?:refused|invalid-message)/g)?.length ?? 0
    // The other program's logins do not count.
    const own = logins.length - (isLocked ? 5 : 0)
    return [
      ...compare(fleet, mock),
      same(`differences that reconcile finds ${differences.join()}`.trim(), 0, differences.length),
      same('jobs that failed', 0, await failedJobs(fleet)),
      same('intentions without a result', 0, books.open()),
      // A restart of Redis can lose the reply to an added job: the sender then delivers again.
      atLeast('notifications processed', delivered, processed.length),
      same('notifications refused', 0, rejected),
      // BullMQ removes a job with a payer's code when the job ends, so the queue does not count it.
      atLeast('jobs done', plan.jobs, progress.done() + confirmations),
      same('kills', plan.kills, kills),
      same('restarts of Redis', plan.restarts, restarts),
      same('revocations of all tokens', plan.revocations, revocations),
      atMost('logins', 3 * (1 + restarts + revocations + (isLocked ? 1 : 0)), own),
      isLocked
        ? {
            what: 'logins refused because of the lock',
            expected: '1 to 3',
            found: refused,
            ok: refused > 0 && refused <= 3,
          }
        : same('lockouts', 0, refused),
      same(`secrets in ${logs.split('\n').length} lines of logs, of ${hidden.length} values`, 0, leaked),
    ]
  } finally {
    await chaos.stop()
    progress.stop()
    await fleet.close()
  }
}

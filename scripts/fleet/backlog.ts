import { monthlyDueDate } from 'mandatekit'
import { startFleet } from '../../examples/fleet/fleet.ts'
import { chargeKey, retryFailed } from '../../examples/fleet/queues.ts'
import { WORKERS, watch } from './chaos.ts'
import { atLeast, atMost, type Finding, failedJobs, same } from './ledger.ts'
import { msisdnOf, openMock, secrets } from './mock.ts'

// On average 108 requests in 900 ms: 20 000 renewals last 2.8 minutes.
const MINUTE = 900
// The backlog lasts longer than a key lives. A retry behind the backlog would charge a second time.
// A call and the pause before it take up to 50 s, so `nextStep` gives up a key after 10 s.
const DAY_SECONDS = 60
const MONTHS = 50
const CHECKOUTS = 20
const DEAD = 5
// A job sends up to three requests. Only if all responses are lost does the queue retry the job.
const LOST = 3
const START = '2027-01-31'

/** Renews a backlog, with lost responses, while payers check out. Then an outage lasts longer than the keys live. */
export const backlogRun = async (rules: 'spec' | 'strict', jobs: number): Promise<Finding[]> => {
  const mandates = Math.ceil(jobs / MONTHS)
  const renewals = mandates * MONTHS
  const payers = mandates + CHECKOUTS + DEAD
  const mock = openMock({
    rules,
    mandates: payers,
    minute: MINUTE,
    keySeconds: DAY_SECONDS,
    behaviors: ['succeeds'],
  })
  const settings = { minute: MINUTE, lockDuration: 4_000, timeout: 5_000, keyLifetime: 1_000 * DAY_SECONDS }
  const fleet = await startFleet({ mock, workers: WORKERS, otp: secrets.otp, settings })
  const progress = watch(fleet)
  const { books, queues } = fleet
  const count = (sql: string) => books.all<{ n: number }>(`SELECT COUNT(*) AS n FROM ${sql}`)[0]?.n ?? 0
  const made = () => count('charges WHERE id IS NOT NULL AND mandate_id IS NOT NULL')
  const placedAt = new Map<string, number>()
  const checkOut = async (name: string, from: number, number: number): Promise<void> => {
    for (let index = from; index < from + number; index += 1) {
      const id = `${name}_${index}`
      placedAt.set(chargeKey(id), Date.now())
      await fleet.order({ id, kind: 'mandate', amount: 9, msisdn: msisdnOf(index), start: START, end: null })
    }
  }
  try {
    await checkOut('mandate', 0, mandates)
    const confirmed = "charges WHERE mandate_id IS NULL AND status = 'succeeded'"
    await progress.until('the mandates are confirmed', () => count(confirmed) === mandates)

    // Of every 25th renewal, the first three responses are lost.
    const sent = new Map<string, number>()
    mock.faults.add({
      operation: 'gateway.renew',
      kind: 'lost-response',
      times: 'always',
      when: ({ fields: { idempotencyKey } }) => {
        const key = String(idempotencyKey)
        if (!sent.has(key)) sent.set(key, sent.size % 25 === 0 ? 0 : LOST)
        sent.set(key, (sent.get(key) ?? 0) + 1)
        return (sent.get(key) ?? 0) <= LOST
      },
    })
    await queues.nightly.add('plan', { today: monthlyDueDate(START, MONTHS) })
    await progress.until('half of the renewals are made', () => made() >= renewals / 2)
    await checkOut('checkout', mandates, CHECKOUTS)
    await progress.until('all renewals are made', () => made() === renewals)
    const failedInBacklog = await failedJobs(fleet)

    // The responses of the last checkouts are lost, and the gateway is down until it has forgotten their keys.
    mock.faults.clear()
    const taken = new Set<unknown>()
    const isFirst = (key: unknown) => !taken.has(key) && Boolean(taken.add(key))
    mock.faults.add({
      operation: 'gateway.charge',
      kind: 'lost-response',
      times: 'always',
      when: ({ fields: { idempotencyKey } }) => isFirst(idempotencyKey),
    })
    mock.faults.add({ operation: 'gateway.*', kind: 'status', status: 503, times: 'always' })
    await checkOut('dead', mandates + CHECKOUTS, DEAD)
    await progress.until('the jobs gave up their keys', async () => (await failedJobs(fleet)) === DEAD)
    mock.faults.clear()
    const deadAt = Math.max(...placedAt.values()) + 1_000 * DAY_SECONDS
    await progress.until('the gateway has forgotten the keys', () => Date.now() > deadAt)
    // Somebody retries all failed jobs, although their keys are dead.
    const retriedAt = Date.now()
    await retryFailed(queues.gateway)
    await progress.until('the failed jobs ran again', async () => {
      const failed = await queues.gateway.getFailed()
      return failed.filter(({ finishedOn = 0 }) => finishedOn >= retriedAt).length === DEAD
    })

    const requests = mock.requests.all().filter(({ idempotencyKey }) => idempotencyKey !== undefined)
    const before = new Map<string, { readonly at: Date; readonly fault?: string }>()
    const waits: number[] = []
    const firstSent = new Map<string, number>()
    for (const { idempotencyKey: key = '', at, fault } of requests) {
      const last = before.get(key)
      if (last?.fault === 'lost-response') waits.push(Number(at) - Number(last.at))
      before.set(key, fault === undefined ? { at } : { at, fault })
      if (!firstSent.has(key)) firstSent.set(key, Number(at))
    }
    const checkouts = [...placedAt].filter(([key]) => key.startsWith(chargeKey('checkout')))
    const checkoutWaits = checkouts.map(([key, at]) => (firstSent.get(key) ?? Number.POSITIVE_INFINITY) - at)
    const events = mock.state.events()
    const created = events.filter(({ type }) => type === 'charge.created').length
    const renewed = events.filter(({ type }) => type === 'charge.renewed').length
    return [
      atLeast('lost responses', (LOST * renewals) / 25, waits.length),
      atMost('longest wait for the retry of a lost response, in ms', 5_000, Math.max(...waits)),
      atMost('longest wait of a checkout, in ms', 2_000, Math.max(...checkoutWaits)),
      same('renewals', renewals, renewed),
      same('first charges', payers, created),
      same('jobs that failed in the backlog', 0, failedInBacklog),
      same('jobs whose key died, left to a person', DEAD, await failedJobs(fleet)),
    ]
  } finally {
    progress.stop()
    await fleet.close()
  }
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startMockServer } from 'mandatekit/mocks/server'
import { startFleet } from '../../examples/fleet/fleet.ts'
import { WORKERS, watch } from './chaos.ts'
import { openFront, trusted } from './front.ts'
import { atLeast, type Finding, failedJobs, same } from './ledger.ts'
import { msisdnOf, openMock, secrets } from './mock.ts'

const MINUTE = 800
const TEN_MINUTES = 10 * MINUTE

/** For ten minutes, a firewall responds to every request. Later, for ten minutes, the certificate is expired. */
export const firewallRun = async (rules: 'spec' | 'strict', jobs: number): Promise<Finding[]> => {
  const each = Math.ceil(jobs / 4)
  const mock = openMock({
    rules,
    mandates: 2 * each,
    minute: MINUTE,
    behaviors: ['succeeds', 'insufficient_funds'],
  })
  const server = await startMockServer({ mock })
  const front = await openFront(server.url)
  const folder = await mkdtemp(join(tmpdir(), 'front-'))
  const authorities = join(folder, 'trusted.pem')
  await writeFile(authorities, trusted)
  const fleet = await startFleet({
    mock,
    workers: WORKERS,
    otp: secrets.otp,
    settings: { minute: MINUTE, lockDuration: 3_000, baseUrl: front.url },
    environment: { NODE_EXTRA_CA_CERTS: authorities },
  })
  const progress = watch(fleet)
  let placed = 0
  const placeOrders = async (): Promise<void> => {
    const order = { start: '2027-01-31', end: '2027-12-31' }
    for (let last = placed + each; placed < last; placed += 1) {
      await fleet.order({ ...order, id: `s_${placed}`, kind: 'subscription', amount: 5, msisdn: null })
      await fleet.order({ ...order, id: `m_${placed}`, kind: 'mandate', amount: 9, msisdn: msisdnOf(placed) })
    }
  }
  const isDone = async () =>
    fleet.books.open() === 0 && fleet.payersLeft() === 0 && (await fleet.waiting()) === 0
  const isDoneAndConfirmed = async () =>
    fleet.books.all("SELECT * FROM charges WHERE status = 'pending_confirmation'").length === 0 && isDone()
  try {
    await placeOrders()
    await progress.until('the first jobs are done', () => progress.done() > each / 2)
    mock.faults.add({ operation: '*', kind: 'html', status: 403, times: 'always' })
    // The first orders may be done already: these meet the firewall.
    await placeOrders()
    await sleep(TEN_MINUTES)
    const failedBefore = await failedJobs(fleet)
    mock.faults.clear()
    const pages = mock.requests.all().filter(({ fault }) => fault === 'html').length
    await progress.until('the firewall is gone', () => progress.done() > 2 * each)
    front.setExpired(true)
    await sleep(TEN_MINUTES)
    const failedAfter = await failedJobs(fleet)
    front.setExpired(false)
    await progress.until('the certificate is renewed, and all jobs are done', isDoneAndConfirmed)
    const created = mock.state.events().filter(({ type }) => type === 'charge.created').length
    const confirmed = fleet.books.all("SELECT * FROM charges WHERE status <> 'pending_confirmation'")
    return [
      atLeast('responses of the firewall', 1, pages),
      atLeast('connections that the clients refused', 1, front.refusals()),
      same('jobs that failed behind the firewall', 0, failedBefore),
      same('jobs that failed on the certificate', 0, failedAfter),
      same('jobs that failed at the end', 0, await failedJobs(fleet)),
      same('charges', placed, created),
      same('charges that were confirmed', placed, confirmed.length),
      same(
        'orders with a subscription',
        placed,
        mock.state.subscriptions().filter((one) => one.active).length,
      ),
    ]
  } finally {
    progress.stop()
    await fleet.close()
    front.close()
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

import type { Mock } from 'mandatekit/mocks/core'
import type { Charge } from '../../examples/fleet/books.ts'
import type { Fleet } from '../../examples/fleet/fleet.ts'

/** A line of the result: what was intended, what happened, and whether they agree. */
export interface Finding {
  readonly what: string
  readonly expected: number | string
  readonly found: number
  readonly ok: boolean
}

const countBy = (keys: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
  return counts
}

/** Two numbers must be equal. */
export const same = (what: string, expected: number, found: number): Finding => ({
  what,
  expected,
  found,
  ok: found === expected,
})

/** A number must not exceed a limit. */
export const atMost = (what: string, limit: number, found: number): Finding => ({
  what,
  expected: `at most ${limit}`,
  found,
  ok: found <= limit,
})

/** A number must reach a limit. */
export const atLeast = (what: string, limit: number, found: number): Finding => ({
  what,
  expected: `at least ${limit}`,
  found,
  ok: found >= limit,
})

/** Counts the failed jobs of all queues. */
export const failedJobs = async ({ queues }: Fleet): Promise<number> => {
  const counts = await Promise.all(queues.all.map((queue) => queue.getFailedCount()))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Compares two lists of identifiers: each must have the same ones, equally often. */
const agree = (what: string, intended: readonly string[], executed: readonly string[]): Finding => {
  const [left, right] = [countBy(intended), countBy(executed)]
  const ok = left.size === right.size && [...left].every(([key, count]) => right.get(key) === count)
  return { what, expected: intended.length, found: executed.length, ok }
}

/** Compares the shop's books with the mock's ledger. */
export const compare = (fleet: Fleet, mock: Mock): Finding[] => {
  const { books } = fleet
  const ids = (sql: string): string[] => books.all<{ id: string }>(sql).map(({ id }) => id)
  const subscriptions = mock.state.subscriptions()
  const orderOf = ({ request }: { readonly request: { readonly requestID: string } }) =>
    request.requestID.replace(/-\d+$/, '')
  const cancelled = 'SELECT order_id AS id FROM subscriptions WHERE cancel_wanted = 1'
  const active = `SELECT id FROM orders WHERE kind = 'subscription' AND id NOT IN (${cancelled})`
  const cancellations = mock.notifications.all().filter(({ status }) => status === 'CANCELLED')

  const charges = books.all<Charge>('SELECT * FROM charges')
  const events = mock.state.events()
  const made = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data.id)
  const first = charges.filter(({ mandate_id }) => mandate_id === null)
  const renewals = charges.filter(({ mandate_id }) => mandate_id !== null)
  const idOf = ({ id, key }: Charge) => id ?? `${key}: never made`

  const payments = mock.state.payments()
  const paid = payments.filter(({ status }) => status === 'SUCCEEDED_PAYMENT').length
  const [balance] = books.all<{ total: number }>('SELECT SUM(balance / amount) AS total FROM orders')
  return [
    agree(
      'orders with one active subscription',
      ids(active),
      subscriptions.filter(({ active }) => active).map(orderOf),
    ),
    agree(
      'cancellations',
      ids(cancelled),
      subscriptions.filter((one) => one.cancelledAt !== undefined).map(orderOf),
    ),
    agree(
      'cancellations, by message',
      ids(cancelled.replace('order_id AS id', 'id')),
      cancellations.map((one) => one.subscriptionId),
    ),
    agree('first charges', first.map(idOf), made('charge.created')),
    agree('confirmations', first.map(idOf), made('charge.confirmed')),
    agree('renewals', renewals.map(idOf), made('charge.renewed')),
    agree(
      'statuses of charges',
      charges.map(({ id, status }) => `${id} ${status}`),
      mock.state.charges().map(({ id, status }) => `${id} ${status}`),
    ),
    agree(
      'payments booked',
      payments.map(({ paymentId }) => String(paymentId)),
      ids('SELECT id FROM payments'),
    ),
    same('payments credited', paid, balance?.total ?? 0),
  ]
}

import { DatabaseSync } from 'node:sqlite'
import type { Charge as Made } from 'mandatekit'
import { monthlyDueDate, renewalKey } from 'mandatekit'
import type { Expected, ExpectedPayment, OrderedNotification } from 'mandatekit/notifications'
import { isNewer } from 'mandatekit/notifications'
import type { NewJob } from './queues.ts'
import { jobFor } from './queues.ts'

// The shop records every request here before it sends the request. A restarted job reads what an earlier run did.
const TABLES = `
CREATE TABLE IF NOT EXISTS orders (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, amount INTEGER NOT NULL, msisdn TEXT, start TEXT NOT NULL, end TEXT,
  invoice_id TEXT, url TEXT, subscription_id TEXT, balance INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS requests (id TEXT PRIMARY KEY, order_id TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS subscriptions (
  id TEXT PRIMARY KEY, order_id TEXT NOT NULL, status TEXT, occurred_at INTEGER,
  cancel_wanted INTEGER NOT NULL DEFAULT 0, cancel_sent INTEGER NOT NULL DEFAULT 0, cancelled INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS payments (id TEXT PRIMARY KEY, subscription_id TEXT NOT NULL, status TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS charges (
  key TEXT PRIMARY KEY, order_id TEXT NOT NULL, mandate_id TEXT, due_date TEXT, attempt INTEGER NOT NULL,
  id TEXT UNIQUE, status TEXT, confirmation_id TEXT, confirm_sent INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS charges_by_order ON charges (order_id);
`

type Text = string | null
export interface Order {
  readonly id: string
  readonly kind: 'subscription' | 'mandate'
  readonly amount: number
  readonly msisdn: Text
  /** The first day. The due dates of a mandate are monthly, counted from this day. */
  readonly start: string
  readonly end: Text
  readonly invoice_id: Text
  readonly url: Text
  readonly subscription_id: Text
}
export type NewOrder = Pick<Order, 'id' | 'kind' | 'amount' | 'msisdn' | 'start' | 'end'>

export interface Charge {
  readonly key: string
  readonly order_id: string
  /** The id of the mandate's first charge; null in the first charge itself. */
  readonly mandate_id: Text
  readonly due_date: Text
  readonly attempt: number
  readonly id: Text
  readonly status: Text
  readonly confirmation_id: Text
  readonly confirm_sent: number
}

interface Subscription {
  readonly id: string
  readonly order_id: string
  readonly status: Text
  readonly occurred_at: number | null
  readonly cancel_sent: number
  readonly cancelled: number
}

/** The shop's database. Every method is one transaction, so a killed process leaves no partial change. */
export const openBooks = (path: string) => {
  // SQLite lets only one process write at a time; the other processes wait up to `timeout`.
  const db = new DatabaseSync(path, { timeout: 10_000 })
  // WAL commits survive a killed process. In production, set synchronous = FULL, which survives a power failure.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  db.exec(TABLES)
  type Value = string | number | null
  const all = <Row>(sql: string, ...values: Value[]) => db.prepare(sql).all(...values) as Row[]
  const one = <Row>(sql: string, ...values: Value[]) => db.prepare(sql).get(...values) as Row | undefined
  const run = (sql: string, ...values: Value[]) => Number(db.prepare(sql).run(...values).changes)
  const transaction = <Result>(work: () => Result): Result => {
    db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      db.exec('COMMIT')
      return result
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
  const need = <Row>(row: Row | undefined, what: string): Row => {
    if (row === undefined) throw new Error(`The database has no ${what}.`)
    return row
  }
  const charge = (key: string) => need(one<Charge>('SELECT * FROM charges WHERE key = ?', key), key)
  /** Records the intention to make a renewal or a first charge. The key of a first charge is the order's id. */
  const intendCharge = (orderId: string, mandateId: Text = null, dueDate: Text = null, attempt = 1) => {
    const key = mandateId && dueDate ? renewalKey(mandateId, dueDate, attempt) : orderId
    const values = [key, orderId, mandateId, dueDate, attempt]
    run(
      'INSERT OR IGNORE INTO charges (key, order_id, mandate_id, due_date, attempt) VALUES (?, ?, ?, ?, ?)',
      ...values,
    )
  }

  return {
    all,
    order: (id: string) => need(one<Order>('SELECT * FROM orders WHERE id = ?', id), id),
    placeOrder: ({ id, kind, amount, msisdn, start, end }: NewOrder) =>
      transaction(() => {
        const values = [id, kind, amount, msisdn, start, end]
        run(
          'INSERT OR IGNORE INTO orders (id, kind, amount, msisdn, start, end) VALUES (?, ?, ?, ?, ?, ?)',
          ...values,
        )
        if (kind === 'mandate') intendCharge(id)
      }),

    // Subscriptions.
    /** Records the intention to send a subscribe request, and returns a new requestID. */
    intendSubscribe: (orderId: string) =>
      transaction(() => {
        const requestID = `${orderId}-${all('SELECT * FROM requests WHERE order_id = ?', orderId).length + 1}`
        run('INSERT INTO requests VALUES (?, ?)', requestID, orderId)
        return requestID
      }),
    /** Stores only an order's first url, because with two urls the payer could authorize two subscriptions. */
    subscribed: (orderId: string, invoiceId: string, url: string) =>
      run('UPDATE orders SET invoice_id = ?, url = ? WHERE id = ? AND url IS NULL', invoiceId, url, orderId),
    orderOfRequest: (requestID: string) =>
      one<{ order_id: string }>('SELECT order_id FROM requests WHERE id = ?', requestID)?.order_id,
    subscription: (id: string) => one<Subscription>('SELECT * FROM subscriptions WHERE id = ?', id),
    /** Links a subscription to its order. Returns true if the order already has another subscription. */
    match: (id: string, orderId: string) =>
      transaction(() => {
        run('INSERT OR IGNORE INTO subscriptions (id, order_id) VALUES (?, ?)', id, orderId)
        run('UPDATE orders SET subscription_id = ? WHERE id = ? AND subscription_id IS NULL', id, orderId)
        return one<Order>('SELECT * FROM orders WHERE id = ?', orderId)?.subscription_id !== id
      }),
    /** Records a subscription's status. Ignores an older notification, because notifications arrive in any order. */
    setStatus: (id: string, { occurredAt, status }: OrderedNotification) =>
      transaction(() => {
        const known = one<Subscription>('SELECT * FROM subscriptions WHERE id = ?', id)
        const before = { status: known?.status ?? '', occurredAt: new Date(known?.occurred_at ?? 0) }
        if (!isNewer({ occurredAt, status }, before)) return
        const values = [status, Number(occurredAt), id]
        run('UPDATE subscriptions SET status = ?, occurred_at = ? WHERE id = ?', ...values)
      }),
    wantCancel: (id: string) => run('UPDATE subscriptions SET cancel_wanted = 1 WHERE id = ?', id),
    intendCancel: (id: string) => run('UPDATE subscriptions SET cancel_sent = 1 WHERE id = ?', id),
    cancelled: (id: string) => run('UPDATE subscriptions SET cancelled = 1 WHERE id = ?', id),
    /** Books a payment once, even if several notifications report it. */
    book: (paymentId: string, subscriptionId: string, status: string) =>
      transaction(() => {
        const added = run(
          'INSERT OR IGNORE INTO payments VALUES (?, ?, ?)',
          paymentId,
          subscriptionId,
          status,
        )
        if (added === 0 || status !== 'SUCCEEDED_PAYMENT') return
        run('UPDATE orders SET balance = balance + amount WHERE subscription_id = ?', subscriptionId)
      }),

    // Charges and renewals.
    charge,
    charged: (
      key: string,
      { id, status, confirmation_id }: Pick<Made, 'id' | 'status' | 'confirmation_id'>,
    ) => {
      const values = [id, status, confirmation_id, key]
      run(
        'UPDATE charges SET id = ?, status = ?, confirmation_id = ? WHERE key = ? AND id IS NULL',
        ...values,
      )
    },
    intendConfirm: (key: string) => run('UPDATE charges SET confirm_sent = 1 WHERE key = ?', key),
    /** Records the status of a charge. Never replaces a final status, because responses may arrive late. */
    settled: (id: string, status: string) =>
      run("UPDATE charges SET status = ? WHERE id = ? AND status LIKE 'pending%'", status, id),
    /**
     * Records every renewal that is due by `today`, even if the planner was down for weeks. Also records a second
     * attempt for each failed renewal.
     */
    planRenewals: (today: string) =>
      transaction(() => {
        const mandates = all<{ order_id: string; id: string; start: string; planned: number }>(`
          SELECT order_id, c.id, start, (SELECT COUNT(DISTINCT due_date) FROM charges r WHERE r.mandate_id = c.id) AS planned
          FROM charges c JOIN orders o ON o.id = order_id WHERE mandate_id IS NULL AND status = 'succeeded'`)
        for (const { order_id, id, start, planned } of mandates) {
          for (let number = planned + 1; monthlyDueDate(start, number) <= today; number += 1)
            intendCharge(order_id, id, monthlyDueDate(start, number))
        }
        const failed =
          "SELECT * FROM charges WHERE mandate_id IS NOT NULL AND status = 'failed' AND attempt = 1"
        for (const one of all<Charge>(failed)) intendCharge(one.order_id, one.mandate_id, one.due_date, 2)
      }),

    /** Returns a job for every unfinished intention. The planner adds these jobs again, in case a queue lost some. */
    openJobs(): NewJob[] {
      const orders = all<Order>("SELECT * FROM orders WHERE kind = 'subscription' AND url IS NULL")
      const unwanted = 'SELECT * FROM subscriptions WHERE cancel_wanted = 1 AND cancelled = 0'
      const charges = all<Charge>("SELECT * FROM charges WHERE id IS NULL OR status = 'pending_retry'")
      return [
        ...orders.map(({ id }) => jobFor.subscribe(id)),
        ...all<Subscription>(unwanted).map(({ id }) => jobFor.cancel(id)),
        ...charges.map(({ order_id, id, mandate_id, due_date, attempt }) => {
          if (id) return jobFor.poll(id)
          return mandate_id && due_date
            ? jobFor.renew(mandate_id, due_date, attempt)
            : jobFor.charge(order_id)
        }),
      ]
    },
    /** Returns the orders that have a url for the payer, but no subscription yet. */
    unmatched: () => all<Order>('SELECT * FROM orders WHERE url IS NOT NULL AND subscription_id IS NULL'),
    /** Returns the shop's records in the form that `reconcile` compares with the API. */
    *expected(): Generator<Expected> {
      for (const { id, cancelled } of all<Subscription>('SELECT * FROM subscriptions')) {
        const sql = 'SELECT id AS paymentId, status FROM payments WHERE subscription_id = ?'
        const payments = all<ExpectedPayment>(sql, id)
        yield { subscriptionId: id, cancelled: cancelled === 1, payments }
      }
      for (const { id, status } of all<Charge>('SELECT * FROM charges WHERE id IS NOT NULL'))
        if (id !== null && status !== null) yield { chargeId: id, status }
    },
    close: () => db.close(),
  }
}
export type Books = ReturnType<typeof openBooks>

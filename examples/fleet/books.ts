import { DatabaseSync } from 'node:sqlite'
import { type Charge as Made, monthlyDueDate, renewalKey } from 'mandatekit'
import type { Expected, ExpectedPayment } from 'mandatekit/notifications'
import { chargeKey, jobFor, type NewJob } from './queues.ts'

// The shop records every request here before it sends the request. A restarted job reads what an earlier run did.
const TABLES = `
CREATE TABLE IF NOT EXISTS orders (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, amount INTEGER NOT NULL, msisdn TEXT, start TEXT NOT NULL, end TEXT,
  invoice_id TEXT, url TEXT, subscription_id TEXT, balance INTEGER NOT NULL DEFAULT 0,
  planned INTEGER NOT NULL DEFAULT 0, next_due TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS orders_by_next_due ON orders (next_due);
CREATE TABLE IF NOT EXISTS requests (id TEXT PRIMARY KEY, order_id TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS subscriptions (
  id TEXT PRIMARY KEY, order_id TEXT NOT NULL,
  cancel_wanted INTEGER NOT NULL DEFAULT 0, cancel_sent INTEGER NOT NULL DEFAULT 0, cancelled INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS payments (id TEXT PRIMARY KEY, subscription_id TEXT NOT NULL, status TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS charges (
  key TEXT PRIMARY KEY, order_id TEXT NOT NULL, mandate_id TEXT, due_date TEXT, attempt INTEGER NOT NULL,
  sent_at INTEGER, id TEXT UNIQUE, status TEXT,
  confirmation_id TEXT, confirm_try INTEGER NOT NULL DEFAULT 1, confirm_sent INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS open_charges ON charges (due_date, key) WHERE id IS NULL;
CREATE INDEX IF NOT EXISTS charges_by_status ON charges (status);
CREATE INDEX IF NOT EXISTS charges_by_time ON charges (sent_at);
CREATE TABLE IF NOT EXISTS runs (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
`

type Text = string | null
export interface Order {
  readonly id: string
  readonly kind: 'subscription' | 'mandate'
  readonly amount: number
  readonly msisdn: Text
  /** The order's first day. The due dates of a mandate are monthly, counted from this day. */
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
  /** The time of the first request, in milliseconds; null if no request was sent. */
  readonly sent_at: number | null
  readonly id: Text
  /** The gateway's status. `unclear`: the charge may exist without an id, and no job may send its request again. */
  readonly status: Text
  readonly confirmation_id: Text
  /** The number of the code that the payer enters next: 1 for the first code. */
  readonly confirm_try: number
  readonly confirm_sent: number
}

interface Mandate {
  readonly order_id: string
  readonly id: string
  readonly start: string
  readonly next_due: string
  readonly planned: number
}

interface Subscription {
  readonly id: string
  readonly order_id: string
  readonly cancel_sent: number
  readonly cancelled: number
}

/** BullMQ recommends at most 1 000 jobs in one call of `addBulk`. */
const PAGE = 1_000

/** Opens the shop's database. Related changes are one transaction, so a killed process leaves no partial change. */
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
  /** Records the intention to make a renewal or a first charge. The key is also the id of the job. */
  const intendCharge = (orderId: string, mandateId: Text = null, dueDate: Text = null, attempt = 1) => {
    const key = mandateId && dueDate ? renewalKey(mandateId, dueDate, attempt) : chargeKey(orderId)
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
    /**
     * Links an authorized subscription to its order. If the order already has another subscription, also records that
     * the subscription `id` must be canceled, and returns true.
     */
    match: (id: string, orderId: string) =>
      transaction(() => {
        run('UPDATE orders SET subscription_id = ? WHERE id = ? AND subscription_id IS NULL', id, orderId)
        const isSecond = one<Order>('SELECT * FROM orders WHERE id = ?', orderId)?.subscription_id !== id
        const sql = 'INSERT OR IGNORE INTO subscriptions (id, order_id, cancel_wanted) VALUES (?, ?, ?)'
        run(sql, id, orderId, Number(isSecond))
        return isSecond
      }),
    wantCancel: (id: string) => run('UPDATE subscriptions SET cancel_wanted = 1 WHERE id = ?', id),
    intendCancel: (id: string) => run('UPDATE subscriptions SET cancel_sent = 1 WHERE id = ?', id),
    cancelled: (id: string) => run('UPDATE subscriptions SET cancelled = 1 WHERE id = ?', id),
    /** Books a payment, and credits it once, even if it failed at first or several notifications report it. */
    book: (paymentId: string, subscriptionId: string, status: string) =>
      transaction(() => {
        const sql = `INSERT INTO payments VALUES (?, ?, ?) ON CONFLICT (id)
          DO UPDATE SET status = excluded.status WHERE status <> 'SUCCEEDED_PAYMENT'`
        const changed = run(sql, paymentId, subscriptionId, status)
        if (changed === 0 || status !== 'SUCCEEDED_PAYMENT') return
        run('UPDATE orders SET balance = balance + amount WHERE subscription_id = ?', subscriptionId)
      }),

    // Charges and renewals.
    charge,
    /** Returns the time of the first request with a key; undefined if no request was sent. */
    firstSentAt: (key: string): number | undefined =>
      one<Charge>('SELECT * FROM charges WHERE key = ?', key)?.sent_at ?? undefined,
    /** Records the current time, unless an earlier run did, and returns the charge. Call it before each request. */
    intendSend: (key: string): Charge => {
      run('UPDATE charges SET sent_at = ? WHERE key = ? AND sent_at IS NULL', Date.now(), key)
      return charge(key)
    },
    charged: (key: string, made: Pick<Made, 'id' | 'status' | 'confirmation_id'>) => {
      const { id, status, confirmation_id } = made
      const sql = 'UPDATE charges SET id = ?, status = ?, confirmation_id = ? WHERE key = ? AND id IS NULL'
      run(sql, id, status, confirmation_id, key)
    },
    /**
     * Marks a charge that may exist, although its id is unknown. A person asks the provider. If the charge exists, the
     * person writes its id and status. Otherwise, the person sets `status` and `sent_at` to null.
     */
    markUnclear: (key: string) =>
      run("UPDATE charges SET status = 'unclear' WHERE key = ? AND id IS NULL", key),
    intendConfirm: (key: string) => run('UPDATE charges SET confirm_sent = 1 WHERE key = ?', key),
    /** Records that a code was wrong. The payer may now enter another code. */
    wrongCode: (key: string, attempt: number) => {
      const sql = 'UPDATE charges SET confirm_try = ? + 1, confirm_sent = 0 WHERE key = ? AND confirm_try = ?'
      run(sql, attempt, key, attempt)
    },
    /** Records the status of a charge. Never replaces a final status, because responses may arrive late. */
    settled: (id: string, status: string) =>
      transaction(() => {
        run("UPDATE charges SET status = ? WHERE id = ? AND status LIKE 'pending%'", status, id)
        if (status !== 'succeeded') return
        const first = 'SELECT order_id FROM charges WHERE id = ? AND mandate_id IS NULL'
        const due = `UPDATE orders SET next_due = ? WHERE id = ? AND next_due IS NULL`
        for (const { order_id } of all<Charge>(first, id)) {
          const { start } = need(one<Order>('SELECT * FROM orders WHERE id = ?', order_id), order_id)
          run(due, monthlyDueDate(start, 1), order_id)
        }
      }),
    /**
     * Records every renewal that is due by `today`, even if the planner was down for weeks. Also records a second
     * attempt for each failed renewal. Each page is a transaction of its own, so that other processes can write.
     */
    planRenewals: (today: string): void => {
      const mandates = `SELECT o.id AS order_id, c.id, start, next_due, planned FROM orders o
        JOIN charges c ON c.key = 'charge_' || o.id WHERE next_due <= ? ORDER BY next_due LIMIT ${PAGE}`
      const next = 'UPDATE orders SET planned = ?, next_due = ? WHERE id = ?'
      const page = () =>
        transaction(() => {
          const due = all<Mandate>(mandates, today)
          for (const { order_id, id, start, next_due, planned } of due) {
            intendCharge(order_id, id, next_due)
            run(next, planned + 1, monthlyDueDate(start, planned + 2), order_id)
          }
          return due.length
        })
      while (page() > 0);
      const failed = `SELECT * FROM charges r WHERE status = 'failed' AND mandate_id IS NOT NULL AND attempt = 1
        AND NOT EXISTS (SELECT 1 FROM charges s WHERE s.key = substr(r.key, 1, length(r.key) - 1) || '2') LIMIT ${PAGE}`
      for (const one of all<Charge>(failed)) intendCharge(one.order_id, one.mandate_id, one.due_date, 2)
    },

    /** Yields pages of jobs for up to `most` renewals that have no charge yet, oldest due date first. */
    *openRenewals(most: number): Generator<NewJob[]> {
      const sql = `SELECT * FROM charges WHERE id IS NULL AND status IS NULL AND mandate_id IS NOT NULL
        AND (due_date, key) > (?, ?) ORDER BY due_date, key LIMIT ?`
      let [dueDate, key] = ['', '']
      for (let left = most; left > 0; left -= PAGE) {
        const page = all<Charge>(sql, dueDate, key, Math.min(PAGE, left))
        const last = page.at(-1)
        if (last === undefined) return
        ;[dueDate, key] = [last.due_date ?? '', last.key]
        yield page.map(({ mandate_id, due_date, attempt }) =>
          jobFor.renew(mandate_id ?? '', due_date ?? '', attempt),
        )
      }
    },
    /** Returns jobs for requests without a result, except renewals and confirmations. A queue may have lost these jobs. */
    openJobs(): NewJob[] {
      const orders = all<Order>("SELECT * FROM orders WHERE kind = 'subscription' AND url IS NULL")
      const unwanted = 'SELECT * FROM subscriptions WHERE cancel_wanted = 1 AND cancelled = 0'
      const first = all<Charge>(
        'SELECT * FROM charges WHERE id IS NULL AND status IS NULL AND mandate_id IS NULL',
      )
      const retried = all<Charge>("SELECT * FROM charges WHERE status = 'pending_retry'")
      return [
        ...orders.map(({ id }) => jobFor.subscribe(id)),
        ...all<Subscription>(unwanted).map(({ id }) => jobFor.cancel(id)),
        ...first.map(({ order_id }) => jobFor.charge(order_id)),
        ...retried.map(({ id }) => jobFor.poll(id ?? '')),
      ]
    },
    /** Returns the number of recorded requests without a result. */
    open(): number {
      const sql =
        'SELECT COUNT(*) AS n FROM charges WHERE id IS NULL AND status IS NULL AND mandate_id IS NOT NULL'
      return this.openJobs().length + (one<{ n: number }>(sql)?.n ?? 0)
    },
    /** Returns the orders that have a url for the payer, but no subscription yet. */
    unmatched: () => all<Order>('SELECT * FROM orders WHERE url IS NOT NULL AND subscription_id IS NULL'),
    /** The time of the last complete run of a nightly job, in milliseconds; 0 before the first run. */
    lastRun: (name: string) => one<{ at: number }>('SELECT at FROM runs WHERE name = ?', name)?.at ?? 0,
    ran: (name: string, at: number) => run('INSERT OR REPLACE INTO runs VALUES (?, ?)', name, at),
    /** Returns the records that can have changed since a time, in the form that `reconcile` compares with the API. */
    *expected(since: number): Generator<Expected> {
      for (const { id, cancelled } of all<Subscription>('SELECT * FROM subscriptions')) {
        const sql = 'SELECT id AS paymentId, status FROM payments WHERE subscription_id = ?'
        const payments = all<ExpectedPayment>(sql, id)
        yield { subscriptionId: id, cancelled: cancelled === 1, payments }
      }
      const changed =
        "SELECT * FROM charges WHERE id IS NOT NULL AND (sent_at >= ? OR status LIKE 'pending%')"
      for (const { id, status } of all<Charge>(changed, since))
        if (id !== null && status !== null) yield { chargeId: id, status }
    },
    close: () => db.close(),
  }
}
export type Books = ReturnType<typeof openBooks>

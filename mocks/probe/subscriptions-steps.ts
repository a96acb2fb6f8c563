import { type Json, received } from '../../src/contract/fields.ts'
import type { Operation } from '../http/area.ts'
import { createCalendar, dateText } from '../time/calendar.ts'
import { DAY, MINUTE } from '../time/duration.ts'
import { type Ask, ifKnown, needed, once, type Reply, shown, textOf, Unanswered } from './question.ts'

// The requests of the questions to area S. Several questions can share a step, which a session does once.

/** The first payment is due two days from now, and the probe cancels before it. */
export const DAYS_AHEAD = 2
export const NOBODYS_INVOICE = 'probe-unknown-invoice'

/** Returns the day that is `days` days after today, in a zone that is `zoneMinutes` minutes ahead of UTC. */
export const dayAfter = (ask: Ask, days: number, zoneMinutes = 0): string =>
  dateText(Math.floor((ask.now() + zoneMinutes * MINUTE) / DAY) + days)

/** Returns an IANA zone that is `minutes` minutes ahead of UTC, in January and in July. */
export const zoneAt = (minutes: number): string => {
  const isFixed = (zone: string): boolean => {
    const { instantOf } = createCalendar(zone)
    const [winter, summer] = [Date.UTC(2026, 0), Date.UTC(2026, 6)].map(
      (day) => day - instantOf(day / DAY, 0),
    )
    return winter === minutes * MINUTE && summer === winter
  }
  // If several zones fit, prefers one in Asia, where the provider probably is.
  const zones = ['UTC', 'Asia/Dhaka', ...Intl.supportedValuesOf('timeZone')]
  const [zone] = [...zones.filter((each) => /^(?:UTC|Asia)/.test(each)), ...zones].filter(isFixed)
  if (zone === undefined) throw new Unanswered(`no zone is always ${minutes} minutes ahead of UTC`)
  return zone
}

export const login = once('login', (ask) => ask.login())

export const status = (ask: Ask, invoiceId: string, body: unknown = {}, more = {}): Promise<Reply> =>
  ask.send({ operation: 'subscriptions.status', path: [invoiceId], body, ...more })

/** Calls an operation that needs only the id in its path. */
export const call = (ask: Ask, operation: Operation, id: string, more = {}): Promise<Reply> =>
  ask.send({ operation, path: [id], body: {}, ...more })

export const unknownInvoice = once('unknown id', (ask) => status(ask, NOBODYS_INVOICE))

export const invoiceIn = ({ body }: Reply): string | undefined => textOf(body, 'invoiceID')

const subscribe = (ask: Ask, name: string, changes: Json): Promise<Reply> => {
  const start = dayAfter(ask, DAYS_AHEAD)
  const body = {
    clientID: ask.config.credentials?.clientId,
    requestID: ask.name(name),
    start,
    end: changes.start ?? start,
    userReturnURL: ask.config.redirectUri ?? 'https://merchant.example/return',
    cycle: 'DAILY',
    ...changes,
  }
  return ask.send({ operation: 'subscriptions.subscribe', body })
}

const AMOUNTS = ['10', '10.5', '10.25', '10.125']

/** Subscribes once with each form of an amount. The other questions use the last accepted request. */
export const amounts = once('amounts', async (ask) => {
  const tried: { amount: string; reply: Reply }[] = []
  for (const [index, amount] of AMOUNTS.entries()) {
    tried.push({ amount, reply: await subscribe(ask, `amount-${index}`, { amount }) })
  }
  const decimals = tried.map(({ reply }) => invoiceIn(reply) !== undefined)
  const best = tried.findLast((_, count) => decimals[count])
  if (best === undefined) throw new Unanswered('no subscription request was accepted')
  return { decimals, ...best }
})

/** Subscribes with changed fields. The other fields are those of an accepted request. */
export const subscribeWith = async (ask: Ask, name: string, changes: Json): Promise<Reply> =>
  subscribe(ask, name, { amount: (await amounts(ask)).amount, ...changes })

export const invalidRequest = once('invalid request', (ask) =>
  subscribeWith(ask, 'invalid', { cycle: 'PROBE' }),
)

export const repeatedRequest = once('repeated requestID', async (ask) => {
  const requestID = ask.name('twice')
  await subscribeWith(ask, 'first', { requestID })
  return subscribeWith(ask, 'second', { requestID })
})

/** The subscription request that the questions share, and its status before the payer decides. */
export const request = once('request', async (ask) => {
  const { reply } = await amounts(ask)
  const invoiceId = needed(reply.body, 'invoiceID')
  return { reply, invoiceId, pending: await status(ask, invoiceId) }
})

/** Returns by how many minutes a time without a zone is ahead of the header Date, rounded to 15 minutes. */
export const offset = async (ask: Ask): Promise<number> => {
  const { reply, pending } = await request(ask)
  const createdAt = Date.parse(`${needed(pending.body, 'createdAt').replace(' ', 'T')}Z`)
  const ahead = createdAt - Date.parse(reply.headers.date ?? '')
  if (Number.isNaN(ahead)) throw new Unanswered('createdAt or the header Date is not a time')
  return Math.round(ahead / MINUTE / 15) * 15 || 0
}

const issuedId = ({ body }: Reply): string | undefined => {
  const id = textOf(body, 'subscriptionId')
  return id === '' || id === 'NA' ? undefined : id
}

export const pendingDetails = once('details before the decision', async (ask) => {
  const id = issuedId((await request(ask)).pending)
  return id === undefined ? undefined : call(ask, 'subscriptions.details', id)
})

/** Lets the payer authorize the shared request. */
export const authorized = once('authorized subscription', async (ask) => {
  await ifKnown(pendingDetails(ask))
  const { invoiceId, reply } = await request(ask)
  await ask.payer('authorize the subscription', textOf(reply.body, 'url') ?? '')
  const after = await status(ask, invoiceId)
  const id = issuedId(after)
  if (id === undefined || after.body.status === 'INITIALIZED') {
    throw new Unanswered('the payer has not authorized the subscription')
  }
  return { id, reply: await call(ask, 'subscriptions.details', id) }
})

/** The details of the shared subscription before it is canceled. */
export const anyDetails = async (ask: Ask): Promise<Reply> =>
  (await pendingDetails(ask)) ?? (await authorized(ask)).reply

/** Cancels the shared request or subscription, after the steps for which it must not be canceled. */
export const canceled = once('canceled subscription', async (ask) => {
  const id = (await ifKnown(authorized(ask)))?.id ?? issuedId((await request(ask)).pending)
  if (id === undefined) throw new Unanswered('there is no subscriptionId before the payer authorizes')
  const before = await call(ask, 'subscriptions.cancellation', id)
  return { id, before, reply: await call(ask, 'subscriptions.cancel', id) }
})

/** The response for a cancellation that does not exist. */
export const noCancellation = async (ask: Ask): Promise<Reply> => (await canceled(ask)).before

export const secondCancel = once('second cancellation', async (ask) => {
  const { id, reply } = await canceled(ask)
  if (textOf(reply.body, 'status') === undefined) throw new Unanswered(`the first got ${shown(reply)}`)
  return call(ask, 'subscriptions.cancel', id)
})

const MAX_CANCELLATION_SECONDS = 60

/** Waits until the cancellation is processed, and returns how many seconds this took. */
export const processed = once('processed cancellation', async (ask) => {
  const { id, reply } = await canceled(ask)
  // The rate limit may delay calls, so this reads the server's own time.
  const secondOf = ({ headers }: Reply): number => (Date.parse(headers.date ?? '') || ask.now()) / 1_000
  const [start] = [secondOf(reply)]
  let [last, seen] = [start, reply]
  for (let second = 0; second <= MAX_CANCELLATION_SECONDS; second += 1) {
    if (textOf(seen.body, 'status') === 'PROCESSED') {
      const [least, most] = [Math.round(last - start), Math.round(secondOf(seen) - start)]
      if (most - least <= 1) return most
      throw new Unanswered(`the cancellation was processed between ${least} s and ${most} s`)
    }
    last = secondOf(seen)
    await ask.sleep(1_000)
    seen = await call(ask, 'subscriptions.cancellation', id)
  }
  throw new Unanswered(`the cancellation was not processed within ${MAX_CANCELLATION_SECONDS} s`)
})

export const canceledDetails = once('details after the cancellation', async (ask) => {
  await processed(ask)
  return call(ask, 'subscriptions.details', (await canceled(ask)).id)
})

/** Returns a page of the payments of the configured subscription. */
export const pageOf = async (ask: Ask, query = ''): Promise<readonly unknown[]> => {
  const reply = await call(ask, 'subscriptions.payments', ask.config.subscriptionId ?? '', { query })
  const list = received(reply.body, 'subscriptionPayments')
  if (!Array.isArray(list)) throw new Unanswered(`the payments were not listed (${shown(reply)})`)
  return list
}

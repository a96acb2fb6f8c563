import type { Json } from '../../src/contract/fields.ts'
import { type Ask, needed, type Reply, shown, textOf, Unanswered } from './question.ts'
import { dayAfter, zoneOffset } from './zones.ts'

// What the questions to area S send. Several questions share a step: it is done once in a session.

/** The first payment is due two days from now, and the probe cancels before it. */
export const DAYS_AHEAD = 2
export const NOBODYS_INVOICE = 'probe-unknown-invoice'

export const invoiceIn = ({ body }: Reply): string | undefined => textOf(body, 'invoiceID')

export const unknownInvoice = (ask: Ask): Promise<Reply> =>
  ask.shared('unknown id', (each) => status(each, NOBODYS_INVOICE, {}))

export const status = (ask: Ask, invoiceId: string, body: unknown, headers = {}): Promise<Reply> =>
  ask.send({ operation: 'subscriptions.status', path: [invoiceId], body, headers })

export const details = (ask: Ask, subscriptionId: string): Promise<Reply> =>
  ask.send({ operation: 'subscriptions.details', path: [subscriptionId], body: {} })

const subscribe = (ask: Ask, name: string, changes: Json = {}): Promise<Reply> => {
  const start = dayAfter(ask.now(), 0, DAYS_AHEAD)
  return ask.send({
    operation: 'subscriptions.subscribe',
    body: {
      clientID: ask.config.credentials?.clientId,
      requestID: ask.name(name),
      start,
      end: changes.start ?? start,
      userReturnURL: ask.config.redirectUri ?? 'https://merchant.example/return',
      cycle: 'DAILY',
      ...changes,
    },
  })
}

const AMOUNTS = ['10', '10.5', '10.25', '10.125'] as const

interface Amounts {
  /** For each number of decimals, whether an amount with so many is accepted. */
  readonly decimals: readonly boolean[]
  readonly usable: string
  readonly reply: Reply
}

/** Subscribes once with each form of an amount. The last accepted request serves the other questions. */
export const amounts = (ask: Ask): Promise<Amounts> =>
  ask.shared('amounts', async (each) => {
    const decimals: boolean[] = []
    let best: { usable: string; reply: Reply } | undefined
    for (const [index, amount] of AMOUNTS.entries()) {
      const reply = await subscribe(each, `amount-${index}`, { amount })
      decimals.push(invoiceIn(reply) !== undefined)
      if (decimals[index] === true) best = { usable: amount, reply }
      else if (best === undefined && index === AMOUNTS.length - 1) {
        throw new Unanswered(`no subscription request was accepted (${shown(reply)})`)
      }
    }
    if (best === undefined) throw new Unanswered('no subscription request was accepted')
    return { decimals, ...best }
  })

/** Subscribes with changed fields, all others as in a request that was accepted. */
export const subscribeWith = async (ask: Ask, name: string, changes: Json): Promise<Reply> =>
  subscribe(ask, name, { amount: (await amounts(ask)).usable, ...changes })

/** The subscription request that the questions share, and its status before the payer decides. */
export const request = (ask: Ask) =>
  ask.shared('request', async (each) => {
    const { reply } = await amounts(ask)
    const invoiceId = needed(reply.body, 'invoiceID')
    const pending = await status(each, invoiceId, {})
    return { reply, invoiceId, url: textOf(reply.body, 'url') ?? '', pending }
  })

const hasId = (id: string | undefined): id is string => id !== undefined && id !== '' && id !== 'NA'

export const offset = async (ask: Ask): Promise<number> => {
  const { reply, pending } = await request(ask)
  const minutes = zoneOffset(needed(pending.body, 'createdAt'), reply.headers.date)
  if (minutes === undefined) throw new Unanswered('the response to subscribe has no header Date')
  return minutes
}

export const pendingDetails = (ask: Ask): Promise<Reply | undefined> =>
  ask.shared('details before the decision', async (each) => {
    const { pending } = await request(ask)
    const id = textOf(pending.body, 'subscriptionId')
    return hasId(id) ? details(each, id) : undefined
  })

/** Lets the payer authorize the shared request. */
export const authorized = (ask: Ask): Promise<{ readonly id: string; readonly reply: Reply }> =>
  ask.shared('authorized subscription', async (each) => {
    await pendingDetails(ask).catch(() => undefined)
    const { invoiceId, url } = await request(ask)
    await each.payer('authorize the subscription', url)
    const after = await status(each, invoiceId, {})
    const id = needed(after.body, 'subscriptionId')
    return { id, reply: await details(each, id) }
  })

/** Cancels the shared request or subscription, after everything that needs it uncanceled. */
export const canceled = (ask: Ask) =>
  ask.shared('canceled subscription', async (each) => {
    const active = await authorized(ask).catch((error: unknown) => {
      if (!(error instanceof Unanswered)) throw error
      return undefined
    })
    const id = active?.id ?? textOf((await request(ask)).pending.body, 'subscriptionId')
    if (!hasId(id)) throw new Unanswered('there is no subscriptionId before the payer authorizes')
    const before = await each.send({ operation: 'subscriptions.cancellation', path: [id], body: {} })
    const reply = await each.send({ operation: 'subscriptions.cancel', path: [id], body: {} })
    return { id, before, reply }
  })

const LONGEST_CANCELLATION = 60

/** Waits until the cancellation is processed, and returns after how many seconds it was. */
export const processed = (ask: Ask): Promise<number> =>
  ask.shared('processed cancellation', async (each) => {
    const { id, reply } = await canceled(ask)
    if (textOf(reply.body, 'status') === 'PROCESSED') return 0
    // The rate limit may hold calls back, so the server's own time counts.
    const timeOf = ({ headers }: Reply): number => Date.parse(headers.date ?? '') || each.now()
    let last = timeOf(reply)
    for (let second = 1; second <= LONGEST_CANCELLATION; second += 1) {
      await each.sleep(1_000)
      const seen = await each.send({ operation: 'subscriptions.cancellation', path: [id], body: {} })
      if (textOf(seen.body, 'status') === 'PROCESSED') {
        const [least, most] = [last, timeOf(seen)].map((time) => Math.round((time - timeOf(reply)) / 1_000))
        if (most === undefined || least === undefined || most - least > 1) {
          throw new Unanswered(`the cancellation was processed between ${least} s and ${most} s`)
        }
        return most
      }
      last = timeOf(seen)
    }
    throw new Unanswered(`the cancellation was not processed within ${LONGEST_CANCELLATION} s`)
  })

export const canceledDetails = (ask: Ask): Promise<Reply> =>
  ask.shared('details after the cancellation', async (each) => {
    await processed(ask)
    return details(each, (await canceled(ask)).id)
  })

import { type Json, received } from '../../src/contract/fields.ts'
import { defaultErrorCodes, subscriptionsDefaults } from '../domain/subscriptions/options.ts'
import {
  type Answer,
  type Ask,
  codeOf,
  found,
  needed,
  type Question,
  type Reply,
  reported,
  sameReply,
  shown,
  textOf,
  Unanswered,
} from './question.ts'
import { dayAfter, zoneAt, zoneOffset } from './zones.ts'

/** The first payment is due two days from now, and the probe cancels before it. */
const DAYS_AHEAD = 2
const NOBODYS_INVOICE = 'probe-unknown-invoice'

type Statuses<Value> = readonly Value[]

/** Returns the option value that is equal to what was seen, or an answer that there is none. */
const among = <Value>(option: string, values: Statuses<Value>, seen: Value, words: string): Answer =>
  values.includes(seen)
    ? found({ [option]: seen }, words)
    : { unknown: 'the mock has no such value', seen: words }

const invoiceIn = ({ body }: Reply): string | undefined => textOf(body, 'invoiceID')

const unknownInvoice = (ask: Ask): Promise<Reply> =>
  ask.shared('unknown id', (each) => status(each, NOBODYS_INVOICE, {}))

const status = (ask: Ask, invoiceId: string, body: unknown, headers = {}): Promise<Reply> =>
  ask.send({ operation: 'subscriptions.status', path: [invoiceId], body, headers })

const details = (ask: Ask, subscriptionId: string): Promise<Reply> =>
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
const amounts = (ask: Ask): Promise<Amounts> =>
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
const subscribeWith = async (ask: Ask, name: string, changes: Json): Promise<Reply> =>
  subscribe(ask, name, { amount: (await amounts(ask)).usable, ...changes })

/** The subscription request that the questions share, and its status before the payer decides. */
const request = (ask: Ask) =>
  ask.shared('request', async (each) => {
    const { reply } = await amounts(ask)
    const invoiceId = needed(reply.body, 'invoiceID')
    const pending = await status(each, invoiceId, {})
    return { reply, invoiceId, url: textOf(reply.body, 'url') ?? '', pending }
  })

const hasId = (id: string | undefined): id is string => id !== undefined && id !== '' && id !== 'NA'

const offset = async (ask: Ask): Promise<number> => {
  const { reply, pending } = await request(ask)
  const minutes = zoneOffset(needed(pending.body, 'createdAt'), reply.headers.date)
  if (minutes === undefined) throw new Unanswered('the response to subscribe has no header Date')
  return minutes
}

const pendingDetails = (ask: Ask): Promise<Reply | undefined> =>
  ask.shared('details before the decision', async (each) => {
    const { pending } = await request(ask)
    const id = textOf(pending.body, 'subscriptionId')
    return hasId(id) ? details(each, id) : undefined
  })

/** Lets the payer authorize the shared request. */
const authorized = (ask: Ask): Promise<{ readonly id: string; readonly reply: Reply }> =>
  ask.shared('authorized subscription', async (each) => {
    await pendingDetails(ask).catch(() => undefined)
    const { invoiceId, url } = await request(ask)
    await each.payer('authorize the subscription', url)
    const after = await status(each, invoiceId, {})
    const id = needed(after.body, 'subscriptionId')
    return { id, reply: await details(each, id) }
  })

/** Cancels the shared request or subscription, after everything that needs it uncanceled. */
const canceled = (ask: Ask) =>
  ask.shared('canceled subscription', async (each) => {
    const active = await authorized(ask).catch((error: unknown) => {
      if (!(error instanceof Unanswered)) throw error
      return undefined
    })
    const id = active?.id ?? textOf((await request(ask)).pending.body, 'subscriptionId')
    if (!hasId(id)) throw new Unanswered('there is no subscriptionId before the payer authorizes')
    const before = await each.send({ operation: 'subscriptions.cancellation', path: [id], body: {} })
    const startedAt = each.now()
    const reply = await each.send({ operation: 'subscriptions.cancel', path: [id], body: {} })
    return { id, before, reply, startedAt }
  })

const LONGEST_CANCELLATION = 60

/** Waits until the cancellation is processed, and returns after how many seconds it was. */
const processed = (ask: Ask): Promise<number> =>
  ask.shared('processed cancellation', async (each) => {
    const { id, reply, startedAt } = await canceled(ask)
    if (textOf(reply.body, 'status') === 'PROCESSED') return 0
    for (let second = 1; second <= LONGEST_CANCELLATION; second += 1) {
      await each.sleep(1_000)
      const seen = await each.send({ operation: 'subscriptions.cancellation', path: [id], body: {} })
      if (textOf(seen.body, 'status') === 'PROCESSED') return Math.round((each.now() - startedAt) / 1_000)
    }
    throw new Unanswered(`the cancellation was not processed within ${LONGEST_CANCELLATION} s`)
  })

const canceledDetails = (ask: Ask): Promise<Reply> =>
  ask.shared('details after the cancellation', async (each) => {
    await processed(ask)
    return details(each, (await canceled(ask)).id)
  })

/** Returns a number for `enabled`, however it is written; `undefined` if there is none. */
const flagOf = (reply: Reply | undefined): number | undefined => {
  const enabled = reply && received(reply.body, 'enabled')
  if (enabled === undefined || enabled === null || Number.isNaN(Number(enabled))) {
    return enabled === 'true' || enabled === 'false' ? Number(enabled === 'true') : undefined
  }
  return Number(enabled)
}

/** Returns what `make` returns, or `undefined` if it cannot be known. */
const ifKnown = <Value>(make: Promise<Value>): Promise<Value | undefined> =>
  make.catch((error: unknown) => {
    if (error instanceof Unanswered) return undefined
    throw error
  })

const patternOf = (decimals: readonly boolean[]): string => {
  if (decimals.every(Boolean)) return subscriptionsDefaults.amountPattern.source
  const counts = decimals.flatMap((accepted, count) => (accepted && count > 0 ? [count] : []))
  const fraction = counts.length === 0 ? '' : `(\\.(?:${counts.map((count) => `\\d{${count}}`).join('|')}))`
  return `^\\d+${fraction}${decimals[0] === true && fraction !== '' ? '?' : ''}$`
}

const MANY_DAYS = 4_000

/** Finds the largest number of days that is accepted, with as few requests as possible. */
const longest = async (accepts: (days: number) => Promise<boolean>): Promise<number | undefined> => {
  const usual = subscriptionsDefaults.maxEnd.days
  let [low, high] = [0, MANY_DAYS]
  if (await accepts(usual)) {
    if (!(await accepts(usual + 1))) return usual
    if (await accepts(MANY_DAYS)) return undefined
    low = usual + 1
  } else high = usual
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (await accepts(middle)) low = middle
    else high = middle
  }
  return low
}

const askMaxEnd = async (ask: Ask): Promise<Answer> => {
  const minutes = await offset(ask)
  const accepts = async (from: number, days: number): Promise<boolean> => {
    const [start, end] = [from, from + days].map((ahead) => dayAfter(ask.now(), minutes, ahead))
    return invoiceIn(await subscribeWith(ask, `end-${from}-${days}`, { start, end })) !== undefined
  }
  const days = await longest((each) => accepts(DAYS_AHEAD, each))
  if (days === undefined)
    return found({ maxEnd: false }, `an end ${MANY_DAYS} days after the start was accepted`)
  const fromStart = await accepts(DAYS_AHEAD + 1, days)
  const maxEnd = fromStart ? { from: 'start', days } : { from: 'today', days: days + DAYS_AHEAD }
  return found(
    { maxEnd },
    `the last accepted end is ${maxEnd.days} days after ${fromStart ? 'the start' : 'today'}`,
  )
}

const acceptance = (option: string, words: string, reply: Reply): Answer => {
  const accepted = invoiceIn(reply) !== undefined
  const code = codeOf(reply)
  const kinds: Readonly<Record<string, string>> = {
    duplicateRequest: 'duplicate_request',
    clientMismatch: 'client_mismatch',
  }
  const kind = kinds[option]
  const codes = accepted || code === undefined || kind === undefined ? {} : { errorCodes: { [kind]: code } }
  return found({ [option]: accepted ? 'accept' : 'refuse', ...codes }, `${words}: ${shown(reply)}`)
}

const errorCode = (kind: string, reply: Reply): Json => {
  const code = codeOf(reply)
  return code === undefined ? {} : { [kind]: code }
}

const invalidRequest = (ask: Ask): Promise<Reply> =>
  ask.shared('invalid request', (each) => subscribeWith(each, 'invalid', { cycle: 'PROBE' }))

const repeatedRequest = (ask: Ask): Promise<Reply> =>
  ask.shared('repeated requestID', async (each) => {
    const requestID = each.name('twice')
    await subscribeWith(each, 'first', { requestID })
    return subscribeWith(each, 'second', { requestID })
  })

const secondCancel = (ask: Ask): Promise<Reply> =>
  ask.shared('second cancellation', async (each) => {
    const { id, reply: first } = await canceled(ask)
    if (textOf(first.body, 'status') === undefined) throw new Unanswered(`the first got ${shown(first)}`)
    return each.send({ operation: 'subscriptions.cancel', path: [id], body: {} })
  })

const askStatuses = async (ask: Ask): Promise<Answer> => {
  const invalid = await invalidRequest(ask)
  if (invoiceIn(invalid) !== undefined) throw new Unanswered('an invalid cycle was accepted')
  const notFound = await unknownInvoice(ask)
  const conflicts = [await repeatedRequest(ask), await ifKnown(secondCancel(ask))]
  const words = `an invalid cycle: ${shown(invalid)}; an unknown id: ${shown(notFound)}`
  const errorsAs200 = [invalid, notFound, ...conflicts].every(
    (reply) => reply === undefined || reply.status === 200,
  )
  if (errorsAs200) return found({ errorsAs200 }, words)
  const statuses = [200, 400, 409, 422]
  if (!statuses.includes(invalid.status)) return { unknown: 'the mock has no such value', seen: words }
  return found({ validationStatus: invalid.status, errorsAs200 }, words)
}

const pageOf = async (ask: Ask, query: string): Promise<readonly unknown[]> => {
  const path = [ask.config.subscriptionId ?? '']
  const reply = await ask.send({ operation: 'subscriptions.payments', path, query, body: {} })
  const list = reply.body.subscriptionPayments
  if (!Array.isArray(list)) throw new Unanswered(`the payments were not listed (${shown(reply)})`)
  return list
}

const askPaging = async (ask: Ask): Promise<Answer> => {
  const usual = await pageOf(ask, '')
  const one = await pageOf(ask, 'per_page=1')
  const second = await pageOf(ask, 'page=2')
  if (usual.length < 2 || second.length === 0) throw new Unanswered('the subscription has too few payments')
  const most = await pageOf(ask, 'per_page=1000')
  const ignore = [
    ...(JSON.stringify(second) === JSON.stringify(usual) ? ['page'] : []),
    ...(one.length === usual.length ? ['per_page'] : []),
  ]
  const maxSize = Math.max(most.length, usual.length)
  const words = `${usual.length} by default, ${one.length} with per_page=1, ${most.length} with per_page=1000`
  const paging = { defaultSize: usual.length, maxSize, ignore }
  if (ignore.length === 0 && (await pageOf(ask, 'per_page=1000&page=2')).length === 0) {
    return { unknown: 'the subscription has too few payments to see the largest page', seen: words }
  }
  return found({ paging }, words)
}

const askVariant = async (ask: Ask): Promise<Answer> => {
  const { reply, pending } = await request(ask)
  const shownDetails =
    (await ifKnown(pendingDetails(ask))) ?? (await ifKnown(authorized(ask)))?.reply ?? undefined
  const cancellation = (await ifKnown(canceled(ask)))?.reply.body
  const payment = ask.config.subscriptionId === undefined ? undefined : (await ifKnown(pageOf(ask, '')))?.[0]
  const reversal: unknown = Object(payment).reverseTransactionAmount
  const enabled = shownDetails && received(shownDetails.body, 'enabled')
  const forms: Readonly<Record<string, boolean>> = {
    'id-casing': !('invoiceID' in reply.body),
    'number-ids': typeof received(reply.body, 'invoiceID') === 'number',
    'text-ids': typeof cancellation?.id === 'string',
    'text-amounts': typeof shownDetails?.body.amount === 'string',
    'text-flags': typeof enabled === 'string',
    'boolean-flags': typeof enabled === 'boolean',
    'empty-reversals': reversal === '',
    'zero-reversals': reversal === '0.00',
    'iso-dates': textOf(pending.body, 'createdAt')?.includes('T') === true,
    'number-codes': typeof reply.body.errorCode === 'number',
  }
  const variant = Object.keys(forms).filter((form) => forms[form] === true)
  return found(
    { variant },
    variant.length === 0 ? 'casing and types of the specification' : variant.join(', '),
  )
}

const askLimit = async (ask: Ask): Promise<Answer> => {
  let { headers } = await ask.shared('login', (each) => each.login())
  const limit = Number(headers['x-ratelimit-limit'])
  if (!Number.isInteger(limit)) throw new Unanswered('the response has no header X-RateLimit-Limit')
  if (limit >= 1_000_000_000) return found({ rateLimit: false }, `a limit of ${limit}`)
  const wait = (): number => Number(headers['x-ratelimit-reset']) * 1_000 - Date.parse(headers.date ?? '')
  for (let tries = 0; Number(headers['x-ratelimit-remaining']) !== limit - 1; tries += 1) {
    if (tries === 2 || !(wait() >= 0)) throw new Unanswered('no call was seen that starts a window')
    await ask.sleep(Math.max(1_000, wait()))
    headers = (await status(ask, NOBODYS_INVOICE, {})).headers
  }
  if (!(wait() > 0)) throw new Unanswered('the headers do not show the end of the window')
  return found({ rateLimit: { limit, windowMs: wait() } }, `${limit} calls in ${wait() / 1_000} s`)
}

const MOST_CALLS = 1_000

const ask429 = async (ask: Ask): Promise<Answer> => {
  for (let call = 0; call < MOST_CALLS; call += 1) {
    const reply = await ask.send({
      operation: 'subscriptions.status',
      path: [NOBODYS_INVOICE],
      body: {},
      impatient: true,
    })
    if (reply.status !== 429) continue
    const sendRetryAfter = reply.headers['retry-after'] !== undefined
    return found(
      { sendRetryAfter, errorCodes: errorCode('rate_limited', reply) },
      `${shown(reply)} after ${call} calls`,
    )
  }
  throw new Unanswered(`no 429 in ${MOST_CALLS} calls`)
}

const askRefresh = async (ask: Ask): Promise<Answer> => {
  const first = await ask.login()
  const token = needed(first.body, 'refresh_token')
  const [username, password] = [undefined, undefined]
  const reply = await ask.login({ grant_type: 'refresh_token', refresh_token: token, username, password })
  const next = textOf(reply.body, 'refresh_token')
  const accepted = textOf(reply.body, 'access_token') !== undefined
  const refresh = !accepted ? 'reject' : next === undefined || next === token ? 'reuse' : 'rotate'
  return found({ refresh }, `the grant refresh_token: ${shown(reply)}`)
}

const askLockout = async (ask: Ask): Promise<Answer> => {
  const { durationSeconds, windowSeconds } = subscriptionsDefaults.lockout
  const locked = (attempts: number, reply: Reply): Answer =>
    found(
      {
        lockout: { attempts, windowSeconds, durationSeconds },
        errorCodes: errorCode('locked_out', reply),
      },
      `${attempts} wrong logins lock the user (${shown(reply)}). The window and the duration are the mock's defaults. The user is locked now`,
    )
  for (let attempt = 0; attempt < ask.wrongLogins; attempt += 1) {
    const reply = await ask.login({ password: ask.name('wrong-password') })
    if (reply.status === 403) return locked(attempt, reply)
  }
  const reply = await ask.login({})
  if (reply.status === 403) return locked(ask.wrongLogins, reply)
  throw new Unanswered(`${ask.wrongLogins} wrong logins did not lock the user`)
}

const area = 'subscriptions'
const read = { area, level: 'read' } as const
const write = { area, level: 'write' } as const

/** The questions to area S. Within a level they are asked in this order. */
export const subscriptionsQuestions: readonly Question[] = [
  {
    ...read,
    row: '42',
    option: ['rateLimit'],
    costs: 3,
    sends: 'a login; reads the rate-limit headers',
    ask: askLimit,
  },
  {
    ...read,
    row: '33',
    option: ['tokenTtl'],
    costs: 1,
    sends: 'a login',
    async ask(ask) {
      const { body } = await ask.shared('login', (each) => each.login())
      const seconds = Number(body.expires_in)
      if (!(seconds > 0)) throw new Unanswered('expires_in is not a number of seconds')
      return found({ tokenTtl: { seconds } }, `${seconds} s`)
    },
  },
  {
    ...read,
    row: '50',
    option: ['tokenEnvelope'],
    costs: 1,
    sends: 'a login',
    async ask(ask) {
      const { body } = await ask.shared('login', (each) => each.login())
      const tokenEnvelope = 'errorCode' in body
      return found({ tokenEnvelope }, tokenEnvelope ? 'errorCode is there' : 'no errorCode')
    },
  },
  {
    ...read,
    row: '40',
    option: ['notFoundStatus', 'errorCodes'],
    costs: 1,
    sends: 'the status of an unknown invoice',
    async ask(ask) {
      const reply = await unknownInvoice(ask)
      const known = among('notFoundStatus', [200, 400, 404], reply.status, shown(reply))
      return 'found' in known
        ? { ...known, found: { ...known.found, errorCodes: errorCode('not_found', reply) } }
        : known
    },
  },
  {
    ...read,
    row: '38',
    option: ['errorCodes'],
    costs: 1,
    sends: 'the status of an unknown invoice without a token',
    async ask(ask) {
      const path = [NOBODYS_INVOICE]
      const reply = await ask.send({ operation: 'subscriptions.status', path, body: {}, auth: 'none' })
      if (reply.status !== 401) throw new Unanswered(`a call without a token got ${shown(reply)}`)
      return found({ errorCodes: errorCode('unauthorized', reply) }, shown(reply))
    },
  },
  {
    ...read,
    row: '3',
    option: ['contentType'],
    costs: 1,
    sends: 'a read with the content type text/plain',
    async ask(ask) {
      const reply = await status(ask, NOBODYS_INVOICE, '{"probe":1}', { 'content-type': 'text/plain' })
      return found({ contentType: reply.status === 415 ? 'json' : 'any' }, shown(reply))
    },
  },
  {
    ...read,
    row: '4',
    option: ['unknownFields'],
    costs: 2,
    sends: 'a read with an unknown field',
    async ask(ask) {
      const usual = await unknownInvoice(ask)
      const reply = await status(ask, NOBODYS_INVOICE, { probe: 1 })
      return found({ unknownFields: sameReply(usual, reply) ? 'ignore' : 'refuse' }, shown(reply))
    },
  },
  {
    ...read,
    row: '31',
    option: [],
    costs: 1,
    sends: 'a read without a body',
    async ask(ask) {
      const reply = await status(ask, NOBODYS_INVOICE, undefined)
      return reported(
        `${sameReply(await unknownInvoice(ask), reply) ? 'as with {}' : 'not as with {}'}: ${shown(reply)}`,
      )
    },
  },
  {
    ...read,
    row: '41',
    option: ['paging'],
    costs: 5,
    needs: ['subscriptionId'],
    sends: 'pages of the payments of the configured subscription',
    ask: askPaging,
  },
  {
    ...write,
    row: '34',
    option: ['refresh'],
    costs: 3,
    sends:
      'a login, its refresh token, and a login; a server that does not know the grant may count a failed login',
    async ask(ask) {
      const answer = await askRefresh(ask)
      // A success ends the count of failed logins.
      await ask.login()
      return answer
    },
  },
  {
    ...write,
    row: '32',
    option: [],
    costs: 2,
    sends: 'a login as a form, and one as JSON; a server that does not read forms may count a failed login',
    async ask(ask) {
      const reply = await ask.login(undefined, true)
      await ask.login()
      return reported(`a form: ${shown(reply)}`)
    },
  },
  {
    ...write,
    row: '19',
    option: ['amountPattern'],
    costs: 4,
    sends: 'four subscription requests with 0 to 3 decimals',
    async ask(ask) {
      const { decimals } = await amounts(ask)
      const accepted = decimals.flatMap((each, count) => (each ? [count] : []))
      return found({ amountPattern: patternOf(decimals) }, `accepted with ${accepted.join(', ')} decimals`)
    },
  },
  {
    ...write,
    row: '11',
    option: ['pendingSubscriptionId'],
    costs: 1,
    sends: 'the status of a new request',
    async ask(ask) {
      const { body } = (await request(ask)).pending
      const id = received(body, 'subscriptionId')
      const value = id === undefined ? 'omit' : id === '' || id === 'NA' ? id : 'issued'
      return id === null
        ? { unknown: 'the mock has no such value', seen: 'null' }
        : found(
            { pendingSubscriptionId: value },
            value === 'issued' ? 'an id' : (JSON.stringify(id) ?? 'no field'),
          )
    },
  },
  {
    ...write,
    row: '14',
    option: ['timeZone'],
    costs: 0,
    sends: 'nothing more: compares createdAt with the header Date',
    async ask(ask) {
      const minutes = await offset(ask)
      const timeZone = zoneAt(minutes)
      const seen = `createdAt is ${minutes} minutes ahead of Date`
      return timeZone === undefined
        ? { unknown: 'no known zone has this distance', seen }
        : found({ timeZone }, `${seen}; a zone with summer time has another distance at other dates`)
    },
  },
  {
    ...write,
    row: '38',
    option: ['errorCodes'],
    costs: 2,
    sends: 'a subscription request with an invalid cycle, and one with a clientID that nobody has',
    async ask(ask) {
      const { reply: success } = await request(ask)
      const invalid = await invalidRequest(ask)
      const foreign = await subscribeWith(ask, 'client', { clientID: ask.name('client') })
      const { errorCode: code } = success.body
      const errorCodes = {
        success: code === 0 ? defaultErrorCodes.success : String(code),
        ...(invoiceIn(invalid) === undefined && errorCode('invalid', invalid)),
        ...(invoiceIn(foreign) === undefined && errorCode('client_mismatch', foreign)),
      }
      return found(
        { errorCodes },
        Object.entries(errorCodes)
          .map((pair) => pair.join(' '))
          .join(', '),
      )
    },
  },
  {
    ...write,
    row: '16',
    option: ['pastStart'],
    costs: 1,
    sends: 'a subscription request that starts three days ago',
    async ask(ask) {
      const start = dayAfter(ask.now(), await offset(ask), -3)
      return acceptance('pastStart', 'a start in the past', await subscribeWith(ask, 'past', { start }))
    },
  },
  {
    ...write,
    row: '17',
    option: [],
    costs: 1,
    sends: 'a subscription request that ends before its start',
    async ask(ask) {
      const end = dayAfter(ask.now(), 0, DAYS_AHEAD - 1)
      return reported(`an end before the start: ${shown(await subscribeWith(ask, 'backwards', { end }))}`)
    },
  },
  {
    ...write,
    row: '18',
    option: ['maxEnd'],
    costs: 20,
    sends: 'up to 20 subscription requests that end later and later',
    ask: askMaxEnd,
  },
  {
    ...write,
    row: '20',
    option: ['duplicateRequest'],
    costs: 2,
    sends: 'two subscription requests with one requestID',
    ask: async (ask) => acceptance('duplicateRequest', 'the same requestID', await repeatedRequest(ask)),
  },
  {
    ...write,
    row: '21',
    option: ['clientMismatch'],
    costs: 1,
    needs: ['otherClientId'],
    sends: 'a subscription request with the other clientID',
    async ask(ask) {
      const reply = await subscribeWith(ask, 'other', { clientID: ask.config.otherClientId })
      return acceptance('clientMismatch', 'another clientID', reply)
    },
  },
  {
    ...write,
    row: '23',
    option: ['debitTime'],
    costs: 1,
    sends: 'the details of a subscription',
    async ask(ask) {
      const reply = (await pendingDetails(ask)) ?? (await authorized(ask)).reply
      const time = /[ T](\d{2}:\d{2}:\d{2})/.exec(needed(reply.body, 'nextPaymentDate'))?.[1]
      if (time === undefined) throw new Unanswered('nextPaymentDate has no time')
      return found({ debitTime: time }, `nextPaymentDate at ${time}`)
    },
  },
  {
    ...write,
    row: '12',
    option: ['enabledValues'],
    costs: 4,
    sends: 'the details of a subscription before and after a person authorizes it',
    async ask(ask) {
      const active = flagOf((await authorized(ask)).reply)
      const inactive = flagOf((await pendingDetails(ask)) ?? (await canceledDetails(ask)))
      if (active === undefined || inactive === undefined) throw new Unanswered('enabled is not a number')
      return found({ enabledValues: { active, inactive } }, `${active} while active, else ${inactive}`)
    },
  },
  {
    ...write,
    row: '29',
    option: [],
    costs: 0,
    sends: 'the cancellation of a subscription that is not canceled',
    ask: async (ask) => reported(shown((await canceled(ask)).before)),
  },
  {
    ...write,
    row: '27',
    option: ['cancelDelay'],
    costs: 62,
    sends: 'a cancellation, and its status until it is PROCESSED',
    async ask(ask) {
      const seconds = await processed(ask)
      return found({ cancelDelay: { seconds } }, `PROCESSED after ${seconds} s`)
    },
  },
  {
    ...write,
    row: '28',
    option: ['cancelTwice'],
    costs: 1,
    sends: 'a second cancellation',
    async ask(ask) {
      const reply = await secondCancel(ask)
      const same = textOf(reply.body, 'status') !== undefined
      const codes = same ? {} : { errorCodes: errorCode('state', reply) }
      return found({ cancelTwice: same ? 'same' : 'refuse', ...codes }, shown(reply))
    },
  },
  {
    ...write,
    row: '25',
    option: ['nextPaymentDateAfterEnd'],
    costs: 1,
    sends: 'the details after the cancellation',
    async ask(ask) {
      const next = received((await canceledDetails(ask)).body, 'nextPaymentDate')
      if (next === null) return found({ nextPaymentDateAfterEnd: 'null' }, 'null')
      return typeof next === 'string' && next !== ''
        ? found({ nextPaymentDateAfterEnd: 'date' }, 'a date')
        : { unknown: 'the mock has no such value', seen: JSON.stringify(next) ?? 'no field' }
    },
  },
  {
    ...write,
    row: '30',
    option: [],
    costs: 1,
    sends: 'a cancellation by its own id',
    async ask(ask) {
      const path = [needed((await canceled(ask)).reply.body, 'id')]
      return reported(shown(await ask.send({ operation: 'subscriptions.cancellation', path, body: {} })))
    },
  },
  {
    ...write,
    row: '39',
    option: ['validationStatus', 'errorsAs200'],
    costs: 1,
    sends: 'a subscription request with an invalid cycle',
    ask: askStatuses,
  },
  {
    ...write,
    row: '44',
    option: ['variant'],
    costs: 1,
    sends: 'nothing more: reads the casing and the types',
    ask: askVariant,
  },
  {
    area,
    level: 'rate-limit',
    row: '43',
    option: ['sendRetryAfter'],
    costs: MOST_CALLS,
    sends: 'reads until a 429',
    ask: ask429,
  },
  {
    area,
    level: 'lockout',
    row: '35',
    option: ['lockout'],
    costs: 10,
    sends: 'wrong logins, at most as many as the flag allows; the user may be locked afterwards',
    ask: askLockout,
  },
]

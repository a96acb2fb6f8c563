import { type Json, received } from '../../src/contract/fields.ts'
import { subscriptionsDefaults } from '../subscriptions/options.ts'
import {
  type Answer,
  type Ask,
  codeOf,
  found,
  needed,
  type Reply,
  shown,
  textOf,
  Unanswered,
} from './question.ts'
import {
  authorized,
  canceled,
  DAYS_AHEAD,
  invoiceIn,
  NOBODYS_INVOICE,
  offset,
  pendingDetails,
  request,
  status,
  subscribeWith,
  unknownInvoice,
} from './subscriptions-steps.ts'
import { dayAfter } from './zones.ts'

// What the responses of area S say about the options of the mock.

type Statuses<Value> = readonly Value[]

/** Returns the option value that is equal to what was seen, or an answer that there is none. */
export const among = <Value>(option: string, values: Statuses<Value>, seen: Value, words: string): Answer =>
  values.includes(seen)
    ? found({ [option]: seen }, words)
    : { unknown: 'the mock has no such value', seen: words }

/** Returns a number for `enabled`, however it is written; `undefined` if there is none. */
export const flagOf = (reply: Reply | undefined): number | undefined => {
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

export const patternOf = (decimals: readonly boolean[]): string => {
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

export const askMaxEnd = async (ask: Ask): Promise<Answer> => {
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

export const acceptance = (option: string, words: string, reply: Reply): Answer => {
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

export const errorCode = (kind: string, reply: Reply): Json => {
  const code = codeOf(reply)
  return code === undefined ? {} : { [kind]: code }
}

export const invalidRequest = (ask: Ask): Promise<Reply> =>
  ask.shared('invalid request', (each) => subscribeWith(each, 'invalid', { cycle: 'PROBE' }))

export const repeatedRequest = (ask: Ask): Promise<Reply> =>
  ask.shared('repeated requestID', async (each) => {
    const requestID = each.name('twice')
    await subscribeWith(each, 'first', { requestID })
    return subscribeWith(each, 'second', { requestID })
  })

export const secondCancel = (ask: Ask): Promise<Reply> =>
  ask.shared('second cancellation', async (each) => {
    const { id, reply: first } = await canceled(ask)
    if (textOf(first.body, 'status') === undefined) throw new Unanswered(`the first got ${shown(first)}`)
    return each.send({ operation: 'subscriptions.cancel', path: [id], body: {} })
  })

export const askStatuses = async (ask: Ask): Promise<Answer> => {
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

export const askPaging = async (ask: Ask): Promise<Answer> => {
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

export const askVariant = async (ask: Ask): Promise<Answer> => {
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

export const askLimit = async (ask: Ask): Promise<Answer> => {
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

export const MOST_CALLS = 1_000

export const ask429 = async (ask: Ask): Promise<Answer> => {
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

export const askRefresh = async (ask: Ask): Promise<Answer> => {
  const first = await ask.login()
  const token = needed(first.body, 'refresh_token')
  const [username, password] = [undefined, undefined]
  const reply = await ask.login({ grant_type: 'refresh_token', refresh_token: token, username, password })
  const next = textOf(reply.body, 'refresh_token')
  const accepted = textOf(reply.body, 'access_token') !== undefined
  const refresh = !accepted ? 'reject' : next === undefined || next === token ? 'reuse' : 'rotate'
  return found({ refresh }, `the grant refresh_token: ${shown(reply)}`)
}

export const askLockout = async (ask: Ask): Promise<Answer> => {
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

import { type Json, received } from '../../src/contract/fields.ts'
import { defaultErrorCodes, subscriptionsDefaults } from '../subscriptions/options.ts'
import * as question from './question.ts'
import { type Answer, type Ask, found, type Reply, shown, textOf, Unanswered } from './question.ts'
import * as step from './subscriptions-steps.ts'

const errorCode = (kind: string, reply: Reply): Json => {
  const code = question.codeOf(reply)
  return code === undefined ? {} : { [kind]: code }
}

/** Returns `enabled` as a number. Accepts numbers, booleans and text. */
const flagOf = ({ body }: Reply): number => {
  const enabled = received(body, 'enabled')
  const flag = enabled === 'true' || enabled === 'false' ? enabled === 'true' : (enabled ?? undefined)
  if (Number.isNaN(Number(flag))) throw new Unanswered('enabled is not a number')
  return Number(flag)
}

const patternOf = (decimals: readonly boolean[]): string => {
  if (decimals.every(Boolean)) return subscriptionsDefaults.amountPattern.source
  const counts = decimals.flatMap((accepted, count) => (accepted && count > 0 ? [`\\d{${count}}`] : []))
  if (counts.length === 0) return '^\\d+$'
  return `^\\d+(\\.(?:${counts.join('|')}))${decimals[0] === true ? '?' : ''}$`
}

const MANY_DAYS = 4_000

/** Finds the largest number of days that is accepted, with as few requests as possible. */
const longest = async (accepts: (days: number) => Promise<boolean>): Promise<number | undefined> => {
  const usual = subscriptionsDefaults.maxEnd.days
  let low = 0
  let high: number = usual
  if (await accepts(usual)) {
    if (!(await accepts(usual + 1))) return usual
    if (await accepts(MANY_DAYS)) return undefined
    low = usual + 1
    high = MANY_DAYS
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (await accepts(middle)) low = middle
    else high = middle
  }
  return low
}

const askMaxEnd = async (ask: Ask): Promise<Answer> => {
  const minutes = await step.offset(ask)
  const accepts = async (from: number, days: number): Promise<boolean> => {
    const [start, end] = [from, from + days].map((ahead) => step.dayAfter(ask, ahead, minutes))
    return step.invoiceIn(await step.subscribeWith(ask, `end-${from}-${days}`, { start, end })) !== undefined
  }
  const days = await longest((each) => accepts(step.DAYS_AHEAD, each))
  if (days === undefined) return found({ maxEnd: false }, `${MANY_DAYS} days after the start were accepted`)
  const isFromStart = await accepts(step.DAYS_AHEAD + 1, days)
  const maxEnd = isFromStart ? { from: 'start', days } : { from: 'today', days: days + step.DAYS_AHEAD }
  return found({ maxEnd }, `the last accepted end is ${maxEnd.days} days after ${maxEnd.from}`)
}

/** Returns a function that reads whether a subscription request was accepted. */
const acceptance =
  (option: string, kind?: string) =>
  (reply: Reply): Json => {
    if (step.invoiceIn(reply) !== undefined) return { [option]: 'accept' }
    return { [option]: 'refuse', ...(kind && { errorCodes: errorCode(kind, reply) }) }
  }

const askStatuses = async (ask: Ask): Promise<Answer> => {
  const invalid = await step.invalidRequest(ask)
  if (step.invoiceIn(invalid) !== undefined) throw new Unanswered('an invalid cycle was accepted')
  const unknown = await step.unknownInvoice(ask)
  const second = await question.ifKnown(step.secondCancel(ask))
  const replies = [invalid, unknown, await step.repeatedRequest(ask), ...(second ? [second] : [])]
  const words = `an invalid cycle: ${shown(invalid)}; an unknown id: ${shown(unknown)}`
  if (replies.every((reply) => reply.status === 200)) return found({ errorsAs200: true }, words)
  const validationStatus = question.among([200, 400, 409, 422], invalid.status)
  return found({ validationStatus, errorsAs200: false }, words)
}

const askPaging = async (ask: Ask): Promise<Answer> => {
  const pages = []
  for (const query of ['', 'per_page=1', 'page=2', 'per_page=1000']) pages.push(await step.pageOf(ask, query))
  const [usual = [], one = [], second = [], most = []] = pages
  const ignore = [
    ...(JSON.stringify(second) === JSON.stringify(usual) ? ['page'] : []),
    ...(one.length === usual.length ? ['per_page'] : []),
  ]
  const hasMore = ignore.length > 0 || (await step.pageOf(ask, 'per_page=1000&page=2')).length > 0
  if (usual.length < 2 || second.length === 0 || !hasMore) {
    throw new Unanswered(`the subscription has too few payments to see the largest page: ${most.length}`)
  }
  const paging = { defaultSize: usual.length, maxSize: Math.max(most.length, usual.length), ignore }
  return found({ paging }, `${usual.length} by default, ${most.length} with per_page=1000`)
}

const askVariant = async (ask: Ask): Promise<Answer> => {
  const { reply, pending } = await step.request(ask)
  const details = (await question.ifKnown(step.anyDetails(ask)))?.body ?? {}
  const cancellation = (await question.ifKnown(step.canceled(ask)))?.reply.body
  const payments = ask.config.subscriptionId === undefined ? undefined : question.ifKnown(step.pageOf(ask))
  const payment = Object((await payments)?.[0])
  const reversal: unknown = payment.reverseTransactionAmount
  const enabled = received(details, 'enabled')
  const forms: Readonly<Record<string, boolean>> = {
    'id-casing': !('invoiceID' in reply.body),
    'number-ids': typeof received(reply.body, 'invoiceID') === 'number',
    'text-ids': typeof (cancellation?.id ?? payment.paymentId) === 'string',
    'text-amounts': typeof details.amount === 'string',
    'text-flags': typeof enabled === 'string',
    'boolean-flags': typeof enabled === 'boolean',
    'empty-reversals': reversal === '',
    'zero-reversals': reversal === '0.00',
    'iso-dates': textOf(pending.body, 'createdAt')?.includes('T') === true,
    'number-codes': typeof reply.body.errorCode === 'number',
  }
  const variant = Object.keys(forms).filter((form) => forms[form] === true)
  return found({ variant }, variant.join(', ') || 'casing and types of the specification')
}

const askLimit = async (ask: Ask): Promise<Answer> => {
  let { headers } = await step.login(ask)
  const limit = Number(headers['x-ratelimit-limit'])
  if (!Number.isInteger(limit)) throw new Unanswered('the response has no header X-RateLimit-Limit')
  if (limit >= 1_000_000_000) return found({ rateLimit: false }, `a limit of ${limit}`)
  const restMs = (): number => Number(headers['x-ratelimit-reset']) * 1_000 - Date.parse(headers.date ?? '')
  for (let tries = 0; Number(headers['x-ratelimit-remaining']) !== limit - 1; tries += 1) {
    if (tries === 2 || !(restMs() >= 0)) throw new Unanswered('no call of the probe started a new window')
    await ask.sleep(Math.max(1_000, restMs()))
    headers = (await step.status(ask, step.NOBODYS_INVOICE)).headers
  }
  if (!(restMs() > 0)) throw new Unanswered('the headers do not show the end of the window')
  return found({ rateLimit: { limit, windowMs: restMs() } }, `${limit} calls in ${restMs() / 1_000} s`)
}

const MAX_CALLS = 1_000

const ask429 = async (ask: Ask): Promise<Reply> => {
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const reply = await step.status(ask, step.NOBODYS_INVOICE, {}, { impatient: true })
    if (reply.status === 429) return reply
  }
  throw new Unanswered(`no 429 in ${MAX_CALLS} calls`)
}

/** Logs in in another way. Then logs in as usual, because a success resets the count of failed logins. */
const thenLogin =
  (send: (ask: Ask) => Promise<Reply>) =>
  async (ask: Ask): Promise<Reply> => {
    const reply = await send(ask)
    await ask.login()
    return reply
  }

const refreshed = async (ask: Ask): Promise<Reply> => {
  const { body } = await step.login(ask)
  const fields = { grant_type: 'refresh_token', refresh_token: question.needed(body, 'refresh_token') }
  return ask.login({ ...fields, username: undefined, password: undefined })
}

const askLockout = async (ask: Ask): Promise<Answer> => {
  const { durationSeconds, windowSeconds } = subscriptionsDefaults.lockout
  for (let attempts = 0; attempts <= ask.wrongLogins; attempts += 1) {
    // The last login has the right password, so it resets the count unless the user is locked.
    const reply = await (attempts < ask.wrongLogins ? ask.wrongLogin() : ask.login({}))
    const options = { lockout: { attempts, windowSeconds, durationSeconds } }
    const words = `${attempts} wrong logins locked the user (${shown(reply)}). The window and the duration are the mock's defaults`
    if (reply.status === 403) return found({ ...options, errorCodes: errorCode('locked_out', reply) }, words)
  }
  throw new Unanswered(`${ask.wrongLogins} wrong logins did not lock the user`)
}

const unauthorized = (ask: Ask) => step.status(ask, step.NOBODYS_INVOICE, {}, { auth: 'none' })
const asText = (ask: Ask) => step.status(ask, step.NOBODYS_INVOICE, '{"probe":1}', { type: 'text/plain' })
const withField = (ask: Ask) => step.status(ask, step.NOBODYS_INVOICE, { probe: 1 })
const withoutBody = (ask: Ask) =>
  ask.send({ operation: 'subscriptions.status', path: [step.NOBODYS_INVOICE] })

const readTtl = ({ body }: Reply): Json => {
  const seconds = Number(body.expires_in)
  if (!(seconds > 0)) throw new Unanswered('expires_in is not a number of seconds')
  return { tokenTtl: { seconds } }
}

const readEnvelope = ({ body }: Reply): Json => ({ tokenEnvelope: 'errorCode' in body })

const readNotFound = (reply: Reply): Json => ({
  notFoundStatus: question.among([200, 400, 404], reply.status),
  errorCodes: errorCode('not_found', reply),
})

const readUnauthorized = (reply: Reply): Json => {
  if (reply.status !== 401) throw new Unanswered(`a call without a token got ${shown(reply)}`)
  return { errorCodes: errorCode('unauthorized', reply) }
}

const readContentType = ({ status }: Reply): Json => ({ contentType: status === 415 ? 'json' : 'any' })

const readUnknownFields = async (reply: Reply, ask: Ask): Promise<Json> => ({
  unknownFields: question.sameReply(await step.unknownInvoice(ask), reply) ? 'ignore' : 'refuse',
})

const readRefresh = async ({ body }: Reply, ask: Ask): Promise<Json> => {
  const [before, next] = [(await step.login(ask)).body, body].map((each) => textOf(each, 'refresh_token'))
  if (textOf(body, 'access_token') === undefined) return { refresh: 'reject' }
  return { refresh: next === undefined || next === before ? 'reuse' : 'rotate' }
}

const formLogin = (ask: Ask): Promise<Reply> => ask.login({}, true)

const otherLogin = async (ask: Ask): Promise<Reply> => {
  const { username, password } = ask.config.credentials ?? {}
  return ask.send({ operation: 'subscriptions.login', at: '/auth/login', body: { username, password } })
}

const readFields = ({ status, body }: Reply): string =>
  `${status} with ${Object.keys(body).join(', ') || 'no JSON'}`

const askAmounts = async (ask: Ask): Promise<Answer> => {
  const { decimals } = await step.amounts(ask)
  const accepted = decimals.flatMap((each, count) => (each ? [count] : []))
  return found({ amountPattern: patternOf(decimals) }, `accepted with ${accepted.join(', ')} decimals`)
}

const askPendingId = async (ask: Ask): Promise<Answer> => {
  const id = received((await step.request(ask)).pending.body, 'subscriptionId')
  if (id === null) throw new Unanswered("the mock's option cannot have the value null")
  const pendingSubscriptionId = id === undefined ? 'omit' : id === '' || id === 'NA' ? id : 'issued'
  return found({ pendingSubscriptionId }, id === undefined ? 'no field' : JSON.stringify(id))
}

const askZone = async (ask: Ask): Promise<Answer> => {
  const minutes = await step.offset(ask)
  const words = `createdAt is ${minutes} minutes ahead of Date; in a zone with summer time, this changes during the year`
  return found({ timeZone: step.zoneAt(minutes) }, words)
}

const askErrorCodes = async (ask: Ask): Promise<Answer> => {
  const { errorCode: code } = (await step.request(ask)).reply.body
  const invalid = await step.invalidRequest(ask)
  const foreign = await step.subscribeWith(ask, 'client', { clientID: ask.name('client') })
  const errorCodes = {
    success: code === 0 ? defaultErrorCodes.success : String(code),
    ...(step.invoiceIn(invalid) === undefined && errorCode('invalid', invalid)),
    ...(step.invoiceIn(foreign) === undefined && errorCode('client_mismatch', foreign)),
  }
  return found({ errorCodes }, Object.entries(errorCodes).join('; '))
}

const startInPast = async (ask: Ask): Promise<Reply> =>
  step.subscribeWith(ask, 'past', { start: step.dayAfter(ask, -3, await step.offset(ask)) })

const endBeforeStart = (ask: Ask): Promise<Reply> =>
  step.subscribeWith(ask, 'backwards', { end: step.dayAfter(ask, step.DAYS_AHEAD - 1) })

const otherClient = (ask: Ask): Promise<Reply> =>
  step.subscribeWith(ask, 'other', { clientID: ask.config.otherClientId })

const isDuplicate = acceptance('duplicateRequest', 'duplicate_request')
const isMismatch = acceptance('clientMismatch', 'client_mismatch')

const readDebitTime = ({ body }: Reply): Json => {
  const debitTime = /[ T](\d{2}:\d{2}:\d{2})/.exec(question.needed(body, 'nextPaymentDate'))?.[1]
  if (debitTime === undefined) throw new Unanswered('nextPaymentDate has no time')
  return { debitTime }
}

const askEnabled = async (ask: Ask): Promise<Answer> => {
  const active = flagOf((await step.authorized(ask)).reply)
  const inactive = flagOf((await step.pendingDetails(ask)) ?? (await step.canceledDetails(ask)))
  return found({ enabledValues: { active, inactive } }, `${active} while active, else ${inactive}`)
}

const askCancelDelay = async (ask: Ask): Promise<Answer> => {
  const seconds = await step.processed(ask)
  return found({ cancelDelay: { seconds } }, `PROCESSED after ${seconds} s`)
}

const readSecondCancel = (reply: Reply): Json =>
  textOf(reply.body, 'status') === undefined
    ? { cancelTwice: 'refuse', errorCodes: errorCode('state', reply) }
    : { cancelTwice: 'same' }

const readNextDate = ({ body }: Reply): Json => {
  const next = received(body, 'nextPaymentDate')
  const isDate = typeof next === 'string' && next !== ''
  return { nextPaymentDateAfterEnd: question.among(['null', 'date'], isDate ? 'date' : `${next}`) }
}

const cancellationById = async (ask: Ask): Promise<Reply> =>
  step.call(ask, 'subscriptions.cancellation', question.needed((await step.canceled(ask)).reply.body, 'id'))

const read429 = (reply: Reply): Json => ({
  sendRetryAfter: reply.headers['retry-after'] !== undefined,
  errorCodes: errorCode('rate_limited', reply),
})

const ofLevel = question.questionsOf('subscriptions')
const read = ofLevel('read')
const write = ofLevel('write')
const limit = ofLevel('rate-limit')
const lockout = ofLevel('lockout')
const COUNTS = 'if the server does not support this, it may count a failed login'
const requests = 'a subscription request'

/** The questions to area S. Within a level, they are asked in this order. */
export const subscriptionsQuestions: readonly question.Question[] = [
  read('42', 'rateLimit', 3, 'a login; reads the rate-limit headers', askLimit),
  read('33', 'tokenTtl', 0, 'a login', step.login, readTtl),
  read('50', 'tokenEnvelope', 0, 'a login', step.login, readEnvelope),
  read('49', '', 0, 'a login; reads the names of the headers', step.login, question.requestIds),
  read('40', 'notFoundStatus errorCodes', 1, 'an unknown invoice', step.unknownInvoice, readNotFound),
  read('38', 'errorCodes', 1, 'a read without a token', unauthorized, readUnauthorized),
  read('3', 'contentType', 1, 'a read with the content type text/plain', asText, readContentType),
  read('4', 'unknownFields', 2, 'a read with an unknown field', withField, readUnknownFields),
  read('31', '', 1, 'a read without a body', withoutBody),
  read('41', 'paging', 5, 'pages of payments', askPaging, shown, 'subscriptionId'),
  write('34', 'refresh', 2, `a refresh token; ${COUNTS}`, thenLogin(refreshed), readRefresh),
  write('32', '', 2, `a login as a form; ${COUNTS}`, thenLogin(formLogin)),
  write('36', '', 2, `username and password to /auth/login; ${COUNTS}`, thenLogin(otherLogin), readFields),
  write('19', 'amountPattern', 4, 'four subscription requests with 0 to 3 decimals', askAmounts),
  write('11', 'pendingSubscriptionId', 1, 'the status of a new request', askPendingId),
  write('14', 'timeZone', 0, 'nothing more: compares createdAt with the header Date', askZone),
  write('38', 'errorCodes', 2, 'requests with an invalid cycle and an unknown clientID', askErrorCodes),
  write('16', 'pastStart', 1, `${requests} that starts three days ago`, startInPast, acceptance('pastStart')),
  write('17', '', 1, `${requests} that ends before its start`, endBeforeStart),
  write('18', 'maxEnd', 20, 'up to 20 subscription requests with different ends', askMaxEnd),
  write('20', 'duplicateRequest', 2, 'one requestID twice', step.repeatedRequest, isDuplicate),
  write('21', 'clientMismatch', 1, 'the other clientID', otherClient, isMismatch, 'otherClientId'),
  write('23', 'debitTime', 1, 'the details of a subscription', step.anyDetails, readDebitTime),
  write('12', 'enabledValues', 4, 'the details before and after a person authorizes', askEnabled),
  write('29', '', 0, 'the cancellation of a subscription that is not canceled', step.noCancellation),
  write('27', 'cancelDelay', 62, 'a cancellation, and its status until it is PROCESSED', askCancelDelay),
  write('28', 'cancelTwice errorCodes', 1, 'a second cancellation', step.secondCancel, readSecondCancel),
  write('25', 'nextPaymentDateAfterEnd', 1, 'details when canceled', step.canceledDetails, readNextDate),
  write('30', '', 1, 'a cancellation by its own id', cancellationById),
  write('39', 'validationStatus errorsAs200', 1, `${requests} with an invalid cycle`, askStatuses),
  write('44', 'variant', 1, 'nothing more: reads the casing and the types', askVariant),
  limit('43', 'sendRetryAfter errorCodes', MAX_CALLS, 'reads until a 429', ask429, read429),
  lockout('35', 'lockout errorCodes', 10, 'wrong logins, as many as the flag allows', askLockout),
]

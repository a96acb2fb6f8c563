import type { Json } from '../../src/contract/fields.ts'
import { comparableNumber } from '../gateway/behaviors.ts'
import * as step from './gateway-steps.ts'
import * as question from './question.ts'
import { type Answer, type Ask, found, type Reply, shown, textOf, Unanswered } from './question.ts'

const askNumbers = async (ask: Ask): Promise<Answer> => {
  const testNumbers: Record<string, string> = {}
  const unclear: number[] = []
  for (const [number, named] of (await step.reference(ask)).numbers) {
    const behavior = named ?? (await step.behaviorOf(ask, number)).behavior
    if (behavior === undefined) unclear.push(Object.keys(testNumbers).length + unclear.length + 1)
    else testNumbers[number] = behavior
  }
  return found(
    { testNumbers },
    unclear.length === 0 ? 'all are clear' : `unclear: number ${unclear.join(', ')}`,
  )
}

const askUnlisted = async (ask: Ask): Promise<Answer> => {
  const { numbers } = await step.reference(ask)
  if ([...numbers.keys()].some((each) => comparableNumber(each) === comparableNumber(step.NOBODYS_NUMBER))) {
    throw new Unanswered('the number that should belong to nobody is a test number of this sandbox')
  }
  const reply = await step.otherCharge(ask, 'unlisted', { msisdn: step.NOBODYS_NUMBER })
  if (!step.isCharge(reply)) return found({ unlistedNumbers: 'refuse' }, shown(reply))
  const { behavior } = await step.behaviorOf(ask, step.NOBODYS_NUMBER)
  const options = { unlistedNumbers: 'accept', ...(behavior !== undefined && { defaultBehavior: behavior }) }
  return found(options, `${shown(reply)}; behavior of its charges: ${behavior ?? 'unclear'}`)
}

const askFailedRenewal = async (ask: Ask): Promise<Reply> => {
  const { numbers } = await step.reference(ask)
  for (const [number, named] of numbers) {
    if (named !== undefined && named !== 'succeeds_once') continue
    const { behavior, again } = await step.behaviorOf(ask, number)
    if (behavior === 'succeeds_once' && again !== undefined) return again
  }
  throw new Unanswered('no test number has a renewal that fails')
}

/** Sends two charges at once with one key. */
const askInFlight = async (ask: Ask): Promise<Answer> => {
  await step.pending(ask)
  const replies = await Promise.all([step.charge(ask, 'at-once'), step.charge(ask, 'at-once')])
  const ids = replies.map(({ body }) => textOf(body, 'id'))
  const refused = replies.find((reply) => !step.isCharge(reply))
  const words = replies.map(shown).join(' and ')
  if (refused !== undefined) return found({ keyInFlight: 'conflict' }, words)
  if (ids[0] !== ids[1]) throw new Unanswered(`TWO CHARGES WERE CREATED WITH ONE KEY: ${words}`)
  throw new Unanswered(`one charge: the second call waited, or came after the first (${words})`)
}

const MAX_CODES = 10

const askAttempts = async (ask: Ask): Promise<Answer> => {
  const { id, confirmationId } = await step.opened(ask, 'attempts')
  for (let attempt = 1; attempt <= MAX_CODES; attempt += 1) {
    await step.confirm(ask, confirmationId, await step.wrongCode(ask))
    const { status } = (await step.statusOf(ask, id)).body
    if (status === 'expired')
      return found({ maxOtpAttempts: attempt }, `expired after ${attempt} wrong codes`)
  }
  throw new Unanswered(`the charge was still open after ${MAX_CODES} wrong codes`)
}

const MAX_CALLS = 1_000

/** Returns how many calls were accepted before a 429, and how long after the first call another call is allowed. */
const burst = async (ask: Ask) => {
  const start = ask.now()
  for (let count = 0; count < MAX_CALLS; count += 1) {
    const reply = await ask.send({ operation: 'gateway.health', impatient: true })
    if (reply.status !== 429) continue
    const after = Number(reply.headers['retry-after'])
    if (!(after > 0)) throw new Unanswered('the 429 has no Retry-After in seconds')
    return { limit: count, windowMs: Math.round((ask.now() - start) / 1_000 + after) * 1_000 }
  }
  return undefined
}

const MAX_WAIT_MS = 600_000

const askLimit = async (ask: Ask): Promise<Answer> => {
  let before = await burst(ask)
  if (before === undefined) return found({ rateLimit: false }, `no 429 in ${MAX_CALLS} calls`)
  // Earlier calls may still count. If a longer wait gives the same result, the wait was longer than the window.
  for (let wait = 61_000; wait <= MAX_WAIT_MS; wait *= 2) {
    await ask.sleep(wait)
    const rateLimit = await burst(ask)
    if (rateLimit && rateLimit.limit > 0 && JSON.stringify(rateLimit) === JSON.stringify(before)) {
      return found({ rateLimit }, `${rateLimit.limit} calls in ${rateLimit.windowMs / 1_000} s`)
    }
    before = rateLimit
  }
  throw new Unanswered('the numbers of accepted calls varied, so the limit is not clear')
}

const health = (ask: Ask): Promise<Reply> => ask.send({ operation: 'gateway.health' })

const askReference = async (ask: Ask): Promise<Answer> => {
  const { reply, numbers, unnamed } = await step.reference(ask)
  const otp = textOf(reply.body, 'otp')
  const isNamed = unnamed === 0 && [...numbers].every(([, behavior]) => behavior !== undefined)
  return found(
    { ...(otp !== undefined && { otp }), ...(isNamed && { testNumbers: Object.fromEntries(numbers) }) },
    `${numbers.size} test numbers${isNamed ? '' : ', not all with a behavior that the mock has'}${
      unnamed > 0 ? `; ${unnamed} that are not charged, unless the configuration lists them` : ''
    }`,
  )
}

const unknownAsText = async (ask: Ask): Promise<Reply> =>
  step.confirm(ask, step.NOBODYS_CONFIRMATION, await step.wrongCode(ask), {}, 'text/plain')

const readContentType = ({ status }: Reply): Json => ({ contentType: status === 415 ? 'json' : 'any' })

const unknownField = async (ask: Ask): Promise<Reply> =>
  step.confirm(ask, step.NOBODYS_CONFIRMATION, await step.wrongCode(ask), { probe: 1 })

const readUnknownFields = async (reply: Reply, ask: Ask): Promise<Json> => ({
  unknownFields: question.sameReply(await step.unknownConfirmation(ask), reply) ? 'ignore' : 'refuse',
})

const wrongMethod = (ask: Ask): Promise<Reply> => step.statusOf(ask, 'ch_probe', { method: 'POST' })
const readAllowed = (reply: Reply): string => `${shown(reply)}, Allow: ${reply.headers.allow ?? 'none'}`

const askCodes = async (ask: Ask): Promise<Answer> => {
  const none = await step.statusOf(ask, 'ch_probe', { auth: 'none' })
  const unknown = await step.statusOf(ask, 'ch_probe')
  return found({}, `without a key: ${shown(none)}; an unknown charge: ${shown(unknown)}`)
}

const withoutKey = (ask: Ask): Promise<Reply> => step.charge(ask, undefined)
const newCharge = async (ask: Ask): Promise<Reply> => (await step.pending(ask)).reply
const statusOfCharge = async (ask: Ask): Promise<Reply> => step.statusOf(ask, (await step.pending(ask)).id)

const readFormat = ({ body }: Reply): string =>
  `created_at has the form ${question.needed(body, 'created_at').replace(/\d/g, '9')}`

const readStatus = ({ body }: Reply): Json => ({ statusResponse: 'amount' in body ? 'charge' : 'status' })

const reused = (ask: Ask): Promise<Reply> => step.otherCharge(ask, 'charge', { amount: step.AMOUNT + 1 })

const readReuse = async (reply: Reply, ask: Ask): Promise<Json> => {
  if (!step.isCharge(reply)) return { keyReuse: 'reject' }
  if (textOf(reply.body, 'id') === (await step.pending(ask)).id) return { keyReuse: 'replay' }
  throw new Unanswered('a second charge was created')
}

const redirected = (ask: Ask): Promise<Reply> =>
  step.otherCharge(ask, 'redirect', { redirect_uri: 'https://mandatekit-probe.invalid/' })

const readAllowlist = (reply: Reply, { config: { redirectUri } }: Ask): Json => {
  if (step.isCharge(reply)) return { redirectAllowlist: [] }
  if (redirectUri === undefined) throw new Unanswered(`an allowlist with unknown entries: ${shown(reply)}`)
  return { redirectAllowlist: [redirectUri] }
}

const nothing = (ask: Ask): Promise<Reply> => step.otherCharge(ask, 'nothing', { amount: 0 })
const readRules = (reply: Reply): Json => ({ inputRules: step.isCharge(reply) ? 'types' : 'formats' })

const withOtherKey = async (ask: Ask): Promise<Reply> =>
  step.statusOf(ask, (await step.pending(ask)).id, { auth: 'other' })

const readScope = ({ status }: Reply): Json => {
  if (status === 401) throw new Unanswered('the other API key is not valid')
  return { apiKeyScope: status < 300 ? 'all' : 'own' }
}

const early = async (ask: Ask): Promise<Reply> => step.renew(ask, (await step.pending(ask)).id, 'early')
const confirmed = async (ask: Ask): Promise<Reply> => (await step.paid(ask)).reply

const readConfirmation = (reply: Reply): Json => {
  if (reply.status >= 300) throw new Unanswered(`the correct code got ${shown(reply)}`)
  return { confirmResponse: reply.isEmpty ? 'empty' : 'amount' in reply.body ? 'charge' : 'status' }
}

const confirmedAgain = async (ask: Ask): Promise<Reply> =>
  step.confirm(ask, (await step.paid(ask)).confirmationId, (await step.reference(ask)).otp)

const otherMandate = async (ask: Ask): Promise<Reply> =>
  step.renew(ask, (await step.paid(ask)).id, 'mismatch', 'ch_probe')

const secondRenewal = async (ask: Ask): Promise<Reply> => {
  const { body } = await step.renewal(ask)
  if (body.status !== 'succeeded') throw new Unanswered('the renewal did not succeed')
  return step.renew(ask, question.needed(body, 'id'), 'second-renewal')
}

const readMandates = (reply: Reply): Json => ({ renewalsAsMandates: step.isCharge(reply) })
const readFailure = (reply: Reply): string => `${shown(reply)} with status ${textOf(reply.body, 'status')}`
const reset = (ask: Ask): Promise<Reply> => ask.send({ operation: 'gateway.reset' })
const deleted = (ask: Ask): Promise<Reply> => ask.send({ operation: 'gateway.reset', method: 'DELETE' })

const ofLevel = question.questionsOf('gateway')
const read = ofLevel('read')
const write = ofLevel('write')
const erase = ofLevel('reset')
const limit = ofLevel('rate-limit')
const each = 'a charge, its confirmation and a renewal'

/** The questions to area G. Within a level, they are asked in this order. */
export const gatewayQuestions: readonly question.Question[] = [
  read('79', '', 1, 'health', health),
  read('49', '', 1, 'health; reads the names of the headers', health, question.requestIds),
  read('61', 'otp testNumbers', 1, 'the table of test numbers', askReference),
  read(
    '3',
    'contentType',
    1,
    'a confirmation with an unknown id, sent as text/plain',
    unknownAsText,
    readContentType,
  ),
  read(
    '4',
    'unknownFields',
    2,
    'a confirmation with an unknown id, and one with an unknown field',
    unknownField,
    readUnknownFields,
  ),
  read('65', '', 1, 'the status of an unknown charge with POST', wrongMethod, readAllowed),
  read('70', '', 2, 'reads without a key and of an unknown charge', askCodes),
  write('71', '', 1, 'a charge of a test number without an Idempotency-Key', withoutKey),
  write('81', '', 1, 'a charge of a test number', newCharge, readFormat),
  write('67', 'statusResponse', 1, 'the status of a charge', statusOfCharge, readStatus),
  write('72', 'keyReuse', 1, 'the Idempotency-Key of a charge with another amount', reused, readReuse),
  write('73a', 'keyInFlight', 2, 'two charges at once with one Idempotency-Key', askInFlight),
  write(
    '69',
    'redirectAllowlist',
    2,
    'a redirect_uri that is probably not allowed',
    redirected,
    readAllowlist,
  ),
  write('82', 'inputRules', 1, 'a charge with the amount 0', nothing, readRules),
  write('84', 'apiKeyScope', 1, 'a charge, with the other key', withOtherKey, readScope, 'otherApiKey'),
  write('75', '', 1, 'a renewal of a charge that is not confirmed', early),
  write('66', 'confirmResponse', 2, 'the correct code of a charge', confirmed, readConfirmation),
  write('77', '', 1, 'the correct code again', confirmedAgain),
  write('74', '', 1, 'a renewal with another mandate_id', otherMandate),
  write('75', 'renewalsAsMandates', 2, 'a renewal, and a renewal of it', secondRenewal, readMandates),
  write('77', 'maxOtpAttempts', 21, `up to ${MAX_CODES} wrong codes for one charge`, askAttempts),
  write('61', 'testNumbers', 40, `${each} for each test number whose behavior is not named`, askNumbers),
  write('76', '', 4, `${each} for a test number whose renewals fail`, askFailedRenewal, readFailure),
  write('61', 'unlistedNumbers defaultBehavior', 5, `${each} for a number that nobody has`, askUnlisted),
  erase('68', '', 1, 'a reset, which deletes the charges of the sandbox', reset),
  erase('65', '', 1, 'a reset with DELETE', deleted),
  limit('78', 'rateLimit', 5 * MAX_CALLS, 'health until a 429, with waits of one to eight minutes', askLimit),
]

import { type BehaviorName, behaviors, comparableNumber, isBehaviorName } from '../gateway/behaviors.ts'
import {
  AMOUNT,
  charge,
  confirm,
  isCharge,
  NOBODYS_CONFIRMATION,
  NOBODYS_NUMBER,
  opened,
  paid,
  pending,
  reference,
  renew,
  renewal,
  statusOf,
  unknownConfirmation,
  wrongCode,
} from './gateway-steps.ts'
import {
  type Answer,
  type Ask,
  found,
  needed,
  type Question,
  questionsOf,
  type Reply,
  reported,
  sameReply,
  shown,
  textOf,
  Unanswered,
} from './question.ts'

/** Charges and confirms a number, and returns the behavior that this shows. */
const behaviorOf = async (ask: Ask, msisdn: string): Promise<BehaviorName | undefined> => {
  const name = `number-${comparableNumber(msisdn)}`
  const { id, reply } = await opened(ask, name, { msisdn })
  await confirm(ask, needed(reply.body, 'confirmation_id'), (await reference(ask)).otp)
  const { status } = (await statusOf(ask, id)).body
  if (status === 'succeeded') {
    const again = await renew(ask, id, `renewal-${name}`)
    return again.body.status === 'succeeded' ? 'succeeds' : 'succeeds_once'
  }
  if (status === 'expired') return 'expires'
  // What becomes of pending_retry shows only after a day. The outcome of a failed charge shows in a whole charge.
  if (status !== 'failed') return undefined
  const whole = await renewalOutcome(ask, reply)
  return [...Object.entries(behaviors)].flatMap(([each, { resolution }]) =>
    resolution.event === 'fail' && resolution.outcome === whole && isBehaviorName(each) ? [each] : [],
  )[0]
}

/** Returns the outcome of a charge from its status response. */
const renewalOutcome = async (ask: Ask, { body }: Reply): Promise<unknown> =>
  (await statusOf(ask, needed(body, 'id'))).body.outcome

const askNumbers = async (ask: Ask): Promise<Answer> => {
  const { numbers } = await reference(ask)
  const testNumbers: Record<string, BehaviorName> = {}
  const unclear: number[] = []
  for (const [index, [number, named]] of [...numbers].entries()) {
    const behavior = named ?? (await behaviorOf(ask, number))
    if (behavior === undefined) unclear.push(index + 1)
    else testNumbers[number] = behavior
  }
  const rest = unclear.length === 0 ? '' : `; unclear: the ${unclear.join('th, ')}th of them`
  return found({ testNumbers }, `${numbers.size} test numbers${rest}`)
}

const askUnlisted = async (ask: Ask): Promise<Answer> => {
  const { numbers } = await reference(ask)
  if ([...numbers.keys()].some((each) => comparableNumber(each) === comparableNumber(NOBODYS_NUMBER))) {
    throw new Unanswered('the number that nobody has is a test number here')
  }
  await pending(ask)
  const reply = await charge(ask, 'unlisted', { msisdn: NOBODYS_NUMBER })
  if (!isCharge(reply)) return found({ unlistedNumbers: 'refuse' }, shown(reply))
  const behavior = await behaviorOf(ask, NOBODYS_NUMBER)
  return behavior === undefined
    ? found({ unlistedNumbers: 'accept' }, `${shown(reply)}; what its charges do in the end is unclear`)
    : found({ unlistedNumbers: 'accept', defaultBehavior: behavior }, `${shown(reply)}; ${behavior}`)
}

const MOST_CODES = 10

const askAttempts = async (ask: Ask): Promise<Answer> => {
  const { id, confirmationId } = await opened(ask, 'attempts')
  for (let attempt = 1; attempt <= MOST_CODES; attempt += 1) {
    await confirm(ask, confirmationId, await wrongCode(ask))
    const { status } = (await statusOf(ask, id)).body
    if (status === 'expired')
      return found({ maxOtpAttempts: attempt }, `expired after ${attempt} wrong codes`)
  }
  throw new Unanswered(`the charge was still open after ${MOST_CODES} wrong codes`)
}

const MOST_CALLS = 1_000

/** Returns after how many accepted calls a 429 came, and how long after the first of them the next is allowed. */
const burst = async (ask: Ask) => {
  const times: number[] = []
  while (times.length < MOST_CALLS) {
    const at = ask.now()
    const reply = await ask.send({ operation: 'gateway.health', impatient: true })
    if (reply.status === 429) {
      const after = Number(reply.headers['retry-after'])
      if (!(after > 0)) throw new Unanswered('the 429 has no Retry-After in seconds')
      const windowMs = Math.round((ask.now() + after * 1_000 - (times[0] ?? at)) / 1_000) * 1_000
      return { count: times.length, windowMs }
    }
    times.push(at)
  }
  return undefined
}

const LONGEST_WAIT = 600_000

const askLimit = async (ask: Ask): Promise<Answer> => {
  let before = await burst(ask)
  if (before === undefined) return found({ rateLimit: false }, `no 429 in ${MOST_CALLS} calls`)
  // Earlier calls may still count. After a wait longer than the window, none does, and a longer wait changes nothing.
  for (let wait = 61_000; wait <= LONGEST_WAIT; wait *= 2) {
    await ask.sleep(wait)
    const { count, windowMs }: NonNullable<typeof before> = (await burst(ask)) ?? { count: 0, windowMs: 0 }
    if (count > 0 && count === before.count && windowMs === before.windowMs) {
      return found({ rateLimit: { limit: count, windowMs } }, `${count} calls in ${windowMs / 1_000} s`)
    }
    before = { count, windowMs }
  }
  throw new Unanswered('bursts of calls gave no clear picture of the limit')
}

const question = questionsOf('gateway')
const read = question('read')
const write = question('write')

/** The questions to area G. Within a level they are asked in this order. */
export const gatewayQuestions: readonly Question[] = [
  read('79', '', 1, 'health', async (ask) =>
    reported(shown(await ask.send({ operation: 'gateway.health' }))),
  ),
  read('61', 'otp testNumbers', 1, 'the table of test numbers', async (ask) => {
    const { reply, numbers } = await reference(ask)
    const otp = textOf(reply.body, 'otp')
    const named = [...numbers].every(([, behavior]) => behavior !== undefined)
    return found(
      { ...(otp !== undefined && { otp }), ...(named && { testNumbers: Object.fromEntries(numbers) }) },
      `${numbers.size} test numbers${named ? '' : ', not all with a behavior that the mock has'}`,
    )
  }),
  read('3', 'contentType', 1, 'a wrong code for an unknown confirmation as text/plain', async (ask) => {
    const headers = { 'content-type': 'text/plain' }
    const reply = await confirm(ask, NOBODYS_CONFIRMATION, await wrongCode(ask), {}, headers)
    return found({ contentType: reply.status === 415 ? 'json' : 'any' }, shown(reply))
  }),
  read(
    '4',
    'unknownFields',
    2,
    'a wrong code for an unknown confirmation, with and without an unknown field',
    async (ask) => {
      const usual = await unknownConfirmation(ask)
      const reply = await confirm(ask, NOBODYS_CONFIRMATION, await wrongCode(ask), { probe: 1 })
      return found({ unknownFields: sameReply(usual, reply) ? 'ignore' : 'refuse' }, shown(reply))
    },
  ),
  read('70', '', 2, 'reads without a key and of an unknown charge', async (ask) => {
    const none = await ask.send({ operation: 'gateway.status', path: ['ch_probe'], auth: 'none' })
    const unknown = await statusOf(ask, 'ch_probe')
    return reported(`without a key: ${shown(none)}; an unknown charge: ${shown(unknown)}`)
  }),
  write('71', '', 1, 'a charge of a test number without an Idempotency-Key', async (ask) =>
    reported(shown(await charge(ask, undefined))),
  ),
  write('81', '', 1, 'a charge of a test number', async (ask) => {
    const { reply } = await pending(ask)
    return reported(`created_at has the form ${needed(reply.body, 'created_at').replace(/\d/g, '9')}`)
  }),
  write('67', 'statusResponse', 1, 'the status of a charge', async (ask) => {
    const reply = await statusOf(ask, (await pending(ask)).id)
    const statusResponse = 'amount' in reply.body ? 'charge' : 'status'
    return found({ statusResponse }, `fields: ${Object.keys(reply.body).join(', ')}`)
  }),
  write('72', 'keyReuse', 1, 'the Idempotency-Key of a charge with another amount', async (ask) => {
    const { id } = await pending(ask)
    const reply = await charge(ask, 'charge', { amount: AMOUNT + 1 })
    if (isCharge(reply) && textOf(reply.body, 'id') !== id)
      throw new Unanswered('a second charge was created')
    return found({ keyReuse: isCharge(reply) ? 'replay' : 'reject' }, shown(reply))
  }),
  write('69', 'redirectAllowlist', 2, 'a charge with a redirect_uri that nobody allowed', async (ask) => {
    await pending(ask)
    const reply = await charge(ask, 'redirect', { redirect_uri: 'https://mandatekit-probe.invalid/' })
    const { redirectUri } = ask.config
    if (isCharge(reply)) return found({ redirectAllowlist: [] }, `any address is allowed: ${shown(reply)}`)
    if (redirectUri === undefined) throw new Unanswered(`an allowlist of unknown content: ${shown(reply)}`)
    return found({ redirectAllowlist: [redirectUri] }, `${shown(reply)}; more addresses may be allowed`)
  }),
  write('82', 'inputRules', 1, 'a charge of nothing (amount 0)', async (ask) => {
    await pending(ask)
    const reply = await charge(ask, 'nothing', { amount: 0 })
    return found({ inputRules: isCharge(reply) ? 'types' : 'formats' }, `amount 0: ${shown(reply)}`)
  }),
  write(
    '84',
    'apiKeyScope',
    1,
    'the status of a charge with the other API key',
    async (ask) => {
      const path = [(await pending(ask)).id]
      const reply = await ask.send({ operation: 'gateway.status', path, auth: 'other' })
      if (reply.status === 401) throw new Unanswered('the other API key is not valid')
      return found({ apiKeyScope: reply.status < 300 ? 'all' : 'own' }, shown(reply))
    },
    'otherApiKey',
  ),
  write('75', '', 1, 'a renewal of a charge that is not confirmed', async (ask) =>
    reported(shown(await renew(ask, (await pending(ask)).id, 'early'))),
  ),
  write('66', 'confirmResponse', 2, 'the correct code of a charge', async (ask) => {
    const { reply } = await paid(ask)
    if (reply.status >= 300) throw new Unanswered(`the correct code got ${shown(reply)}`)
    const confirmResponse = reply.isEmpty ? 'empty' : 'amount' in reply.body ? 'charge' : 'status'
    return found(
      { confirmResponse },
      `${shown(reply)} with ${Object.keys(reply.body).join(', ') || 'no body'}`,
    )
  }),
  write('77', '', 1, 'the correct code again', async (ask) => {
    const { confirmationId } = await paid(ask)
    return reported(`again: ${shown(await confirm(ask, confirmationId, (await reference(ask)).otp))}`)
  }),
  write('74', '', 1, 'a renewal with another mandate_id', async (ask) =>
    reported(shown(await renew(ask, (await paid(ask)).id, 'mismatch', 'ch_probe'))),
  ),
  write('75', 'renewalsAsMandates', 2, 'a renewal, and a renewal of this renewal', async (ask) => {
    const first = await renewal(ask)
    if (first.body.status !== 'succeeded') throw new Unanswered('the renewal did not succeed')
    const reply = await renew(ask, needed(first.body, 'id'), 'second-renewal')
    return found({ renewalsAsMandates: isCharge(reply) }, shown(reply))
  }),
  write('77', 'maxOtpAttempts', 21, `up to ${MOST_CODES} wrong codes for one charge`, askAttempts),
  write(
    '61',
    'testNumbers',
    40,
    'a charge, its code and a renewal for each test number whose behavior is not named',
    askNumbers,
  ),
  write(
    '61',
    'unlistedNumbers defaultBehavior',
    5,
    'a charge, its code and a renewal for a number that nobody has',
    askUnlisted,
  ),
  question('reset')('68', '', 1, 'a reset, which deletes the charges of the sandbox', async (ask) =>
    reported(shown(await ask.send({ operation: 'gateway.reset' }))),
  ),
  question('rate-limit')(
    '78',
    'rateLimit',
    5 * MOST_CALLS,
    'health until a 429, several times, with waits of one to eight minutes between',
    askLimit,
  ),
]

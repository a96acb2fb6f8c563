import { isObject, type Json } from '../../src/contract/fields.ts'
import {
  type BehaviorName,
  behaviors,
  comparableNumber,
  isBehaviorName,
} from '../domain/gateway/behaviors.ts'
import { gatewayDefaults } from '../domain/gateway/options.ts'
import {
  type Answer,
  type Ask,
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

const NOBODYS_CONFIRMATION = 'conf_probe'
// +999 is not a country code, so nobody has this number.
const NOBODYS_NUMBER = '+99988877766'
const AMOUNT = 100

interface Reference {
  readonly reply: Reply
  readonly otp: string
  /** The test numbers, with the behavior that the reference names, if the mock has it. */
  readonly numbers: ReadonlyMap<string, BehaviorName | undefined>
}

const NUMBER = /^\+?\d{7,15}$/

/** Reads the test numbers from a table of any form: every object with a number, and a behavior if it names one. */
const numbersIn = (value: unknown, into: Map<string, BehaviorName | undefined>): void => {
  if (Array.isArray(value)) for (const each of value) numbersIn(each, into)
  else if (isObject(value)) {
    const texts = Object.entries(value)
      .flat()
      .filter((each) => typeof each === 'string')
    const number = texts.find((text) => NUMBER.test(text))
    if (number !== undefined) into.set(number, texts.find(isBehaviorName))
    for (const each of Object.values(value)) numbersIn(each, into)
  }
}

const reference = (ask: Ask): Promise<Reference> =>
  ask.shared('reference', async (each) => {
    const reply = await each.send({ operation: 'gateway.reference' })
    const numbers = new Map<string, BehaviorName | undefined>()
    numbersIn(reply.body, numbers)
    for (const number of ask.config.testNumbers ?? []) {
      const known = [...numbers.keys()].some((one) => comparableNumber(one) === comparableNumber(number))
      if (!known) numbers.set(number, undefined)
    }
    return { reply, otp: textOf(reply.body, 'otp') ?? gatewayDefaults.otp, numbers }
  })

/** Returns a test number whose charges succeed, so that nothing is charged to anybody else. */
const goodNumber = async (ask: Ask): Promise<string> => {
  const [configured] = ask.config.testNumbers ?? []
  const { numbers } = await reference(ask)
  const named = [...numbers].find(([, behavior]) => behavior === 'succeeds')?.[0]
  const number = configured ?? named
  if (number === undefined)
    throw new Unanswered('neither the configuration nor the reference has a test number')
  return number
}

const charge = async (ask: Ask, key: string | undefined, changes: Json = {}): Promise<Reply> =>
  ask.send({
    operation: 'gateway.charge',
    ...(key === undefined ? {} : { key }),
    body: {
      msisdn: changes.msisdn ?? (await goodNumber(ask)),
      amount: AMOUNT,
      currency: ask.config.currency ?? 'BDT',
      redirect_uri: ask.config.redirectUri ?? 'https://merchant.example/return',
      ...changes,
    },
  })

const isCharge = ({ body }: Reply): boolean => textOf(body, 'id') !== undefined

/** The id of an accepted charge and that of its confirmation. */
const opened = async (ask: Ask, key: string, changes: Json = {}) => {
  const reply = await charge(ask, key, changes)
  if (!isCharge(reply)) throw new Unanswered(`the charge got ${shown(reply)}`)
  return { reply, id: needed(reply.body, 'id'), confirmationId: needed(reply.body, 'confirmation_id') }
}

const pending = (ask: Ask) => ask.shared('charge', (each) => opened(each, 'charge'))

const confirm = (
  ask: Ask,
  confirmationId: string,
  otp: unknown,
  more: Json = {},
  headers = {},
): Promise<Reply> =>
  ask.send({ operation: 'gateway.confirm', path: [confirmationId], body: { otp, ...more }, headers })

const statusOf = (ask: Ask, id: string): Promise<Reply> =>
  ask.send({ operation: 'gateway.status', path: [id] })

const wrongCode = async (ask: Ask): Promise<string> =>
  (await reference(ask)).otp === '000000' ? '111111' : '000000'

const unknownConfirmation = (ask: Ask): Promise<Reply> =>
  ask.shared('unknown confirmation', async (each) =>
    confirm(each, NOBODYS_CONFIRMATION, await wrongCode(ask)),
  )

const paid = (ask: Ask) =>
  ask.shared('paid charge', async (each) => {
    const { id, confirmationId } = await pending(ask)
    const reply = await confirm(each, confirmationId, (await reference(ask)).otp)
    const after = await statusOf(each, id)
    return { id, confirmationId, reply, after, isPaid: after.body.status === 'succeeded' }
  })

const renew = (ask: Ask, id: string, key: string, mandate = id): Promise<Reply> =>
  ask.send({ operation: 'gateway.renew', path: [id], key, body: { mandate_id: mandate } })

const renewal = (ask: Ask): Promise<Reply> =>
  ask.shared('renewal', async (each) => {
    const { id, isPaid } = await paid(ask)
    if (!isPaid) throw new Unanswered('the test number has no charge that succeeds')
    return renew(each, id, 'renewal')
  })

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

/** Returns after how many accepted calls a 429 came, and when, and for how long it asks to wait. */
const burst = async (ask: Ask) => {
  const times: number[] = []
  while (times.length < MOST_CALLS) {
    const at = ask.now()
    const reply = await ask.send({ operation: 'gateway.health', impatient: true })
    if (reply.status === 429) {
      const after = Number(reply.headers['retry-after'])
      if (!(after > 0)) throw new Unanswered('the 429 has no Retry-After in seconds')
      return { count: times.length, startedAt: times[0] ?? at, freeAt: ask.now() + after * 1_000 }
    }
    times.push(at)
  }
  return undefined
}

const askLimit = async (ask: Ask): Promise<Answer> => {
  const startedAt = ask.now()
  const first = await burst(ask)
  if (first === undefined) return found({ rateLimit: false }, `no 429 in ${MOST_CALLS} calls`)
  // How many earlier calls still count is not known: after this wait, none does.
  const longest = Math.max(first.freeAt - startedAt, first.freeAt - ask.now())
  await ask.sleep(longest + 60_000)
  const second = await burst(ask)
  if (second === undefined || second.count === 0) throw new Unanswered('the limit gave no clear picture')
  const windowMs = Math.round((second.freeAt - second.startedAt) / 1_000) * 1_000
  return found(
    { rateLimit: { limit: second.count, windowMs } },
    `${second.count} calls in ${windowMs / 1_000} s`,
  )
}

const area = 'gateway'
const read = { area, level: 'read' } as const
const write = { area, level: 'write' } as const

/** The questions to area G. Within a level they are asked in this order. */
export const gatewayQuestions: readonly Question[] = [
  {
    ...read,
    row: '79',
    option: [],
    costs: 1,
    sends: 'health',
    ask: async (ask) => reported(shown(await ask.send({ operation: 'gateway.health' }))),
  },
  {
    ...read,
    row: '61',
    option: ['otp', 'testNumbers'],
    costs: 1,
    sends: 'the table of test numbers',
    async ask(ask) {
      const { reply, numbers } = await reference(ask)
      const otp = textOf(reply.body, 'otp')
      const named = [...numbers].every(([, behavior]) => behavior !== undefined)
      return found(
        { ...(otp !== undefined && { otp }), ...(named && { testNumbers: Object.fromEntries(numbers) }) },
        `${numbers.size} test numbers${named ? '' : ', not all with a behavior that the mock has'}`,
      )
    },
  },
  {
    ...read,
    row: '3',
    option: ['contentType'],
    costs: 1,
    sends: 'a wrong code for an unknown confirmation as text/plain',
    async ask(ask) {
      const headers = { 'content-type': 'text/plain' }
      const reply = await confirm(ask, NOBODYS_CONFIRMATION, await wrongCode(ask), {}, headers)
      return found({ contentType: reply.status === 415 ? 'json' : 'any' }, shown(reply))
    },
  },
  {
    ...read,
    row: '4',
    option: ['unknownFields'],
    costs: 2,
    sends: 'a wrong code for an unknown confirmation, with and without an unknown field',
    async ask(ask) {
      const usual = await unknownConfirmation(ask)
      const reply = await confirm(ask, NOBODYS_CONFIRMATION, await wrongCode(ask), { probe: 1 })
      return found({ unknownFields: sameReply(usual, reply) ? 'ignore' : 'refuse' }, shown(reply))
    },
  },
  {
    ...read,
    row: '70',
    option: [],
    costs: 2,
    sends: 'reads without a key and of an unknown charge',
    async ask(ask) {
      const none = await ask.send({ operation: 'gateway.status', path: ['ch_probe'], auth: 'none' })
      const unknown = await statusOf(ask, 'ch_probe')
      return reported(`without a key: ${shown(none)}; an unknown charge: ${shown(unknown)}`)
    },
  },
  {
    ...write,
    row: '71',
    option: [],
    costs: 1,
    sends: 'a charge of a test number without an Idempotency-Key',
    ask: async (ask) => reported(shown(await charge(ask, undefined))),
  },
  {
    ...write,
    row: '81',
    option: [],
    costs: 1,
    sends: 'a charge of a test number',
    async ask(ask) {
      const { reply } = await pending(ask)
      return reported(`created_at has the form ${needed(reply.body, 'created_at').replace(/\d/g, '9')}`)
    },
  },
  {
    ...write,
    row: '67',
    option: ['statusAnswer'],
    costs: 1,
    sends: 'the status of a charge',
    async ask(ask) {
      const reply = await statusOf(ask, (await pending(ask)).id)
      const statusAnswer = 'amount' in reply.body ? 'charge' : 'status'
      return found({ statusAnswer }, `fields: ${Object.keys(reply.body).join(', ')}`)
    },
  },
  {
    ...write,
    row: '72',
    option: ['keyReuse'],
    costs: 1,
    sends: 'the Idempotency-Key of a charge with another amount',
    async ask(ask) {
      const { id } = await pending(ask)
      const reply = await charge(ask, 'charge', { amount: AMOUNT + 1 })
      if (isCharge(reply) && textOf(reply.body, 'id') !== id)
        throw new Unanswered('a second charge was created')
      return found({ keyReuse: isCharge(reply) ? 'replay' : 'reject' }, shown(reply))
    },
  },
  {
    ...write,
    row: '69',
    option: ['redirectAllowlist'],
    costs: 2,
    sends: 'a charge with a redirect_uri that nobody allowed',
    async ask(ask) {
      await pending(ask)
      const reply = await charge(ask, 'redirect', { redirect_uri: 'https://mandatekit-probe.invalid/' })
      const { redirectUri } = ask.config
      if (isCharge(reply)) return found({ redirectAllowlist: [] }, `any address is allowed: ${shown(reply)}`)
      if (redirectUri === undefined) throw new Unanswered(`an allowlist of unknown content: ${shown(reply)}`)
      return found({ redirectAllowlist: [redirectUri] }, `${shown(reply)}; more addresses may be allowed`)
    },
  },
  {
    ...write,
    row: '82',
    option: ['inputRules'],
    costs: 1,
    sends: 'a charge of nothing (amount 0)',
    async ask(ask) {
      await pending(ask)
      const reply = await charge(ask, 'nothing', { amount: 0 })
      return found({ inputRules: isCharge(reply) ? 'types' : 'formats' }, `amount 0: ${shown(reply)}`)
    },
  },
  {
    ...write,
    row: '84',
    option: ['apiKeyScope'],
    costs: 1,
    needs: ['otherApiKey'],
    sends: 'the status of a charge with the other API key',
    async ask(ask) {
      const path = [(await pending(ask)).id]
      const reply = await ask.send({ operation: 'gateway.status', path, auth: 'other' })
      if (reply.status === 401) throw new Unanswered('the other API key is not valid')
      return found({ apiKeyScope: reply.status < 300 ? 'all' : 'own' }, shown(reply))
    },
  },
  {
    ...write,
    row: '75',
    option: [],
    costs: 1,
    sends: 'a renewal of a charge that is not confirmed',
    ask: async (ask) => reported(shown(await renew(ask, (await pending(ask)).id, 'early'))),
  },
  {
    ...write,
    row: '66',
    option: ['confirmAnswer'],
    costs: 2,
    sends: 'the correct code of a charge',
    async ask(ask) {
      const { reply } = await paid(ask)
      if (reply.status >= 300) throw new Unanswered(`the correct code got ${shown(reply)}`)
      const confirmAnswer = reply.isEmpty ? 'empty' : 'amount' in reply.body ? 'charge' : 'status'
      return found(
        { confirmAnswer },
        `${shown(reply)} with ${Object.keys(reply.body).join(', ') || 'no body'}`,
      )
    },
  },
  {
    ...write,
    row: '77',
    option: [],
    costs: 1,
    sends: 'the correct code again',
    async ask(ask) {
      const { confirmationId } = await paid(ask)
      return reported(`again: ${shown(await confirm(ask, confirmationId, (await reference(ask)).otp))}`)
    },
  },
  {
    ...write,
    row: '74',
    option: [],
    costs: 1,
    sends: 'a renewal with another mandate_id',
    ask: async (ask) => reported(shown(await renew(ask, (await paid(ask)).id, 'mismatch', 'ch_probe'))),
  },
  {
    ...write,
    row: '75',
    option: ['renewalsAsMandates'],
    costs: 2,
    sends: 'a renewal, and a renewal of this renewal',
    async ask(ask) {
      const first = await renewal(ask)
      if (first.body.status !== 'succeeded') throw new Unanswered('the renewal did not succeed')
      const reply = await renew(ask, needed(first.body, 'id'), 'second-renewal')
      return found({ renewalsAsMandates: isCharge(reply) }, shown(reply))
    },
  },
  {
    ...write,
    row: '77',
    option: ['maxOtpAttempts'],
    costs: 21,
    sends: `up to ${MOST_CODES} wrong codes for one charge`,
    ask: askAttempts,
  },
  {
    ...write,
    row: '61',
    option: ['testNumbers'],
    costs: 40,
    sends: 'a charge, its code and a renewal for each test number whose behavior is not named',
    ask: askNumbers,
  },
  {
    ...write,
    row: '61',
    option: ['unlistedNumbers', 'defaultBehavior'],
    costs: 5,
    sends: 'a charge, its code and a renewal for a number that nobody has',
    ask: askUnlisted,
  },
  {
    area,
    level: 'reset',
    row: '68',
    option: [],
    costs: 1,
    sends: 'a reset, which deletes the charges of the sandbox',
    ask: async (ask) => reported(shown(await ask.send({ operation: 'gateway.reset' }))),
  },
  {
    area,
    level: 'rate-limit',
    row: '78',
    option: ['rateLimit'],
    costs: 2 * MOST_CALLS,
    sends: 'health until a 429, a wait until no call counts, and health until a 429',
    ask: askLimit,
  },
]

import { isObject, type Json } from '../../src/contract/fields.ts'
import { type BehaviorName, comparableNumber, isBehaviorName } from '../gateway/behaviors.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import { type Ask, needed, type Reply, shown, textOf, Unanswered } from './question.ts'

// What the questions to area G send. Several questions share a step: it is done once in a session.

export const NOBODYS_CONFIRMATION = 'conf_probe'
// +999 is not a country code, so nobody has this number.
export const NOBODYS_NUMBER = '+99988877766'
export const AMOUNT = 100

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

export const reference = (ask: Ask): Promise<Reference> =>
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

export const charge = async (ask: Ask, key: string | undefined, changes: Json = {}): Promise<Reply> =>
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

export const isCharge = ({ body }: Reply): boolean => textOf(body, 'id') !== undefined

/** The id of an accepted charge and that of its confirmation. */
export const opened = async (ask: Ask, key: string, changes: Json = {}) => {
  const reply = await charge(ask, key, changes)
  if (!isCharge(reply)) throw new Unanswered(`the charge got ${shown(reply)}`)
  return { reply, id: needed(reply.body, 'id'), confirmationId: needed(reply.body, 'confirmation_id') }
}

export const pending = (ask: Ask) => ask.shared('charge', (each) => opened(each, 'charge'))

export const confirm = (
  ask: Ask,
  confirmationId: string,
  otp: unknown,
  more: Json = {},
  headers = {},
): Promise<Reply> =>
  ask.send({ operation: 'gateway.confirm', path: [confirmationId], body: { otp, ...more }, headers })

export const statusOf = (ask: Ask, id: string): Promise<Reply> =>
  ask.send({ operation: 'gateway.status', path: [id] })

export const wrongCode = async (ask: Ask): Promise<string> =>
  (await reference(ask)).otp === '000000' ? '111111' : '000000'

export const unknownConfirmation = (ask: Ask): Promise<Reply> =>
  ask.shared('unknown confirmation', async (each) =>
    confirm(each, NOBODYS_CONFIRMATION, await wrongCode(ask)),
  )

export const paid = (ask: Ask) =>
  ask.shared('paid charge', async (each) => {
    const { id, confirmationId } = await pending(ask)
    const reply = await confirm(each, confirmationId, (await reference(ask)).otp)
    const after = await statusOf(each, id)
    return { id, confirmationId, reply, after, isPaid: after.body.status === 'succeeded' }
  })

export const renew = (ask: Ask, id: string, key: string, mandate = id): Promise<Reply> =>
  ask.send({ operation: 'gateway.renew', path: [id], key, body: { mandate_id: mandate } })

export const renewal = (ask: Ask): Promise<Reply> =>
  ask.shared('renewal', async (each) => {
    const { id, isPaid } = await paid(ask)
    if (!isPaid) throw new Unanswered('the test number has no charge that succeeds')
    return renew(each, id, 'renewal')
  })

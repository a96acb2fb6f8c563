import { isObject, type Json } from '../../src/contract/fields.ts'
import { type BehaviorName, behaviors, comparableNumber, isBehaviorName } from '../gateway/behaviors.ts'
import { gatewayDefaults } from '../gateway/options.ts'
import { type Ask, needed, once, type Reply, shown, textOf, Unanswered } from './question.ts'

// The requests of the questions to area G. Several questions can share a step, which a session does once.

export const NOBODYS_CONFIRMATION = 'conf_probe'
// +999 is not a country code, so nobody has this number.
export const NOBODYS_NUMBER = '+99988877766'
export const AMOUNT = 100
// The code is removed from recordings, so it must not look like a part of a time, such as 000000.
const WRONG_CODE = '908172'

const NUMBER = /^\+?\d{7,15}$/

type Numbers = Map<string, BehaviorName | undefined>

/** Reads the test numbers from a table of any form: each object's phone number and, if it names one, the behavior. */
const numbersIn = (value: unknown, into: Numbers): void => {
  if (typeof value !== 'object' || value === null) return
  const texts = Object.entries(value)
    .flat()
    .filter((each) => typeof each === 'string')
  const number = texts.find((text) => NUMBER.test(text))
  if (number !== undefined && isObject(value)) into.set(number, texts.find(isBehaviorName))
  for (const each of Object.values(value)) numbersIn(each, into)
}

/** The one-time code and the test numbers. A number has a behavior if the reference names one that the mock has. */
export const reference = once('reference', async (ask) => {
  const reply = await ask.send({ operation: 'gateway.reference' })
  const numbers: Numbers = new Map()
  numbersIn(reply.body, numbers)
  const configured = ask.config.testNumbers ?? []
  const isIn = (list: Iterable<string>, number: string): boolean =>
    [...list].some((one) => comparableNumber(one) === comparableNumber(number))
  // A number without a behavior may belong to a person, so it is charged only if the configuration lists it.
  const unnamed = [...numbers].filter(([number, named]) => named === undefined && !isIn(configured, number))
  for (const [number] of unnamed) numbers.delete(number)
  for (const number of configured) if (!isIn(numbers.keys(), number)) numbers.set(number, undefined)
  return { reply, otp: textOf(reply.body, 'otp') ?? gatewayDefaults.otp, numbers, unnamed: unnamed.length }
})

/** Returns a test number whose charges succeed, so that no real payer is charged. */
const goodNumber = async (ask: Ask): Promise<string> => {
  const { numbers } = await reference(ask)
  const number = ask.config.testNumbers?.[0] ?? [...numbers].find(([, name]) => name === 'succeeds')?.[0]
  if (number !== undefined) return number
  throw new Unanswered('neither the configuration nor the reference has a test number')
}

export const charge = async (ask: Ask, key: string | undefined, changes: Json = {}): Promise<Reply> => {
  const body = {
    msisdn: changes.msisdn ?? (await goodNumber(ask)),
    amount: AMOUNT,
    currency: ask.config.currency ?? 'BDT',
    redirect_uri: ask.config.redirectUri ?? 'https://merchant.example/return',
    ...changes,
  }
  return ask.send({ operation: 'gateway.charge', key, body })
}

/** Charges with changed fields, after a charge without changes was accepted. */
export const otherCharge = async (ask: Ask, key: string, changes: Json): Promise<Reply> => {
  await pending(ask)
  return charge(ask, key, changes)
}

export const isCharge = ({ body }: Reply): boolean => textOf(body, 'id') !== undefined

/** Charges, and returns the ids of the charge and of its confirmation. */
export const opened = async (ask: Ask, key: string, changes: Json = {}) => {
  const reply = await charge(ask, key, changes)
  if (!isCharge(reply)) throw new Unanswered(`the charge got ${shown(reply)}`)
  return { reply, id: needed(reply.body, 'id'), confirmationId: needed(reply.body, 'confirmation_id') }
}

export const pending = once('charge', (ask) => opened(ask, 'charge'))

export const confirm = (ask: Ask, id: string, otp: string, more: Json = {}, type = 'application/json') =>
  ask.send({ operation: 'gateway.confirm', path: [id], body: { otp, ...more }, type })

export const statusOf = (ask: Ask, id: string, more = {}): Promise<Reply> =>
  ask.send({ operation: 'gateway.status', path: [id], ...more })

export const wrongCode = async (ask: Ask): Promise<string> =>
  (await reference(ask)).otp === WRONG_CODE ? '271809' : WRONG_CODE

export const unknownConfirmation = once('unknown confirmation', async (ask) =>
  confirm(ask, NOBODYS_CONFIRMATION, await wrongCode(ask)),
)

export const paid = once('paid charge', async (ask) => {
  const { id, confirmationId } = await pending(ask)
  const reply = await confirm(ask, confirmationId, (await reference(ask)).otp)
  return { id, confirmationId, reply, isPaid: (await statusOf(ask, id)).body.status === 'succeeded' }
})

export const renew = (ask: Ask, id: string, key: string, mandate = id): Promise<Reply> =>
  ask.send({ operation: 'gateway.renew', path: [id], key, body: { mandate_id: mandate } })

export const renewal = once('renewal', async (ask) => {
  const { id, isPaid } = await paid(ask)
  if (!isPaid) throw new Unanswered('the test number has no charge that succeeds')
  return renew(ask, id, 'renewal')
})

/** Charges, confirms and renews a number. Returns the number's behavior, and the response to the renewal. */
export const behaviorOf = (
  ask: Ask,
  msisdn: string,
): Promise<{ readonly behavior?: BehaviorName; readonly again?: Reply }> =>
  ask.shared(`number ${comparableNumber(msisdn)}`, async (each) => {
    const name = `number-${comparableNumber(msisdn)}`
    const { id, confirmationId } = await opened(each, name, { msisdn })
    await confirm(each, confirmationId, (await reference(ask)).otp)
    const { status, outcome } = (await statusOf(each, id)).body
    if (status === 'succeeded') {
      const again = await renew(each, id, `renewal-${name}`)
      return { behavior: again.body.status === 'succeeded' ? 'succeeds' : 'succeeds_once', again }
    }
    if (status === 'expired') return { behavior: 'expires' }
    // pending_retry ends only after a day. A failed charge shows its outcome if the response is a whole charge.
    const behavior = Object.entries(behaviors).find(
      ([, { resolution }]) => resolution.event === 'fail' && resolution.outcome === outcome,
    )?.[0]
    return status === 'failed' && behavior !== undefined && isBehaviorName(behavior) ? { behavior } : {}
  })

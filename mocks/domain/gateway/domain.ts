import type { Rules } from '../check-options.ts'
import { toMilliseconds } from '../duration.ts'
import type { Refusal, Result } from '../result.ts'
import { accepted, refused } from '../result.ts'
import type { BehaviorName } from './behaviors.ts'
import { behaviors, comparableNumber, isBehaviorName, testNumber } from './behaviors.ts'
import type { ChargeMoment, ChargeRecord } from './charges.ts'
import { chargeBody, listedCharge, maskedNumber, momentOf } from './charges.ts'
import { createAllowlist, readCharge, readKey, readMandateId, readOtp } from './check-request.ts'
import type { LedgerParts } from './ledger.ts'
import { createLedger } from './ledger.ts'
import type { GatewayOptions } from './options.ts'
import { gatewayOptions } from './options.ts'
import { createKeyStore, keyScope, readEvents } from './state.ts'
import type { ChargeBody, GatewayDomain, Keyed, TestNumber } from './types.ts'

/** What `createGatewayDomain` is given. */
export interface GatewayParts extends Omit<LedgerParts, 'options'> {
  /** `strict` turns on the restrictions that the specification does not state. */
  readonly rules?: Rules
  readonly options?: Partial<GatewayOptions> | undefined
}

// One object for every wrong code: nothing in it can tell one number, code or charge from another.
const INCORRECT_CODE: Result<never> = Object.freeze(
  refused('incorrect_code', 'The code is not correct.', {
    explanation: 'The otp differs from the option gateway.otp.',
  }),
)

const notFound = (what: string): Result<never> => refused('not_found', `No such ${what}.`)

const alreadyResolved = (charge: ChargeRecord): Result<never> =>
  charge.status === 'expired'
    ? refused('charge_expired', 'The charge has expired.')
    : refused('already_confirmed', 'The charge has been confirmed already.')

const notActive = (explanation: string): Result<never> =>
  refused('mandate_not_active', 'The mandate is not active.', { explanation })

const keyed = (moment: ChargeMoment, replayed: boolean): Result<Keyed<ChargeBody>> =>
  accepted({ body: chargeBody(moment.charge, moment), replayed })

/**
 * Area G: charges, confirmations, renewals, events and idempotency keys, on a timeline that is given.
 * Throws a TypeError or RangeError when an option cannot be: an unknown behavior, a seed or allowlist entry that is none.
 */
export const createGatewayDomain = (parts: GatewayParts): GatewayDomain => {
  const { timeline } = parts
  const options = gatewayOptions(parts.rules ?? 'spec', parts.options)
  const credentials = new Map(options.apiKeys.map((key, index) => [key, `key-${index + 1}`]))
  const isAllowed = createAllowlist(options.redirectAllowlist)
  const listed = new Map(
    Object.entries(options.testNumbers).map(([msisdn, name]) => [comparableNumber(msisdn), { msisdn, name }]),
  )
  const ledger = createLedger({ ...parts, options })
  const keyTtl = options.keyTtl === false ? false : toMilliseconds(options.keyTtl)
  const keys = createKeyStore(() => ledger.transactions().keys, keyTtl, timeline.now)

  const reference = (): readonly TestNumber[] => {
    const rows = new Map<string, { msisdn: string; name: BehaviorName }>(listed)
    for (const [number, name] of ledger.lasting().behaviors) {
      rows.set(number, { msisdn: rows.get(number)?.msisdn ?? `+${number}`, name })
    }
    return [...rows.values()].map(({ msisdn, name }) => testNumber(msisdn, name))
  }

  const isListed = (msisdn: string): boolean => {
    const number = comparableNumber(msisdn)
    return listed.has(number) || ledger.lasting().behaviors.has(number)
  }

  const confirmationOf = (id: string): ChargeRecord | undefined => ledger.transactions().confirmations.get(id)

  return {
    authenticate(key) {
      timeline.settle()
      const credential = key === undefined ? undefined : credentials.get(key)
      if (credential !== undefined) return accepted({ credential })
      return refused('unauthorized', 'The API key is missing or wrong.', {
        explanation: 'The bearer key is none of the option gateway.apiKeys.',
      })
    },
    reference: () => ({ otp: options.otp, test_numbers: reference() }),
    charge(credential, givenKey, fields) {
      timeline.settle()
      const key = readKey(givenKey)
      if (!key.ok) return key
      const wanted = readCharge(fields, options)
      if (!wanted.ok) return wanted
      const scope = keyScope(credential, 'charge', '', key.value)
      const first = keys.find(scope)
      if (first !== undefined) {
        const { msisdn, amount, currency, redirectUri } = first.charge
        const same =
          msisdn === wanted.value.msisdn &&
          amount === wanted.value.amount &&
          currency === wanted.value.currency &&
          redirectUri === wanted.value.redirectUri
        return same || options.keyReuse === 'replay' ? keyed(first, true) : KEY_REUSED
      }
      if (options.unlistedNumbers === 'refuse' && !isListed(wanted.value.msisdn)) return UNLISTED
      if (!isAllowed(wanted.value.redirectUri)) return REDIRECT_NOT_ALLOWED
      const moment = momentOf(ledger.open(wanted.value, key.value))
      keys.store(scope, moment)
      return keyed(moment, false)
    },
    confirm(confirmationId, fields) {
      timeline.settle()
      const otp = readOtp(fields, options)
      if (!otp.ok) return otp
      const charge = confirmationOf(confirmationId)
      if (otp.value !== options.otp) {
        if (charge !== undefined) ledger.countWrongCode(charge)
        return INCORRECT_CODE
      }
      if (charge === undefined) return notFound('confirmation')
      return ledger.confirm(charge) ? accepted(chargeBody(charge)) : alreadyResolved(charge)
    },
    status(id) {
      timeline.settle()
      const charge = ledger.transactions().charges.get(id)
      return charge === undefined ? notFound('charge') : accepted(chargeBody(charge))
    },
    renew(credential, givenKey, id, fields) {
      timeline.settle()
      const key = readKey(givenKey)
      if (!key.ok) return key
      const mandateId = readMandateId(id, fields, options)
      if (!mandateId.ok) return mandateId
      const scope = keyScope(credential, 'renew', id, key.value)
      const first = keys.find(scope)
      if (first !== undefined) return keyed(first, true)
      const mandate = ledger.transactions().charges.get(id)
      if (mandate === undefined) return notFound('charge')
      if (mandate.status !== 'succeeded') return notActive(`The charge is ${mandate.status}, not succeeded.`)
      if (mandate.mandateId !== undefined && !options.renewalsAsMandates) return RENEWAL_OF_RENEWAL
      const moment = momentOf(ledger.renew(mandate, key.value))
      keys.store(scope, moment)
      return keyed(moment, false)
    },
    reset() {
      timeline.settle()
      ledger.clear()
    },
    confirmation(confirmationId) {
      timeline.settle()
      const charge = confirmationOf(confirmationId)
      if (charge === undefined) return notFound('confirmation')
      return accepted({
        confirmationId,
        maskedMsisdn: maskedNumber(charge.msisdn),
        amount: charge.amount,
        currency: charge.currency,
        status: charge.status,
        redirectUri: charge.redirectUri,
      })
    },
    setBehavior(msisdn, behavior) {
      timeline.settle()
      if (!isBehaviorName(behavior)) return { ok: false, refusal: unknownBehavior(behavior) }
      ledger.lasting().behaviors.set(comparableNumber(msisdn), behavior)
      return accepted(undefined)
    },
    restart: ledger.restart,
    charges() {
      timeline.settle()
      return ledger.inOrder().map((charge) => chargeBody(charge))
    },
    chargeList: {
      bounds() {
        timeline.settle()
        return { first: 0, end: ledger.inOrder().length }
      },
      read: (from, to) => ledger.inOrder().slice(from, to).map(listedCharge),
    },
    events() {
      timeline.settle()
      return readEvents(ledger.transactions().events, ledger.lasting().clearedEvents)
    },
    snapshot() {
      timeline.settle()
      return ledger.snapshot()
    },
    restore: ledger.restore,
  }
}

const unknownBehavior = (name: string): Refusal => ({
  reason: 'invalid',
  message: `There is no behavior ${JSON.stringify(name)}; there are ${Object.keys(behaviors).join(', ')}.`,
})

const KEY_REUSED = refused('idempotency_key_reused', 'The Idempotency-Key was used with another body.', {
  explanation: 'Option gateway.keyReuse is "reject".',
})
const UNLISTED = refused('invalid', 'msisdn is not a test number.', {
  field: 'msisdn',
  explanation: 'Option gateway.unlistedNumbers is "refuse", and the number is neither listed nor set.',
})
const REDIRECT_NOT_ALLOWED = refused('redirect_uri_not_allowed', 'redirect_uri is not allowed.', {
  field: 'redirect_uri',
  explanation: 'Option gateway.redirectAllowlist does not allow it.',
})
const RENEWAL_OF_RENEWAL = notActive(
  'The charge is a renewal, and option gateway.renewalsAsMandates is false.',
)

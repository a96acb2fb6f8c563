import { toMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Fields, Result } from '../result.ts'
import { accepted, refused } from '../result.ts'
import type { Timeline } from '../timeline.ts'
import type { BehaviorName } from './behaviors.ts'
import { behaviors, comparableNumber, isBehaviorName, testNumber } from './behaviors.ts'
import type { ChargeMoment, ChargeRecord } from './charges.ts'
import { chargeBody, listedCharge, maskedNumber } from './charges.ts'
import { createAllowlist, readCharge, readKey, readText } from './check-request.ts'
import { createLedger } from './ledger.ts'
import type { GatewayOptions } from './options.ts'
import { createKeyStore, keyScope, readEvents } from './state.ts'
import type { ChargeBody, ConfirmationView, GatewayEvent, Keyed } from './types.ts'

// Every wrong code gets this refusal, so a caller learns nothing about phone numbers, codes or charges.
const INCORRECT_CODE: Result<never> = Object.freeze(
  refused('incorrect_code', 'The code is not correct.', {
    explanation: 'The otp differs from the option gateway.otp.',
  }),
)

const notFound = (what: string): Result<never> => refused('not_found', `No such ${what}.`)

const alreadyResolved = (charge: ChargeRecord): Result<never> =>
  charge.status === 'expired'
    ? refused('charge_expired', 'The charge has expired.')
    : refused('already_confirmed', 'The charge is already confirmed.')

const notActive = (explanation: string): Result<never> =>
  refused('mandate_not_active', 'The mandate is not active.', { explanation })

const unknownBehavior = (name: string): Result<never> =>
  refused(
    'invalid',
    `Unknown behavior ${JSON.stringify(name)}. Behaviors: ${Object.keys(behaviors).join(', ')}.`,
  )

const MANDATE_MISMATCH = refused('mandate_mismatch', 'mandate_id differs from the charge in the path.', {
  field: 'mandate_id',
})
const KEY_REUSED = refused('idempotency_key_reused', 'The Idempotency-Key was used with another body.', {
  explanation: 'Option gateway.keyReuse is "reject".',
})
const UNLISTED = refused('invalid', 'msisdn is not a test number.', {
  field: 'msisdn',
  explanation: 'Option gateway.unlistedNumbers is "refuse", and the number has no behavior.',
})
const REDIRECT_NOT_ALLOWED = refused('redirect_uri_not_allowed', 'redirect_uri is not allowed.', {
  field: 'redirect_uri',
  explanation: 'Option gateway.redirectAllowlist does not allow this address.',
})
const RENEWAL_OF_RENEWAL = notActive(
  'The charge is a renewal, and option gateway.renewalsAsMandates is false.',
)

const keyed = (moment: ChargeMoment, replayed: boolean): Result<Keyed<ChargeBody>> =>
  accepted({ body: chargeBody(moment.charge, moment), replayed })

/** The gateway (area G) of a mock. Every operation first runs the events that are due, such as retries. */
export type GatewayDomain = ReturnType<typeof createGatewayDomain>

/** Creates the gateway (area G): charges, confirmations, renewals, events and idempotency keys. */
export const createGatewayDomain = (parts: {
  readonly timeline: Timeline
  readonly ids: Pick<Ids, 'text'>
  readonly options: GatewayOptions
  /** Returns the base URL of the gateway's pages. Every `confirmation_url` begins with it. */
  readonly baseUrl: () => string
}) => {
  const { timeline, options } = parts
  const credentials = new Map(options.apiKeys.map((key, index) => [key, `key-${index + 1}`]))
  const isAllowed = createAllowlist(options.redirectAllowlist)
  const listed = new Map(
    Object.entries(options.testNumbers).map(([msisdn, name]) => [comparableNumber(msisdn), { msisdn, name }]),
  )
  const ledger = createLedger(parts)
  const keyTtl = options.keyTtl === false ? false : toMilliseconds(options.keyTtl)
  const keys = createKeyStore(() => ledger.transactions().keys, keyTtl, timeline.now)

  const reference = () => {
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

  const execute = (scope: string, charge: ChargeRecord): Result<Keyed<ChargeBody>> => {
    const moment = { charge, status: charge.status, outcome: charge.outcome }
    keys.store(scope, moment)
    return keyed(moment, false)
  }

  const confirmationOf = (id: string): ChargeRecord | undefined => ledger.transactions().confirmations.get(id)

  return {
    /** Checks that the bearer key is a configured API key. */
    authenticate(key: string | undefined): Result<{ readonly credential: string }> {
      timeline.settle()
      const credential = key === undefined ? undefined : credentials.get(key)
      if (credential !== undefined) return accepted({ credential })
      return refused('unauthorized', 'The API key is missing or wrong.', {
        explanation: 'The bearer key is not in option gateway.apiKeys.',
      })
    },
    reference: () => ({ otp: options.otp, test_numbers: reference() }),
    charge(credential: string, givenKey: string | undefined, fields: Fields): Result<Keyed<ChargeBody>> {
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
      return execute(scope, ledger.open(wanted.value, key.value))
    },
    confirm(confirmationId: string, fields: Fields): Result<ChargeBody> {
      timeline.settle()
      const otp = readText('otp', fields, options)
      if (!otp.ok) return otp
      const charge = confirmationOf(confirmationId)
      if (otp.value !== options.otp) {
        if (charge !== undefined) ledger.countWrongCode(charge)
        return INCORRECT_CODE
      }
      if (charge === undefined) return notFound('confirmation')
      return ledger.confirm(charge) ? accepted(chargeBody(charge)) : alreadyResolved(charge)
    },
    status(id: string): Result<ChargeBody> {
      timeline.settle()
      const charge = ledger.transactions().charges.get(id)
      return charge === undefined ? notFound('charge') : accepted(chargeBody(charge))
    },
    renew(
      credential: string,
      givenKey: string | undefined,
      id: string,
      fields: Fields,
    ): Result<Keyed<ChargeBody>> {
      timeline.settle()
      const key = readKey(givenKey)
      if (!key.ok) return key
      const mandateId = readText('mandate_id', fields, options)
      if (!mandateId.ok) return mandateId
      if (mandateId.value !== id) return MANDATE_MISMATCH
      const scope = keyScope(credential, 'renew', id, key.value)
      const first = keys.find(scope)
      if (first !== undefined) return keyed(first, true)
      const mandate = ledger.transactions().charges.get(id)
      if (mandate === undefined) return notFound('charge')
      if (mandate.status !== 'succeeded') return notActive(`The charge is ${mandate.status}, not succeeded.`)
      if (mandate.mandateId !== undefined && !options.renewalsAsMandates) return RENEWAL_OF_RENEWAL
      return execute(scope, ledger.renew(mandate, key.value))
    },
    /** Clears charges, events and idempotency keys. Keeps the behaviors, the rate limit and the allowlist. */
    reset(): void {
      timeline.settle()
      ledger.clear()
    },
    /** Returns the data of the page on which the payer enters the one-time code. */
    confirmation(confirmationId: string): Result<ConfirmationView> {
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
    setBehavior(msisdn: string, behavior: string): Result<void> {
      timeline.settle()
      if (!isBehaviorName(behavior)) return unknownBehavior(behavior)
      ledger.lasting().behaviors.set(comparableNumber(msisdn), behavior)
      return accepted(undefined)
    },
    /** Clears the whole state, including the state that `reset` keeps, and then adds the seeded charges. */
    restart: ledger.restart,
    /** Returns every charge, oldest first. */
    charges(): readonly ChargeBody[] {
      timeline.settle()
      return ledger.inOrder().map((charge) => chargeBody(charge))
    },
    chargeList: {
      bounds() {
        timeline.settle()
        return { first: 0, end: ledger.inOrder().length }
      },
      read: (from: number, to: number) => ledger.inOrder().slice(from, to).map(listedCharge),
    },
    /** Returns the events, oldest first. */
    events(): readonly GatewayEvent[] {
      timeline.settle()
      return readEvents(ledger.transactions().events, ledger.lasting().clearedEvents)
    },
    snapshot(): unknown {
      timeline.settle()
      return ledger.snapshot()
    },
    restore: ledger.restore,
  }
}

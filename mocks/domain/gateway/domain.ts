import { toMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import { accepted, type Fields, type Result, refused } from '../result.ts'
import { withParameter } from '../return-address.ts'
import type { Timeline } from '../timeline.ts'
import { type BehaviorName, behaviors, comparableNumber, isBehaviorName, testNumber } from './behaviors.ts'
import { type ChargeMoment, type ChargeRecord, chargeBody, listedCharge, maskedNumber } from './charges.ts'
import { createAllowlist, readCharge, readText } from './check-request.ts'
import { createLedger } from './ledger.ts'
import type { GatewayOptions } from './options.ts'
import { createKeyStore, credentialOf, type KeyUse, keyScope, readEvents } from './state.ts'
import type { ChargeBody, ConfirmationView, GatewayEvent, Keyed } from './types.ts'

// A wrong code gets this refusal even if the charge does not exist, so a caller cannot find out which charges exist.
const INCORRECT_CODE: Result<never> = Object.freeze(
  refused('incorrect_code', 'The code is not correct.', {
    explanation: 'The otp differs from the option gateway.otp.',
  }),
)

const notFound = (what: string, explanation?: string): Result<never> =>
  refused('not_found', `No such ${what}.`, explanation === undefined ? {} : { explanation })

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
const KEY_MISSING = refused('missing_idempotency_key', 'The Idempotency-Key header is required.')
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

/** Returns whether a body has the values of the original request. The body of a renewal has only `mandate_id`. */
const isSameBody = (
  { mandateId, msisdn, amount, currency, redirectUri }: ChargeRecord,
  fields: Fields,
): boolean =>
  mandateId === undefined
    ? fields.msisdn === msisdn &&
      fields.amount === amount &&
      fields.currency === currency &&
      fields.redirect_uri === redirectUri
    : fields.mandate_id === mandateId

const keyed = (moment: ChargeMoment, replayed: boolean): Result<Keyed<ChargeBody>> =>
  accepted({ body: chargeBody(moment.charge, moment), replayed })

/** The gateway (area G) of a mock. Every operation first runs the events that are due, such as retries. */
export type GatewayDomain = ReturnType<typeof createGatewayDomain>

/** Creates the gateway (area G): charges, confirmations, renewals, events and idempotency keys. */
export const createGatewayDomain = (parts: {
  readonly timeline: Timeline
  readonly ids: Pick<Ids, 'text'>
  readonly options: GatewayOptions
  /** Returns the base URL of the gateway's pages: the start of every `confirmation_url`. */
  readonly baseUrl: () => string
}) => {
  const { timeline, options } = parts
  const credentials = new Map(options.apiKeys.map((key) => [key, credentialOf(key)]))
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

  /** Refuses a charge that does not exist or, under `apiKeyScope: 'own'`, belongs to another API key (row 84). */
  const owned = (
    charge: ChargeRecord | undefined,
    what: string,
    credential?: string,
  ): Result<ChargeRecord> => {
    if (charge === undefined) return notFound(what)
    if (options.apiKeyScope === 'all' || credential === undefined || charge.credential === credential) {
      return accepted(charge)
    }
    return notFound(what, 'Another API key created the charge, and option gateway.apiKeyScope is "own".')
  }

  const execute = (use: KeyUse, charge: ChargeRecord): Result<Keyed<ChargeBody>> => {
    const moment = { charge, status: charge.status, outcome: charge.outcome }
    keys.store(keyScope(use), moment)
    return keyed(moment, false)
  }

  const chargeOf = (id: string, credential?: string) =>
    owned(ledger.transactions().charges.get(id), 'charge', credential)
  const confirmationOf = (id: string, credential?: string) =>
    owned(ledger.transactions().confirmations.get(id), 'confirmation', credential)

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
    /**
     * Returns the original result of a used idempotency key (G rule 1), or `undefined` for a new key. Refuses a missing
     * key (row 71) and, under `keyReuse: 'reject'`, a used key with another body (row 72).
     */
    original(use: KeyUse, fields: Fields): Result<Keyed<ChargeBody>> | undefined {
      timeline.settle()
      if (use.key.trim() === '') return KEY_MISSING
      const first = keys.find(keyScope(use))
      if (first === undefined) return undefined
      return options.keyReuse === 'replay' || isSameBody(first.charge, fields)
        ? keyed(first, true)
        : KEY_REUSED
    },
    /** Creates a charge. Call `original` first. */
    charge(use: KeyUse, fields: Fields): Result<Keyed<ChargeBody>> {
      timeline.settle()
      const wanted = readCharge(fields, options)
      if (!wanted.ok) return wanted
      if (options.unlistedNumbers === 'refuse' && !isListed(wanted.value.msisdn)) return UNLISTED
      if (!isAllowed(wanted.value.redirectUri)) return REDIRECT_NOT_ALLOWED
      return execute(use, ledger.open(wanted.value, use))
    },
    /** Confirms a charge. `credential` is the API key of the call, or undefined for an action of the payer. */
    confirm(confirmationId: string, fields: Fields, credential?: string): Result<ChargeBody> {
      timeline.settle()
      const otp = readText('otp', fields, options)
      if (!otp.ok) return otp
      const charge = confirmationOf(confirmationId, credential)
      if (otp.value !== options.otp) {
        if (charge.ok) ledger.countWrongCode(charge.value)
        return INCORRECT_CODE
      }
      if (!charge.ok) return charge
      return ledger.confirm(charge.value) ? accepted(chargeBody(charge.value)) : alreadyResolved(charge.value)
    },
    status(id: string, credential?: string): Result<ChargeBody> {
      timeline.settle()
      const charge = chargeOf(id, credential)
      return charge.ok ? accepted(chargeBody(charge.value)) : charge
    },
    /** Renews a mandate (a succeeded charge). The path contains the mandate's id. Call `original` first. */
    renew(use: KeyUse, fields: Fields): Result<Keyed<ChargeBody>> {
      timeline.settle()
      const mandateId = readText('mandate_id', fields, options)
      if (!mandateId.ok) return mandateId
      if (mandateId.value !== use.pathId) return MANDATE_MISMATCH
      const found = chargeOf(use.pathId, use.credential)
      if (!found.ok) return found
      const mandate = found.value
      if (mandate.status !== 'succeeded') return notActive(`The charge is ${mandate.status}, not succeeded.`)
      if (mandate.mandateId !== undefined && !options.renewalsAsMandates) return RENEWAL_OF_RENEWAL
      return execute(use, ledger.renew(mandate, use))
    },
    /**
     * Clears charges, events and idempotency keys; with `apiKeyScope: 'own'`, only those of the API key. Behaviors,
     * the rate limit and the allowlist stay unchanged.
     */
    reset(credential: string): void {
      timeline.settle()
      if (options.apiKeyScope === 'all') ledger.clear()
      else ledger.clearOf(credential)
    },
    /** Returns the data of the page on which the payer enters the one-time code. */
    confirmation(confirmationId: string): Result<ConfirmationView> {
      timeline.settle()
      const found = confirmationOf(confirmationId)
      if (!found.ok) return found
      const charge = found.value
      const { returnParameter: name } = options
      return accepted({
        confirmationId,
        maskedMsisdn: maskedNumber(charge.msisdn),
        amount: charge.amount,
        currency: charge.currency,
        status: charge.status,
        returnUrl: name === false ? charge.redirectUri : withParameter(charge.redirectUri, name, charge.id),
      })
    },
    /** Finds a charge by the charge id or confirmation id in the path, and returns the payer's phone number. */
    related({ id = '', confirmationId = '' }: Readonly<Record<string, string>>): {
      readonly msisdn?: string
    } {
      const { charges, confirmations } = ledger.transactions()
      const charge = charges.get(id) ?? confirmations.get(confirmationId)
      return charge === undefined ? {} : { msisdn: charge.msisdn }
    },
    setBehavior(msisdn: string, behavior: string): Result<void> {
      timeline.settle()
      if (!isBehaviorName(behavior)) return unknownBehavior(behavior)
      ledger.lasting().behaviors.set(comparableNumber(msisdn), behavior)
      return accepted(undefined)
    },
    /** Clears the whole state, including the behaviors that `reset` keeps, and adds the seeded charges again. */
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
      return readEvents(ledger.transactions(), ledger.lasting().clearedEvents)
    },
    snapshot(): unknown {
      timeline.settle()
      return ledger.snapshot()
    },
    restore: ledger.restore,
  }
}

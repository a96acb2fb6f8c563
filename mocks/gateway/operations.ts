import { isAbsoluteUrl } from '../../src/contract/formats.ts'
import { fingerprint } from '../base/ids.ts'
import { type Fields, invalid, ok, type Result, refused } from '../base/result.ts'
import { type BehaviorName, behaviors, comparableNumber, isBehaviorName, testNumber } from './behaviors.ts'
import type { GatewayOptions } from './options.ts'
import type {
  ChargeBody,
  ChargeEventType,
  ChargeFields,
  ChargeRecord,
  GatewayCall,
  GatewayContext,
  LimitContext,
} from './state.ts'
import {
  chargeBody,
  createLedger,
  dueSteps,
  EXPIRED,
  firstStep,
  keepKey,
  lengthOf,
  newGatewayState,
} from './state.ts'
import { type ConfirmationView, confirmationView, createReader } from './views.ts'

const reject = (reason: Parameters<typeof refused>[0], message: string, explanation?: string) =>
  refused(reason, message, explanation === undefined ? {} : { explanation })

// A country code never starts with 0, and a number has at most 15 digits with its country code (ITU-T E.164).
export const MOBILE_NUMBER = /^\+?[1-9]\d{1,14}$/
const FEWEST_DIGITS = /\d{7}/
const EXPIRY =
  'Options gateway.confirmationTtl, gateway.maxOtpAttempts and gateway.testNumbers let charges expire.'

const CHARGE_FIELDS = ['msisdn', 'amount', 'currency', 'redirect_uri'] as const

/** Refuses the value of a field. Explains a field with a similar name, such as `redirectUri`. */
const wrong = (fields: Fields, name: string, rule: string): Result<never> => {
  const bare = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '')
  const similar = Object.keys(fields).find((key) => key !== name && bare(key) === bare(name))
  return invalid(name, `${name} ${rule}`, similar && `The body has ${similar}. Send ${name}.`)
}

/** Creates the checks of the option `inputRules: 'formats'` (row 82). */
const createFormatCheck = () => {
  const currencies = new Set(Intl.supportedValuesOf('currency'))
  return ({ msisdn, amount, currency }: ChargeFields): Result<never> | undefined => {
    const explanation = 'Option gateway.inputRules is "formats".'
    if (!FEWEST_DIGITS.test(msisdn)) {
      return invalid('msisdn', 'msisdn must have at least 7 digits.', explanation)
    }
    if (amount <= 0) return invalid('amount', 'amount must be greater than zero.', explanation)
    if (currencies.has(currency)) return undefined
    return invalid('currency', 'currency must be an ISO 4217 code.', explanation)
  }
}

/** Returns whether an allowlist entry allows an address: same scheme, same host, and the same or a deeper path. */
const allows = (entry: URL, address: URL): boolean => {
  if (address.protocol !== entry.protocol || address.host !== entry.host) return false
  const folder = entry.pathname.endsWith('/') ? entry.pathname : `${entry.pathname}/`
  return address.pathname === entry.pathname || address.pathname.startsWith(folder)
}

/** Returns the first field whose value differs from the original request. A renewal has only `mandate_id`. */
const differingField = (charge: ChargeRecord, fields: Fields): string | undefined => {
  const compared = charge.mandate_id === undefined ? CHARGE_FIELDS : (['mandate_id'] as const)
  return compared.find((name) => fields[name] !== charge[name])
}

/** Creates the checks of request bodies, with the rules of G1 and of the options. */
const createBodyChecks = (options: GatewayOptions) => {
  const formatProblem = options.inputRules === 'formats' ? createFormatCheck() : undefined
  const refusesUnknown = options.unknownFields === 'refuse'

  const unknownField = (fields: Fields, known: readonly string[]): Result<never> | undefined => {
    const name = Object.keys(fields).find((key) => !known.includes(key))
    if (name === undefined) return undefined
    return invalid(name, 'The request has an unknown field.', 'Option gateway.unknownFields is "refuse".')
  }

  return {
    /** Reads the body of a charge. */
    readCharge(fields: Fields): Result<ChargeFields> {
      const { msisdn, amount, currency, redirect_uri } = fields
      if (typeof msisdn !== 'string' || !MOBILE_NUMBER.test(msisdn)) {
        return wrong(fields, 'msisdn', 'must be a string with a number in international format.')
      }
      if (Number.isInteger(amount) && !Number.isSafeInteger(amount)) {
        return wrong(fields, 'amount', 'exceeds the largest safe integer.')
      }
      if (typeof amount !== 'number' || !Number.isInteger(amount)) {
        return wrong(fields, 'amount', 'must be an integer.')
      }
      if (typeof currency !== 'string' || currency.trim() === '') {
        return wrong(fields, 'currency', 'must be a string with a currency code.')
      }
      if (typeof redirect_uri !== 'string' || !isAbsoluteUrl(redirect_uri)) {
        return wrong(fields, 'redirect_uri', "must be an absolute URL that the payer's browser can open.")
      }
      const charge = { msisdn, amount, currency, redirect_uri }
      const problem = refusesUnknown ? unknownField(fields, CHARGE_FIELDS) : undefined
      return problem ?? formatProblem?.(charge) ?? ok(charge)
    },
    /** Reads the body of a confirmation or renewal, which has one string field. */
    readText(name: 'otp' | 'mandate_id', fields: Fields): Result<string> {
      const value = fields[name]
      if (typeof value !== 'string') return wrong(fields, name, 'must be a string.')
      return (refusesUnknown ? unknownField(fields, [name]) : undefined) ?? ok(value)
    },
  }
}

const UNLIMITED = { allowed: true, limit: 0 }

/**
 * Creates a limit with a rolling window (Limits, area G). It accepts at most `limit` calls in any period of `windowMs`
 * milliseconds, for all routes and callers together. Refused calls do not count.
 */
export const createRollingLimit =
  (rolling: GatewayOptions['rateLimit'], { state, now, isOff }: LimitContext) =>
  ({ counts }: { readonly counts: boolean }) => {
    if (rolling === false || isOff?.() === true) return UNLIMITED
    const { limit, windowMs } = rolling
    const times = state.limits.gateway
    const time = now()
    // After the clock is set back, the times of earlier calls can be in the future. These calls must not count.
    while ((times.at(-1) ?? time) > time) times.pop()
    while ((times[0] ?? time) <= time - windowMs) times.shift()
    const allowed = times.length < limit
    if (allowed && counts) times.push(time)
    return { allowed, limit, retryIn: (times[0] ?? time) + windowMs - time }
  }

/** The gateway (area G) of a mock. */
export type Gateway = ReturnType<typeof createGateway>

/** Creates the gateway (area G): charges, confirmations, renewals, events and idempotency keys. */
export const createGateway = (context: GatewayContext) => {
  const { state, options } = context
  const { now } = context.agenda
  const { standing, listed, ownBehavior, resultOf, notePayment, record, enter, resolve, keep, add, freeze } =
    createLedger(context)
  const keyTtl = lengthOf(options.keyTtl)
  const credentials = new Map(options.apiKeys.map((key) => [key, fingerprint(key)]))
  const { readCharge, readText } = createBodyChecks(options)
  const allowlist = options.redirectAllowlist.map((entry) => new URL(entry))

  /** Keeps the first step of a new charge as the result of its idempotency key. */
  const begin = (call: GatewayCall, charge: ChargeRecord, type: ChargeEventType): Result<ChargeBody> => {
    const step = record(charge, type, charge.standing)
    keepKey(state.gateway, call, step)
    return ok(chargeBody(charge, step))
  }

  /** Finds a charge that exists and, under `apiKeyScope: 'own'`, belongs to the caller's API key (row 84). */
  const find = (name: 'id' | 'confirmation_id', id: string, credential?: string): Result<ChargeRecord> => {
    const isId = name === 'id'
    const message = isId ? 'No such charge.' : 'No such confirmation.'
    const charge = state.gateway.byId.get(id)
    if (charge === undefined) return reject('not_found', message)
    if (options.apiKeyScope === 'all' || credential === undefined || charge.credential === credential) {
      if (charge[name] === id) return ok(charge)
      const [sent, wanted] = isId ? ['confirmation_id', 'id'] : ['id', 'confirmation_id']
      return reject(
        'not_found',
        message,
        `This is the ${sent} of a charge. Send the ${wanted} of the charge.`,
      )
    }
    const explanation = 'Another API key created the charge, and option gateway.apiKeyScope is "own".'
    return reject('not_found', message, explanation)
  }

  return {
    /** Adds the charges of the option `charges`. */
    seed(): void {
      const { charges, byId } = state.gateway
      for (const given of options.charges) {
        const charge = add(given, fingerprint(options.apiKeys[0] ?? ''))
        enter(charge, charge.standing, charge.createdAt)
        if (byId.size === 2 * charges.length) continue
        const ids = `${charge.id} or ${charge.confirmation_id}`
        throw new TypeError(`gateway.charges must not contain two charges with the identifier ${ids}`)
      }
    },
    freeze,
    /** Checks that the bearer key is a configured API key. */
    authenticate(key: string | undefined): Result<{ readonly credential: string }> {
      const credential = key === undefined ? undefined : credentials.get(key)
      if (credential !== undefined) return ok({ credential })
      const explanation =
        key === undefined
          ? 'The request has no API key. Send the header Authorization: Bearer with a key of the option gateway.apiKeys.'
          : 'The option gateway.apiKeys does not contain the API key of the request.'
      return reject('unauthorized', 'The API key is missing or wrong.', explanation)
    },
    reference() {
      const rows = new Map(listed)
      for (const [number, name] of state.gateway.behaviors) {
        rows.set(number, { msisdn: rows.get(number)?.msisdn ?? `+${number}`, name })
      }
      const numbers = [...rows.values()].map(({ msisdn, name }) => testNumber(msisdn, name))
      return { otp: options.otp, test_numbers: numbers }
    },
    /**
     * Returns the original result of a used idempotency key (G rule 1), or `undefined` for a new key. Refuses a missing
     * key (row 71) and, under `keyReuse: 'reject'`, a used key with another body (row 72).
     */
    findReplay(
      call: GatewayCall,
    ): Result<{ readonly body: ChargeBody; readonly explanation?: string }> | undefined {
      if (call.idempotencyKey.trim() === '') {
        return reject('missing_idempotency_key', 'The Idempotency-Key header is required.')
      }
      const first = firstStep(state.gateway, call)
      if (first === undefined || first.at + keyTtl <= now()) return undefined
      const other = differingField(first.charge, call.fields)
      const body = chargeBody(first.charge, first)
      if (other === undefined) return ok({ body })
      const explanation = `The first request had another ${other}.`
      if (options.keyReuse === 'replay') {
        const advice = 'To create another charge, send a new Idempotency-Key.'
        return ok({ body, explanation: `${explanation} ${advice}` })
      }
      return reject(
        'idempotency_key_reused',
        'The Idempotency-Key was used with another body.',
        `${explanation} Send a new key, or the first body again. Option gateway.keyReuse is "reject".`,
      )
    },
    /** Creates a charge, which waits for its one-time code. Call `findReplay` first. */
    charge(call: GatewayCall): Result<ChargeBody> {
      const wanted = readCharge(call.fields)
      if (!wanted.ok) return wanted
      const { msisdn, redirect_uri } = wanted.value
      if (options.unlistedNumbers === 'refuse' && ownBehavior(msisdn) === undefined) {
        const explanation = 'Option gateway.unlistedNumbers is "refuse", and the number has no behavior.'
        return invalid('msisdn', 'msisdn is not a test number: the route reference lists them.', explanation)
      }
      // An empty list allows every address (row 69).
      if (allowlist.length > 0 && !allowlist.some((entry) => allows(entry, new URL(redirect_uri)))) {
        return refused('redirect_uri_not_allowed', 'redirect_uri is not allowed.', {
          field: 'redirect_uri',
          explanation: 'Option gateway.redirectAllowlist does not allow this address.',
        })
      }
      const { amount, currency } = wanted.value
      const given = { msisdn, amount, currency, redirect_uri, status: 'pending_confirmation' } as const
      const charge = add(given, call.caller.credential, call.idempotencyKey)
      const result = begin(call, charge, 'charge.created')
      enter(charge, charge.standing, charge.createdAt)
      return result
    },
    /** Confirms a charge, with the result of `behavior` or of its number. A payer's action has no `credential`. */
    confirm(id: string, fields: Fields, credential?: string, behavior?: BehaviorName): Result<ChargeBody> {
      const otp = readText('otp', fields)
      if (!otp.ok) return otp
      const found = find('confirmation_id', id, credential)
      const status = found.ok ? standing(found.value).status : undefined
      const isPending = found.ok && status === 'pending_confirmation'
      if (otp.value !== options.otp) {
        if (isPending && options.maxOtpAttempts !== false) {
          found.value.wrongCodes += 1
          if (found.value.wrongCodes >= options.maxOtpAttempts) resolve(found.value, EXPIRED)
        }
        // The response is the same if no charge exists, so a caller cannot find out which charges exist.
        const mistake = found.ok ? undefined : found.refusal.explanation
        const explanation = ['The otp differs from the option gateway.otp.', mistake]
          .filter(Boolean)
          .join(' ')
        return reject('incorrect_code', 'The code is not correct.', explanation)
      }
      if (!found.ok) return found
      const charge = found.value
      if (status === 'expired') return reject('charge_expired', 'The charge has expired.', EXPIRY)
      if (!isPending) return reject('already_confirmed', 'The charge is already confirmed.')
      record(charge, 'charge.confirmed', charge.standing)
      resolve(charge, resultOf(charge, behavior), behavior)
      return ok(chargeBody(charge, charge.standing))
    },
    status(id: string, credential?: string): Result<ChargeBody> {
      const found = find('id', id, credential)
      return found.ok ? ok(chargeBody(found.value, standing(found.value))) : found
    },
    /**
     * Renews a mandate, a succeeded charge whose id is `id`. The renewal needs no code and has its result at once (G
     * rule 3). Call `findReplay` first.
     */
    renew(call: GatewayCall & { readonly parameters: { readonly id: string } }): Result<ChargeBody> {
      const { id } = call.parameters
      const { credential } = call.caller
      const mandateId = readText('mandate_id', call.fields)
      if (!mandateId.ok) return mandateId
      if (mandateId.value !== id) {
        const message = 'mandate_id differs from the charge in the path.'
        return refused('mandate_mismatch', message, { field: 'mandate_id' })
      }
      const found = find('id', id, credential)
      if (!found.ok) return found
      const mandate = found.value
      const { status } = standing(mandate)
      const inactive = (explanation: string) =>
        reject('mandate_not_active', 'The mandate is not active.', explanation)
      if (status !== 'succeeded') return inactive(`The charge is ${status}, not succeeded.`)
      if (mandate.mandate_id !== undefined && !options.renewalsAsMandates) {
        return inactive('The charge is a renewal, and option gateway.renewalsAsMandates is false.')
      }
      const outcome = resultOf(mandate)
      const { msisdn, amount, currency, redirect_uri } = mandate
      const renewal = { msisdn, amount, currency, redirect_uri, mandate_id: id, ...outcome }
      const charge = add(renewal, credential, call.idempotencyKey)
      const result = begin(call, charge, 'charge.renewed')
      resolve(charge, outcome)
      return result
    },
    /**
     * Deletes charges, events and idempotency keys; with `apiKeyScope: 'own'`, only those of the API key. Behaviors,
     * the rate limit and the allowlist stay unchanged.
     */
    reset(credential: string): void {
      const isOwn = options.apiKeyScope === 'own'
      if (isOwn) freeze()
      const current = state.gateway
      const { charges, keys, steps, frozen, behaviors, clearedEvents } = current
      const eventCount = steps.length + dueSteps(current, now()).length
      Object.assign(current, newGatewayState(), { behaviors, clearedEvents: clearedEvents + eventCount })
      if (!isOwn) return
      // The events of the deleted charges stay in the list, because the other events keep their ids.
      Object.assign(current, { keys, steps, frozen, clearedEvents })
      keys.delete(credential)
      const isKept = (charge: ChargeRecord): boolean => charge.credential !== credential
      for (const charge of charges.filter(isKept)) {
        keep(charge)
        notePayment(charge)
      }
    },
    /** Returns the data of the page on which the payer enters the one-time code. */
    confirmation(confirmationId: string): Result<ConfirmationView> {
      const found = find('confirmation_id', confirmationId)
      if (!found.ok) return found
      return ok(confirmationView(found.value, standing(found.value), options.returnParameter))
    },
    /** Finds a charge by the charge id or confirmation id in the path, and returns the payer's phone number. */
    correlationFields({ id = '', confirmationId = '' }: Readonly<Record<string, string>>): {
      readonly msisdn?: string
    } {
      const found = [find('id', id), find('confirmation_id', confirmationId)].find(({ ok }) => ok)
      return found?.ok ? { msisdn: found.value.msisdn } : {}
    },
    setBehavior(msisdn: string, behavior: string): Result<void> {
      if (isBehaviorName(behavior)) {
        state.gateway.behaviors.set(comparableNumber(msisdn), behavior)
        return ok(undefined)
      }
      const names = Object.keys(behaviors).join(', ')
      return reject('invalid', `Unknown behavior ${JSON.stringify(behavior)}. Behaviors: ${names}.`)
    },
    ...createReader(context),
  }
}

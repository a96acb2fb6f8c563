import { type Duration, toInstantMilliseconds, toMilliseconds } from '../domain/duration.ts'
import { fingerprint, type Ids } from '../domain/ids.ts'
import { accepted, type Fields, invalid, type Result, refused } from '../domain/result.ts'
import type { Timeline } from '../domain/timeline.ts'
import type { Behavior, BehaviorName, Resolution } from './behaviors.ts'
import { behaviors, comparableNumber, isBehaviorName, testNumber } from './behaviors.ts'
import { type GatewayOptions, outcomeOf, type SeedCharge } from './options.ts'
import { createAllowlist, createBodyChecks, differingField } from './requests.ts'
import type {
  Change,
  ChargeEventType,
  ChargeRecord,
  GatewayState,
  IdempotencyScope,
  Standing,
  Step,
} from './state.ts'
import { newGatewayState, statusAfter } from './state.ts'
import type { ChargeBody, ConfirmationView, GatewayEvent, ListedCharge } from './views.ts'
import { chargeBody, confirmationView, eventsBy, listedCharge, standingAt, stepsBy } from './views.ts'

const reject = (reason: Parameters<typeof refused>[0], message: string, explanation?: string) =>
  refused(reason, message, explanation === undefined ? {} : { explanation })

/** Converts a duration to milliseconds, and `false` to infinity. */
const lengthOf = (duration: Duration | false): number =>
  duration === false ? Number.POSITIVE_INFINITY : toMilliseconds(duration)

type Resolved = Standing<Exclude<Standing['status'], 'pending_confirmation'>>
const EXPIRED: Resolved = { status: 'expired', outcome: 'EXPIRED' }
const resolved = ({ event, outcome }: Resolution): Resolved => ({
  status: statusAfter[event],
  outcome,
})

const ID_LENGTH = 20

/** The gateway (area G) of a mock. */
export type Gateway = ReturnType<typeof createGateway>

/** Creates the gateway (area G): charges, confirmations, renewals, events and idempotency keys. */
export const createGateway = (parts: {
  /** Returns the current state. A reset or a restored snapshot replaces the object. */
  readonly state: () => GatewayState
  readonly timeline: Pick<Timeline, 'now'>
  readonly ids: Pick<Ids, 'text'>
  readonly options: GatewayOptions
  /** Returns the base URL of the gateway's pages: the start of every `confirmation_url`. */
  readonly baseUrl: () => string
}) => {
  const { state, ids, options, baseUrl } = parts
  const { now } = parts.timeline
  const [confirmationTtl, retryDelay] = [lengthOf(options.confirmationTtl), lengthOf(options.retryDelay)]
  const keyTtl = lengthOf(options.keyTtl)
  const credentials = new Map(options.apiKeys.map((key) => [key, fingerprint(key)]))
  const { readCharge, readText } = createBodyChecks(options)
  const isAllowed = createAllowlist(options.redirectAllowlist)
  const listed = new Map<string, { readonly msisdn: string; readonly name: BehaviorName }>(
    Object.entries(options.testNumbers).map(([msisdn, name]) => [comparableNumber(msisdn), { msisdn, name }]),
  )

  const standing = (charge: ChargeRecord): Standing => standingAt(charge, now())
  const body = (charge: ChargeRecord): ChargeBody => chargeBody(charge, standing(charge))

  const ownBehavior = (msisdn: string): BehaviorName | undefined => {
    const number = comparableNumber(msisdn)
    return state().behaviors.get(number) ?? listed.get(number)?.name
  }
  const behaviorOf = ({ msisdn }: ChargeRecord): Behavior =>
    behaviors[ownBehavior(msisdn) ?? options.defaultBehavior]

  /** Returns the result that a confirmation or a renewal has now. */
  const resultOf = (charge: ChargeRecord): Resolved => {
    const { resolution, afterFirst = resolution } = behaviorOf(charge)
    const first = state().firstPaid.get(comparableNumber(charge.msisdn))
    const hasPaid = first !== undefined && standing(first).status === 'succeeded'
    return resolved(hasPaid ? afterFirst : resolution)
  }

  /** Remembers the charge with which a phone number pays first. */
  const notePayment = (charge: ChargeRecord): void => {
    const { firstPaid } = state()
    const number = comparableNumber(charge.msisdn)
    const first = firstPaid.get(number)
    const isFirst = first === undefined || (charge.next?.at ?? 0) < (first.next?.at ?? 0)
    if ((charge.next ?? charge.standing).status === 'succeeded' && isFirst) firstPaid.set(number, charge)
  }

  const record = (charge: ChargeRecord, type: ChargeEventType, { status, outcome }: Standing): Step => {
    const { steps } = state()
    const step = { charge, type, at: now(), order: steps.length, status, outcome }
    steps.push(step)
    return step
  }

  /** Sets what a charge is since `since`, and what it becomes without a call: it expires, or the gateway retries it. */
  const settle = (charge: ChargeRecord, reached: Standing, since: number): void => {
    const later = ({ status, outcome }: Resolved, delay: number): Change => {
      const at = Math.max(since + delay, now())
      return { type: `charge.${status}`, at, order: state().steps.length - 0.5, status, outcome }
    }
    charge.standing = reached
    charge.next = undefined
    if (reached.status === 'pending_confirmation') charge.next = later(EXPIRED, confirmationTtl)
    if (reached.status === 'pending_retry') {
      const { afterRetry } = behaviorOf(charge)
      charge.next = afterRetry && later(resolved(afterRetry), retryDelay)
    }
    notePayment(charge)
  }

  const resolve = (charge: ChargeRecord, result: Resolved): void => {
    record(charge, `charge.${result.status}`, result)
    settle(charge, result, now())
  }

  const keep = (charge: ChargeRecord): void => {
    const { charges, byId } = state()
    charges.push(charge)
    byId.set(charge.id, charge).set(charge.confirmation_id, charge)
  }

  const add = (given: SeedCharge, credential: string, idempotencyKey?: string): ChargeRecord => {
    const { status = 'succeeded', outcome = outcomeOf[status], created_at: createdAt } = given
    const charge: ChargeRecord = {
      id: given.id ?? `ch_${ids.text('charge', ID_LENGTH)}`,
      confirmation_id: given.confirmation_id ?? `conf_${ids.text('confirmation', ID_LENGTH)}`,
      msisdn: given.msisdn,
      amount: given.amount,
      currency: given.currency,
      redirect_uri: given.redirect_uri ?? 'https://merchant.example/return',
      baseUrl: baseUrl().replace(/\/+$/, ''),
      createdAt: createdAt === undefined ? now() : toInstantMilliseconds(createdAt),
      mandate_id: given.mandate_id,
      idempotencyKey,
      credential,
      standing: { status, outcome },
      next: undefined,
      wrongCodes: 0,
    }
    keep(charge)
    return charge
  }

  /** Keeps the first step of a new charge as the result of its idempotency key. */
  const begin = (
    scope: IdempotencyScope,
    charge: ChargeRecord,
    type: ChargeEventType,
  ): Result<ChargeBody> => {
    const step = record(charge, type, charge.standing)
    state().keys.set(scope.text, step)
    return accepted(chargeBody(charge, step))
  }

  /** Finds a charge that exists and, under `apiKeyScope: 'own'`, belongs to the caller's API key (row 84). */
  const find = (name: 'id' | 'confirmation_id', id: string, credential?: string): Result<ChargeRecord> => {
    const message = name === 'id' ? 'No such charge.' : 'No such confirmation.'
    const charge = state().byId.get(id)
    if (charge?.[name] !== id) return reject('not_found', message)
    if (options.apiKeyScope === 'all' || credential === undefined || charge.credential === credential) {
      return accepted(charge)
    }
    const explanation = 'Another API key created the charge, and option gateway.apiKeyScope is "own".'
    return reject('not_found', message, explanation)
  }

  const freeze = (): void => {
    const current = state()
    current.steps = stepsBy(current, now())
    current.frozen = current.steps.length
    for (const charge of current.charges) {
      charge.standing = standing(charge)
      if (charge.standing === charge.next) charge.next = undefined
    }
  }

  return {
    /** Adds the charges of the option `charges`. */
    seed(): void {
      const { charges, byId } = state()
      for (const given of options.charges) {
        const charge = add(given, fingerprint(options.apiKeys[0] ?? ''))
        settle(charge, charge.standing, charge.createdAt)
        if (byId.size === 2 * charges.length) continue
        const ids = `${charge.id} or ${charge.confirmation_id}`
        throw new TypeError(`gateway.charges must not contain two charges with the identifier ${ids}`)
      }
    },
    /** Records what has happened without a call, so that it stays when the clock is set back. */
    freeze,
    /** Checks that the bearer key is a configured API key. */
    authenticate(key: string | undefined): Result<{ readonly credential: string }> {
      const credential = key === undefined ? undefined : credentials.get(key)
      if (credential !== undefined) return accepted({ credential })
      const explanation = 'The bearer key is not in option gateway.apiKeys.'
      return reject('unauthorized', 'The API key is missing or wrong.', explanation)
    },
    reference() {
      const rows = new Map(listed)
      for (const [number, name] of state().behaviors) {
        rows.set(number, { msisdn: rows.get(number)?.msisdn ?? `+${number}`, name })
      }
      const numbers = [...rows.values()].map(({ msisdn, name }) => testNumber(msisdn, name))
      return { otp: options.otp, test_numbers: numbers }
    },
    /**
     * Returns the original result of a used idempotency key (G rule 1), or `undefined` for a new key. Refuses a missing
     * key (row 71) and, under `keyReuse: 'reject'`, a used key with another body (row 72).
     */
    findReplay({ key, text }: IdempotencyScope, fields: Fields): Result<ChargeBody> | undefined {
      if (key.trim() === '') {
        return reject('missing_idempotency_key', 'The Idempotency-Key header is required.')
      }
      const first = state().keys.get(text)
      if (first === undefined || first.at + keyTtl <= now()) return undefined
      if (options.keyReuse === 'reject' && differingField(first.charge, fields) !== undefined) {
        const message = 'The Idempotency-Key was used with another body.'
        return reject('idempotency_key_reused', message, 'Option gateway.keyReuse is "reject".')
      }
      return accepted(chargeBody(first.charge, first))
    },
    /** Creates a charge, which waits for its one-time code. Call `findReplay` first. */
    charge(scope: IdempotencyScope, fields: Fields): Result<ChargeBody> {
      const wanted = readCharge(fields)
      if (!wanted.ok) return wanted
      const { msisdn, redirect_uri } = wanted.value
      if (options.unlistedNumbers === 'refuse' && ownBehavior(msisdn) === undefined) {
        const explanation = 'Option gateway.unlistedNumbers is "refuse", and the number has no behavior.'
        return invalid('msisdn', 'msisdn is not a test number.', explanation)
      }
      if (!isAllowed(redirect_uri)) {
        return refused('redirect_uri_not_allowed', 'redirect_uri is not allowed.', {
          field: 'redirect_uri',
          explanation: 'Option gateway.redirectAllowlist does not allow this address.',
        })
      }
      const charge = add({ ...wanted.value, status: 'pending_confirmation' }, scope.credential, scope.key)
      const result = begin(scope, charge, 'charge.created')
      settle(charge, charge.standing, charge.createdAt)
      return result
    },
    /** Confirms a charge. `credential` is the API key of the call, or undefined for an action of the payer. */
    confirm(confirmationId: string, fields: Fields, credential?: string): Result<ChargeBody> {
      const otp = readText('otp', fields)
      if (!otp.ok) return otp
      const found = find('confirmation_id', confirmationId, credential)
      const isPending = found.ok && standing(found.value).status === 'pending_confirmation'
      if (otp.value !== options.otp) {
        if (isPending && options.maxOtpAttempts !== false) {
          found.value.wrongCodes += 1
          if (found.value.wrongCodes >= options.maxOtpAttempts) resolve(found.value, EXPIRED)
        }
        // The response is the same if no charge exists, so a caller cannot find out which charges exist.
        const explanation = 'The otp differs from the option gateway.otp.'
        return reject('incorrect_code', 'The code is not correct.', explanation)
      }
      if (!found.ok) return found
      const charge = found.value
      if (standing(charge).status === 'expired') return reject('charge_expired', 'The charge has expired.')
      if (!isPending) return reject('already_confirmed', 'The charge is already confirmed.')
      record(charge, 'charge.confirmed', charge.standing)
      resolve(charge, resultOf(charge))
      return accepted(chargeBody(charge, charge.standing))
    },
    status(id: string, credential?: string): Result<ChargeBody> {
      const found = find('id', id, credential)
      return found.ok ? accepted(body(found.value)) : found
    },
    /**
     * Renews a mandate, a succeeded charge whose id is `id`. The renewal needs no code and has its result at once (G
     * rule 3). Call `findReplay` first.
     */
    renew(scope: IdempotencyScope, id: string, fields: Fields): Result<ChargeBody> {
      const mandateId = readText('mandate_id', fields)
      if (!mandateId.ok) return mandateId
      if (mandateId.value !== id) {
        const message = 'mandate_id differs from the charge in the path.'
        return refused('mandate_mismatch', message, { field: 'mandate_id' })
      }
      const found = find('id', id, scope.credential)
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
      const charge = add(renewal, scope.credential, scope.key)
      const result = begin(scope, charge, 'charge.renewed')
      resolve(charge, outcome)
      return result
    },
    /**
     * Deletes charges, events and idempotency keys; with `apiKeyScope: 'own'`, only those of the API key. Behaviors,
     * the rate limit and the allowlist stay unchanged.
     */
    reset(credential: string): void {
      freeze()
      const current = state()
      const { charges, keys, steps, behaviors, clearedEvents, frozen } = current
      Object.assign(current, newGatewayState(), { behaviors, clearedEvents: clearedEvents + steps.length })
      if (options.apiKeyScope === 'all') return
      // The events of the deleted charges stay in the list, because the other events keep their ids.
      Object.assign(current, { steps, frozen, clearedEvents })
      for (const charge of charges) {
        if (charge.credential === credential) continue
        keep(charge)
        notePayment(charge)
      }
      for (const [text, step] of keys) if (step.charge.credential !== credential) current.keys.set(text, step)
    },
    /** Returns the data of the page on which the payer enters the one-time code. */
    confirmation(confirmationId: string): Result<ConfirmationView> {
      const found = find('confirmation_id', confirmationId)
      if (!found.ok) return found
      return accepted(confirmationView(found.value, standing(found.value), options.returnParameter))
    },
    /** Finds a charge by the charge id or confirmation id in the path, and returns the payer's phone number. */
    related({ id = '', confirmationId = '' }: Readonly<Record<string, string>>): {
      readonly msisdn?: string
    } {
      const found = [find('id', id), find('confirmation_id', confirmationId)].find(({ ok }) => ok)
      return found?.ok ? { msisdn: found.value.msisdn } : {}
    },
    setBehavior(msisdn: string, behavior: string): Result<void> {
      if (isBehaviorName(behavior)) {
        state().behaviors.set(comparableNumber(msisdn), behavior)
        return accepted(undefined)
      }
      const names = Object.keys(behaviors).join(', ')
      return reject('invalid', `Unknown behavior ${JSON.stringify(behavior)}. Behaviors: ${names}.`)
    },
    /** Returns every charge, oldest first. */
    charges: (): readonly ChargeBody[] => state().charges.map(body),
    chargeList: {
      bounds: () => ({ first: 0, end: state().charges.length }),
      read: (from: number, to: number): readonly ListedCharge[] =>
        state()
          .charges.slice(from, to)
          .map((charge) => listedCharge(charge, standing(charge))),
    },
    /** Returns the events, oldest first. */
    events: (): readonly GatewayEvent[] => eventsBy(state(), now()),
  }
}

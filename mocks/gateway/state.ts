import type { Charge, KnownChargeStatus } from '../../src/contract/gateway.ts'
import type { Ids } from '../base/ids.ts'
import type { Fields } from '../base/result.ts'
import type { Agenda } from '../time/clock.ts'
import { type Duration, toInstantMilliseconds, toMilliseconds } from '../time/duration.ts'
import type { Behavior, BehaviorName, ChargeOutcome, Resolution } from './behaviors.ts'
import { behaviors, comparableNumber } from './behaviors.ts'
import { DEFAULT_OUTCOMES, type GatewayOptions, type SeedCharge } from './options.ts'

/** The status to which each result of a charge leads. */
const statusAfter = {
  succeed: 'succeeded',
  fail: 'failed',
  retry: 'pending_retry',
  expire: 'expired',
} as const

/**
 * Every status change of a charge: from → event → to. The mock allows no other change.
 *
 * A renewal needs no code from the payer, so a renewal skips `pending_confirmation`.
 */
export const chargeTransitions = {
  none: { create: 'pending_confirmation', ...statusAfter },
  pending_confirmation: statusAfter,
  pending_retry: { succeed: 'succeeded', fail: 'failed' },
  succeeded: {},
  failed: {},
  expired: {},
} as const

/** Status and outcome of a charge at one time. */
export interface Standing<Status extends KnownChargeStatus = KnownChargeStatus> {
  readonly status: Status
  readonly outcome: ChargeOutcome
}

/** Status and outcome of a charge that no longer waits for its code. */
type Resolved = Standing<Exclude<KnownChargeStatus, 'pending_confirmation'>>

/** What happens to a charge. The first event of a renewal is `charge.renewed`, not `charge.created` (row 80). */
export type ChargeEventType =
  `charge.${'created' | 'confirmed' | 'succeeded' | 'failed' | 'pending_retry' | 'expired' | 'renewed'}`

/** A change of a charge that has happened, with the status and outcome that the charge then had: an event (G3). */
export interface Step extends Standing {
  readonly charge: ChargeRecord
  readonly type: ChargeEventType
  readonly at: number
  /** Orders steps of the same time. */
  readonly order: number
}

/** The fields of a charge request. */
export interface ChargeFields {
  readonly msisdn: string
  readonly amount: number
  readonly currency: string
  readonly redirect_uri: string
}

/** A charge: its request, and the changes that calls made. `standingAt` returns its status at a time. */
export interface ChargeRecord extends ChargeFields {
  readonly id: string
  readonly confirmation_id: string
  /** The gateway's base URL when the charge was created: the start of `confirmation_url`. */
  readonly baseUrl: string
  readonly createdAt: number
  /** Only for a renewal: identifier of the renewed charge. */
  readonly mandate_id: string | undefined
  /** The idempotency key of the request that created the charge. A seeded charge has no key. */
  readonly idempotencyKey: string | undefined
  /** Hash of the API key that created the charge (row 84). */
  readonly credential: string
  /** Status and outcome since the last call that changed them. */
  standing: Standing
  /**
   * Status and outcome from `nextAt` on, if no call comes first: an unconfirmed charge expires, a retry has a result.
   */
  nextStanding: Resolved
  /** Infinity if nothing happens without a call. */
  nextAt: number
  nextOrder: number
  wrongCodes: number
}

/** The JSON of a charge (G1). */
export interface ChargeBody extends Charge {
  /** `pending_confirmation`, `pending_retry`, `succeeded`, `failed` or `expired`. */
  readonly status: KnownChargeStatus
}

/** Returns the path of the page on which a payer enters the one-time code (G1's `confirmation_url`). */
export const confirmationPath = (confirmationId: string): string =>
  `/confirm/${encodeURIComponent(confirmationId)}`

/** Returns a charge as JSON (G1), with the given status and outcome. */
export const chargeBody = (charge: ChargeRecord, { status, outcome }: Standing): ChargeBody => ({
  id: charge.id,
  msisdn: charge.msisdn,
  amount: charge.amount,
  currency: charge.currency,
  status,
  outcome,
  confirmation_id: charge.confirmation_id,
  confirmation_url: charge.baseUrl + confirmationPath(charge.confirmation_id),
  created_at: new Date(charge.createdAt).toISOString(),
})

/** A call of the gateway's API. */
export interface GatewayCall {
  /** The API key of the call, as a hash. */
  readonly caller: { readonly credential: string }
  /** The Idempotency-Key header; empty if the request has none. */
  readonly idempotencyKey: string
  /** The identifier in the path. A charge has none. */
  readonly parameters: { readonly id?: string }
  readonly fields: Fields
}

// The path limits the scope of a key (row 73). A header contains no line break, so different keys and mandates give
// different texts.
const keyText = ({ idempotencyKey, parameters: { id } }: GatewayCall): string =>
  id === undefined ? idempotencyKey : `${idempotencyKey}\n${id}`

/** The state of the gateway: plain data that `structuredClone` copies. */
export interface GatewayState {
  /** Every charge, oldest first. */
  charges: ChargeRecord[]
  /** Every charge by its id, and again by its confirmation id. */
  byId: Map<string, ChargeRecord>
  /** The first step of the charge that a request with an idempotency key created, by credential and key. */
  keys: Map<string, Map<string, Step>>
  /** The steps that calls caused, and those without a call that `freeze` has recorded. */
  steps: Step[]
  /** The number of steps that were recorded before the clock was last set back. */
  frozen: number
  /** The first successful charge of each phone number. After this charge, the behavior's `afterFirst` applies. */
  firstPaid: Map<string, ChargeRecord>
  /** The behaviors that `setBehavior` has set, by phone number without a leading `+`. A reset of the API keeps them. */
  behaviors: Map<string, BehaviorName>
  /** The number of events that resets of the API have deleted: event ids continue after this number. */
  clearedEvents: number
}

/** Returns the state of a gateway without charges. */
export const newGatewayState = (): GatewayState => ({
  charges: [],
  byId: new Map(),
  keys: new Map(),
  steps: [],
  frozen: 0,
  firstPaid: new Map(),
  behaviors: new Map(),
  clearedEvents: 0,
})

/** Returns the step that created the charge of an idempotency key. */
export const firstStep = ({ keys }: GatewayState, call: GatewayCall): Step | undefined =>
  keys.get(call.caller.credential)?.get(keyText(call))

/** Keeps the step that created a charge as the original result of an idempotency key. */
export const keepKey = ({ keys }: GatewayState, call: GatewayCall, step: Step): void => {
  const { credential } = call.caller
  const own = keys.get(credential)
  if (own === undefined) keys.set(credential, new Map([[keyText(call), step]]))
  else own.set(keyText(call), step)
}

/** Returns status and outcome of a charge at a time. */
export const standingAt = ({ standing, nextStanding, nextAt }: ChargeRecord, time: number): Standing =>
  nextAt <= time ? nextStanding : standing

/** Returns the steps that happened without a call by a time, and that are not recorded. */
export const dueSteps = ({ charges }: GatewayState, time: number): Step[] =>
  charges
    .filter(({ nextAt }) => nextAt <= time)
    .map((charge) => {
      const { nextAt: at, nextOrder: order, nextStanding } = charge
      const { status, outcome } = nextStanding
      return { charge, type: `charge.${status}`, at, order, status, outcome }
    })

/** Returns every step that happened by a time, in the order in which the steps happened. */
export const stepsBy = (state: GatewayState, time: number): Step[] => {
  const recent = [...dueSteps(state, time), ...state.steps.slice(state.frozen)]
  return [
    ...state.steps.slice(0, state.frozen),
    ...recent.sort((left, right) => left.at - right.at || left.order - right.order),
  ]
}

/** The parts of the mock that the gateway uses. */
export interface GatewayContext {
  /** A reset or a restored snapshot replaces `gateway`. */
  readonly state: { readonly gateway: GatewayState }
  readonly agenda: Pick<Agenda, 'now'>
  readonly ids: Pick<Ids, 'text'>
  readonly options: GatewayOptions
  /** Returns the base URL of the gateway's pages: the start of every `confirmation_url`. */
  readonly baseUrl: (area: 'gateway') => string
}

/** What the rate limit uses of its mock. `isOff`: if it returns true, every call is allowed, and none counts. */
export interface LimitContext {
  /** `gateway` has the times of the accepted calls of the window, oldest first. */
  readonly state: { readonly limits: { readonly gateway: number[] } }
  readonly now: () => number
  readonly isOff: (() => boolean) | undefined
}

const ID_LENGTH = 20
export const NEVER = Number.POSITIVE_INFINITY

/** Converts a duration to milliseconds, and `false` to infinity. */
export const lengthOf = (duration: Duration | false): number =>
  duration === false ? NEVER : toMilliseconds(duration)

/** Status and outcome of a charge that waits for its code. Most charges share this object. */
const PENDING: Standing = { status: 'pending_confirmation', outcome: 'PENDING' }
/** Status and outcome of an expired charge. */
export const EXPIRED: Resolved = { status: 'expired', outcome: 'EXPIRED' }
const resolved = ({ event, outcome }: Resolution): Resolved => ({ status: statusAfter[event], outcome })

/** Creates the functions that change charges, and that compute a charge's later status if no call follows. */
export const createLedger = ({ state, agenda: { now }, ids, options, baseUrl }: GatewayContext) => {
  const [confirmationTtl, retryDelay] = [lengthOf(options.confirmationTtl), lengthOf(options.retryDelay)]
  const listed = new Map<string, { readonly msisdn: string; readonly name: BehaviorName }>(
    Object.entries(options.testNumbers).map(([msisdn, name]) => [comparableNumber(msisdn), { msisdn, name }]),
  )

  const standing = (charge: ChargeRecord): Standing => standingAt(charge, now())

  const ownBehavior = (msisdn: string): BehaviorName | undefined => {
    const number = comparableNumber(msisdn)
    return state.gateway.behaviors.get(number) ?? listed.get(number)?.name
  }
  const behaviorOf = ({ msisdn }: ChargeRecord, given?: BehaviorName): Behavior =>
    behaviors[given ?? ownBehavior(msisdn) ?? options.defaultBehavior]

  /** Returns the result that a confirmation or a renewal has now. `behavior` replaces that of the number. */
  const resultOf = (charge: ChargeRecord, behavior?: BehaviorName): Resolved => {
    const { resolution, afterFirst = resolution } = behaviorOf(charge, behavior)
    const first = state.gateway.firstPaid.get(comparableNumber(charge.msisdn))
    const hasPaid = first !== undefined && standing(first).status === 'succeeded'
    return resolved(hasPaid ? afterFirst : resolution)
  }

  const paidAt = ({ nextAt }: ChargeRecord): number => (nextAt < NEVER ? nextAt : 0)

  /** Remembers the charge with which a phone number pays first. */
  const notePayment = (charge: ChargeRecord): void => {
    if ((charge.nextAt < NEVER ? charge.nextStanding : charge.standing).status !== 'succeeded') return
    const { firstPaid } = state.gateway
    const number = comparableNumber(charge.msisdn)
    const first = firstPaid.get(number)
    if (first === undefined || paidAt(charge) < paidAt(first)) firstPaid.set(number, charge)
  }

  const record = (charge: ChargeRecord, type: ChargeEventType, { status, outcome }: Standing): Step => {
    const { steps } = state.gateway
    const step = { charge, type, at: now(), order: 2 * steps.length, status, outcome }
    steps.push(step)
    return step
  }

  /**
   * Gives a charge a status. If no call follows, an unconfirmed charge expires, and one in pending_retry is retried.
   */
  const enter = (charge: ChargeRecord, reached: Standing, since: number, behavior?: BehaviorName): void => {
    charge.standing = reached
    charge.nextAt = NEVER
    if (reached.status === 'pending_confirmation') plan(charge, EXPIRED, since + confirmationTtl)
    if (reached.status === 'pending_retry') {
      const { afterRetry } = behaviorOf(charge, behavior)
      if (afterRetry !== undefined) plan(charge, resolved(afterRetry), since + retryDelay)
    }
    notePayment(charge)
  }

  /** Plans the change that happens if no call follows. */
  const plan = (charge: ChargeRecord, standing: Resolved, at: number): void => {
    charge.nextStanding = standing
    charge.nextAt = Math.max(at, now())
    // At the same time, the change follows the steps that are recorded by now, and precedes all later ones.
    charge.nextOrder = 2 * state.gateway.steps.length - 1
  }

  const resolve = (charge: ChargeRecord, result: Resolved, behavior?: BehaviorName): void => {
    record(charge, `charge.${result.status}`, result)
    enter(charge, result, now(), behavior)
  }

  const keep = (charge: ChargeRecord): void => {
    const { charges, byId } = state.gateway
    charges.push(charge)
    byId.set(charge.id, charge).set(charge.confirmation_id, charge)
  }

  const add = (given: SeedCharge, credential: string, idempotencyKey?: string): ChargeRecord => {
    const { status = 'succeeded', outcome = DEFAULT_OUTCOMES[status], created_at: createdAt } = given
    const standing = status === PENDING.status && outcome === PENDING.outcome ? PENDING : { status, outcome }
    const charge: ChargeRecord = {
      id: given.id ?? `ch_${ids.text('charge', ID_LENGTH)}`,
      confirmation_id: given.confirmation_id ?? `conf_${ids.text('confirmation', ID_LENGTH)}`,
      msisdn: given.msisdn,
      amount: given.amount,
      currency: given.currency,
      redirect_uri: given.redirect_uri ?? 'https://merchant.example/return',
      baseUrl: baseUrl('gateway'),
      createdAt: createdAt === undefined ? now() : toInstantMilliseconds(createdAt),
      mandate_id: given.mandate_id,
      idempotencyKey,
      credential,
      standing,
      nextStanding: EXPIRED,
      nextAt: NEVER,
      nextOrder: 0,
      wrongCodes: 0,
    }
    keep(charge)
    return charge
  }

  /** Records the changes that happened without a call, so that they remain when the clock is set back. */
  const freeze = (): void => {
    const current = state.gateway
    current.steps = stepsBy(current, now())
    current.frozen = current.steps.length
    for (const charge of current.charges) {
      if (charge.nextAt > now()) continue
      charge.standing = charge.nextStanding
      charge.nextAt = NEVER
    }
  }

  return { standing, listed, ownBehavior, resultOf, notePayment, record, enter, resolve, keep, add, freeze }
}

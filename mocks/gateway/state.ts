import type { KnownChargeStatus } from '../../src/contract/gateway.ts'
import type { Ids } from '../base/ids.ts'
import type { Agenda } from '../time/agenda.ts'
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

/** What happens to a charge. The first event of a renewal is `charge.renewed`, not `charge.created` (row 80). */
export type ChargeEventType =
  `charge.${'created' | 'confirmed' | 'succeeded' | 'failed' | 'pending_retry' | 'expired' | 'renewed'}`

/** A change of a charge, with the status and outcome that the charge then has. */
export interface Change extends Standing {
  readonly type: ChargeEventType
  readonly at: number
  /** Orders changes of the same time. */
  readonly order: number
}

/** A change that has happened: an event (G3). */
export interface Step extends Change {
  readonly charge: ChargeRecord
}

/** The fields of a charge request. */
export interface ChargeFields {
  readonly msisdn: string
  readonly amount: number
  readonly currency: string
  readonly redirect_uri: string
}

/** A charge: what was requested, and what calls did to it. `standingAt` returns its status at a time. */
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
  /** What happens if no call comes first: an unconfirmed charge expires, and a charge in pending_retry is retried. */
  next: Change | undefined
  wrongCodes: number
}

/** An idempotency key, and the parts of the request that limit its scope (row 73). */
export interface IdempotencyScope {
  /** The Idempotency-Key header; empty if the request has none. */
  readonly key: string
  /** Hash of the API key. */
  readonly credential: string
  /** Identifies the scope. */
  readonly text: string
}

/** Creates the scope of an idempotency key. `mandateId`, only for a renewal, is the id in the path. */
export const idempotencyScope = (credential: string, key: string, mandateId?: string): IdempotencyScope => ({
  key,
  credential,
  // Only the last part may contain line breaks, so different scopes give different texts.
  text: mandateId === undefined ? `${credential}\n${key}` : `${credential}\n${key}\n${mandateId}`,
})

/** The state of the gateway: plain data that `structuredClone` copies. */
export interface GatewayState {
  /** Every charge, oldest first. */
  charges: ChargeRecord[]
  /** Every charge by its id, and again by its confirmation id. */
  byId: Map<string, ChargeRecord>
  /** The first step of the charge that a request with an idempotency key created, by the text of the key's scope. */
  keys: Map<string, Step>
  /** The steps that calls caused, and those without a call that `freeze` has recorded. */
  steps: Step[]
  /** The number of steps that were recorded before the clock was last set back. */
  frozen: number
  /** By phone number, the charge that succeeds first. From then on, the `afterFirst` of a behavior applies. */
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

/** Returns status and outcome of a charge at a time. */
const standingAt = ({ standing, next }: ChargeRecord, time: number): Standing =>
  next !== undefined && next.at <= time ? next : standing

/** Returns the steps that happened without a call by a time, and that are not recorded. */
export const dueSteps = ({ charges }: GatewayState, time: number): Step[] =>
  charges.flatMap((charge) =>
    charge.next !== undefined && charge.next.at <= time ? { ...charge.next, charge } : [],
  )

/** Returns every step that happened by a time, in the order in which the steps happened. */
export const stepsBy = (state: GatewayState, time: number): Step[] => {
  const recent = [...dueSteps(state, time), ...state.steps.slice(state.frozen)]
  return [
    ...state.steps.slice(0, state.frozen),
    ...recent.sort((left, right) => left.at - right.at || left.order - right.order),
  ]
}

/** What the gateway uses of its mock. */
export interface GatewayParts {
  /** Returns the current state. A reset or a restored snapshot replaces the object. */
  readonly state: () => GatewayState
  readonly agenda: Pick<Agenda, 'now'>
  readonly ids: Pick<Ids, 'text'>
  readonly options: GatewayOptions
  /** Returns the base URL of the gateway's pages: the start of every `confirmation_url`. */
  readonly baseUrl: () => string
}

const ID_LENGTH = 20

/** Converts a duration to milliseconds, and `false` to infinity. */
export const lengthOf = (duration: Duration | false): number =>
  duration === false ? Number.POSITIVE_INFINITY : toMilliseconds(duration)

type Resolved = Standing<Exclude<Standing['status'], 'pending_confirmation'>>
/** Status and outcome of an expired charge. */
export const EXPIRED: Resolved = { status: 'expired', outcome: 'EXPIRED' }
const resolved = ({ event, outcome }: Resolution): Resolved => ({
  status: statusAfter[event],
  outcome,
})

/** Creates the functions that change charges, and tell what a charge becomes without a call. */
export const createLedger = ({ state, agenda: { now }, ids, options, baseUrl }: GatewayParts) => {
  const [confirmationTtl, retryDelay] = [lengthOf(options.confirmationTtl), lengthOf(options.retryDelay)]
  const listed = new Map<string, { readonly msisdn: string; readonly name: BehaviorName }>(
    Object.entries(options.testNumbers).map(([msisdn, name]) => [comparableNumber(msisdn), { msisdn, name }]),
  )

  const standing = (charge: ChargeRecord): Standing => standingAt(charge, now())

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

  /** Gives a charge a status. If no call follows, an unconfirmed charge expires, and one in pending_retry is retried. */
  const enter = (charge: ChargeRecord, reached: Standing, since: number): void => {
    const later = ({ status, outcome }: Resolved, delay: number): Change => {
      const at = Math.max(since + delay, now())
      // At the same time, the change follows the steps that are recorded by now, and precedes all later ones.
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
    enter(charge, result, now())
  }

  const keep = (charge: ChargeRecord): void => {
    const { charges, byId } = state()
    charges.push(charge)
    byId.set(charge.id, charge).set(charge.confirmation_id, charge)
  }

  const add = (given: SeedCharge, credential: string, idempotencyKey?: string): ChargeRecord => {
    const { status = 'succeeded', outcome = DEFAULT_OUTCOMES[status], created_at: createdAt } = given
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

  /** Records what has happened without a call, so that it stays when the clock is set back. */
  const freeze = (): void => {
    const current = state()
    current.steps = stepsBy(current, now())
    current.frozen = current.steps.length
    for (const charge of current.charges) {
      charge.standing = standing(charge)
      if (charge.standing === charge.next) charge.next = undefined
    }
  }

  return { standing, listed, ownBehavior, resultOf, notePayment, record, enter, resolve, keep, add, freeze }
}

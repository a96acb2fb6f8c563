import type { Duration } from '../duration.ts'
import { toMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Timeline } from '../timeline.ts'
import { createDueQueue } from '../timeline.ts'
import type { Behavior, BehaviorName } from './behaviors.ts'
import { behaviorNamed, comparableNumber } from './behaviors.ts'
import type { ChargeFields, ChargeRecord } from './charges.ts'
import type { GatewayOptions } from './options.ts'
import { recordOfSeed } from './seeds.ts'
import type { LastingState, TransactionalState } from './state.ts'
import { emptyTransactions, newLastingState, recordEvent } from './state.ts'
import type { Resolution } from './transitions.ts'
import { chargeAfter } from './transitions.ts'
import type { GatewayEvent } from './types.ts'

/** What area G is built from. */
export interface LedgerParts {
  readonly timeline: Timeline
  /** Makes identifiers that never repeat within one mock. */
  readonly ids: Pick<Ids, 'text'>
  readonly options: GatewayOptions
  /** Where the pages stand, for `confirmation_url`. */
  readonly baseUrl: () => string
}

interface Retry {
  readonly at: number
  readonly charge: ChargeRecord
  readonly resolution: Resolution
}

interface Snapshot {
  readonly transactions: TransactionalState
  readonly lasting: LastingState
  readonly unconfirmed: readonly ChargeRecord[]
  readonly retries: readonly Retry[]
}

/** The charges and everything that happens to them: the only place that changes a charge. */
export interface Ledger {
  /** The state now; it is another object after a reset. */
  transactions(): TransactionalState
  lasting(): LastingState
  /** Every charge, oldest first. */
  inOrder(): readonly ChargeRecord[]
  /** A new charge that waits for its code. */
  open(fields: ChargeFields, idempotencyKey: string): ChargeRecord
  /** A new charge of a mandate, resolved at once (G rule 3). */
  renew(mandate: ChargeRecord, idempotencyKey: string): ChargeRecord
  /** The right code was given. `false`: the charge was not waiting for one, and nothing changed. */
  confirm(charge: ChargeRecord): boolean
  /** A wrong code was given. */
  countWrongCode(charge: ChargeRecord): void
  clear(): void
  restart(): void
  snapshot(): unknown
  restore(snapshot: unknown): void
}

const EVENT_OF = {
  succeed: 'charge.succeeded',
  fail: 'charge.failed',
  retry: 'charge.pending_retry',
  expire: 'charge.expired',
} as const satisfies Record<Resolution['event'], GatewayEvent['type']>

/** Milliseconds; `false` is for ever. */
const lengthOf = (duration: Duration | false): number =>
  duration === false ? Number.POSITIVE_INFINITY : toMilliseconds(duration)

const ID_LENGTH = 20
const EXPIRE: Resolution = { event: 'expire', outcome: 'EXPIRED' }

/** Builds the ledger; seeded charges are in it. */
export const createLedger = ({ timeline, ids, options, baseUrl }: LedgerParts): Ledger => {
  let state = emptyTransactions()
  // A Map is read from its oldest entry alone: this reads the newest charges without the others.
  let order: ChargeRecord[] = []
  let lasting = newLastingState()
  const configured = new Map<string, BehaviorName>(
    Object.entries(options.testNumbers).map(([msisdn, name]) => [comparableNumber(msisdn), name]),
  )

  const chargeId = (): string => `ch_${ids.text('charge', ID_LENGTH)}`
  const confirmationId = (): string => `conf_${ids.text('confirmation', ID_LENGTH)}`

  const behaviorOf = (charge: ChargeFields): Behavior => {
    const number = comparableNumber(charge.msisdn)
    return behaviorNamed(lasting.behaviors.get(number) ?? configured.get(number) ?? options.defaultBehavior)
  }

  const record = (type: GatewayEvent['type'], charge: ChargeRecord, at: number): void =>
    recordEvent(state.events, type, charge, at)

  /** Moves a charge along the table; an illegal move changes nothing. */
  const move = (charge: ChargeRecord, resolution: Resolution, at: number): boolean => {
    const status = chargeAfter(charge.status, resolution.event)
    if (status === undefined) return false
    charge.status = status
    charge.outcome = resolution.outcome
    settled(charge, resolution, at)
    return true
  }

  const settled = (charge: ChargeRecord, resolution: Resolution, at: number): void => {
    record(EVENT_OF[resolution.event], charge, at)
    if (charge.status === 'succeeded') state.paidNumbers.add(comparableNumber(charge.msisdn))
    if (charge.status === 'pending_retry') planRetry(charge, at)
  }

  const confirmationTtl = lengthOf(options.confirmationTtl)
  const retryDelay = lengthOf(options.retryDelay)
  const unconfirmed = createDueQueue<ChargeRecord>(timeline, {
    kind: 'gateway.unconfirmed',
    dueAt: (charge) => charge.createdAt + confirmationTtl,
    isLive: (charge) => charge.status === 'pending_confirmation',
    run: (charge, at) => move(charge, EXPIRE, at),
  })
  const retries = createDueQueue<Retry>(timeline, {
    kind: 'gateway.retry',
    dueAt: ({ at }) => at,
    isLive: ({ charge }) => charge.status === 'pending_retry',
    run: ({ charge, resolution }, at) => move(charge, resolution, at),
  })

  const planExpiry = (charge: ChargeRecord): void => {
    if (confirmationTtl < Number.POSITIVE_INFINITY) unconfirmed.add(charge)
  }
  const planRetry = (charge: ChargeRecord, at: number): void => {
    const resolution = behaviorOf(charge).afterRetry
    if (resolution === undefined || retryDelay === Number.POSITIVE_INFINITY) return
    retries.add({ at: at + retryDelay, charge, resolution })
  }

  const keep = (charge: ChargeRecord): ChargeRecord => {
    state.charges.set(charge.id, charge)
    order.push(charge)
    state.confirmations.set(charge.confirmationId, charge)
    return charge
  }

  const pageBase = (): string => baseUrl().replace(/\/+$/, '')

  const resolutionNow = (charge: ChargeFields): Resolution => {
    const { resolution, afterFirst } = behaviorOf(charge)
    return state.paidNumbers.has(comparableNumber(charge.msisdn)) ? (afterFirst ?? resolution) : resolution
  }

  const seed = (): void => {
    for (const given of options.charges) {
      const charge = recordOfSeed(given, {
        id: chargeId,
        confirmationId,
        now: timeline.now(),
        baseUrl: pageBase(),
      })
      if (state.charges.has(charge.id) || state.confirmations.has(charge.confirmationId)) {
        throw new TypeError(
          `Option gateway.charges must not have two charges with the identifier ${charge.id} or ${charge.confirmationId}.`,
        )
      }
      keep(charge)
      if (charge.status === 'pending_confirmation') planExpiry(charge)
      if (charge.status === 'pending_retry') planRetry(charge, charge.createdAt)
      if (charge.status === 'succeeded') state.paidNumbers.add(comparableNumber(charge.msisdn))
    }
  }

  const forgetTransactions = (): void => {
    state = emptyTransactions()
    order = []
    unconfirmed.replace([])
    retries.replace([])
  }

  seed()
  return {
    transactions: () => state,
    lasting: () => lasting,
    inOrder: () => order,
    open(fields, idempotencyKey) {
      const charge = keep({
        id: chargeId(),
        confirmationId: confirmationId(),
        msisdn: fields.msisdn,
        amount: fields.amount,
        currency: fields.currency,
        redirectUri: fields.redirectUri,
        baseUrl: pageBase(),
        createdAt: timeline.now(),
        mandateId: undefined,
        idempotencyKey,
        status: 'pending_confirmation',
        outcome: 'PENDING',
        wrongCodes: 0,
      })
      record('charge.created', charge, charge.createdAt)
      planExpiry(charge)
      return charge
    },
    renew(mandate, idempotencyKey) {
      const resolution = resolutionNow(mandate)
      const status = chargeAfter('none', resolution.event)
      if (status === undefined) throw new Error(`No charge begins with the event ${resolution.event}`)
      const charge = keep({
        id: chargeId(),
        confirmationId: confirmationId(),
        msisdn: mandate.msisdn,
        amount: mandate.amount,
        currency: mandate.currency,
        redirectUri: mandate.redirectUri,
        baseUrl: pageBase(),
        createdAt: timeline.now(),
        mandateId: mandate.id,
        idempotencyKey,
        status,
        outcome: resolution.outcome,
        wrongCodes: 0,
      })
      record('charge.renewed', charge, charge.createdAt)
      settled(charge, resolution, charge.createdAt)
      return charge
    },
    confirm(charge) {
      if (charge.status !== 'pending_confirmation') return false
      const at = timeline.now()
      record('charge.confirmed', charge, at)
      return move(charge, resolutionNow(charge), at)
    },
    countWrongCode(charge) {
      const { maxOtpAttempts } = options
      if (maxOtpAttempts === false || charge.status !== 'pending_confirmation') return
      charge.wrongCodes += 1
      if (charge.wrongCodes >= maxOtpAttempts) move(charge, EXPIRE, timeline.now())
    },
    clear() {
      lasting.clearedEvents += state.events.types.length
      forgetTransactions()
    },
    restart() {
      lasting = newLastingState()
      forgetTransactions()
      seed()
    },
    snapshot: () =>
      structuredClone<Snapshot>({
        transactions: state,
        lasting,
        unconfirmed: unconfirmed.all(),
        retries: retries.all(),
      }),
    restore(snapshot) {
      // One copy of the whole: the parts go on sharing their charges.
      const copy = structuredClone(snapshot as Snapshot)
      state = copy.transactions
      order = [...state.charges.values()]
      lasting = copy.lasting
      unconfirmed.replace(copy.unconfirmed)
      retries.replace(copy.retries)
    },
  }
}

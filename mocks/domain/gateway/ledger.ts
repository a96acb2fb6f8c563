import { createDueQueue } from '../due-queue.ts'
import { type Duration, toInstantMilliseconds, toMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Timeline } from '../timeline.ts'
import { type Behavior, type BehaviorName, behaviors, comparableNumber } from './behaviors.ts'
import type { ChargeFields, ChargeRecord } from './charges.ts'
import { type GatewayOptions, outcomeOf, type SeedCharge } from './options.ts'
import type { KeyUse, LastingState, TransactionalState } from './state.ts'
import { credentialOf, emptyTransactions, newLastingState, recordEvent } from './state.ts'
import { chargeAfter, type Resolution } from './transitions.ts'
import type { GatewayEvent } from './types.ts'

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

const EVENT_OF = {
  succeed: 'charge.succeeded',
  fail: 'charge.failed',
  retry: 'charge.pending_retry',
  expire: 'charge.expired',
} as const satisfies Record<Resolution['event'], GatewayEvent['type']>

/** Converts a duration to milliseconds, and `false` to infinity. */
const lengthOf = (duration: Duration | false): number =>
  duration === false ? Number.POSITIVE_INFINITY : toMilliseconds(duration)

const ID_LENGTH = 20
const EXPIRE: Resolution = { event: 'expire', outcome: 'EXPIRED' }

/** Creates the store of charges and adds the seeded charges. Only this store changes charges. */
export const createLedger = (parts: {
  readonly timeline: Timeline
  readonly ids: Pick<Ids, 'text'>
  readonly options: GatewayOptions
  readonly baseUrl: () => string
}) => {
  const { timeline, ids, options, baseUrl } = parts
  let state = emptyTransactions()
  /** All charges in an array, oldest first, because pages of charges are read by position. */
  let order: ChargeRecord[] = []
  let lasting = newLastingState()
  const configured = new Map<string, BehaviorName>(
    Object.entries(options.testNumbers).map(([msisdn, name]) => [comparableNumber(msisdn), name]),
  )

  const chargeId = (): string => `ch_${ids.text('charge', ID_LENGTH)}`
  const confirmationId = (): string => `conf_${ids.text('confirmation', ID_LENGTH)}`

  const behaviorOf = (charge: ChargeFields): Behavior => {
    const number = comparableNumber(charge.msisdn)
    return behaviors[lasting.behaviors.get(number) ?? configured.get(number) ?? options.defaultBehavior]
  }

  const record = (type: GatewayEvent['type'], charge: ChargeRecord, at: number): void =>
    recordEvent(state.events, type, charge, at)

  /** Applies an event to a charge. Returns `false` and changes nothing if the status does not allow the event. */
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

  const create = (
    { msisdn, amount, currency, redirectUri }: ChargeFields,
    { credential, key }: KeyUse,
    rest: Pick<ChargeRecord, 'mandateId' | 'status' | 'outcome'>,
  ): ChargeRecord =>
    keep({
      id: chargeId(),
      confirmationId: confirmationId(),
      msisdn,
      amount,
      currency,
      redirectUri,
      baseUrl: pageBase(),
      createdAt: timeline.now(),
      mandateId: rest.mandateId,
      idempotencyKey: key,
      credential,
      status: rest.status,
      outcome: rest.outcome,
      wrongCodes: 0,
    })

  const resolutionNow = (charge: ChargeFields): Resolution => {
    const { resolution, afterFirst } = behaviorOf(charge)
    return state.paidNumbers.has(comparableNumber(charge.msisdn)) ? (afterFirst ?? resolution) : resolution
  }

  const recordOfSeed = (given: SeedCharge): ChargeRecord => {
    const { status = 'succeeded', created_at: createdAt = timeline.now() } = given
    return {
      id: given.id ?? chargeId(),
      confirmationId: given.confirmation_id ?? confirmationId(),
      msisdn: given.msisdn,
      amount: given.amount,
      currency: given.currency,
      redirectUri: given.redirect_uri ?? 'https://merchant.example/return',
      baseUrl: pageBase(),
      createdAt: toInstantMilliseconds(createdAt),
      mandateId: given.mandate_id,
      idempotencyKey: undefined,
      credential: credentialOf(options.apiKeys[0] ?? ''),
      status,
      outcome: given.outcome ?? outcomeOf[status],
      wrongCodes: 0,
    }
  }

  const seed = (): void => {
    for (const given of options.charges) {
      const charge = recordOfSeed(given)
      if (state.charges.has(charge.id) || state.confirmations.has(charge.confirmationId)) {
        throw new TypeError(
          `gateway.charges must not contain two charges with the identifier ${charge.id} or ${charge.confirmationId}`,
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
    /** Returns the current state. Call this function again after a reset, which replaces the state object. */
    transactions: () => state,
    lasting: () => lasting,
    /** Returns every charge, oldest first. */
    inOrder: (): readonly ChargeRecord[] => order,
    /** Creates a charge that waits for its one-time code. */
    open(fields: ChargeFields, use: KeyUse): ChargeRecord {
      const pending = { status: 'pending_confirmation', outcome: 'PENDING' } as const
      const charge = create(fields, use, { mandateId: undefined, ...pending })
      record('charge.created', charge, charge.createdAt)
      planExpiry(charge)
      return charge
    },
    /** Renews a charge. A renewal needs no code and gets its outcome at once (G rule 3). */
    renew(mandate: ChargeRecord, use: KeyUse): ChargeRecord {
      const resolution = resolutionNow(mandate)
      const status = chargeAfter('none', resolution.event)
      if (status === undefined) throw new Error(`A renewal cannot begin with the event ${resolution.event}.`)
      const { outcome } = resolution
      const charge = create(mandate, use, { mandateId: mandate.id, status, outcome })
      record('charge.renewed', charge, charge.createdAt)
      settled(charge, resolution, charge.createdAt)
      return charge
    },
    /** Confirms a charge after a correct code. Returns `false` if the charge is not pending_confirmation. */
    confirm(charge: ChargeRecord): boolean {
      if (charge.status !== 'pending_confirmation') return false
      const at = timeline.now()
      record('charge.confirmed', charge, at)
      return move(charge, resolutionNow(charge), at)
    },
    /** Counts a wrong code. The charge expires after `maxOtpAttempts` wrong codes. */
    countWrongCode(charge: ChargeRecord): void {
      const { maxOtpAttempts } = options
      if (maxOtpAttempts === false || charge.status !== 'pending_confirmation') return
      charge.wrongCodes += 1
      if (charge.wrongCodes >= maxOtpAttempts) move(charge, EXPIRE, timeline.now())
    },
    /** Deletes all charges with their events and idempotency keys. */
    clear(): void {
      lasting.clearedEvents += state.events.types.length
      forgetTransactions()
    },
    /** Deletes the charges of one API key, with their events and idempotency keys. */
    clearOf(credential: string): void {
      const isKept = (charge: ChargeRecord): boolean => charge.credential !== credential
      const kept = order.filter(isKept)
      const { events, keys } = state
      const keptKeys = [...keys].filter(([, { charge }]) => isKept(charge))
      const [waiting, retried] = [unconfirmed.all(), retries.all()]
      forgetTransactions()
      state = { ...state, events, keys: new Map(keptKeys) }
      for (const charge of kept) {
        keep(charge)
        if (charge.status === 'succeeded') state.paidNumbers.add(comparableNumber(charge.msisdn))
      }
      unconfirmed.replace(waiting.filter(isKept))
      retries.replace(retried.filter(({ charge }) => isKept(charge)))
    },
    restart(): void {
      lasting = newLastingState()
      forgetTransactions()
      seed()
    },
    snapshot: (): Snapshot => ({
      transactions: state,
      lasting,
      unconfirmed: unconfirmed.all(),
      retries: retries.all(),
    }),
    restore(snapshot: unknown): void {
      const taken = snapshot as Snapshot
      state = taken.transactions
      order = [...state.charges.values()]
      lasting = taken.lasting
      unconfirmed.replace(taken.unconfirmed)
      retries.replace(taken.retries)
    },
  }
}

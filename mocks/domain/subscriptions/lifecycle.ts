import type { SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'
import type { Day } from '../calendar.ts'
import { SECOND, toMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Timeline } from '../timeline.ts'
import type { PaymentScript, SubscriptionsOptions } from './options.ts'
import type { Schedule, Terms } from './schedule.ts'
import type { CancellationRecord, State, SubscriptionRecord } from './state.ts'
import type { SubscriptionTrigger } from './transitions.ts'
import { cancellationAfter, requestAfter, subscriptionAfter } from './transitions.ts'
import type { NotificationBody } from './types.ts'
import { paymentIdOf } from './views.ts'

/** What is asked for when a request is created. */
export interface NewSubscription {
  readonly owner: string
  readonly request: SubscriptionRequestBody
  readonly terms: Terms
  readonly createdAt: number
  readonly invoiceId?: string | undefined
  readonly subscriptionId?: string | undefined
}

/** What happens to subscriptions, by a call, by the payer or in the course of time. */
export interface Lifecycle {
  create(asked: NewSubscription): SubscriptionRecord
  /** Whether the move is legal now. */
  can(record: SubscriptionRecord, trigger: SubscriptionTrigger): boolean
  /** The payer agrees. The first payment is due at the first due date from now on. */
  authorize(record: SubscriptionRecord, payments: readonly PaymentScript[]): void
  /** Makes a subscription that was authorized at `at`, with the payments that fell due since, silently. */
  backdate(record: SubscriptionRecord, payments: readonly PaymentScript[], at: number): void
  decline(record: SubscriptionRecord): void
  cancel(record: SubscriptionRecord): CancellationRecord
  /** Takes everything off the timeline. */
  forget(): void
  /** Says that state and timeline are a snapshot's: what is planned is looked up when it is first to be unplanned. */
  restored(): void
}

const EXPIRY = 'subscriptions.request-expiry'
const DUE = 'subscriptions.due'
const CANCELLATION = 'subscriptions.cancellation'
const ID_LENGTH = 20

type NextEvent = { readonly kind: 'slot' | 'retry' | 'end'; readonly at: number }

/** Makes the lifecycle and lets it act on the timeline. */
export const createLifecycle = (parts: {
  readonly timeline: Timeline
  readonly ids: Ids
  readonly options: SubscriptionsOptions
  readonly schedule: Schedule
  readonly state: State
  readonly notify: (body: NotificationBody) => void
}): Lifecycle => {
  const { timeline, ids, options, schedule, state, notify } = parts
  const { retries, everyDays } = options.dunning
  const requestTtl = options.requestTtl === false ? undefined : toMilliseconds(options.requestTtl)
  const cancelDelay = toMilliseconds(options.cancelDelay)
  /** Takes the living entry of each subscription off the timeline; entries that are left nevertheless are stale. */
  const unplan: ((() => void) | undefined)[] = []
  const unplanCancellation: ((() => void) | undefined)[] = []
  let isAdopted = true

  /** Finds on the timeline what was planned for the state of a snapshot. */
  const adopt = (): void => {
    if (isAdopted) return
    isAdopted = true
    const entries = [
      ...timeline.planned(EXPIRY).map((entry) => ({ ...entry, record: state.byInvoice(entry.id) })),
      ...timeline.planned(DUE).map((entry) => ({ ...entry, record: state.bySubscription(entry.id) })),
    ]
    for (const { record, unplan: remove } of entries) if (record !== undefined) unplan[record.index] = remove
    for (const entry of timeline.planned(CANCELLATION)) unplanCancellation[Number(entry.id)] = entry.unplan
  }

  const unplanned = (record: SubscriptionRecord): void => {
    adopt()
    record.plannedAt = undefined
    unplan[record.index]?.()
    unplan[record.index] = undefined
  }

  const tell = (
    type: NotificationBody['type'],
    status: NotificationBody['status'],
    record: SubscriptionRecord,
    at: number,
    paymentId = '',
  ): void =>
    notify({
      notificationId: ids.text('notification', ID_LENGTH),
      type,
      status,
      subscriptionId: record.subscriptionId,
      paymentId,
      timestamp: String(Math.floor(at / SECOND)),
    })

  /** Moves request and subscription as the tables say; `false` when neither moves. */
  const move = (record: SubscriptionRecord, trigger: SubscriptionTrigger, at: number): boolean => {
    const phase = subscriptionAfter(record.phase, trigger)
    if (phase === undefined) return false
    record.phase = phase
    record.requestStatus = requestAfter(record.requestStatus, trigger) ?? record.requestStatus
    if (phase !== 'PENDING' && phase !== 'ACTIVE') {
      record.closedAt = at
      unplanned(record)
    }
    return true
  }

  const nextEvent = (record: SubscriptionRecord): NextEvent => {
    const retry = record.retries[0]
    const day = schedule.day(record.terms, record.nextSlot)
    const event: NextEvent =
      day <= record.terms.endDay
        ? { kind: 'slot', at: schedule.instant(day) }
        : { kind: 'end', at: schedule.end(record.terms) }
    return retry !== undefined && retry.at <= event.at ? { kind: 'retry', at: retry.at } : event
  }

  const plan = (record: SubscriptionRecord): void => {
    const at = Math.max(nextEvent(record).at, timeline.now())
    record.plannedAt = at
    unplan[record.index] = timeline.schedule(at, DUE, record.subscriptionId)
  }

  const planRetry = (record: SubscriptionRecord, dueDay: Day, number: number): void => {
    const day = dueDay + everyDays * number
    if (number > retries || day > record.terms.endDay) return
    record.retries.push({ dueDay, at: schedule.instant(day), number })
    record.retries.sort((left, right) => left.at - right.at)
  }

  const pay = (record: SubscriptionRecord, dueDay: Day, at: number, retry: number, silent: boolean): void => {
    const succeeded = (record.script.length === 0 ? 'succeed' : record.script.shift()) === 'succeed'
    const index = state.payments.add(record.index, dueDay, at, succeeded)
    record.payments.push(index)
    if (!succeeded) planRetry(record, dueDay, retry + 1)
    if (silent) return
    const status = succeeded ? 'SUCCEEDED_PAYMENT' : 'FAILED_PAYMENT'
    tell('SUBSCRIPTION_PAYMENT', status, record, at, String(paymentIdOf(index)))
  }

  /** Lets everything happen that a subscription's terms foresee up to `until`. */
  const run = (record: SubscriptionRecord, until: number, silent: boolean): void => {
    while (record.phase === 'ACTIVE') {
      const { kind, at } = nextEvent(record)
      if (at > until) return
      if (kind === 'end') move(record, 'end', at)
      else if (kind === 'retry') {
        const retry = record.retries.shift()
        if (retry !== undefined) pay(record, retry.dueDay, at, retry.number, silent)
      } else {
        const day = schedule.day(record.terms, record.nextSlot)
        record.nextSlot += 1
        pay(record, day, at, 0, silent)
      }
    }
  }

  const start = (record: SubscriptionRecord, payments: readonly PaymentScript[], at: number): void => {
    move(record, 'authorize', at)
    record.authorizedAt = at
    if (payments.length > 0) record.script = [...payments]
    record.nextSlot = schedule.firstSlot(record.terms, at)
  }

  const process = (cancellation: CancellationRecord, at: number): void => {
    const record = state.subscriptions[cancellation.subscription]
    const status = cancellationAfter(cancellation.status, 'process')
    if (record === undefined || status !== 'PROCESSED') return
    cancellation.status = status
    if (move(record, 'cancel', at)) record.cancelledAt = at
    tell('SUBSCRIPTION', 'CANCELLED', record, at)
  }

  timeline.on(EXPIRY, (invoiceId, at) => {
    const record = state.byInvoice(invoiceId)
    // A declined or authorized request has moved on; the table refuses.
    if (record?.phase === 'PENDING') move(record, 'expire', at)
  })
  timeline.on(DUE, (subscriptionId, at) => {
    const record = state.bySubscription(subscriptionId)
    if (record === undefined || record.plannedAt !== at) return
    run(record, at, false)
    if (record.phase === 'ACTIVE') plan(record)
  })
  timeline.on(CANCELLATION, (index, at) => {
    const cancellation = state.cancellations[Number(index)]
    if (cancellation !== undefined) process(cancellation, at)
  })

  return {
    create({ owner, request, terms, createdAt, invoiceId, subscriptionId }) {
      const record: SubscriptionRecord = {
        index: state.subscriptions.length,
        invoiceId: invoiceId ?? ids.text('invoice', ID_LENGTH),
        subscriptionId: subscriptionId ?? ids.text('subscription', ID_LENGTH),
        owner,
        request,
        terms,
        createdAt,
        requestStatus: requestAfter('none', 'create') ?? 'INITIALIZED',
        phase: subscriptionAfter('none', 'create') ?? 'PENDING',
        authorizedAt: undefined,
        cancelledAt: undefined,
        closedAt: undefined,
        nextSlot: 0,
        script: [],
        retries: [],
        payments: [],
        cancellation: undefined,
        plannedAt: undefined,
      }
      state.addSubscription(record)
      if (requestTtl !== undefined && requestTtl !== Number.POSITIVE_INFINITY) {
        unplan[record.index] = timeline.schedule(createdAt + requestTtl, EXPIRY, record.invoiceId)
      }
      return record
    },
    can: (record, trigger) => subscriptionAfter(record.phase, trigger) !== undefined,
    authorize(record, payments) {
      const at = timeline.now()
      unplanned(record)
      start(record, payments, at)
      plan(record)
      tell('SUBSCRIPTION', 'SUCCEEDED', record, at)
      timeline.settle()
    },
    backdate(record, payments, at) {
      unplanned(record)
      start(record, payments, at)
      run(record, timeline.now(), true)
      if (record.phase === 'ACTIVE') plan(record)
    },
    decline: (record) => void move(record, 'decline', timeline.now()),
    cancel(record) {
      const cancellation: CancellationRecord = {
        index: state.cancellations.length,
        subscription: record.index,
        status: 'PROCESSING',
      }
      record.cancellation = cancellation.index
      state.addCancellation(cancellation)
      const at = timeline.now()
      if (cancelDelay === 0) process(cancellation, at)
      else {
        const { index } = cancellation
        unplanCancellation[index] = timeline.schedule(at + cancelDelay, CANCELLATION, String(index))
      }
      return cancellation
    },
    forget() {
      adopt()
      for (const remove of [...unplan, ...unplanCancellation]) remove?.()
      unplan.length = 0
      unplanCancellation.length = 0
    },
    restored() {
      // The old entries go with the old timeline, before or after: unplanning here could hit the restored ones.
      unplan.length = 0
      unplanCancellation.length = 0
      isAdopted = false
    },
  }
}

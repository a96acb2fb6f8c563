import type { SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'
import type { Day } from '../calendar.ts'
import { SECOND, toMilliseconds } from '../duration.ts'
import type { Ids } from '../ids.ts'
import type { Timeline } from '../timeline.ts'
import type { PaymentScript, SubscriptionsOptions } from './options.ts'
import type { Schedule, Terms } from './schedule.ts'
import type { CancellationRecord, State, SubscriptionRecord } from './state.ts'
import type { SubscriptionTrigger } from './transitions.ts'
import {
  cancellationTransitions,
  requestAfter,
  requestTransitions,
  subscriptionAfter,
  subscriptionTransitions,
} from './transitions.ts'
import type { NotificationBody } from './types.ts'
import { paymentIdOf } from './views.ts'

const EXPIRY = 'subscriptions.request-expiry'
const DUE = 'subscriptions.due'
const CANCELLATION = 'subscriptions.cancellation'
const ID_LENGTH = 20

/** The functions that change subscriptions when the API is called, the payer decides or time passes. */
export type Lifecycle = ReturnType<typeof createLifecycle>

/** Creates the functions that change subscriptions. Planned events of the timeline call these functions. */
export const createLifecycle = (parts: {
  readonly timeline: Timeline
  readonly ids: Ids
  readonly options: SubscriptionsOptions
  readonly schedule: Schedule
  readonly state: State
  readonly notify: (body: NotificationBody) => void
}) => {
  const { timeline, ids, options, schedule, state, notify } = parts
  const { retries, everyDays } = options.dunning
  const requestTtl = options.requestTtl === false ? undefined : toMilliseconds(options.requestTtl)
  const cancelDelay = toMilliseconds(options.cancelDelay)

  const cancelPlanned = (record: SubscriptionRecord): void => {
    timeline.cancel(EXPIRY, record.invoiceId)
    timeline.cancel(DUE, record.subscriptionId)
  }

  const send = (
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

  /** Applies an event to a request and its subscription. Returns `false` if the event is not allowed. */
  const move = (record: SubscriptionRecord, trigger: SubscriptionTrigger, at: number): boolean => {
    const phase = subscriptionAfter(record.phase, trigger)
    if (phase === undefined) return false
    record.phase = phase
    record.requestStatus = requestAfter(record.requestStatus, trigger) ?? record.requestStatus
    if (phase !== 'PENDING' && phase !== 'ACTIVE') {
      record.closedAt = at
      cancelPlanned(record)
    }
    return true
  }

  const nextEvent = (
    record: SubscriptionRecord,
  ): { readonly kind: 'slot' | 'retry' | 'end'; readonly at: number } => {
    const { terms } = record
    const retry = record.retries[0]
    const day = schedule.day(terms, record.nextSlot)
    const isOver = day > terms.endDay
    const at = isOver ? schedule.end(terms) : schedule.instant(day)
    if (retry !== undefined && retry.at <= at) return { kind: 'retry', at: retry.at }
    return { kind: isOver ? 'end' : 'slot', at }
  }

  const plan = (record: SubscriptionRecord): void =>
    timeline.schedule(nextEvent(record).at, DUE, record.subscriptionId)

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
    send('SUBSCRIPTION_PAYMENT', status, record, at, String(paymentIdOf(index)))
  }

  /** Executes all payments that are due by `until`. If the last day is over by then, ends the subscription. */
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
    if (record === undefined || cancellation.status === 'PROCESSED') return
    cancellation.status = cancellationTransitions[cancellation.status].process
    // A subscription that ended, expired or was declined stays unchanged, and no notification is sent (row 28).
    if (!move(record, 'cancel', at)) return
    record.cancelledAt = at
    send('SUBSCRIPTION', 'CANCELLED', record, at)
  }

  timeline.on(EXPIRY, (invoiceId, at) => {
    const record = state.byInvoice(invoiceId)
    if (record?.phase === 'PENDING') move(record, 'expire', at)
  })
  timeline.on(DUE, (subscriptionId, at) => {
    const record = state.bySubscription(subscriptionId)
    if (record === undefined) return
    run(record, at, false)
    if (record.phase === 'ACTIVE') plan(record)
  })
  timeline.on(CANCELLATION, (index, at) => {
    const cancellation = state.cancellations[Number(index)]
    if (cancellation !== undefined) process(cancellation, at)
  })

  return {
    create(asked: {
      readonly owner: string
      readonly request: SubscriptionRequestBody
      readonly terms: Terms
      readonly createdAt: number
      readonly invoiceId?: string | undefined
      readonly subscriptionId?: string | undefined
    }): SubscriptionRecord {
      const record: SubscriptionRecord = {
        index: state.subscriptions.length,
        invoiceId: asked.invoiceId ?? ids.text('invoice', ID_LENGTH),
        subscriptionId: asked.subscriptionId ?? ids.text('subscription', ID_LENGTH),
        owner: asked.owner,
        request: asked.request,
        terms: asked.terms,
        createdAt: asked.createdAt,
        requestStatus: requestTransitions.none.create,
        phase: subscriptionTransitions.none.create,
        authorizedAt: undefined,
        cancelledAt: undefined,
        closedAt: undefined,
        nextSlot: 0,
        script: [],
        retries: [],
        payments: [],
        cancellation: undefined,
      }
      state.addSubscription(record)
      if (requestTtl !== undefined && requestTtl !== Number.POSITIVE_INFINITY) {
        timeline.schedule(record.createdAt + requestTtl, EXPIRY, record.invoiceId)
      }
      return record
    },
    /** Returns whether the subscription's phase allows the event. */
    can: (record: SubscriptionRecord, trigger: SubscriptionTrigger): boolean =>
      subscriptionAfter(record.phase, trigger) !== undefined,
    /** Authorizes a request. If a payment is due at this very time, it happens at once. */
    authorize(record: SubscriptionRecord, payments: readonly PaymentScript[]): void {
      const at = timeline.now()
      cancelPlanned(record)
      start(record, payments, at)
      plan(record)
      send('SUBSCRIPTION', 'SUCCEEDED', record, at)
      timeline.settle()
    },
    /** Authorizes a request at the past time `at`, then executes the payments since `at`. Sends no notifications. */
    backdate(record: SubscriptionRecord, payments: readonly PaymentScript[], at: number): void {
      cancelPlanned(record)
      start(record, payments, at)
      run(record, timeline.now(), true)
      if (record.phase === 'ACTIVE') plan(record)
    },
    decline: (record: SubscriptionRecord) => void move(record, 'decline', timeline.now()),
    cancel(record: SubscriptionRecord): CancellationRecord {
      const cancellation: CancellationRecord = {
        index: state.cancellations.length,
        subscription: record.index,
        status: 'PROCESSING',
      }
      record.cancellation = cancellation.index
      state.addCancellation(cancellation)
      const at = timeline.now()
      if (cancelDelay === 0 || subscriptionAfter(record.phase, 'cancel') === undefined)
        process(cancellation, at)
      else {
        timeline.schedule(at + cancelDelay, CANCELLATION, String(cancellation.index))
      }
      return cancellation
    },
    /** Removes all planned events of subscriptions. */
    forget(): void {
      for (const kind of [EXPIRY, DUE, CANCELLATION]) timeline.cancelAll(kind)
    },
  }
}

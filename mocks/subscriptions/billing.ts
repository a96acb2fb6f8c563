import type {
  KnownNotificationType,
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../../src/contract/notifications.ts'
import type { KnownCycle, SubscriptionRequestBody } from '../../src/contract/subscriptions.ts'
import type { Calendar, Day } from '../domain/calendar.ts'
import { SECOND, toMilliseconds } from '../domain/duration.ts'
import type { Ids } from '../domain/ids.ts'
import type { Timeline } from '../domain/timeline.ts'
import type { PaymentScript, SubscriptionsOptions } from './options.ts'
import type { Cancellation, DuePayment, Subscription, SubscriptionsState, Terms } from './state.ts'
import { allows, cancellationIds, paymentIdOf, phaseAt, requestKey } from './state.ts'

/** Calendar days between two due dates of a cycle. */
export const CYCLE_DAYS = { DAILY: 1, WEEKLY: 7, FIFTEEN_DAYS: 15 } as const satisfies Record<
  KnownCycle,
  number
>

/** Calculates due dates for one time zone and one time of day (row 23). A `slot` is the index of a due date. */
export type Schedule = ReturnType<typeof createSchedule>

/** Creates a schedule. The first due date is the subscription's start; the others follow every 1, 7 or 15 days. */
export const createSchedule = (calendar: Calendar, debitSecond: number) => {
  const day = ({ startDay, step }: Terms, slot: number): Day => startDay + slot * step
  const instant = (due: Day): number => calendar.instantOf(due, debitSecond)
  return {
    /** Returns the due date of a slot. */
    day,
    /** Returns the instant at which the payments of a due date happen. */
    instant,
    /** Returns the first slot that is due at or after an instant. The slot may be after the subscription's end. */
    firstSlot(terms: Terms, from: number): number {
      // The search starts one day early, because a clock change that skips 23:30 moves the day's payment past midnight.
      const back = calendar.dayAt(from) - 1 - terms.startDay
      let slot = Math.max(0, Math.ceil(back / terms.step))
      while (instant(day(terms, slot)) < from) slot += 1
      return slot
    },
    /** Returns the instant at which a subscription ends: midnight after its last day. */
    end: ({ endDay }: Terms): number => calendar.instantOf(endDay + 1, 0),
  }
}

/** The JSON of a notification (S8). */
export interface NotificationBody {
  /** Unique identifier of the notification. A retried delivery has the same identifier. */
  readonly notificationId: string
  /** `SUBSCRIPTION` or `SUBSCRIPTION_PAYMENT` (row 48). */
  readonly type: KnownNotificationType
  /** A subscription is `SUCCEEDED` or `CANCELLED`, a payment `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT` (row 48). */
  readonly status: KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus
  /** Identifier of the subscription. */
  readonly subscriptionId: string
  /** The paymentId as text; empty for type `SUBSCRIPTION`. */
  readonly paymentId: string
  /** Time of the event: UNIX time in whole seconds, as text, such as `"1796040000"`. */
  readonly timestamp: string
}

/** The entry of a subscription on the timeline: its next payment, or its end. */
const DUE = 'subscriptions.due'
const CANCELLATION = 'subscriptions.cancellation'
const ID_LENGTH = 20

/** A request that a merchant or a seed makes. */
export interface NewRequest {
  readonly owner: string
  readonly request: SubscriptionRequestBody
  readonly terms: Terms
  readonly createdAt: number
  readonly invoiceId?: string | undefined
  readonly subscriptionId?: string | undefined
}

/** Creates the functions that change subscriptions. The timeline runs payments and cancellations at their time. */
export const createBilling = (parts: {
  readonly state: () => SubscriptionsState
  readonly timeline: Timeline
  readonly ids: Ids
  readonly options: SubscriptionsOptions
  readonly schedule: Schedule
  readonly notify: (body: NotificationBody) => void
}) => {
  const { state, timeline, ids, options, schedule, notify } = parts
  const { retries, everyDays } = options.dunning
  const requestTtl =
    options.requestTtl === false ? Number.POSITIVE_INFINITY : toMilliseconds(options.requestTtl)
  const cancelDelay = toMilliseconds(options.cancelDelay)

  const send = (
    type: NotificationBody['type'],
    status: NotificationBody['status'],
    { subscriptionId }: Subscription,
    at: number,
    paymentId = '',
  ): void =>
    notify({
      notificationId: ids.text('notification', ID_LENGTH),
      type,
      status,
      subscriptionId,
      paymentId,
      timestamp: String(Math.floor(at / SECOND)),
    })

  /** Returns what an active subscription does next: the earlier of a retry and the next payment; last, its end. */
  const nextDue = ({
    terms,
    nextSlot,
    retries: [retry],
  }: Subscription): DuePayment | { readonly at: number } => {
    const dueDay = schedule.day(terms, nextSlot)
    const next =
      dueDay > terms.endDay
        ? { at: schedule.end(terms) }
        : { dueDay, at: schedule.instant(dueDay), attempt: 0 }
    return retry !== undefined && retry.at <= next.at ? retry : next
  }

  const planRetry = (one: Subscription, dueDay: Day, attempt: number): void => {
    const day = dueDay + everyDays * attempt
    if (attempt > retries || day > one.terms.endDay) return
    one.retries.push({ dueDay, at: schedule.instant(day), attempt })
    one.retries.sort((left, right) => left.at - right.at)
  }

  const pay = (one: Subscription, { dueDay, at, attempt }: DuePayment, isSilent: boolean): void => {
    if (attempt === 0) one.nextSlot += 1
    else one.retries.shift()
    const succeeded = (one.script.shift() ?? 'succeed') === 'succeed'
    const { payments } = state()
    const index = payments.at.push(at) - 1
    payments.subscription.push(one.index)
    payments.dueDay.push(dueDay)
    payments.succeeded.push(succeeded)
    one.payments.push(index)
    if (!succeeded) planRetry(one, dueDay, attempt + 1)
    if (isSilent) return
    const status = succeeded ? 'SUCCEEDED_PAYMENT' : 'FAILED_PAYMENT'
    send('SUBSCRIPTION_PAYMENT', status, one, at, String(paymentIdOf(index)))
  }

  /** Makes all payments that are due by `until`, ends the subscription if it is over by then, else plans what is next. */
  const payUntil = (one: Subscription, until: number, isSilent: boolean): void => {
    while (phaseAt(one, until) === 'ACTIVE') {
      const due = nextDue(one)
      if (due.at > until) {
        timeline.schedule(due.at, DUE, one.subscriptionId)
        return
      }
      if ('dueDay' in due) pay(one, due, isSilent)
      else one.endedAt = due.at
    }
  }

  const process = (one: Subscription, at: number): void => {
    if (one.cancellation !== undefined) one.cancellation.processedAt = at
    // A subscription that ended, expired or was declined stays unchanged, and no notification is sent (row 28).
    if (!allows(one, 'cancel', at)) return
    one.cancelledAt = at
    timeline.cancel(DUE, one.subscriptionId)
    send('SUBSCRIPTION', 'CANCELLED', one, at)
  }

  const whenPlanned = (kind: string, run: (one: Subscription, at: number) => void): void =>
    timeline.on(kind, (subscriptionId, at) => {
      const one = state().bySubscription.get(subscriptionId)
      if (one !== undefined) run(one, at)
    })
  whenPlanned(DUE, (one, at) => payUntil(one, at, false))
  whenPlanned(CANCELLATION, process)

  return {
    /** Adds a request, which expires `requestTtl` after its creation unless the payer decides (row 10). */
    create({ invoiceId, subscriptionId, ...asked }: NewRequest): Subscription {
      const { subscriptions, byInvoice, bySubscription, requestIds } = state()
      const one: Subscription = {
        index: subscriptions.length,
        invoiceId: invoiceId ?? ids.text('invoice', ID_LENGTH),
        subscriptionId: subscriptionId ?? ids.text('subscription', ID_LENGTH),
        ...asked,
        // A seed whose time is over expires when it is added.
        expiresAt: Math.max(asked.createdAt + requestTtl, timeline.now()),
        hasExpired: false,
        authorizedAt: undefined,
        declinedAt: undefined,
        cancelledAt: undefined,
        endedAt: undefined,
        cancellation: undefined,
        nextSlot: 0,
        script: [],
        retries: [],
        payments: [],
      }
      subscriptions.push(one)
      byInvoice.set(one.invoiceId, one)
      bySubscription.set(one.subscriptionId, one)
      requestIds.add(requestKey(one.owner, one.request.requestID))
      return one
    },
    /** Authorizes a request at a time: now or, for a seed, in the past. A silent authorization sends no notifications. */
    authorize(one: Subscription, script: readonly PaymentScript[], at: number, isSilent: boolean): void {
      one.authorizedAt = at
      one.nextSlot = schedule.firstSlot(one.terms, at)
      if (script.length > 0) one.script = [...script]
      if (!isSilent) send('SUBSCRIPTION', 'SUCCEEDED', one, at)
      payUntil(one, timeline.now(), isSilent)
    },
    /** Adds a cancellation, which is processed after `cancelDelay` (row 27). */
    cancel(one: Subscription): Cancellation {
      const { subscriptionId } = one
      const at = timeline.now()
      const cancellation: Cancellation = {
        ...cancellationIds(state()),
        subscriptionId,
        requestedAt: at,
        processedAt: undefined,
      }
      one.cancellation = cancellation
      state().cancellations.push(cancellation)
      if (cancelDelay === 0 || !allows(one, 'cancel', at)) process(one, at)
      else timeline.schedule(at + cancelDelay, CANCELLATION, subscriptionId)
      return cancellation
    },
  }
}

import { dayNumber } from '../../src/contract/formats.ts'
import type {
  KnownNotificationType,
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
  NotificationMessage,
} from '../../src/contract/notifications.ts'
import type { KnownCycle } from '../../src/contract/subscriptions.ts'
import type { Ids } from '../base/ids.ts'
import { createCalendar, type Day, parseTimeOfDay } from '../time/calendar.ts'
import type { Agenda } from '../time/clock.ts'
import { SECOND, toMilliseconds } from '../time/duration.ts'
import type { PaymentScript, SubscriptionsOptions } from './options.ts'
import type { Cancellation, DuePayment, Subscription, SubscriptionsState, Terms } from './state.ts'
import { allows, FIRST_ID, requestKey } from './state.ts'

/** Calendar days between two due dates of a cycle. */
export const CYCLE_DAYS = { DAILY: 1, WEEKLY: 7, FIFTEEN_DAYS: 15 } as const satisfies Record<
  KnownCycle,
  number
>

/** Calculates due dates in the zone of `timeZone` at `debitTime` (row 23). A `slot` is the index of a due date. */
export type Schedule = ReturnType<typeof createSchedule>

/** Creates a schedule. The first due date is the subscription's start; the others follow every 1, 7 or 15 days. */
export const createSchedule = ({ timeZone, debitTime }: SubscriptionsOptions) => {
  const calendar = createCalendar(timeZone)
  const debitSecond = parseTimeOfDay(debitTime) ?? 0
  const day = ({ startDay, step }: Terms, slot: number): Day => startDay + slot * step
  const instant = (due: Day): number => calendar.instantOf(due, debitSecond)
  return {
    calendar,
    /** Returns the due date of a slot. */
    day,
    /** Returns the instant at which the payments of a due date are made. */
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
export interface NotificationBody extends NotificationMessage {
  /** `SUBSCRIPTION` or `SUBSCRIPTION_PAYMENT` (row 48). */
  readonly type: KnownNotificationType
  /** A subscription is `SUCCEEDED` or `CANCELLED`, a payment `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT` (row 48). */
  readonly status: KnownSubscriptionNotificationStatus | KnownPaymentNotificationStatus
}

/** What the functions of area S share. */
export interface AreaContext {
  /** The data. A reset or restore replaces `subscriptions`. */
  readonly state: { readonly subscriptions: SubscriptionsState }
  readonly agenda: Agenda
  readonly ids: Ids
  readonly options: SubscriptionsOptions
  readonly schedule: Schedule
  /** Stores a new notification and delivers it to all receivers (row 48). */
  readonly notify: (body: NotificationBody) => void
}

/** A new subscription request: sent by a merchant, or given as initial data. */
export type NewRequest = Pick<Subscription, 'owner' | 'request' | 'createdAt'> & {
  readonly invoiceId?: string | undefined
  readonly subscriptionId?: string | undefined
}

/** A subscription's entry on the agenda: its next payment, or its end. */
const DUE = 'subscriptions.due'
const CANCELLATION = 'subscriptions.cancellation'
const ID_LENGTH = 20

/** Creates the functions that change subscriptions. The agenda runs payments and cancellations at their time. */
export const createBilling = ({ state, agenda, ids, options, schedule, notify }: AreaContext) => {
  const { dunning, requestTtl } = options
  const lifetime = requestTtl === false ? Number.POSITIVE_INFINITY : toMilliseconds(requestTtl)
  const cancelDelay = toMilliseconds(options.cancelDelay)

  const send = (
    { subscriptionId }: Subscription,
    at: number,
    status: NotificationBody['status'],
    type: NotificationBody['type'] = 'SUBSCRIPTION',
    paymentId = '',
  ): void => {
    const notificationId = ids.text('notification', ID_LENGTH)
    const timestamp = String(Math.floor(at / SECOND))
    notify({ notificationId, type, status, subscriptionId, paymentId, timestamp })
  }

  /** Returns what an active subscription does next: the earlier of a retry and the next payment; last, its end. */
  const nextDue = ({ terms, nextSlot, retries }: Subscription): DuePayment | { readonly at: number } => {
    const dueDay = schedule.day(terms, nextSlot)
    const isOver = dueDay > terms.endDay
    const next = isOver ? { at: schedule.end(terms) } : { dueDay, at: schedule.instant(dueDay), attempt: 0 }
    return retries[0] !== undefined && retries[0].at <= next.at ? retries[0] : next
  }

  /** Decides a payment. A failed payment is retried (row 24), but not after the subscription's last day. */
  const pay = (one: Subscription, { dueDay, at, attempt }: DuePayment, isSilent: boolean): void => {
    if (attempt === 0) one.nextSlot += 1
    else one.retries.shift()
    const succeeded = one.script.shift() !== 'fail'
    const { payments } = state.subscriptions
    const index = payments.at.push(at) - 1
    payments.subscription.push(one.index)
    payments.dueDay.push(dueDay)
    payments.succeeded.push(succeeded)
    one.payments.push(index)
    const retryDay = dueDay + dunning.everyDays * (attempt + 1)
    if (!succeeded && attempt < dunning.retries && retryDay <= one.terms.endDay) {
      // Payments are made in order of time, so each retry is later than those that are planned.
      one.retries.push({ dueDay, at: schedule.instant(retryDay), attempt: attempt + 1 })
    }
    if (isSilent) return
    const status = succeeded ? 'SUCCEEDED_PAYMENT' : 'FAILED_PAYMENT'
    send(one, at, status, 'SUBSCRIPTION_PAYMENT', String(FIRST_ID.payment + index))
  }

  /** Makes all payments that are due by `until`. Then the subscription has ended, or its next payment is planned. */
  const payUntil = (one: Subscription, until: number, isSilent: boolean): void => {
    let due = nextDue(one)
    for (; due.at <= until && 'dueDay' in due; due = nextDue(one)) pay(one, due, isSilent)
    if (due.at <= until) one.endedAt = due.at
    else agenda.schedule(due.at, DUE, one.subscriptionId)
  }

  const process = (one: Subscription, at: number): void => {
    if (one.cancellation !== undefined) one.cancellation.processedAt = at
    // A subscription that ended, expired or was declined stays unchanged, and no notification is sent (row 28).
    if (!allows(one, 'cancel', at)) return
    one.cancelledAt = at
    agenda.cancel(DUE, one.subscriptionId)
    send(one, at, 'CANCELLED')
  }

  const whenDue = (kind: string, run: (one: Subscription, at: number) => void): void =>
    agenda.on(kind, (subscriptionId, at) => {
      const one = state.subscriptions.bySubscription.get(subscriptionId)
      if (one !== undefined) run(one, at)
    })
  whenDue(DUE, (one, at) => payUntil(one, at, false))
  whenDue(CANCELLATION, process)

  return {
    /** Adds a request, which expires `requestTtl` after its creation if the payer has not decided (row 10). */
    create({ owner, request, createdAt, ...given }: NewRequest): Subscription {
      const { subscriptions, byInvoice, bySubscription, requestIds } = state.subscriptions
      const one: Subscription = {
        index: subscriptions.length,
        invoiceId: given.invoiceId ?? ids.text('invoice', ID_LENGTH),
        subscriptionId: given.subscriptionId ?? ids.text('subscription', ID_LENGTH),
        owner,
        request,
        terms: {
          startDay: dayNumber(request.start) ?? 0,
          endDay: dayNumber(request.end) ?? 0,
          step: CYCLE_DAYS[request.cycle],
        },
        createdAt,
        // A seed may be older than this: it expires when it is added.
        expiresAt: Math.max(createdAt + lifetime, agenda.now()),
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
    /** Authorizes a request now or, as a seed, in the past. `isSilent`: sends no notification until now. */
    authorize(one: Subscription, script: readonly PaymentScript[], at: number, isSilent: boolean): void {
      one.authorizedAt = at
      one.nextSlot = schedule.firstSlot(one.terms, at)
      if (script.length > 0) one.script = [...script]
      if (!isSilent) send(one, at, 'SUCCEEDED')
      payUntil(one, agenda.now(), isSilent)
    },
    /** Adds a cancellation, which is processed after `cancelDelay` (row 27). */
    cancel(one: Subscription): Cancellation {
      const { cancellations } = state.subscriptions
      const requestedAt = agenda.now()
      const cancellation: Cancellation = {
        id: FIRST_ID.cancellation + cancellations.length,
        requestID: FIRST_ID.cancellationRequest + cancellations.length,
        subscriptionId: one.subscriptionId,
        requestedAt,
      }
      cancellations.push(cancellation)
      one.cancellation = cancellation
      if (cancelDelay === 0 || !allows(one, 'cancel', requestedAt)) process(one, requestedAt)
      else agenda.schedule(requestedAt + cancelDelay, CANCELLATION, one.subscriptionId)
      return cancellation
    },
  }
}

import type {
  KnownPaymentStatus,
  Payment as PaymentRecord,
  SubscriptionRequestBody,
} from '../../src/contract/subscriptions.ts'
import { idOf } from '../base/ids.ts'
import { withParameter } from '../base/return-address.ts'
import { type Day, dateText, isoMicroseconds } from '../time/calendar.ts'
import type { AreaContext } from './billing.ts'
import {
  type Cancellation,
  cancellationStatus,
  FIRST_ID,
  type Payment,
  paymentAt,
  type Subscription,
  standingAt,
} from './state.ts'

/** The JSON of a payment (S6). */
export interface PaymentBody extends PaymentRecord {
  /** Identifier of the payment: an integer. Pass this integer to `payer.reverse`. */
  readonly paymentId: number
  /** The due date, `YYYY-MM-DD`. A retry has the due date of the first attempt (row 24). */
  readonly dueDate: string
  /** The reversed amount, as text such as `"25.00"`; null until `payer.reverse` is called (row 13). */
  readonly reverseTransactionAmount: string | null
  /** Time of the reversal, `YYYY-MM-DD HH:MM:SS` in `subscriptions.timeZone` (row 14); null without a reversal. */
  readonly reverseTransactionDate: string | null
  /** `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT`; `payer.setPayments` sets the status of future payments (row 26). */
  readonly status: KnownPaymentStatus
  /** When the payment was made, `YYYY-MM-DD HH:MM:SS` in `subscriptions.timeZone` (row 14). */
  readonly transactionDate: string
  /** Identifier of the transaction; a failed payment also has one (row 24). */
  readonly transactionId: string
  /** The next due date, `YYYY-MM-DD`. If no payment follows: see option `nextPaymentDateAfterEnd` (row 25). */
  readonly nextPaymentDate: string | null
}

/** The data of the page on which the payer authorizes or declines a request. */
export interface AuthorizationView
  extends Pick<SubscriptionRequestBody, 'amount' | 'cycle' | 'start' | 'end'> {
  /** Identifier of the request: the `invoiceID` that `subscribe` returned. */
  readonly invoiceId: string
  /** Name of the request's merchant, from the option `subscriptions.merchants`. */
  readonly merchant: string
  /** The first due dates, at most five, as `YYYY-MM-DD`. */
  readonly nextPayments: readonly string[]
  /** Status of the request: `INITIALIZED`, `SUCCEEDED`, `FAILED`, `EXPIRED` or `CANCELLED` (row 10). */
  readonly status: string
  /** The URL to which the payer returns: `userReturnURL` with `invoiceID` added. */
  readonly returnUrl: string
}

/** A subscription, as `mock.state.subscriptions()` returns it. */
export interface SubscriptionState {
  /** Identifier of the request: the `invoiceID` that `subscribe` returned. */
  readonly invoiceId: string
  /** Identifier of the subscription. Before the authorization, a status response may omit it (row 11). */
  readonly subscriptionId: string
  /** Status of the request: `INITIALIZED`, `SUCCEEDED`, `FAILED`, `EXPIRED` or `CANCELLED` (row 10). */
  readonly requestStatus: string
  /** Client id of the merchant that created the request; `request.clientID` may name another merchant (row 21). */
  readonly clientId: string
  /** The request (S1). */
  readonly request: SubscriptionRequestBody
  /** When the request was created: milliseconds since 1970, in the mock's time. */
  readonly createdAt: number
  /** When the payer authorized the request, in milliseconds since 1970; undefined before the authorization. */
  readonly authorizedAt: number | undefined
  /** When a cancellation was processed, in milliseconds since 1970; undefined if none was processed (row 27). */
  readonly cancelledAt: number | undefined
  /** The day of the next payment, `YYYY-MM-DD`; undefined if no payment follows. */
  readonly nextDueDate: string | undefined
  /** True from the authorization until the subscription ends or is canceled. */
  readonly active: boolean
}

/** Returns the path of a request's authorization page. `subscribe` returns the base URL plus this path (S-b). */
export const authorizationPath = (invoiceId: string): string => `/authorize/${encodeURIComponent(invoiceId)}`

const SHOWN_PAYMENTS = 5
const TRANSACTION_ID_LENGTH = 12

/** Creates the functions that turn stored facts into responses and page data, as of now. */
export const createViews = ({ state, agenda: { now }, options, schedule }: AreaContext) => {
  const { calendar } = schedule

  const standing = (one: Subscription) => standingAt(one, now())

  /** Returns the next due date of the cycle, even if the subscription ends before this date (row 25). */
  const nextDay = (one: Subscription): Day => {
    const isAuthorized = one.authorizedAt !== undefined
    const slot = isAuthorized ? one.nextSlot : schedule.firstSlot(one.terms, standing(one).closedAt ?? now())
    return schedule.day(one.terms, slot)
  }

  /** Returns whether a payment can still happen on this day. */
  const isExpected = (one: Subscription, day: Day): boolean =>
    day <= one.terms.endDay && schedule.instant(day) <= (standing(one).closedAt ?? Number.POSITIVE_INFINITY)

  const shown = <Text>(one: Subscription, day: Day, text: (day: Day) => Text): Text | null =>
    options.nextPaymentDateAfterEnd === 'date' || isExpected(one, day) ? text(day) : null

  const upcoming = (one: Subscription): string[] => {
    const first = nextDay(one)
    return Array.from({ length: SHOWN_PAYMENTS }, (_, turn) => first + turn * one.terms.step)
      .filter((day) => isExpected(one, day))
      .map(dateText)
  }

  const views = {
    /** Returns the status of a subscription request (S3). */
    status(one: Subscription) {
      const pending = one.authorizedAt === undefined ? options.pendingSubscriptionId : 'issued'
      const subscriptionId = pending === 'issued' ? one.subscriptionId : pending
      return {
        invoiceId: one.invoiceId,
        status: standing(one).requestStatus,
        ...(pending === 'omit' ? {} : { subscriptionId }),
        createdAt: calendar.dateTimeText(one.createdAt),
      }
    },
    /** Returns the details of a subscription (S4). */
    details(one: Subscription) {
      const { active, inactive } = options.enabledValues
      return {
        id: one.subscriptionId,
        amount: Number(one.request.amount),
        cycle: one.request.cycle,
        enabled: standing(one).phase === 'ACTIVE' ? active : inactive,
        createdDate: isoMicroseconds(one.createdAt),
        startDate: one.request.start,
        endDate: one.request.end,
        nextPaymentDate: shown(one, nextDay(one), (day) => calendar.dateTimeText(schedule.instant(day))),
        requestID: one.request.requestID,
      }
    },
    /** Returns a cancellation (S5). */
    cancellation: (one: Cancellation) => ({
      id: one.id,
      subscriptionID: one.subscriptionId,
      requestID: one.requestID,
      status: cancellationStatus(one),
    }),
    /** Returns a payment (S6). */
    payment({ index, subscription, dueDay, at, succeeded, reversal }: Payment): PaymentBody {
      return {
        paymentId: FIRST_ID.payment + index,
        cycle: subscription.request.cycle,
        dueDate: dateText(dueDay),
        reverseTransactionAmount: reversal === undefined ? null : subscription.request.amount,
        reverseTransactionDate: reversal === undefined ? null : calendar.dateTimeText(reversal.at),
        reverseTransactionId: reversal?.transactionId ?? null,
        status: succeeded ? 'SUCCEEDED_PAYMENT' : 'FAILED_PAYMENT',
        subscriptionId: subscription.subscriptionId,
        transactionDate: calendar.dateTimeText(at),
        transactionId: idOf(subscription.subscriptionId, index, TRANSACTION_ID_LENGTH),
        nextPaymentDate: shown(subscription, dueDay + subscription.terms.step, dateText),
      }
    },
    /** Returns the payments at these indexes. */
    payments: (indexes: readonly number[]): PaymentBody[] =>
      indexes.flatMap((index) => {
        const payment = paymentAt(state.subscriptions, index)
        return payment === undefined ? [] : [views.payment(payment)]
      }),
    authorization: (one: Subscription): AuthorizationView => ({
      invoiceId: one.invoiceId,
      merchant: options.merchants.find(({ clientId }) => clientId === one.owner)?.name ?? one.owner,
      amount: one.request.amount,
      cycle: one.request.cycle,
      start: one.request.start,
      end: one.request.end,
      nextPayments: upcoming(one),
      status: standing(one).requestStatus,
      returnUrl: withParameter(one.request.userReturnURL, 'invoiceID', one.invoiceId),
    }),
    state(one: Subscription): SubscriptionState {
      const day = nextDay(one)
      const { phase, requestStatus, closedAt } = standing(one)
      return {
        invoiceId: one.invoiceId,
        subscriptionId: one.subscriptionId,
        requestStatus,
        clientId: one.owner,
        request: { ...one.request },
        createdAt: one.createdAt,
        authorizedAt: one.authorizedAt,
        cancelledAt: one.cancelledAt,
        nextDueDate: closedAt === undefined && isExpected(one, day) ? dateText(day) : undefined,
        active: phase === 'ACTIVE',
      }
    },
    /** Returns a subscription with its last payments, its planned retries and the outcomes of its next payments. */
    listed: (one: Subscription) => ({
      ...views.state(one),
      phase: standing(one).phase,
      cancellation: one.cancellation && cancellationStatus(one.cancellation),
      paymentCount: one.payments.length,
      lastPayments: views.payments(one.payments.slice(-SHOWN_PAYMENTS)),
      retryDates: one.retries.map(({ at }) => calendar.dateTimeText(at).slice(0, 10)),
      script: [...one.script],
    }),
  }
  return views
}

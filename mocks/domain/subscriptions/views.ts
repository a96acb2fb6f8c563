import { type Calendar, type Day, dateText, isoMicroseconds } from '../calendar.ts'
import type { Ids } from '../ids.ts'
import { withParameter } from '../return-address.ts'
import type { SubscriptionsOptions } from './options.ts'
import type { Schedule } from './schedule.ts'
import type { CancellationRecord, PaymentRecord, State, SubscriptionRecord } from './state.ts'
import type { AuthorizationView, PaymentBody, SubscriptionState } from './types.ts'

// Each kind of id counts up from its own number. The numbers are far apart, so that no two kinds share an id.
const FIRST_PAYMENT = 1_000_001
const FIRST_CANCELLATION = 500_000_001
const FIRST_CANCELLATION_REQUEST = 700_000_001
const WHOLE_NUMBER = /^[1-9]\d{0,14}$/

/** Returns the paymentId of a payment (S6). */
export const paymentIdOf = (index: number): number => FIRST_PAYMENT + index

const indexOf = (text: string, first: number): number | undefined =>
  WHOLE_NUMBER.test(text) && Number(text) >= first ? Number(text) - first : undefined

/** Returns the index of the payment with this paymentId. */
export const paymentIndexOf = (text: string): number | undefined => indexOf(text, FIRST_PAYMENT)

/** Returns the index of the cancellation with this id or requestID (row 30). */
export const cancellationIndexOf = (text: string): number | undefined =>
  indexOf(text, FIRST_CANCELLATION_REQUEST) ?? indexOf(text, FIRST_CANCELLATION)

/** Returns the path of a request's authorization page. `subscribe` returns the base URL plus this path (S-b). */
export const authorizationPath = (invoiceId: string): string => `/authorize/${encodeURIComponent(invoiceId)}`

const SHOWN_PAYMENTS = 5
const TRANSACTION_ID_LENGTH = 12

/** Creates the functions that turn stored records into responses and page data. */
export const createViews = (parts: {
  readonly options: SubscriptionsOptions
  readonly calendar: Calendar
  readonly schedule: Schedule
  readonly state: State
  readonly ids: Ids
  readonly now: () => number
}) => {
  const { options, calendar, schedule, state, ids, now } = parts

  /** Returns the next due date of the cycle, even if the subscription ends before this date (row 25). */
  const nextDay = (record: SubscriptionRecord): Day => {
    const slot =
      record.authorizedAt === undefined
        ? schedule.firstSlot(record.terms, record.closedAt ?? now())
        : record.nextSlot
    return schedule.day(record.terms, slot)
  }

  /** Returns whether a payment can still happen on this day. */
  const isExpected = (record: SubscriptionRecord, day: Day): boolean =>
    day <= record.terms.endDay && (record.closedAt === undefined || schedule.instant(day) <= record.closedAt)

  const shown = <Text>(record: SubscriptionRecord, day: Day, text: (day: Day) => Text): Text | null =>
    options.nextPaymentDateAfterEnd === 'date' || isExpected(record, day) ? text(day) : null

  const upcoming = (record: SubscriptionRecord): string[] => {
    const first = nextDay(record)
    return Array.from({ length: SHOWN_PAYMENTS }, (_, turn) => first + turn * record.terms.step)
      .filter((day) => isExpected(record, day))
      .map(dateText)
  }

  const views = {
    /** Returns the status of a subscription request (S3). */
    status(record: SubscriptionRecord) {
      const { invoiceId, requestStatus: status, subscriptionId } = record
      const createdAt = calendar.dateTimeText(record.createdAt)
      const { pendingSubscriptionId: pending } = options
      if (record.authorizedAt !== undefined || pending === 'issued') {
        return { invoiceId, status, subscriptionId, createdAt }
      }
      return pending === 'omit'
        ? { invoiceId, status, createdAt }
        : { invoiceId, status, subscriptionId: pending, createdAt }
    },
    /** Returns the details of a subscription (S4). */
    details(record: SubscriptionRecord) {
      const { active, inactive } = options.enabledValues
      return {
        id: record.subscriptionId,
        amount: Number(record.request.amount),
        cycle: record.request.cycle,
        enabled: record.phase === 'ACTIVE' ? active : inactive,
        createdDate: isoMicroseconds(record.createdAt),
        startDate: record.request.start,
        endDate: record.request.end,
        nextPaymentDate: shown(record, nextDay(record), (day) =>
          calendar.dateTimeText(schedule.instant(day)),
        ),
        requestID: record.request.requestID,
      }
    },
    /** Returns a cancellation (S5). */
    cancellation: ({ index, subscription, status }: CancellationRecord) => ({
      id: FIRST_CANCELLATION + index,
      subscriptionID: state.subscriptions[subscription]?.subscriptionId ?? '',
      requestID: FIRST_CANCELLATION_REQUEST + index,
      status,
    }),
    /** Returns a payment (S6). */
    payment({ index, subscription, dueDay, at, succeeded, reversal }: PaymentRecord): PaymentBody {
      const record = state.subscriptions[subscription]
      if (record === undefined) throw new Error('The state has no subscription for this payment.')
      return {
        paymentId: paymentIdOf(index),
        cycle: record.request.cycle,
        dueDate: dateText(dueDay),
        reverseTransactionAmount: reversal === undefined ? null : record.request.amount,
        reverseTransactionDate: reversal === undefined ? null : calendar.dateTimeText(reversal.at),
        reverseTransactionId: reversal?.transactionId ?? null,
        status: succeeded ? 'SUCCEEDED_PAYMENT' : 'FAILED_PAYMENT',
        subscriptionId: record.subscriptionId,
        transactionDate: calendar.dateTimeText(at),
        transactionId: ids.textAt('transaction', index, TRANSACTION_ID_LENGTH),
        nextPaymentDate: shown(record, dueDay + record.terms.step, dateText),
      }
    },
    authorization: (record: SubscriptionRecord): AuthorizationView => ({
      invoiceId: record.invoiceId,
      merchant: options.merchants.find(({ clientId }) => clientId === record.owner)?.name ?? record.owner,
      amount: record.request.amount,
      cycle: record.request.cycle,
      start: record.request.start,
      end: record.request.end,
      nextPayments: upcoming(record),
      status: record.requestStatus,
      returnUrl: withParameter(record.request.userReturnURL, 'invoiceID', record.invoiceId),
    }),
    state(record: SubscriptionRecord): SubscriptionState {
      const day = nextDay(record)
      const open = record.phase === 'PENDING' || record.phase === 'ACTIVE'
      return {
        invoiceId: record.invoiceId,
        subscriptionId: record.subscriptionId,
        requestStatus: record.requestStatus,
        clientId: record.owner,
        request: { ...record.request },
        createdAt: record.createdAt,
        authorizedAt: record.authorizedAt,
        cancelledAt: record.cancelledAt,
        nextDueDate: open && isExpected(record, day) ? dateText(day) : undefined,
        active: record.phase === 'ACTIVE',
      }
    },
  }

  return {
    ...views,
    /** Returns a subscription with its last payments, its planned retries and the outcomes of its next payments. */
    listed(record: SubscriptionRecord) {
      const cancellation = state.cancellations[record.cancellation ?? -1]
      return {
        ...views.state(record),
        phase: record.phase,
        cancellation: cancellation?.status,
        paymentCount: record.payments.length,
        lastPayments: record.payments.slice(-SHOWN_PAYMENTS).flatMap((index) => {
          const payment = state.payments.get(index)
          return payment === undefined ? [] : [views.payment(payment)]
        }),
        retryDates: record.retries.map(({ at }) => calendar.dateTimeText(at).slice(0, 10)),
        script: [...record.script],
      }
    },
  }
}

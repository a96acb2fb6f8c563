import type { Calendar, Day } from '../calendar.ts'
import { dateText, isoMicroseconds } from '../calendar.ts'
import type { Ids } from '../ids.ts'
import type { SubscriptionsOptions } from './options.ts'
import type { Schedule } from './schedule.ts'
import type { CancellationRecord, PaymentRecord, State, SubscriptionRecord } from './state.ts'
import type {
  AuthorizationView,
  CancellationBody,
  PaymentBody,
  RequestStatusBody,
  SubscriptionDetailsBody,
  SubscriptionState,
} from './types.ts'

// Numbers of payments, cancellations and cancellation requests lie apart, so that none is mistaken for another.
const FIRST_PAYMENT = 1_000_001
const FIRST_CANCELLATION = 500_000_001
const FIRST_CANCELLATION_REQUEST = 700_000_001
const WHOLE_NUMBER = /^[1-9]\d{0,14}$/

/** The paymentId of a payment (S6). */
export const paymentIdOf = (index: number): number => FIRST_PAYMENT + index
/** The id of a cancellation (S5). */
export const cancellationIdOf = (index: number): number => FIRST_CANCELLATION + index
/** The requestID of a cancellation (S5). */
export const cancellationRequestIdOf = (index: number): number => FIRST_CANCELLATION_REQUEST + index

const indexOf = (text: string, first: number): number | undefined =>
  WHOLE_NUMBER.test(text) && Number(text) >= first ? Number(text) - first : undefined

/** The payment that a path segment names. */
export const paymentIndexOf = (text: string): number | undefined => indexOf(text, FIRST_PAYMENT)

/** The cancellation that a path segment may name, by its id or its requestID (row 30). */
export const cancellationIndexOf = (text: string): number | undefined =>
  indexOf(text, FIRST_CANCELLATION_REQUEST) ?? indexOf(text, FIRST_CANCELLATION)

/** Path of the page on which a payer authorizes or declines a subscription request (S-b's `url`), below the base URL. */
export const authorizationPath = (invoiceId: string): string => `/authorize/${encodeURIComponent(invoiceId)}`

/** The state in the forms in which it leaves the domain. */
export interface Views {
  /** S3 */
  status(record: SubscriptionRecord): RequestStatusBody
  /** S4 */
  details(record: SubscriptionRecord): SubscriptionDetailsBody
  /** S5 */
  cancellation(record: CancellationRecord): CancellationBody
  /** S6 */
  payment(record: PaymentRecord): PaymentBody
  /** What the payer's page shows. */
  authorization(record: SubscriptionRecord): AuthorizationView
  /** What a test author sees. */
  state(record: SubscriptionRecord): SubscriptionState
}

const SHOWN_PAYMENTS = 5
const TRANSACTION_ID_LENGTH = 12
const INVOICE_PARAMETER = 'invoiceID'

const decodedName = (pair: string): string => {
  const [name] = new URLSearchParams(pair).keys()
  return name ?? ''
}

/** The address with `invoiceID` in its query; whatever else it holds stays as it was written (row 22). */
const withInvoiceId = (userReturnUrl: string, invoiceId: string): string => {
  const [address = '', ...fragment] = userReturnUrl.split('#')
  const [path = '', ...query] = address.split('?')
  const kept = query
    .join('?')
    .split('&')
    .filter((pair) => pair !== '' && decodedName(pair) !== INVOICE_PARAMETER)
  const pairs = [...kept, `${INVOICE_PARAMETER}=${encodeURIComponent(invoiceId)}`].join('&')
  return [`${path}?${pairs}`, ...fragment].join('#')
}

/** Makes the views of a state. */
export const createViews = (parts: {
  readonly options: SubscriptionsOptions
  readonly calendar: Calendar
  readonly schedule: Schedule
  readonly state: State
  readonly ids: Ids
  readonly now: () => number
}): Views => {
  const { options, calendar, schedule, state, ids, now } = parts
  const subscriptionIdAt = (index: number): string => state.subscriptions[index]?.subscriptionId ?? ''

  /** The next due date, or the one that would have been next (row 25). */
  const nextDay = (record: SubscriptionRecord): Day => {
    const slot =
      record.authorizedAt === undefined
        ? schedule.firstSlot(record.terms, record.closedAt ?? now())
        : record.nextSlot
    return schedule.day(record.terms, slot)
  }

  /** Whether a payment is still to be expected on a day. */
  const isExpected = (record: SubscriptionRecord, day: Day): boolean =>
    day <= record.terms.endDay && (record.closedAt === undefined || schedule.instant(day) <= record.closedAt)

  const shown = <Text>(record: SubscriptionRecord, day: Day, text: (day: Day) => Text): Text | null =>
    options.nextPaymentDateAfterEnd === 'date' || isExpected(record, day) ? text(day) : null

  const upcoming = (record: SubscriptionRecord): string[] => {
    const { terms } = record
    const days: string[] = []
    for (
      let day = nextDay(record);
      days.length < SHOWN_PAYMENTS && isExpected(record, day);
      day += terms.step
    ) {
      days.push(dateText(day))
    }
    return days
  }

  return {
    status(record) {
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
    details(record) {
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
    cancellation: ({ index, subscription, status }) => ({
      id: cancellationIdOf(index),
      subscriptionID: subscriptionIdAt(subscription),
      requestID: cancellationRequestIdOf(index),
      status,
    }),
    payment({ index, subscription, dueDay, at, succeeded, reversal }) {
      const record = state.subscriptions[subscription]
      if (record === undefined) throw new Error('A payment belongs to a subscription.')
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
    authorization: (record) => ({
      invoiceId: record.invoiceId,
      merchant: options.merchants.find(({ clientId }) => clientId === record.owner)?.name ?? record.owner,
      amount: record.request.amount,
      cycle: record.request.cycle,
      start: record.request.start,
      end: record.request.end,
      nextPayments: upcoming(record),
      status: record.requestStatus,
      returnUrl: withInvoiceId(record.request.userReturnURL, record.invoiceId),
    }),
    state(record) {
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
}

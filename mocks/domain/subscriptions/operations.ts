import type { Calendar } from '../calendar.ts'
import type { Ids } from '../ids.ts'
import type { Result } from '../result.ts'
import { accepted, refused } from '../result.ts'
import type { Timeline } from '../timeline.ts'
import { createRequestCheck } from './check-request.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { SubscriptionsOptions } from './options.ts'
import type { PaymentRecord, State, SubscriptionRecord } from './state.ts'
import type { Tokens } from './tokens.ts'
import type { Merchant, PaymentBody, SubscriptionsDomain } from './types.ts'
import type { Views } from './views.ts'
import { authorizationPath, cancellationIndexOf, paymentIndexOf } from './views.ts'

const WHOLE_NUMBER = /^\d+$/

const wholeNumber = (text: string | undefined): number | undefined => {
  const number = text !== undefined && WHOLE_NUMBER.test(text) ? Number(text) : 0
  return number >= 1 ? number : undefined
}

/** The part of a list that a query asks for (Limits, Pagination; row 41): what is unreadable counts as not given. */
export const pageOf = (
  query: { readonly page?: string; readonly perPage?: string },
  { defaultSize, maxSize, ignore }: SubscriptionsOptions['paging'],
): { readonly from: number; readonly to: number } => {
  const page = ignore.includes('page') ? undefined : wholeNumber(query.page)
  const perPage = ignore.includes('per_page') ? undefined : wholeNumber(query.perPage)
  const size = Math.min(perPage ?? defaultSize, maxSize)
  const from = ((page ?? 1) - 1) * size
  return { from, to: from + size }
}

/** The part of area S that merchants and payers call. */
export type Operations = Pick<
  SubscriptionsDomain,
  | 'token'
  | 'merchant'
  | 'subscribe'
  | 'status'
  | 'details'
  | 'cancel'
  | 'cancellation'
  | 'payments'
  | 'payment'
  | 'authorization'
  | 'authorize'
  | 'decline'
  | 'script'
  | 'reverse'
  | 'paymentsOf'
>

const REVERSAL_ID_LENGTH = 12

const notFound = (what: string, explanation: string): Result<never> =>
  refused('not_found', `${what} not found.`, { explanation })

/** Makes the operations. Each lets everything happen that is due before it looks. */
export const createOperations = (parts: {
  readonly timeline: Timeline
  readonly ids: Ids
  readonly options: SubscriptionsOptions
  readonly calendar: Calendar
  readonly state: State
  readonly tokens: Tokens
  readonly lifecycle: Lifecycle
  readonly views: Views
  readonly baseUrl: () => string
}): Operations => {
  const { timeline, ids, options, calendar, state, tokens, lifecycle, views, baseUrl } = parts
  const check = createRequestCheck(options, calendar, timeline.now)

  /** A subscription, when it exists and is the merchant's own. */
  const owned = (
    merchant: Merchant,
    record: SubscriptionRecord | undefined,
    what: string,
  ): Result<SubscriptionRecord> => {
    if (record === undefined) return notFound(what, 'The mock has never given out this identifier.')
    if (record.owner === merchant.clientId) return accepted(record)
    return notFound(what, 'It belongs to another merchant: each sees its own alone.')
  }

  const ownSubscription = (merchant: Merchant, subscriptionId: string): Result<SubscriptionRecord> =>
    owned(merchant, state.bySubscription(subscriptionId), 'Subscription')

  /** The request that a payer is about to answer. */
  const asked = (invoiceId: string): Result<SubscriptionRecord> => {
    const record = state.byInvoice(invoiceId)
    return record === undefined
      ? notFound('Subscription request', 'The mock has never given out this invoiceID.')
      : accepted(record)
  }

  const answerOf = (
    invoiceId: string,
    trigger: 'authorize' | 'decline',
    act: (record: SubscriptionRecord) => void,
  ): ReturnType<Operations['decline']> => {
    timeline.settle()
    const record = asked(invoiceId)
    if (!record.ok) return record
    if (!lifecycle.can(record.value, trigger)) {
      return refused('state', 'The subscription request has been answered already or is no longer open.', {
        explanation: `The request is ${record.value.requestStatus}; a payer can ${trigger} one that is INITIALIZED (option subscriptions.requestTtl says how long it stays so).`,
      })
    }
    act(record.value)
    return accepted(views.authorization(record.value))
  }

  const paymentRecord = (paymentId: string): PaymentRecord | undefined => {
    const index = paymentIndexOf(paymentId)
    return index === undefined ? undefined : state.payments.get(index)
  }

  const paymentBodies = (indexes: readonly number[]): PaymentBody[] =>
    indexes.flatMap((index) => {
      const record = state.payments.get(index)
      return record === undefined ? [] : [views.payment(record)]
    })

  const cancellationOwner = (id: string): SubscriptionRecord | undefined => {
    const index = cancellationIndexOf(id)
    const cancellation = index === undefined ? undefined : state.cancellations[index]
    return cancellation === undefined ? undefined : state.subscriptions[cancellation.subscription]
  }

  return {
    token(fields) {
      timeline.settle()
      return tokens.grant(fields)
    },
    merchant(accessToken) {
      timeline.settle()
      return tokens.merchant(accessToken)
    },
    subscribe(merchant, fields) {
      timeline.settle()
      const checked = check(merchant, fields)
      if (!checked.ok) return checked
      const { request, terms } = checked.value
      if (options.duplicateRequest === 'refuse' && state.hasRequest(merchant.clientId, request.requestID)) {
        return refused('duplicate_request', 'requestID has been used before.', {
          field: 'requestID',
          explanation: 'Option subscriptions.duplicateRequest is "refuse".',
        })
      }
      const created = { owner: merchant.clientId, request, terms, createdAt: timeline.now() }
      const { invoiceId } = lifecycle.create(created)
      return accepted({
        url: `${baseUrl().replace(/\/+$/, '')}${authorizationPath(invoiceId)}`,
        invoiceID: invoiceId,
      })
    },
    status(merchant, invoiceId) {
      timeline.settle()
      const record = owned(merchant, state.byInvoice(invoiceId), 'Subscription request')
      return record.ok ? accepted(views.status(record.value)) : record
    },
    details(merchant, subscriptionId) {
      timeline.settle()
      const record = ownSubscription(merchant, subscriptionId)
      return record.ok ? accepted(views.details(record.value)) : record
    },
    cancel(merchant, subscriptionId) {
      timeline.settle()
      const record = ownSubscription(merchant, subscriptionId)
      if (!record.ok) return record
      const { cancellation: index, phase } = record.value
      const earlier = index === undefined ? undefined : state.cancellations[index]
      const again = earlier !== undefined || !lifecycle.can(record.value, 'cancel')
      if (again && options.cancelTwice === 'refuse') {
        return refused('state', 'The subscription cannot be cancelled.', {
          explanation: `${earlier === undefined ? `The subscription is ${phase}` : 'It has a cancellation already'}; option subscriptions.cancelTwice is "refuse".`,
        })
      }
      return accepted(views.cancellation(earlier ?? lifecycle.cancel(record.value)))
    },
    cancellation(merchant, id) {
      timeline.settle()
      const record = owned(merchant, state.bySubscription(id) ?? cancellationOwner(id), 'Cancellation')
      if (!record.ok) return record
      const { cancellation: index } = record.value
      const cancellation = index === undefined ? undefined : state.cancellations[index]
      return cancellation === undefined
        ? notFound('Cancellation', 'The subscription exists, but nobody has cancelled it.')
        : accepted(views.cancellation(cancellation))
    },
    payments(merchant, subscriptionId, query) {
      timeline.settle()
      const record = ownSubscription(merchant, subscriptionId)
      if (!record.ok) return record
      const { from, to } = pageOf(query, options.paging)
      return accepted({ subscriptionPayments: paymentBodies(record.value.payments.slice(from, to)) })
    },
    payment(merchant, paymentId) {
      timeline.settle()
      const payment = paymentRecord(paymentId)
      const owner = payment === undefined ? undefined : state.subscriptions[payment.subscription]
      const record = owned(merchant, owner, 'Payment')
      if (!record.ok || payment === undefined) return record.ok ? notFound('Payment', '') : record
      return accepted(views.payment(payment))
    },
    authorization(invoiceId) {
      timeline.settle()
      const record = asked(invoiceId)
      return record.ok ? accepted(views.authorization(record.value)) : record
    },
    authorize: (invoiceId, { payments = [] } = {}) =>
      answerOf(invoiceId, 'authorize', (record) => lifecycle.authorize(record, payments)),
    decline: (invoiceId) => answerOf(invoiceId, 'decline', lifecycle.decline),
    script(id, payments) {
      timeline.settle()
      const record = state.byInvoice(id) ?? state.bySubscription(id)
      if (record === undefined)
        return notFound('Subscription', 'The mock has never given out this identifier.')
      if (record.phase !== 'PENDING' && record.phase !== 'ACTIVE') {
        return refused('state', 'There are no payments to come.', {
          explanation: `The subscription is ${record.phase}.`,
        })
      }
      record.script = [...payments]
      return accepted(undefined)
    },
    reverse(paymentId) {
      timeline.settle()
      const payment = paymentRecord(paymentId)
      if (payment === undefined) return notFound('Payment', 'The mock has made no payment with this number.')
      if (!payment.succeeded || payment.reversal !== undefined) {
        return refused('state', 'The payment cannot be reversed.', {
          explanation: payment.succeeded
            ? 'It has been reversed before.'
            : 'It failed: no money moved that could go back.',
        })
      }
      const reversal = { at: timeline.now(), transactionId: ids.text('reversal', REVERSAL_ID_LENGTH) }
      state.payments.reverse(payment.index, reversal)
      return accepted(views.payment({ ...payment, reversal }))
    },
    paymentsOf(subscriptionId) {
      timeline.settle()
      return subscriptionId === undefined
        ? state.payments.read(0, state.payments.count()).map(views.payment)
        : paymentBodies(state.bySubscription(subscriptionId)?.payments ?? [])
    },
  }
}

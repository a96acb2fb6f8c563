import type { Calendar } from '../calendar.ts'
import type { Ids } from '../ids.ts'
import { accepted, type Fields, type Result, refused } from '../result.ts'
import type { Timeline } from '../timeline.ts'
import { createRequestCheck } from './check-request.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { PaymentScript, SubscriptionsOptions } from './options.ts'
import type { PaymentRecord, State, SubscriptionRecord } from './state.ts'
import type { Tokens } from './tokens.ts'
import type { AuthorizationView, Merchant, PaymentBody, SubscriptionState } from './types.ts'
import { authorizationPath, cancellationIndexOf, type createViews, paymentIndexOf } from './views.ts'

const WHOLE_NUMBER = /^\d+$/

const wholeNumber = (text: string | undefined): number | undefined => {
  const number = text !== undefined && WHOLE_NUMBER.test(text) ? Number(text) : 0
  return number >= 1 ? number : undefined
}

/** The query parameters `page` and `per_page`, as text. */
export interface PageQuery {
  readonly page?: string
  readonly perPage?: string
}

/** Returns the bounds of a page of a list (Limits, Pagination; row 41). Ignores invalid query parameters. */
const pageOf = (
  query: PageQuery,
  { defaultSize, maxSize, ignore }: SubscriptionsOptions['paging'],
): { readonly from: number; readonly to: number } => {
  const page = ignore.includes('page') ? undefined : wholeNumber(query.page)
  const perPage = ignore.includes('per_page') ? undefined : wholeNumber(query.perPage)
  const size = Math.min(perPage ?? defaultSize, maxSize)
  const from = ((page ?? 1) - 1) * size
  return { from, to: from + size }
}

const REVERSAL_ID_LENGTH = 12

const UNKNOWN_ID = 'The mock has not issued this identifier.'

const notFound = (what: string, explanation: string): Result<never> =>
  refused('not_found', `${what} not found.`, { explanation })

/** Creates the operations of merchants and payers. Each operation first runs the events that are due. */
export const createOperations = (parts: {
  readonly timeline: Timeline
  readonly ids: Ids
  readonly options: SubscriptionsOptions
  readonly calendar: Calendar
  readonly state: State
  readonly tokens: Tokens
  readonly lifecycle: Lifecycle
  readonly views: ReturnType<typeof createViews>
  readonly baseUrl: () => string
}) => {
  const { timeline, ids, options, calendar, state, tokens, lifecycle, views, baseUrl } = parts
  const check = createRequestCheck(options, calendar, timeline.now)

  /** Refuses a subscription that does not exist or belongs to another merchant. */
  const owned = (
    merchant: Merchant,
    record: SubscriptionRecord | undefined,
    what: string,
  ): Result<SubscriptionRecord> => {
    if (record === undefined) return notFound(what, UNKNOWN_ID)
    if (record.owner === merchant.clientId) return accepted(record)
    return notFound(what, 'The identifier belongs to another merchant.')
  }

  const ownSubscription = (merchant: Merchant, subscriptionId: string): Result<SubscriptionRecord> =>
    owned(merchant, state.bySubscription(subscriptionId), 'Subscription')

  const asked = (invoiceId: string): Result<SubscriptionRecord> => {
    const record = state.byInvoice(invoiceId)
    return record === undefined
      ? notFound('Subscription request', 'The mock has not issued this invoiceID.')
      : accepted(record)
  }

  const decide = (
    invoiceId: string,
    trigger: 'authorize' | 'decline',
    act: (record: SubscriptionRecord) => void,
  ): Result<AuthorizationView> => {
    timeline.settle()
    const record = asked(invoiceId)
    if (!record.ok) return record
    if (!lifecycle.can(record.value, trigger)) {
      return refused('state', 'The subscription request is no longer open.', {
        explanation: `The request is ${record.value.requestStatus}; a payer can ${trigger} it only while it is INITIALIZED (option subscriptions.requestTtl sets how long).`,
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
    /** Handles a login (S-a) with a password or a refresh token. */
    token(fields: Fields) {
      timeline.settle()
      return tokens.grant(fields)
    },
    /** Returns the merchant of a valid access token. */
    merchant(accessToken: string | undefined) {
      timeline.settle()
      return tokens.merchant(accessToken)
    },
    /** Creates a subscription request (S-b). */
    subscribe(merchant: Merchant, fields: Fields) {
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
    /** Returns the status of a subscription request (S-c). */
    status(merchant: Merchant, invoiceId: string) {
      timeline.settle()
      const record = owned(merchant, state.byInvoice(invoiceId), 'Subscription request')
      return record.ok ? accepted(views.status(record.value)) : record
    },
    /** Returns the details of a subscription (S-d). */
    details(merchant: Merchant, subscriptionId: string) {
      timeline.settle()
      const record = ownSubscription(merchant, subscriptionId)
      return record.ok ? accepted(views.details(record.value)) : record
    },
    /** Cancels a subscription (S-e). */
    cancel(merchant: Merchant, subscriptionId: string) {
      timeline.settle()
      const record = ownSubscription(merchant, subscriptionId)
      if (!record.ok) return record
      const { cancellation: index, phase } = record.value
      const earlier = index === undefined ? undefined : state.cancellations[index]
      const again = earlier !== undefined || !lifecycle.can(record.value, 'cancel')
      if (again && options.cancelTwice === 'refuse') {
        return refused('state', 'The subscription cannot be canceled.', {
          explanation: `${earlier === undefined ? `The subscription is ${phase}` : 'The subscription already has a cancellation'}; option subscriptions.cancelTwice is "refuse".`,
        })
      }
      return accepted(views.cancellation(earlier ?? lifecycle.cancel(record.value)))
    },
    /** Returns a cancellation (S-f). `id` is a subscriptionId, a cancellation's id or a cancellation's requestID. */
    cancellation(merchant: Merchant, id: string) {
      timeline.settle()
      const record = owned(merchant, state.bySubscription(id) ?? cancellationOwner(id), 'Cancellation')
      if (!record.ok) return record
      const { cancellation: index } = record.value
      const cancellation = index === undefined ? undefined : state.cancellations[index]
      return cancellation === undefined
        ? notFound('Cancellation', 'The subscription exists, but has not been canceled.')
        : accepted(views.cancellation(cancellation))
    },
    /** Returns one page of a subscription's payments (S-g). */
    payments(merchant: Merchant, subscriptionId: string, query: PageQuery) {
      timeline.settle()
      const record = ownSubscription(merchant, subscriptionId)
      if (!record.ok) return record
      const { from, to } = pageOf(query, options.paging)
      return accepted({ subscriptionPayments: paymentBodies(record.value.payments.slice(from, to)) })
    },
    /** Returns a payment (S-h). */
    payment(merchant: Merchant, paymentId: string) {
      timeline.settle()
      const payment = paymentRecord(paymentId)
      const owner = payment === undefined ? undefined : state.subscriptions[payment.subscription]
      const record = owned(merchant, owner, 'Payment')
      if (!record.ok || payment === undefined) return record.ok ? notFound('Payment', '') : record
      return accepted(views.payment(payment))
    },
    /** Returns the identifiers of the subscription to which an invoiceId, subscriptionId or paymentId belongs. */
    related({ invoiceId = '', subscriptionId = '', paymentId = '' }: Readonly<Record<string, string>>) {
      const payment = paymentRecord(paymentId)
      const record =
        payment === undefined
          ? (state.byInvoice(invoiceId) ?? state.bySubscription(subscriptionId))
          : state.subscriptions[payment.subscription]
      const { request, invoiceId: invoice, subscriptionId: subscription } = record ?? {}
      return { requestID: request?.requestID, invoiceId: invoice, subscriptionId: subscription }
    },
    /** Returns the data of the page on which the payer authorizes or declines a request. */
    authorization(invoiceId: string) {
      timeline.settle()
      const record = asked(invoiceId)
      return record.ok ? accepted(views.authorization(record.value)) : record
    },
    authorize: (
      invoiceId: string,
      { payments = [] }: { readonly payments?: readonly PaymentScript[] } = {},
    ) => decide(invoiceId, 'authorize', (record) => lifecycle.authorize(record, payments)),
    decline: (invoiceId: string) => decide(invoiceId, 'decline', lifecycle.decline),
    /** Sets the outcomes of the next payments of a request or subscription. */
    script(id: string, payments: readonly PaymentScript[]): Result<void> {
      timeline.settle()
      const record = state.byInvoice(id) ?? state.bySubscription(id)
      if (record === undefined) return notFound('Subscription', UNKNOWN_ID)
      if (record.phase !== 'PENDING' && record.phase !== 'ACTIVE') {
        return refused('state', 'The subscription has no future payments.', {
          explanation: `The subscription is ${record.phase}.`,
        })
      }
      record.script = [...payments]
      return accepted(undefined)
    },
    /** Cancels a request or subscription as the payer, without an API call of the merchant. */
    end(id: string): Result<SubscriptionState> {
      timeline.settle()
      const record = state.byInvoice(id) ?? state.bySubscription(id)
      if (record === undefined) return notFound('Subscription', UNKNOWN_ID)
      if (record.cancellation !== undefined || !lifecycle.can(record, 'cancel')) {
        return refused('state', 'The subscription cannot be canceled.', {
          explanation: `The subscription is ${record.phase}${record.cancellation === undefined ? '' : ' and has a cancellation'}.`,
        })
      }
      lifecycle.cancel(record)
      return accepted(views.state(record))
    },
    /** Returns a subscription as the panel lists it. */
    listed(id: string) {
      timeline.settle()
      const record = state.byInvoice(id)
      return record && views.listed(record)
    },
    /** Reverses a payment: the payer gets the money back. */
    reverse(paymentId: string) {
      timeline.settle()
      const payment = paymentRecord(paymentId)
      if (payment === undefined) return notFound('Payment', 'The mock has made no payment with this id.')
      if (!payment.succeeded || payment.reversal !== undefined) {
        return refused('state', 'The payment cannot be reversed.', {
          explanation: payment.succeeded
            ? 'The payment has been reversed before.'
            : 'The payment failed, so no money can be returned.',
        })
      }
      const reversal = { at: timeline.now(), transactionId: ids.text('reversal', REVERSAL_ID_LENGTH) }
      state.payments.reverse(payment.index, reversal)
      return accepted(views.payment({ ...payment, reversal }))
    },
    /** Returns the payments of one subscription, or of all subscriptions, oldest first. */
    paymentsOf(subscriptionId?: string): readonly PaymentBody[] {
      timeline.settle()
      return subscriptionId === undefined
        ? state.payments.read(0, state.payments.count()).map(views.payment)
        : paymentBodies(state.bySubscription(subscriptionId)?.payments ?? [])
    },
  }
}

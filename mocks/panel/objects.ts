import { internalsOf } from '../assemble.ts'
import { chargeTransitions, confirmationPath } from '../gateway/state.ts'
import type { ListedCharge } from '../gateway/views.ts'
import { cycleInWords } from '../pages/handler.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'
import * as state from '../subscriptions/state.ts'
import { authorizationPath, type PaymentBody } from '../subscriptions/views.ts'
import { createCalendar, parseTimeOfDay } from '../time/calendar.ts'
import { DAY, SECOND } from '../time/duration.ts'
import type { Mock } from '../types.ts'
import {
  actionsOf,
  badge,
  identifier,
  instant,
  isolate,
  linkTo,
  machine,
  visuallyHidden,
} from './components.ts'
import {
  type Entry,
  entry,
  factsOf,
  type Kind,
  listOf,
  type PagedKind,
  timeline,
  type Values,
} from './list.ts'
import type { Context, PanelPage } from './page.ts'
import { messageEntries, withRequests } from './traffic.ts'
import { findCharge, findSubscription, type ListedSubscription, paymentStates, readAll } from './view.ts'

const payersPage = (path: string): Html =>
  html`<a href="${path}" target="_blank" rel="noopener">Payer’s page${visuallyHidden('in a new tab')}</a>`

const howToGet = (method: 'subscribe' | 'charge'): Html =>
  html`None yet. Create one here, or let your shop call <code>${method}</code>: see <a href="/_mock/connect">Connect</a>.`

const createForm = (form: Html): Html =>
  html`<p class="quiet">Calls the API as a shop does. Empty fields have working defaults.</p>${form}`

const requestsLink = (id: string): Html =>
  html`<a href="/_mock/requests?requests.of=${encodeURIComponent(id)}">All requests about it</a>`

/** Renders the state of a subscription or charge, with the one next action if there is any. */
const stateOf = (values: Values, next: HtmlValue, ...otherActions: readonly HtmlValue[]): HtmlValue => [
  factsOf(values),
  actionsOf(next ?? html`<p class="quiet">Nothing more will happen to it.</p>`),
  otherActions,
]

const reversal = ({ paymentId, status, reverseTransactionId }: PaymentBody, { form }: Context) =>
  status === 'SUCCEEDED_PAYMENT' &&
  reverseTransactionId === null &&
  form('reverse', 'Reverse', { given: { paymentId }, of: `payment ${paymentId}` })

const payments: Kind<PaymentBody> = {
  noun: 'Payment',
  none: 'None yet. Authorize a subscription, and move the clock to its first day.',
  keyOf: ({ paymentId }) => paymentId,
  name: ({ paymentId }) => paymentId,
  facts: {
    State: (one) => badge(...paymentStates(one)),
    Amount: (one, { mock }) => isolate(findSubscription(mock, one.subscriptionId)?.amount ?? ''),
    Due: ({ dueDate }) => dueDate,
    Made: ({ transactionDate }) => transactionDate,
    Subscription: ({ subscriptionId }) => linkTo('subscriptions', subscriptionId),
  },
  columns: ['State', 'Amount', 'Due', 'Made', 'Subscription'],
  next: reversal,
}

/** Returns the function that converts a day of payments, or a time without its zone, to an instant. */
const instantsOf = (mock: Mock) => {
  const { timeZone, debitTime } = internalsOf(mock).subscriptions.options
  const { instantOf } = createCalendar(timeZone)
  return (text: string): number => {
    const [date = '', time = debitTime] = text.split(' ')
    return instantOf(Date.parse(date) / DAY, parseTimeOfDay(time) ?? 0)
  }
}

const nextOfSubscription = (one: ListedSubscription, { mock, form }: Context, of = ''): Html | undefined => {
  const { phase, invoiceId, nextDueDate } = one
  if (phase === 'PENDING') {
    return form('authorize', 'Authorize', { given: { invoiceId }, of, first: [], isPrimary: true })
  }
  if (phase !== 'ACTIVE' || nextDueDate === undefined) return undefined
  const at = Math.ceil(instantsOf(mock)(nextDueDate) / SECOND) * SECOND
  const time = new Date(at).toISOString().slice(0, 19)
  return form('set-clock', 'To the next payment', { given: { time }, of, isPrimary: true })
}

const entriesOfSubscription = (one: ListedSubscription, context: Context): readonly Entry[] => {
  const { mock } = context
  const instantOf = instantsOf(mock)
  const amount = html`<strong>${isolate(one.amount)}</strong>`
  const planned = (date: string, words: string): readonly Entry[] =>
    entry(instantOf(date), 'planned', html`${words}: ${amount}`)
  const made = (payment: PaymentBody): readonly Entry[] =>
    entry(
      instantOf(payment.transactionDate),
      'payment',
      html`<span>${badge(...paymentStates(payment))} ${amount} due ${payment.dueDate} <span class="quiet">payment ${payment.paymentId}</span></span> ${reversal(payment, context)}`,
    )
  const nextDate = one.phase === 'ACTIVE' ? one.nextDueDate : undefined
  const next = `the next payment${one.script[0] === 'fail' ? ', which will fail' : ''}`
  // Payments and notifications have whole seconds. None happened before the payer's decision.
  const since = one.authorizedAt?.getTime() ?? one.createdAt.getTime()
  const later = (all: readonly Entry[]): readonly Entry[] =>
    all.map((each) => (since - each.at < SECOND ? { ...each, at: Math.max(since, each.at) } : each))
  return withRequests(mock, one.invoiceId, [
    ...entry(one.createdAt, 'event', 'created'),
    ...entry(one.authorizedAt, 'event', 'authorized by the payer'),
    ...later(mock.state.payments(one.subscriptionId).flatMap(made)),
    ...later(messageEntries(context, one.subscriptionId)),
    ...entry(one.cancelledAt, 'event', 'cancellation processed'),
    ...one.retryDates.flatMap((date) => planned(date, 'a retry of a failed payment')),
    ...(nextDate === undefined ? [] : planned(nextDate, next)),
  ])
}

export const subscriptions: PagedKind<ListedSubscription> = {
  noun: 'Subscription',
  none: howToGet('subscribe'),
  keyOf: ({ invoiceId }) => invoiceId,
  name: (one) => linkTo('subscriptions', one.invoiceId, one.requestID),
  find: findSubscription,
  subject: ({ requestID }) => requestID,
  facts: {
    State: ({ requestStatus, phase }) => badge(requestStatus, phase),
    Plan: ({ amount, cycle }) => html`${isolate(amount)} ${cycleInWords(cycle)}`,
    Period: ({ start, end }) => html`<time>${start}</time> to <time>${end}</time>`,
    'Next payment': ({ nextDueDate: day }, { mock }) => (day ? instant(instantsOf(mock)(day)) : 'none'),
    Payments: ({ paymentCount }) => paymentCount,
    Invoice: ({ invoiceId }) => identifier(invoiceId, 'the invoice'),
    Subscription: ({ subscriptionId }) => identifier(subscriptionId, 'the subscription'),
    Merchant: ({ clientId }) => isolate(clientId),
    Created: ({ createdAt }) => instant(createdAt),
    Authorized: ({ authorizedAt }) => authorizedAt && instant(authorizedAt),
    Requests: ({ invoiceId }) => requestsLink(invoiceId),
  },
  columns: ['State', 'Plan', 'Payments', 'Next payment'],
  next: (one, context) => nextOfSubscription(one, context, one.requestID),
  cards(one, context, values) {
    const { form } = context
    const { invoiceId, phase, script: planned, cancellation } = one
    const isOpen = phase === 'PENDING' || phase === 'ACTIVE'
    const given = { id: invoiceId }
    const failing = { ...given, payments: ['fail', ...planned.slice(1)].join(', ') }
    const scripting = { given, values: { payments: planned.join(', ') }, isPrimary: false }
    const actions = actionsOf(
      isOpen && form('set-payments', 'Fail the next payment', { given: failing }),
      phase === 'PENDING' && form('decline', 'Decline', { given: { invoiceId } }),
      payersPage(authorizationPath(invoiceId)),
      isOpen && cancellation === undefined && form('cancel', 'Cancel', { given }),
    )
    const script =
      isOpen &&
      html`<details id="script"><summary>Script the next payments</summary>${form('set-payments', 'Set the next payments', scripting)}</details>`
    return {
      State: stateOf(values, nextOfSubscription(one, context), actions, script),
      Timeline: timeline(entriesOfSubscription(one, context)),
      'State machines': [
        machine('Request', state.requestTransitions, one.requestStatus),
        machine('Subscription', state.subscriptionTransitions, phase),
        cancellation && machine('Cancellation', state.cancellationTransitions, cancellation),
      ],
    }
  },
}

export const subscriptionsPage = (context: Context): PanelPage => ({
  title: 'Subscriptions',
  data: { ...listOf(context, 'subscriptions', subscriptions), ...listOf(context, 'payments', payments) },
  controls: {
    'Create a subscription': createForm(context.form('subscribe', 'Create', { first: ['amount', 'cycle'] })),
  },
})

const nextOfCharge = (one: ListedCharge, { form }: Context): Html | undefined => {
  const { id, status, confirmation_id: confirmationId, planned, renews } = one
  if (status === 'pending_confirmation') {
    const given = { confirmationId }
    return form('confirm', 'Enter the correct code', { given, of: `for ${id}`, first: [], isPrimary: true })
  }
  if (status === 'pending_retry' && planned !== undefined) {
    return form('set-clock', 'To the retry', { given: { time: planned.at }, isPrimary: true })
  }
  if (status !== 'succeeded' || renews !== undefined) return undefined
  return form('renew', 'Renew', { given: { id }, of: id, isPrimary: true })
}

/** What the payer can do on a charge, besides entering the correct code. */
const ENDINGS = { Fail: 'insufficient_funds', Expire: 'expires', 'Leave for a retry': 'retry_then_succeeds' }

export const charges: PagedKind<ListedCharge> = {
  noun: 'Charge',
  none: howToGet('charge'),
  keyOf: ({ id }) => id,
  name: ({ id }) => linkTo('charges', id),
  find: (mock, id) => findCharge(mock, new Set([id])),
  subject: ({ id }) => id,
  facts: {
    State: ({ status, renews }) => badge(status, renews !== undefined && 'renewal'),
    Outcome: ({ outcome }) => isolate(outcome.toLowerCase().replaceAll('_', ' ')),
    Amount: (one) => html`<strong class="amount">${isolate(`${one.amount} ${one.currency}`)}</strong>`,
    Payer: ({ msisdn }) => isolate(msisdn),
    Charge: ({ id }) => identifier(id, 'the charge'),
    Confirmation: (one) => identifier(one.confirmation_id, 'the confirmation'),
    Renews: ({ renews }) => linkTo('charges', renews),
    Renewals: ({ id }, { mock }) => {
      const renewals = readAll(internalsOf(mock).lists.charges, ({ renews }) => renews === id)
      return renewals.map((one) => html`${linkTo('charges', one.id)} `)
    },
    'Idempotency key': ({ idempotencyKey: key }) => key && identifier(key, 'the idempotency key'),
    Created: (one) => instant(one.created_at),
    Requests: ({ id }) => requestsLink(id),
  },
  columns: ['State', 'Amount', 'Payer', 'Created'],
  next: nextOfCharge,
  cards(one, context, values) {
    const { id, status, confirmation_id: confirmationId, planned } = one
    const { mock, form } = context
    const endings = Object.entries(ENDINGS).map(([label, behavior]) =>
      form('end-charge', label, { given: { confirmationId, behavior } }),
    )
    const events = mock.state.events().filter(({ data }) => data.id === id)
    const entries = withRequests(mock, id, [
      ...events.flatMap(({ type, created_at: at }) =>
        entry(at, 'event', type.replace('charge.', '').replaceAll('_', ' ')),
      ),
      ...entry(planned?.at, 'planned', html`if no call comes first: ${badge(planned?.status)}`),
    ])
    const isOpen = status === 'pending_confirmation'
    const others = isOpen && actionsOf(endings, payersPage(confirmationPath(confirmationId)))
    return {
      State: stateOf(values, nextOfCharge(one, context), others),
      Timeline: timeline(entries),
      'State machine': machine('Charge', chargeTransitions, status),
    }
  },
}

export const chargesPage = (context: Context): PanelPage => ({
  title: 'Charges',
  data: listOf(context, 'charges', charges),
  controls: {
    'Create a charge': createForm(context.form('charge', 'Create', { first: ['msisdn', 'amount'] })),
    'Result of a number': context.form('behavior', 'Set the result', {
      values: { behavior: 'insufficient_funds' },
    }),
  },
})

import { internalsOf } from '../assemble.ts'
import { cycleInWords } from '../pages/authorization.ts'
import { type Html, html } from '../pages/html.ts'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../subscriptions/state.ts'
import type { PaymentBody } from '../subscriptions/views.ts'
import { authorizationPath } from '../subscriptions/views.ts'
import { createCalendar, parseTimeOfDay } from '../time/calendar.ts'
import { SECOND } from '../time/duration.ts'
import {
  badge,
  card,
  facts,
  identifier,
  instant,
  isolate,
  linkTo,
  listTable,
  visuallyHidden,
} from './components.ts'
import { actionsOf } from './form.ts'
import { machine } from './machines.ts'
import {
  type Context,
  type Entry,
  notificationEntry,
  type PanelPage,
  requestEntry,
  timeline,
} from './timeline.ts'
import { filters, findSubscription, type ListedSubscription, notificationsOf, requestsOf } from './view.ts'

const planOf = ({ amount, cycle }: ListedSubscription): Html =>
  html`${isolate(amount)} ${cycleInWords(cycle)}`

const paymentState = (one: PaymentBody): Html =>
  html`${filters.payments.of(one).map((state) => [badge(state), ' '])}`

const create = ({ form }: Context): Html =>
  card(
    'create',
    'Create a subscription',
    html`<p class="quiet">Calls the API as a shop does. Empty fields have working defaults.</p>
${form('subscribe', 'Create', { first: ['amount', 'cycle'], kind: 'primary' })}`,
  )

const HOW_TO = html`None yet. Create one here, or let your shop call <code>subscribe</code>: see <a href="/_mock/connect">Connect</a>.`

/** The page with all subscriptions and all payments. */
export const subscriptionsPage = (context: Context): PanelPage => {
  const { view, query, form } = context
  const subscriptions = listTable(view.subscriptions, {
    id: 'subscriptions',
    title: 'Subscriptions',
    query,
    filters: [['subscriptions.is', 'State', filters.subscriptions.states]],
    none: HOW_TO,
    keyOf: ({ invoiceId }) => invoiceId,
    columns: {
      Request: (one) => linkTo(`subscriptions/${one.invoiceId}`, one.requestID),
      State: (one) => html`${badge(one.requestStatus)} ${badge(one.phase)}`,
      Plan: planOf,
      Payments: (one) => one.paymentCount,
      Next: (one) => one.nextDueDate ?? 'none',
      Actions: (one) => next(one, context, one.requestID),
    },
  })
  const payments = listTable(view.payments, {
    id: 'payments',
    title: 'Payments',
    query,
    filters: [['payments.is', 'State', filters.payments.states]],
    none: 'None yet. Authorize a subscription, and move the clock to its first day.',
    keyOf: ({ paymentId }) => paymentId,
    columns: {
      Payment: ({ paymentId }) => String(paymentId),
      State: paymentState,
      Amount: (one) => isolate(findSubscription(context.mock, one.subscriptionId)?.amount ?? ''),
      Due: ({ dueDate }) => dueDate,
      Made: ({ transactionDate }) => transactionDate,
      Subscription: ({ subscriptionId }) => linkTo(`subscriptions/${subscriptionId}`, subscriptionId),
      Actions: (one) => reversal(one, form),
    },
  })
  return { title: 'Subscriptions', data: [subscriptions, payments], controls: create(context) }
}

const reversal = (one: PaymentBody, form: Context['form']): Html | undefined =>
  one.status === 'SUCCEEDED_PAYMENT' && one.reverseTransactionId === null
    ? form('reverse', 'Reverse', {
        given: { paymentId: one.paymentId },
        of: `payment ${one.paymentId}`,
        kind: 'danger',
      })
    : undefined

const calendarOf = ({ mock }: Context) => {
  const { timeZone, debitTime } = internalsOf(mock).subscriptions.options
  const { instantOf } = createCalendar(timeZone)
  return {
    /** Converts the time of a payment, which has no time zone, to an instant. */
    ofText: (text: string): number => {
      const [date = '', time = ''] = text.split(' ')
      return instantOf(Date.parse(date) / 86_400_000, parseTimeOfDay(time) ?? 0)
    },
    /** Returns the instant at which the payments of a day are made. */
    ofDay: (date: string): number => instantOf(Date.parse(date) / 86_400_000, parseTimeOfDay(debitTime) ?? 0),
  }
}

/** Renders the one next action of a subscription, if there is any. */
const next = (one: ListedSubscription, context: Context, of: string): Html | undefined => {
  const { form } = context
  if (one.phase === 'PENDING') {
    return form('authorize', 'Authorize', {
      given: { invoiceId: one.invoiceId },
      of,
      first: [],
      kind: 'primary',
    })
  }
  if (one.phase !== 'ACTIVE' || one.nextDueDate === undefined) return undefined
  const at = calendarOf(context).ofDay(one.nextDueDate)
  const time = new Date(Math.ceil(at / SECOND) * SECOND).toISOString().slice(0, 19)
  return form('set-clock', 'To the next payment', { given: { time }, of, kind: 'primary' })
}

const otherActions = (one: ListedSubscription, { form }: Context): Html => {
  const { invoiceId, script } = one
  const isOpen = one.phase === 'PENDING' || one.phase === 'ACTIVE'
  const failing = ['fail', ...script.slice(1)].join(', ')
  return actionsOf(
    isOpen
      ? form('set-payments', 'Fail the next payment', { given: { id: invoiceId, payments: failing } })
      : undefined,
    one.phase === 'PENDING' ? form('decline', 'Decline', { given: { invoiceId } }) : undefined,
    html`<a href="${authorizationPath(invoiceId)}" target="_blank" rel="noopener">Payer’s page${visuallyHidden('in a new tab')}</a>`,
    isOpen && one.cancellation === undefined
      ? form('cancel', 'Cancel', { given: { id: invoiceId }, kind: 'danger' })
      : undefined,
  )
}

const scriptForm = ({ invoiceId, phase, script }: ListedSubscription, { form }: Context): Html | undefined =>
  phase === 'PENDING' || phase === 'ACTIVE'
    ? html`<details id="script"><summary>Script the next payments</summary>${form('set-payments', 'Set the next payments', { given: { id: invoiceId }, values: { payments: script.join(', ') } })}</details>`
    : undefined

const entriesOf = (one: ListedSubscription, context: Context): readonly Entry[] => {
  const { mock, form } = context
  const times = calendarOf(context)
  const event = (time: string | undefined, words: string): readonly Entry[] =>
    time === undefined ? [] : [{ at: Date.parse(time), kind: 'event', text: words }]
  const made = mock.state.payments(one.subscriptionId).map(
    (payment): Entry => ({
      at: times.ofText(payment.transactionDate),
      kind: 'payment',
      text: html`<span>${paymentState(payment)} <strong>${isolate(one.amount)}</strong> due ${payment.dueDate} <span class="quiet">payment ${payment.paymentId}</span></span> ${reversal(payment, form)}`,
    }),
  )
  const planned = [
    ...one.retryDates.map((date) => [date, 'a retry of a failed payment'] as const),
    ...(one.nextDueDate === undefined || one.phase === 'PENDING'
      ? []
      : [
          [
            one.nextDueDate,
            one.script[0] === 'fail' ? 'the next payment, which will fail' : 'the next payment',
          ] as const,
        ]),
  ].map(
    ([date, words]): Entry => ({
      at: times.ofDay(date),
      kind: 'planned',
      text: html`${words}: <strong>${isolate(one.amount)}</strong>`,
    }),
  )
  return [
    ...event(one.createdAt, 'created'),
    ...requestsOf(mock, one.invoiceId).map(requestEntry),
    ...event(one.authorizedAt, 'authorized by the payer'),
    ...made,
    ...notificationsOf(mock, one.subscriptionId).map((message) => notificationEntry(message, form)),
    ...event(one.cancelledAt, 'cancellation processed'),
    ...planned,
  ]
}

/** The page of one subscription; `undefined` if there is no such subscription. */
export const subscriptionPage = (context: Context, id: string): PanelPage | undefined => {
  const one = findSubscription(context.mock, id)
  if (one === undefined) return undefined
  const primary = next(one, context, '')
  const state = card(
    'state',
    'State',
    html`${facts({
      State: html`${badge(one.requestStatus)} ${badge(one.phase)}`,
      Plan: planOf(one),
      Period: html`<time>${one.start}</time> to <time>${one.end}</time>`,
      'Next payment': one.nextDueDate ?? 'none',
      Payments: one.paymentCount,
      Invoice: identifier(one.invoiceId, 'the invoice'),
      Subscription: identifier(one.subscriptionId, 'the subscription'),
      Merchant: isolate(one.clientId),
      Created: instant(one.createdAt),
      Authorized: one.authorizedAt && instant(one.authorizedAt),
      Requests: html`<a href="/_mock/requests?requests.of=${encodeURIComponent(one.invoiceId)}">All requests about it</a>`,
    })}
${actionsOf(primary ?? html`<p class="quiet">Nothing more will happen to this subscription.</p>`)}
${otherActions(one, context)}
${scriptForm(one, context)}`,
  )
  const machines = card(
    'states',
    'State machines',
    html`${machine('Request', requestTransitions, one.requestStatus)}
${machine('Subscription', subscriptionTransitions, one.phase)}
${one.cancellation === undefined ? undefined : machine('Cancellation', cancellationTransitions, one.cancellation)}`,
  )
  return {
    title: 'Subscription',
    subject: one.requestID,
    data: [state, timeline(entriesOf(one, context)), machines],
  }
}

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
import { DAY, SECOND } from '../time/duration.ts'
import { badge, card, facts, identifier, instant, isolate, linkTo, listTable } from './components.ts'
import { actionsOf } from './form.ts'
import { machine } from './machines.ts'
import {
  type Context,
  createCard,
  type Entry,
  howToGet,
  notificationEntry,
  type PanelPage,
  payersPage,
  requestEntry,
  timeline,
} from './timeline.ts'
import {
  findNotifications,
  findSubscription,
  type ListedSubscription,
  paymentStates,
  requestsOf,
} from './view.ts'

const planOf = ({ amount, cycle }: ListedSubscription): Html =>
  html`${isolate(amount)} ${cycleInWords(cycle)}`

const paymentState = (one: PaymentBody): Html =>
  html`${paymentStates(one).map((state) => [badge(state), ' '])}`

/** The page with all subscriptions and all payments. */
export const subscriptionsPage = (context: Context): PanelPage => {
  const { view, query, form } = context
  const subscriptions = listTable(view.subscriptions, query, {
    id: 'subscriptions',
    none: howToGet('subscribe'),
    keyOf: ({ invoiceId }) => invoiceId,
    columns: {
      Request: (one) => linkTo('subscriptions', one.invoiceId, one.requestID),
      State: (one) => html`${badge(one.requestStatus)} ${badge(one.phase)}`,
      Plan: planOf,
      Payments: (one) => one.paymentCount,
      Next: (one) => one.nextDueDate ?? 'none',
      Actions: (one) => next(one, context, one.requestID),
    },
  })
  const payments = listTable(view.payments, query, {
    id: 'payments',
    none: 'None yet. Authorize a subscription, and move the clock to its first day.',
    keyOf: ({ paymentId }) => paymentId,
    columns: {
      Payment: ({ paymentId }) => String(paymentId),
      State: paymentState,
      Amount: (one) => isolate(findSubscription(context.mock, one.subscriptionId)?.amount ?? ''),
      Due: ({ dueDate }) => dueDate,
      Made: ({ transactionDate }) => transactionDate,
      Subscription: ({ subscriptionId }) => linkTo('subscriptions', subscriptionId),
      Actions: (one) => reversal(one, form),
    },
  })
  return {
    title: 'Subscriptions',
    data: [subscriptions, payments],
    controls: createCard('subscribe', ['amount', 'cycle'], form),
  }
}

const reversal = (one: PaymentBody, form: Context['form']): Html | undefined =>
  one.status === 'SUCCEEDED_PAYMENT' && one.reverseTransactionId === null
    ? form('reverse', 'Reverse', {
        given: { paymentId: one.paymentId },
        of: `payment ${one.paymentId}`,
      })
    : undefined

/** Returns the function that converts a day of payments, or a time without its zone, to an instant. */
const instantsOf = ({ mock }: Context) => {
  const { timeZone, debitTime } = internalsOf(mock).subscriptions.options
  const { instantOf } = createCalendar(timeZone)
  return (text: string): number => {
    const [date = '', time = debitTime] = text.split(' ')
    return instantOf(Date.parse(date) / DAY, parseTimeOfDay(time) ?? 0)
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
      isPrimary: true,
    })
  }
  if (one.phase !== 'ACTIVE' || one.nextDueDate === undefined) return undefined
  const at = instantsOf(context)(one.nextDueDate)
  const time = new Date(Math.ceil(at / SECOND) * SECOND).toISOString().slice(0, 19)
  return form('set-clock', 'To the next payment', { given: { time }, of, isPrimary: true })
}

const otherActions = (one: ListedSubscription, { form }: Context): Html => {
  const { invoiceId, phase, script } = one
  const isOpen = phase === 'PENDING' || phase === 'ACTIVE'
  const given = { id: invoiceId }
  const payments = ['fail', ...script.slice(1)].join(', ')
  return html`${actionsOf(
    isOpen ? form('set-payments', 'Fail the next payment', { given: { ...given, payments } }) : undefined,
    phase === 'PENDING' ? form('decline', 'Decline', { given: { invoiceId } }) : undefined,
    payersPage(authorizationPath(invoiceId)),
    isOpen && one.cancellation === undefined ? form('cancel', 'Cancel', { given }) : undefined,
  )}
${isOpen ? html`<details id="script"><summary>Script the next payments</summary>${form('set-payments', 'Set the next payments', { given, values: { payments: script.join(', ') }, isPrimary: false })}</details>` : undefined}`
}

const entriesOf = (one: ListedSubscription, context: Context): readonly Entry[] => {
  const { mock, form } = context
  const at = instantsOf(context)
  const amount = html`<strong>${isolate(one.amount)}</strong>`
  const event = (time: string | undefined, text: string): readonly Entry[] =>
    time === undefined ? [] : [{ at: Date.parse(time), kind: 'event', text }]
  const planned = (date: string, words: string): Entry => ({
    at: at(date),
    kind: 'planned',
    text: html`${words}: ${amount}`,
  })
  const made = (payment: PaymentBody): Entry => ({
    at: at(payment.transactionDate),
    kind: 'payment',
    text: html`<span>${paymentState(payment)} ${amount} due ${payment.dueDate} <span class="quiet">payment ${payment.paymentId}</span></span> ${reversal(payment, form)}`,
  })
  const due = one.phase === 'ACTIVE' ? one.nextDueDate : undefined
  const failing = one.script[0] === 'fail' ? ', which will fail' : ''
  return [
    ...event(one.createdAt, 'created'),
    ...requestsOf(mock, one.invoiceId).map(requestEntry),
    ...event(one.authorizedAt, 'authorized by the payer'),
    ...mock.state.payments(one.subscriptionId).map(made),
    ...findNotifications(mock, one.subscriptionId).map((message) => notificationEntry(message, form)),
    ...event(one.cancelledAt, 'cancellation processed'),
    ...one.retryDates.map((date) => planned(date, 'a retry of a failed payment')),
    ...(due === undefined ? [] : [planned(due, `the next payment${failing}`)]),
  ]
}

/** The page of one subscription; `undefined` if there is no such subscription. */
export const subscriptionPage = (context: Context, id: string): PanelPage | undefined => {
  const one = findSubscription(context.mock, id)
  if (one === undefined) return undefined
  const primary = next(one, context, '')
  const state = card(
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
${otherActions(one, context)}`,
  )
  const machines = card(
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

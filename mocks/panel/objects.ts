import { internalsOf } from '../assemble.ts'
import { chargeTransitions, confirmationPath } from '../gateway/state.ts'
import type { ListedCharge } from '../gateway/views.ts'
import { cycleInWords } from '../pages/handler.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../subscriptions/state.ts'
import { authorizationPath, type PaymentBody } from '../subscriptions/views.ts'
import { createCalendar, parseTimeOfDay } from '../time/calendar.ts'
import { DAY, SECOND } from '../time/duration.ts'
import type { Mock } from '../types.ts'
import {
  actionsOf,
  badge,
  badges,
  card,
  facts,
  identifier,
  instant,
  isolate,
  linkTo,
  machine,
  visuallyHidden,
} from './components.ts'
import { listTable } from './list-table.ts'
import type { Context, PanelPage } from './page.ts'
import { type Entry, entry, messageEntry, requestEntries, timeline } from './timeline.ts'
import {
  findCharge,
  findNotifications,
  findSubscription,
  type ListedSubscription,
  paymentStates,
} from './view.ts'

const payersPage = (path: string): Html =>
  html`<a href="${path}" target="_blank" rel="noopener">Payer’s page${visuallyHidden('in a new tab')}</a>`

const howToGet = (method: 'subscribe' | 'charge'): Html =>
  html`None yet. Create one here, or let your shop call <code>${method}</code>: see <a href="/_mock/connect">Connect</a>.`

const createCard = (noun: string, form: Html): Html =>
  card(
    `Create a ${noun}`,
    html`<p class="quiet">Calls the API as a shop does. Empty fields have working defaults.</p>
${form}`,
  )

interface ObjectPage {
  readonly noun: 'Subscription' | 'Charge'
  readonly subject: string
  /** The identifier by which requests about the object are found. */
  readonly id: string
  readonly facts: Readonly<Record<string, HtmlValue>>
  /** The one next action, if there is any. */
  readonly next: HtmlValue
  readonly otherActions: HtmlValue
  readonly entries: readonly Entry[]
  readonly machines: readonly (Html | undefined)[]
}

const objectPage = ({ noun, subject, id, next, ...one }: ObjectPage): PanelPage => {
  const requests = html`<a href="/_mock/requests?requests.of=${encodeURIComponent(id)}">All requests about it</a>`
  const state = html`${facts({ ...one.facts, Requests: requests })}
${actionsOf(next ?? html`<p class="quiet">Nothing more will happen to this ${noun.toLowerCase()}.</p>`)}
${one.otherActions}`
  return {
    title: noun,
    subject,
    data: [card('State', state), timeline(one.entries), card('State machines', one.machines)],
  }
}

const planOf = ({ amount, cycle }: ListedSubscription): Html =>
  html`${isolate(amount)} ${cycleInWords(cycle)}`

export const subscriptionsPage = (context: Context): PanelPage => {
  const { mock, form } = context
  const subscriptions = listTable(context, 'subscriptions', {
    none: howToGet('subscribe'),
    keyOf: ({ invoiceId }) => invoiceId,
    columns: {
      Request: (one) => linkTo('subscriptions', one.invoiceId, one.requestID),
      State: (one) => badges(one.requestStatus, one.phase),
      Plan: planOf,
      Payments: (one) => one.paymentCount,
      Next: (one) => one.nextDueDate ?? 'none',
      Actions: (one) => nextOfSubscription(one, context, one.requestID),
    },
  })
  const payments = listTable(context, 'payments', {
    none: 'None yet. Authorize a subscription, and move the clock to its first day.',
    keyOf: ({ paymentId }) => paymentId,
    columns: {
      Payment: ({ paymentId }) => String(paymentId),
      State: (one) => badges(...paymentStates(one)),
      Amount: (one) => isolate(findSubscription(mock, one.subscriptionId)?.amount ?? ''),
      Due: ({ dueDate }) => dueDate,
      Made: ({ transactionDate }) => transactionDate,
      Subscription: ({ subscriptionId }) => linkTo('subscriptions', subscriptionId),
      Actions: (one) => reversal(one, context),
    },
  })
  return {
    title: 'Subscriptions',
    data: [subscriptions, payments],
    controls: createCard('subscription', form('subscribe', 'Create', { first: ['amount', 'cycle'] })),
  }
}

const reversal = ({ paymentId, status, reverseTransactionId }: PaymentBody, { form }: Context) =>
  status === 'SUCCEEDED_PAYMENT' &&
  reverseTransactionId === null &&
  form('reverse', 'Reverse', { given: { paymentId }, of: `payment ${paymentId}` })

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

export const subscriptionPage = (context: Context, sought: string): PanelPage | undefined => {
  const { mock, form } = context
  const one = findSubscription(mock, sought)
  if (one === undefined) return undefined
  const { invoiceId, subscriptionId, requestID, phase, script, cancellation, nextDueDate } = one
  const isOpen = phase === 'PENDING' || phase === 'ACTIVE'
  const given = { id: invoiceId }
  const failing = { ...given, payments: ['fail', ...script.slice(1)].join(', ') }
  const scripting = { given, values: { payments: script.join(', ') }, isPrimary: false }
  const instantOf = instantsOf(mock)
  const amount = html`<strong>${isolate(one.amount)}</strong>`
  const planned = (date: string, words: string): readonly Entry[] =>
    entry(instantOf(date), 'planned', html`${words}: ${amount}`)
  const made = (payment: PaymentBody): readonly Entry[] =>
    entry(
      instantOf(payment.transactionDate),
      'payment',
      html`<span>${badges(...paymentStates(payment))} ${amount} due ${payment.dueDate} <span class="quiet">payment ${payment.paymentId}</span></span> ${reversal(payment, context)}`,
    )
  return objectPage({
    noun: 'Subscription',
    subject: requestID,
    id: invoiceId,
    facts: {
      State: badges(one.requestStatus, phase),
      Plan: planOf(one),
      Period: html`<time>${one.start}</time> to <time>${one.end}</time>`,
      'Next payment': nextDueDate ?? 'none',
      Payments: one.paymentCount,
      Invoice: identifier(invoiceId, 'the invoice'),
      Subscription: identifier(subscriptionId, 'the subscription'),
      Merchant: isolate(one.clientId),
      Created: instant(one.createdAt),
      Authorized: one.authorizedAt && instant(one.authorizedAt),
    },
    next: nextOfSubscription(one, context),
    otherActions: [
      actionsOf(
        isOpen && form('set-payments', 'Fail the next payment', { given: failing }),
        phase === 'PENDING' && form('decline', 'Decline', { given: { invoiceId } }),
        payersPage(authorizationPath(invoiceId)),
        isOpen && cancellation === undefined && form('cancel', 'Cancel', { given }),
      ),
      isOpen &&
        html`<details id="script"><summary>Script the next payments</summary>${form('set-payments', 'Set the next payments', scripting)}</details>`,
    ],
    entries: [
      ...entry(one.createdAt, 'event', 'created'),
      ...requestEntries(mock, invoiceId),
      ...entry(one.authorizedAt, 'event', 'authorized by the payer'),
      ...mock.state.payments(subscriptionId).flatMap(made),
      ...findNotifications(mock, subscriptionId).flatMap((message) => messageEntry(message, form)),
      ...entry(one.cancelledAt, 'event', 'cancellation processed'),
      ...one.retryDates.flatMap((date) => planned(date, 'a retry of a failed payment')),
      ...(phase === 'ACTIVE' && nextDueDate !== undefined
        ? planned(nextDueDate, `the next payment${script[0] === 'fail' ? ', which will fail' : ''}`)
        : []),
    ],
    machines: [
      machine('Request', requestTransitions, one.requestStatus),
      machine('Subscription', subscriptionTransitions, phase),
      cancellation && machine('Cancellation', cancellationTransitions, cancellation),
    ],
  })
}

const amountOf = ({ amount, currency }: ListedCharge): Html =>
  html`<strong class="amount">${isolate(`${amount} ${currency}`)}</strong>`

const stateOf = (one: ListedCharge): Html =>
  html`${badge(one.status)} ${one.renews !== undefined && badge('renewal')}`

export const chargesPage = (context: Context): PanelPage => ({
  title: 'Charges',
  data: listTable(context, 'charges', {
    none: howToGet('charge'),
    keyOf: ({ id }) => id,
    columns: {
      Charge: ({ id }) => linkTo('charges', id),
      State: stateOf,
      Amount: amountOf,
      Payer: ({ msisdn }) => isolate(msisdn),
      Created: (one) => instant(one.created_at),
      Actions: (one) => nextOfCharge(one, context),
    },
  }),
  controls: [
    createCard('charge', context.form('charge', 'Create', { first: ['msisdn', 'amount'] })),
    card(
      'Result of a number',
      context.form('behavior', 'Set the result', { values: { behavior: 'insufficient_funds' } }),
    ),
  ],
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

export const chargePage = (context: Context, sought: string): PanelPage | undefined => {
  const { mock, form } = context
  const one = findCharge(mock, new Set([sought]))
  if (one === undefined) return undefined
  const { id, status, confirmation_id: confirmationId, idempotencyKey, planned } = one
  const end = (label: string, behavior: string): Html =>
    form('end-charge', label, { given: { confirmationId, behavior } })
  const events = mock.state.events().filter(({ data }) => data.id === id)
  return objectPage({
    noun: 'Charge',
    subject: id,
    id,
    facts: {
      State: stateOf(one),
      Outcome: isolate(one.outcome.toLowerCase().replaceAll('_', ' ')),
      Amount: amountOf(one),
      Payer: isolate(one.msisdn),
      Charge: identifier(id, 'the charge'),
      Confirmation: identifier(confirmationId, 'the confirmation'),
      Renews: linkTo('charges', one.renews),
      'Idempotency key': idempotencyKey !== undefined && isolate(idempotencyKey),
      Created: instant(one.created_at),
    },
    next: nextOfCharge(one, context),
    otherActions:
      status === 'pending_confirmation' &&
      actionsOf(
        end('Fail', 'insufficient_funds'),
        end('Expire', 'expires'),
        end('Leave for a retry', 'retry_then_succeeds'),
        payersPage(confirmationPath(confirmationId)),
      ),
    entries: [
      ...requestEntries(mock, id),
      ...events.flatMap(({ type, created_at: at }) =>
        entry(at, 'event', type.replace('charge.', '').replaceAll('_', ' ')),
      ),
      ...entry(planned?.at, 'planned', html`if no call comes first: ${planned && badge(planned.status)}`),
    ],
    machines: [machine('Charge', chargeTransitions, status)],
  })
}

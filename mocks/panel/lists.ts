import type { ListedNotification } from '../delivery/outbox.ts'
import type { DeliveryRecord } from '../delivery/types.ts'
import type { ListedCharge } from '../gateway/views.ts'
import { confirmationPath } from '../gateway/views.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { cycleInWords } from '../pages/authorization.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'
import { authorizationPath } from '../subscriptions/views.ts'
import {
  actionButton,
  actionForm,
  brief,
  foreign,
  heard,
  instant,
  json,
  listSection,
  pill,
} from './components.ts'
import { type PanelQuery, urlWith } from './paging.ts'
import { filters, type ListedSubscription, type PanelView } from './view.ts'

/** The choices of the field that sets which payments of a subscription fail. */
const SCRIPTS: readonly (readonly [payments: string, label: string])[] = [
  ['', 'all payments succeed'],
  ['fail', 'the first payment fails'],
  ['succeed, fail', 'the second payment fails'],
  ['fail, fail, fail', 'the first three payments fail'],
]

const payersPage = (path: string, of: string): Html =>
  html`<a href="${path}" target="_blank" rel="noopener">Payer’s page${heard(`of ${of}, in a new tab`)}</a>`

const statesLink = (query: PanelQuery, id: string, of: string): Html =>
  html`<a href="${urlWith(query, 'show', id, 'states')}">States${heard(`of ${of}`)}</a>`

const decisions = ({ invoiceId }: ListedSubscription, name: string): Html =>
  html`${actionForm(
    'authorize',
    { invoiceId },
    html`<select name="payments" aria-label="Payments of ${name}">
${SCRIPTS.map(([payments, label]) => html`<option value="${payments}">${label}</option>`)}
</select>
<button type="submit">Authorize${heard(name)}</button>`,
    'inline',
  )}
${actionButton('decline', 'Decline', { invoiceId }, name)}
${payersPage(authorizationPath(invoiceId), name)}`

const scripting = ({ invoiceId, script }: ListedSubscription, name: string): Html =>
  html`${actionButton('set-payments', 'Fail the next payment', { id: invoiceId, payments: ['fail', ...script.slice(1)].join(', ') }, `of ${name}`)}
<details id="script-${invoiceId}">
<summary>Script payments${heard(`of ${name}`)}</summary>
${actionForm(
  'set-payments',
  { id: invoiceId },
  html`<input name="payments" value="${script.join(', ')}" placeholder="succeed, fail" aria-label="Next payments of ${name}" autocomplete="off">
<button type="submit">Set${heard(`the payments of ${name}`)}</button>`,
  'inline',
)}
</details>`

const subscriptionActions = (one: ListedSubscription, query: PanelQuery): Html => {
  const name = brief(one.requestID)
  const isOpen = one.phase === 'PENDING' || one.phase === 'ACTIVE'
  const canCancel = isOpen && one.cancellation === undefined
  return html`<div class="actions">${one.phase === 'PENDING' ? decisions(one, name) : undefined}
${one.phase === 'ACTIVE' ? scripting(one, name) : undefined}
${canCancel ? actionButton('cancel', 'Cancel', { id: one.invoiceId }, name) : undefined}
${statesLink(query, one.invoiceId, name)}</div>`
}

/** Renders the last payments and the planned payments of a subscription, oldest first. */
const timeline = (one: ListedSubscription, query: PanelQuery): Html => {
  const { subscriptionId, lastPayments, paymentCount, retryDates, nextDueDate, script, requestID } = one
  const step = (date: string, word: string): Html => html`<li>${date} ${pill(word)}</li>`
  const next = script[0] === 'fail' ? 'next, fails' : 'next'
  const all = html`<a href="${urlWith(query, 'payments.q', subscriptionId, 'payments')}">All ${paymentCount}${heard(`payments of ${brief(requestID)}`)}</a>`
  return html`<ol class="cycles">
${lastPayments.map((payment) => step(payment.dueDate, filters.payments.of(payment).at(-1) ?? ''))}
${retryDates.map((date) => step(date, 'retry'))}
${nextDueDate === undefined ? undefined : step(nextDueDate, next)}
</ol>${paymentCount > 0 ? all : undefined}`
}

const small = (words: HtmlValue, value: string | undefined): Html | undefined =>
  value === undefined || value === '' ? undefined : html`<small>${words} ${foreign(value)}</small>`

const subscriptions = (view: PanelView, query: PanelQuery): Html =>
  listSection('subscriptions', view.subscriptions, query, ({ invoiceId }) => invoiceId, {
    State: (one) =>
      html`${pill(one.requestStatus)}<small>${one.phase.toLowerCase()}</small>${small('cancellation', one.cancellation)}`,
    Request: (one) =>
      html`<strong>${foreign(one.requestID)}</strong>${small('invoice', one.invoiceId)}${small('subscription', one.subscriptionId)}${small('client', one.clientId)}`,
    Plan: (one) =>
      html`${foreign(one.amount)} ${foreign(cycleInWords(one.cycle))}<small>${one.start} to ${one.end}</small>`,
    Cycles: (one) => timeline(one, query),
    Actions: (one) => subscriptionActions(one, query),
  })

const payments = (view: PanelView, query: PanelQuery): Html =>
  listSection('payments', view.payments, query, ({ paymentId }) => paymentId, {
    State: (one) =>
      html`${pill(one.status)}${one.reverseTransactionId === null ? undefined : pill('reversed')}`,
    Payment: (one) => html`<strong>${one.paymentId}</strong>${small('of', one.subscriptionId)}`,
    Due: ({ dueDate }) => dueDate,
    Made: (one) =>
      html`${one.transactionDate}${small('transaction', one.transactionId)}${small(`reversed ${one.reverseTransactionAmount} at`, one.reverseTransactionDate ?? undefined)}`,
    Actions: ({ paymentId, status, reverseTransactionId }) =>
      status === 'SUCCEEDED_PAYMENT' && reverseTransactionId === null
        ? actionButton('reverse', 'Reverse', { paymentId }, `payment ${paymentId}`)
        : undefined,
  })

const confirmation = ({ id, confirmation_id: confirmationId }: ListedCharge): Html =>
  html`${actionButton('confirm', 'Enter the correct code', { confirmationId }, `for ${id}`)}
${payersPage(confirmationPath(confirmationId), id)}`

const charges = (view: PanelView, query: PanelQuery): Html =>
  listSection('charges', view.charges, query, ({ id }) => id, {
    State: (one) =>
      html`${pill(one.status)}${one.renews === undefined ? undefined : pill('renewal')}<small>${foreign(one.outcome)}</small>`,
    Amount: (one) => html`<strong>${foreign(one.amount)} ${foreign(one.currency)}</strong>`,
    Payer: ({ msisdn }) => foreign(msisdn),
    Charge: (one) =>
      html`${foreign(one.id)}${small('renews', one.renews)}${small('Idempotency-Key', one.idempotencyKey)}<small>${instant(one.created_at)}</small>`,
    Actions: (one) =>
      html`<div class="actions">${one.status === 'pending_confirmation' ? confirmation(one) : undefined}${statesLink(query, one.id, one.id)}</div>`,
  })

const statusPill = ({ status }: LoggedRequest): Html => {
  if (status === undefined) return pill('no response', 'bad')
  return pill(status, status < 300 ? 'good' : status < 400 ? 'plain' : 'bad')
}

const note = (name: string, value: string | undefined): Html | undefined =>
  value === undefined ? undefined : html`<p class="quiet">${name}: ${foreign(value)}</p>`

const request = (one: LoggedRequest): Html => html`<details id="request-${one.number}-details">
<summary><strong>${one.method} ${foreign(one.path)}</strong></summary>
<p>${one.explanation}</p>
${note('Idempotency-Key', one.idempotencyKey)}
${note('Nearest route', one.nearestRoute)}
${json('Body', one.body)}
${json('Response', one.response)}
</details>`

const requests = (view: PanelView, query: PanelQuery): Html =>
  listSection('requests', view.requests, query, (one) => one.number, {
    Status: statusPill,
    Request: request,
    Operation: (one) => one.operation ?? one.area,
    Decision: ({ decision }) => decision,
    Time: ({ at }) => instant(at.toISOString()),
  })

const resultOf = ({ status, error = 'no response' }: Pick<DeliveryRecord, 'status' | 'error'>): Html =>
  foreign(status === undefined ? error : `status ${status}`)

const attempt = (one: DeliveryRecord): Html =>
  html`<p>Attempt ${one.attempt}, ${instant(one.at.toISOString())}: ${resultOf(one)}</p>
${json('Headers', one.headers)}
${json('Body', one.body)}`

const delivery = ({ attempts, ...message }: ListedNotification): Html => {
  const last = attempts.at(-1)
  const count = attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`
  return html`<details id="notification-${message.notificationId}-details">
<summary>${count}${last && html`, ${resultOf(last)}`}</summary>
${json('Payload', message)}
${attempts.map(attempt)}
</details>`
}

/** Renders the time of a notification, which may be any text that a test sent. */
const timeOf = (timestamp: string): string => {
  const time = new Date(Number(timestamp) * 1_000)
  return Number.isNaN(time.getTime()) ? timestamp : time.toISOString().slice(0, 19).replace('T', ' ')
}

const notifications = (view: PanelView, query: PanelQuery): Html =>
  listSection('notifications', view.notifications, query, ({ notificationId }) => notificationId, {
    Delivery: (one) => pill(filters.notifications.of(one)[0] ?? ''),
    Message: (one) => html`<strong>${foreign(one.type)}</strong> ${foreign(one.status)}`,
    About: (one) =>
      html`${small('subscription', one.subscriptionId)}${small('payment', one.paymentId)}${small('notification', one.notificationId)}${small('at', timeOf(one.timestamp))}`,
    Attempts: delivery,
    Actions: (one) =>
      actionButton('resend', 'Resend', { notificationId: one.notificationId }, one.notificationId),
  })

/** Renders the tables. */
export const lists = (view: PanelView, query: PanelQuery): Html =>
  html`${[subscriptions, payments, charges, requests, notifications].map((list) => list(view, query))}`

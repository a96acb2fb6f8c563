import type { ListedNotification } from '../delivery/deliveries.ts'
import type { DeliveryRecord } from '../delivery/types.ts'
import { confirmationPath } from '../domain/gateway/charges.ts'
import type { ListedCharge } from '../domain/gateway/types.ts'
import type { PaymentBody } from '../domain/subscriptions/types.ts'
import { authorizationPath } from '../domain/subscriptions/views.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { cycleInWords } from '../pages/authorization.ts'
import type { Html } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import {
  actionButton,
  actionForm,
  brief,
  foreign,
  heard,
  instant,
  json,
  lines,
  listSection,
  pill,
} from './components.ts'
import type { PanelQuery } from './paging.ts'
import { urlWith } from './paging.ts'
import type { ListedSubscription, PanelView } from './view.ts'
import { filters } from './view.ts'

/** The choices in a form field: which payments of a subscription fail. */
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

const actionsOf = (...actions: readonly (Html | undefined)[]): Html =>
  html`<div class="actions">${actions}</div>`

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
  return actionsOf(
    one.phase === 'PENDING' ? decisions(one, name) : undefined,
    one.phase === 'ACTIVE' ? scripting(one, name) : undefined,
    isOpen && one.cancellation === undefined
      ? actionButton('cancel', 'Cancel', { id: one.invoiceId }, name)
      : undefined,
    statesLink(query, one.invoiceId, name),
  )
}

const paymentWord = ({
  status,
  reverseTransactionId,
}: PaymentBody): readonly [word: string, tone: 'good' | 'bad' | 'waiting'] =>
  reverseTransactionId !== null
    ? ['reversed', 'waiting']
    : status === 'SUCCEEDED_PAYMENT'
      ? ['paid', 'good']
      : ['failed', 'bad']

/** Renders the last cycles of a subscription and the planned ones, oldest first. */
const timeline = (one: ListedSubscription, query: PanelQuery): Html => {
  const { subscriptionId, lastPayments, paymentCount, retryDates, nextDueDate, script, requestID } = one
  const step = (date: string, word: string, tone: string): Html =>
    html`<li>${date} <span class="pill ${tone}">${word}</span></li>`
  const next = script[0] === 'fail' ? 'next, fails' : 'next'
  const all = html`<a href="${urlWith(query, 'payments.q', subscriptionId, 'payments')}">All ${paymentCount}${heard(`payments of ${brief(requestID)}`)}</a>`
  return html`<ol class="cycles">
${lastPayments.map((payment) => step(payment.dueDate, ...paymentWord(payment)))}
${retryDates.map((date) => step(date, 'retry', 'plain'))}
${nextDueDate === undefined ? undefined : step(nextDueDate, next, 'plain')}
</ol>${paymentCount > 0 ? all : undefined}`
}

const subscriptions = (view: PanelView, query: PanelQuery): Html =>
  listSection(
    'subscriptions',
    'Subscriptions',
    view.subscriptions,
    query,
    (one) => `subscription-${one.invoiceId}`,
    [
      [
        'State',
        (one) => [
          pill(one.requestStatus),
          lines(one.phase.toLowerCase(), one.cancellation && `cancellation ${one.cancellation}`),
        ],
      ],
      [
        'Request',
        (one) => [
          html`<strong>${foreign(one.requestID)}</strong>`,
          lines(
            html`invoice ${foreign(one.invoiceId)}`,
            html`subscription ${foreign(one.subscriptionId)}`,
            html`client ${foreign(one.clientId)}`,
          ),
        ],
      ],
      [
        'Plan',
        (one) => [
          foreign(one.amount),
          ' ',
          foreign(cycleInWords(one.cycle)),
          lines(`${one.start} to ${one.end}`),
        ],
      ],
      ['Cycles', (one) => timeline(one, query)],
      ['Actions', (one) => subscriptionActions(one, query)],
    ],
  )

const payments = (view: PanelView, query: PanelQuery): Html =>
  listSection('payments', 'Payments', view.payments, query, ({ paymentId }) => `payment-${paymentId}`, [
    [
      'State',
      (one) => [
        pill(one.status),
        one.reverseTransactionId === null ? undefined : pill('reversed', 'waiting'),
      ],
    ],
    [
      'Payment',
      ({ paymentId, subscriptionId }) => [
        html`<strong>${paymentId}</strong>`,
        lines(html`of ${foreign(subscriptionId)}`),
      ],
    ],
    ['Due', ({ dueDate }) => dueDate],
    [
      'Made',
      (one) => [
        one.transactionDate,
        lines(
          html`transaction ${foreign(one.transactionId)}`,
          one.reverseTransactionId === null
            ? undefined
            : `reversed ${one.reverseTransactionAmount} at ${one.reverseTransactionDate}`,
        ),
      ],
    ],
    [
      'Actions',
      ({ paymentId, status, reverseTransactionId }) =>
        status === 'SUCCEEDED_PAYMENT' && reverseTransactionId === null
          ? actionButton('reverse', 'Reverse', { paymentId }, `payment ${paymentId}`)
          : undefined,
    ],
  ])

const charges = (view: PanelView, query: PanelQuery): Html =>
  listSection('charges', 'Charges', view.charges, query, ({ id }) => `charge-${id}`, [
    [
      'State',
      (one) => [
        pill(one.status),
        one.renews === undefined ? undefined : pill('renewal'),
        lines(foreign(one.outcome)),
      ],
    ],
    ['Amount', (one) => html`<strong>${foreign(one.amount)} ${foreign(one.currency)}</strong>`],
    ['Payer', ({ msisdn }) => foreign(msisdn)],
    [
      'Charge',
      ({ id, renews, idempotencyKey, created_at }) => [
        foreign(id),
        lines(
          renews === undefined ? undefined : html`renews ${foreign(renews)}`,
          idempotencyKey === undefined ? undefined : html`Idempotency-Key ${foreign(idempotencyKey)}`,
          instant(created_at),
        ),
      ],
    ],
    [
      'Actions',
      ({ id, status, confirmation_id: confirmationId }: ListedCharge) =>
        actionsOf(
          status === 'pending_confirmation'
            ? html`${actionButton('confirm', 'Enter the correct code', { confirmationId }, `for ${id}`)}
${payersPage(confirmationPath(confirmationId), id)}`
            : undefined,
          statesLink(query, id, id),
        ),
    ],
  ])

const statusPill = ({ status }: LoggedRequest): Html => {
  if (status === undefined) return pill('no response', 'bad')
  return pill(status, status < 300 ? 'good' : status < 400 ? 'plain' : 'bad')
}

const note = (name: string, value: string | undefined): Html | undefined =>
  value === undefined ? undefined : html`<p class="quiet">${name}: ${foreign(value)}</p>`

const requests = (view: PanelView, query: PanelQuery): Html =>
  listSection('requests', 'Requests', view.requests, query, (one) => `request-${one.number}`, [
    ['Status', statusPill],
    [
      'Request',
      (one) => html`<details id="request-${one.number}-details">
<summary><strong>${one.method} ${foreign(one.path)}</strong></summary>
<p>${one.explanation}</p>
${note('Idempotency-Key', one.idempotencyKey)}
${note('Nearest route', one.nearestRoute)}
${json('Body', one.body)}
${json('Response', one.answer)}
</details>`,
    ],
    ['Operation', (one) => one.operation ?? one.area],
    ['Decision', ({ decision }) => decision],
    ['Time', ({ at }) => instant(at.toISOString())],
  ])

const attempt = ({ attempt: count, at, status, error, headers, body }: DeliveryRecord): Html =>
  html`<p>Attempt ${count}, ${instant(at.toISOString())}: ${foreign(status === undefined ? (error ?? 'no response') : `status ${status}`)}</p>
${json('Headers', headers)}
${json('Body', body)}`

const delivery = ({ tries, notificationId, ...message }: ListedNotification): Html => {
  const last = tries.at(-1)
  const result = last?.status === undefined ? (last?.error ?? 'not sent') : `status ${last.status}`
  const count = tries.length === 0 ? '' : `${tries.length} ${tries.length === 1 ? 'attempt' : 'attempts'}, `
  return html`<details id="notification-${notificationId}-details">
<summary>${count}${foreign(result)}</summary>
${json('Payload', { notificationId, ...message })}
${tries.map(attempt)}
</details>`
}

const notifications = (view: PanelView, query: PanelQuery): Html =>
  listSection(
    'notifications',
    'Notifications',
    view.notifications,
    query,
    (one) => `notification-${one.notificationId}`,
    [
      [
        'Delivery',
        (one) =>
          filters.notifications
            .of(one)
            .map((state) => pill(state ?? '', state === 'failed' ? 'bad' : undefined)),
      ],
      ['Message', (one) => [html`<strong>${foreign(one.type)}</strong> `, foreign(one.status)]],
      [
        'About',
        (one) =>
          lines(
            html`subscription ${foreign(one.subscriptionId)}`,
            one.paymentId === '' ? undefined : html`payment ${foreign(one.paymentId)}`,
            html`notification ${foreign(one.notificationId)}`,
            foreign(timeOf(one.timestamp)),
          ),
      ],
      ['Attempts', delivery],
      [
        'Actions',
        ({ notificationId }) => actionButton('resend', 'Resend', { notificationId }, brief(notificationId)),
      ],
    ],
  )

/** Renders the tables. */
export const lists = (view: PanelView, query: PanelQuery): Html => html`${subscriptions(view, query)}
${payments(view, query)}
${charges(view, query)}
${requests(view, query)}
${notifications(view, query)}`

/** A test may send a notification with any timestamp. */
function timeOf(timestamp: string): string {
  const time = new Date(Number(timestamp) * 1_000)
  return Number.isNaN(time.getTime()) ? timestamp : time.toISOString().slice(0, 19).replace('T', ' ')
}

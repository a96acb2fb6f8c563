import type { ListedNotification } from '../delivery/deliveries.ts'
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
  fact,
  foreign,
  heard,
  instant,
  listSection,
  pill,
  row,
} from './components.ts'
import type { Places } from './paging.ts'
import type { ListedSubscription, PanelView } from './view.ts'

/** The choices in a form field: which payments of a subscription fail. */
const SCRIPTS: readonly (readonly [payments: string, label: string])[] = [
  ['', 'all payments succeed'],
  ['fail', 'the first payment fails'],
  ['succeed, fail', 'the second payment fails'],
  ['fail, fail, fail', 'the first three payments fail'],
]

const payersPage = (path: string, of: string): Html =>
  html`<a href="${path}" target="_blank" rel="noopener">Payer’s page${heard(`of ${of}, in a new tab`)}</a>`

const foreignOrNone = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : foreign(text)

const decisions = ({ invoiceId, requestID }: ListedSubscription): Html => {
  const name = brief(requestID)
  return html`${actionForm(
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
}

const subscriptionRow = (one: ListedSubscription): Html =>
  row(
    `subscription-${one.invoiceId}`,
    html`${pill(one.requestStatus)} <strong>${foreign(one.requestID)}</strong> ${foreign(one.amount)} ${foreign(cycleInWords(one.cycle))}`,
    [
      fact('Runs', `${one.start} to ${one.end}`),
      fact('Next due', one.nextDueDate ?? 'none'),
      fact('Subscription', html`${foreign(one.subscriptionId)}, ${one.active ? 'active' : 'not active'}`),
      fact('Invoice', foreign(one.invoiceId)),
      fact('Client', foreign(one.clientId)),
    ],
    one.requestStatus === 'INITIALIZED' ? decisions(one) : undefined,
  )

const paymentRow = (one: PaymentBody): Html => {
  const { paymentId, status } = one
  const isReversed = one.reverseTransactionId !== null
  const reversal = `${one.reverseTransactionAmount} at ${one.reverseTransactionDate}`
  const canReverse = status === 'SUCCEEDED_PAYMENT' && !isReversed
  return row(
    `payment-${paymentId}`,
    html`${pill(status)} <strong>${paymentId}</strong> due ${one.dueDate}${isReversed ? html` ${pill('reversed', 'waiting')}` : undefined}`,
    [
      fact('Subscription', foreign(one.subscriptionId)),
      fact('Made', one.transactionDate),
      fact('Transaction', foreign(one.transactionId)),
      fact('Reversed', isReversed ? reversal : undefined),
    ],
    canReverse ? actionButton('reverse', 'Reverse', { paymentId }, `payment ${paymentId}`) : undefined,
  )
}

const confirmation = ({ id, confirmation_id: confirmationId }: ListedCharge): Html =>
  html`${actionButton('confirm', 'Enter the correct code', { confirmationId }, `for ${id}`)}
${payersPage(confirmationPath(confirmationId), id)}`

const chargeRow = (one: ListedCharge): Html =>
  row(
    `charge-${one.id}`,
    html`${pill(one.status)} <strong>${foreign(one.amount)} ${foreign(one.currency)}</strong> from ${foreign(one.msisdn)}${one.renews === undefined ? undefined : html` ${pill('renewal')}`}`,
    [
      fact('Outcome', foreign(one.outcome)),
      fact('Charge', foreign(one.id)),
      fact('Renews', foreignOrNone(one.renews)),
      fact('Idempotency-Key', foreignOrNone(one.idempotencyKey)),
      fact('Created', instant(one.created_at)),
    ],
    one.status === 'pending_confirmation' ? confirmation(one) : undefined,
  )

const deliveryOf = ({ tries }: ListedNotification): string => {
  const last = tries.at(-1)
  if (last === undefined) return 'not sent'
  const result = last.status === undefined ? (last.error ?? 'no response') : `status ${last.status}`
  return `${tries.length} ${tries.length === 1 ? 'try' : 'tries'}, ${result}`
}

const notificationRow = (one: ListedNotification): Html =>
  row(`notification-${one.notificationId}`, html`${pill(one.status)} <strong>${one.type}</strong>`, [
    fact('Subscription', foreign(one.subscriptionId)),
    fact('Payment', one.paymentId === '' ? undefined : foreign(one.paymentId)),
    fact('Created', instant(new Date(Number(one.timestamp) * 1000).toISOString())),
    fact('Delivery', foreign(deliveryOf(one))),
    fact('Notification', foreign(one.notificationId)),
  ])

const statusPill = ({ status }: LoggedRequest): Html => {
  if (status === undefined) return pill('no response', 'bad')
  return pill(status, status < 300 ? 'good' : status < 400 ? 'plain' : 'bad')
}

const note = (name: string, value: string | undefined): Html | undefined =>
  value === undefined ? undefined : html`<p class="quiet">${name}: ${foreign(value)}</p>`

const json = (name: string, value: unknown): Html | undefined =>
  value === undefined
    ? undefined
    : html`<p class="quiet">${name}</p><pre>${JSON.stringify(value, null, 2)}</pre>`

const requestRow = (one: LoggedRequest): Html => html`<li id="request-${one.number}">
<details id="request-${one.number}-details">
<summary>${statusPill(one)} <strong>${one.method} ${foreign(one.path)}</strong>
<span class="quiet">${one.operation ?? one.area} · ${one.decision} · ${instant(one.at.toISOString())}</span></summary>
<p>${one.explanation}</p>
${note('Idempotency-Key', one.idempotencyKey)}
${note('Nearest route', one.nearestRoute)}
${json('Body', one.body)}
${json('Response', one.answer)}
</details>
</li>`

/** Renders the lists of the mock's state: subscriptions, payments, charges. */
export const stateLists = (view: PanelView, places: Places): Html => html`
${listSection('subscriptions', 'Subscriptions', view.subscriptions, places, subscriptionRow)}
${listSection('payments', 'Payments', view.payments, places, paymentRow)}
${listSection('charges', 'Charges', view.charges, places, chargeRow)}`

/** Renders the lists of received requests and sent notifications. */
export const trafficLists = (view: PanelView, places: Places): Html => html`
${listSection('requests', 'Requests', view.requests, places, requestRow)}
${listSection('notifications', 'Notifications', view.notifications, places, notificationRow)}`

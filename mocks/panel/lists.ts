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
  instant,
  listSection,
  pill,
  row,
} from './components.ts'
import type { Places } from './paging.ts'
import type { ListedSubscription, PanelView } from './view.ts'

/** What the payments of a subscription do, as its form offers it. */
const SCRIPTS: readonly (readonly [payments: string, label: string])[] = [
  ['', 'all payments succeed'],
  ['fail', 'the first payment fails'],
  ['succeed, fail', 'the second payment fails'],
  ['fail, fail, fail', 'the first three fail'],
]

const payersPage = (path: string, of: string): Html =>
  html`<a href="${path}" target="_blank" rel="noopener">Payer’s page<span class="heard"> of ${of}, in a new tab</span></a>`

const decisions = ({ invoiceId, requestID }: ListedSubscription): Html => {
  const name = brief(requestID)
  return html`${actionForm(
    'authorize',
    { invoiceId },
    html`<select name="payments" aria-label="Payments of ${name}">
${SCRIPTS.map(([payments, label]) => html`<option value="${payments}">${label}</option>`)}
</select>
<button type="submit">Authorize<span class="heard"> ${name}</span></button>`,
  )}
${actionButton('decline', 'Decline', { invoiceId }, name)}
${payersPage(authorizationPath(invoiceId), name)}`
}

const subscriptionRow = (one: ListedSubscription): Html =>
  row(
    `subscription-${one.invoiceId}`,
    html`${pill(one.requestStatus)} <strong>${foreign(one.requestID)}</strong> ${foreign(one.amount)} ${foreign(cycleInWords(one.cycle))}`,
    html`${fact('Runs', html`${one.start} to ${one.end}`)}
${fact('Next due', one.nextDueDate ?? 'none')}
${fact('Subscription', html`${foreign(one.subscriptionId)}, ${one.active ? 'active' : 'not active'}`)}
${fact('Invoice', foreign(one.invoiceId))}
${fact('Client', foreign(one.clientId))}`,
    one.requestStatus === 'INITIALIZED' ? decisions(one) : undefined,
  )

const paymentRow = (one: PaymentBody): Html => {
  const reversed = one.reverseTransactionId !== null
  const canReverse = one.status === 'SUCCEEDED_PAYMENT' && !reversed
  return row(
    `payment-${one.paymentId}`,
    html`${pill(one.status)} <strong>${one.paymentId}</strong> due ${one.dueDate}${reversed ? html` ${pill('reversed', 'waiting')}` : undefined}`,
    html`${fact('Subscription', foreign(one.subscriptionId))}
${fact('Made', one.transactionDate)}
${fact('Transaction', foreign(one.transactionId))}
${reversed ? fact('Given back', html`${one.reverseTransactionAmount ?? ''} at ${one.reverseTransactionDate ?? ''}`) : undefined}`,
    canReverse
      ? actionButton('reverse', 'Reverse', { paymentId: one.paymentId }, `payment ${one.paymentId}`)
      : undefined,
  )
}

const confirmation = ({
  id,
  confirmation_id: confirmationId,
}: ListedCharge): Html => html`${actionButton('confirm', 'Give the right code', { confirmationId }, `for ${id}`)}
${payersPage(confirmationPath(confirmationId), id)}`

const chargeRow = (one: ListedCharge): Html =>
  row(
    `charge-${one.id}`,
    html`${pill(one.status)} <strong>${foreign(one.amount)} ${foreign(one.currency)}</strong> from ${foreign(one.msisdn)}${one.renews === undefined ? undefined : html` ${pill('renewal')}`}`,
    html`${fact('Outcome', foreign(one.outcome))}
${fact('Charge', foreign(one.id))}
${one.renews === undefined ? undefined : fact('Renews', foreign(one.renews))}
${one.idempotencyKey === undefined ? undefined : fact('Idempotency-Key', foreign(one.idempotencyKey))}
${fact('Created', instant(one.created_at))}`,
    one.status === 'pending_confirmation' ? confirmation(one) : undefined,
  )

const triesOf = ({ tries }: ListedNotification): string => {
  const last = tries.at(-1)
  if (last === undefined) return 'not sent'
  const answer = last.status === undefined ? (last.error ?? 'no answer') : `answered ${last.status}`
  return `${tries.length} ${tries.length === 1 ? 'try' : 'tries'}, ${answer}`
}

const notificationRow = (one: ListedNotification): Html =>
  row(
    `notification-${one.notificationId}`,
    html`${pill(one.status)} <strong>${one.type}</strong>`,
    html`${fact('Subscription', foreign(one.subscriptionId))}
${one.paymentId === '' ? undefined : fact('Payment', foreign(one.paymentId))}
${fact('Arose', instant(new Date(Number(one.timestamp) * 1000).toISOString()))}
${fact('Delivery', foreign(triesOf(one)))}
${fact('Notification', foreign(one.notificationId))}`,
  )

const statusPill = ({ status }: LoggedRequest): Html => {
  if (status === undefined) return pill('no answer', 'bad')
  return pill(status, status < 300 ? 'good' : status < 400 ? 'plain' : 'bad')
}

const json = (name: string, value: unknown): Html | undefined =>
  value === undefined
    ? undefined
    : html`<p class="quiet">${name}</p><pre>${JSON.stringify(value, null, 2)}</pre>`

const requestRow = (one: LoggedRequest): Html => html`<li id="request-${one.number}">
<details id="request-${one.number}-details">
<summary>${statusPill(one)} <strong>${one.method} ${foreign(one.path)}</strong>
<span class="quiet">${one.operation ?? one.area} · ${one.decision} · ${instant(one.at.toISOString())}</span></summary>
<p>${one.explanation}</p>
${one.idempotencyKey === undefined ? undefined : html`<p class="quiet">Idempotency-Key: ${foreign(one.idempotencyKey)}</p>`}
${one.nearestRoute === undefined ? undefined : html`<p class="quiet">Nearest route: ${one.nearestRoute}</p>`}
${json('Body', one.body)}
${json('Answer', one.answer)}
</details>
</li>`

/** What the mock holds: subscriptions, payments, charges. */
export const stateLists = (
  view: PanelView,
  places: Places,
): Html => html`${listSection('subscriptions', 'Subscriptions', view.subscriptions, places, subscriptionRow)}
${listSection('payments', 'Payments', view.payments, places, paymentRow)}
${listSection('charges', 'Charges', view.charges, places, chargeRow)}`

/** What came in and what went out: notifications, requests. */
export const trafficLists = (
  view: PanelView,
  places: Places,
): Html => html`${listSection('requests', 'Requests', view.requests, places, requestRow)}
${listSection('notifications', 'Notifications', view.notifications, places, notificationRow)}`

import type { ListedNotification } from '../delivery/outbox.ts'
import type { DeliveryRecord } from '../delivery/types.ts'
import { type Html, type HtmlValue, html } from '../pages/html.ts'
import {
  badge,
  card,
  facts,
  identifier,
  instant,
  isolate,
  json,
  linkTo,
  listTable,
  visuallyHidden,
} from './components.ts'
import { actionsOf, type RenderForm } from './form.ts'
import { type Context, messageLink, type PanelPage, requestLine } from './timeline.ts'
import { deliveryState, findNotifications, type PanelView } from './view.ts'
import { faultInWords } from './words.ts'

const rows = (items: readonly HtmlValue[], none: HtmlValue): Html =>
  items.length === 0
    ? html`<p class="quiet">${none}</p>`
    : html`<ul class="rows">${items.map((item) => html`<li>${item}</li>`)}</ul>`

/** The first page: what there is, what happened last, and the state as a whole. */
export const overviewPage = ({ view, form }: Context): PanelPage => {
  const count = (name: 'subscriptions' | 'payments' | 'charges' | 'requests' | 'notifications'): Html =>
    html`<a href="/_mock/${name === 'payments' ? 'subscriptions' : name}">${view[name].total}${visuallyHidden(name)}</a>`
  const recent = view.requests.items.slice(0, 8).map(requestLine)
  const waiting = [
    ...view.subscriptions.items
      .filter(({ phase }) => phase === 'PENDING')
      .map(
        (one) =>
          html`${linkTo('subscriptions', one.invoiceId, one.requestID)} ${badge('waits for the payer', 'waiting')}`,
      ),
    ...view.charges.items
      .filter(({ status }) => status === 'pending_confirmation')
      .map((one) => html`${linkTo('charges', one.id)} ${badge('waits for the code', 'waiting')}`),
  ].slice(0, 8)
  return {
    title: 'Overview',
    data: [
      card(
        'What the mock has',
        facts({
          Subscriptions: count('subscriptions'),
          Payments: count('payments'),
          Charges: count('charges'),
          Requests: count('requests'),
          Notifications: count('notifications'),
          Faults: html`<a href="/_mock/faults">${view.faults.length}${visuallyHidden('faults')}</a>`,
          Outages: view.outages.join(' and ') || 'none',
          'Next event': view.nextEventAt === undefined ? 'nothing is planned' : instant(view.nextEventAt),
        }),
      ),
      card('Waiting for the payer', rows(waiting, 'Nothing waits. Create a subscription or a charge here.')),
      card(
        'Last requests',
        rows(
          recent,
          html`None yet. <a href="/_mock/connect">Connect</a> your shop, or create something here.`,
        ),
      ),
    ],
    controls: [
      card(
        'Create',
        html`<p class="quiet">Calls the APIs as a shop does.</p>
${actionsOf(form('subscribe', 'Create a subscription', { first: [], isPrimary: true }), form('charge', 'Create a charge', { first: [] }))}`,
      ),
      card(
        'Clock',
        html`<p class="quiet">Everything due runs in order, each at its due time.${view.isFrozen ? ' The clock is frozen until you move it: payments, expiries, lockouts (403) and retries of notifications wait.' : ''} Moving it here does not expire tokens.</p>
${form('set-clock', 'Set the clock')}
<details id="by-length"><summary>Move by any length</summary>${form('advance', 'Move forward', { isPrimary: false })}</details>`,
      ),
      card(
        'Snapshots',
        html`${rows(
          view.snapshots.map(
            ({ name, at }) =>
              html`<strong>${isolate(name)}</strong> ${instant(at)} ${actionsOf(form('restore-snapshot', 'Restore', { given: { name }, of: name }), form('remove-snapshot', 'Remove', { given: { name }, of: name }))}`,
          ),
          'None yet. Save the state before you try something.',
        )}
${form('save-snapshot', 'Save the state')}`,
      ),
      card('Start again', form('reset', 'Reset the mock')),
    ],
  }
}

const AREAS = ['subscriptions', 'gateway'] as const

/** The page with the faults, the outages and the tokens. */
export const faultsPage = ({ view, form }: Context): PanelPage => ({
  title: 'Faults',
  data: [
    card(
      'Faults',
      html`${rows(
        view.faults.map(({ number, fault, left }) => {
          const words = faultInWords(fault, left)
          return html`<strong>${isolate(words)}</strong> ${form('remove-fault', 'Remove', { given: { number }, of: words })}`
        }),
        'None. Add one in the form: it applies to the next calls of its operation.',
      )}
${view.faults.length > 1 ? form('clear-faults', 'Remove all') : undefined}`,
    ),
    card(
      'Outages',
      rows(
        AREAS.map((area) => {
          const isDown = view.outages.includes(area)
          return html`${area} ${isDown ? badge('down') : badge('up')} ${isDown ? form('end-outage', 'End the outage', { given: { area }, of: area }) : form('start-outage', 'Start an outage', { given: { area }, of: area })}`
        }),
        '',
      ),
    ),
    card(
      'Tokens',
      actionsOf(form('expire-tokens', 'Expire access tokens'), form('revoke-tokens', 'Revoke all tokens')),
    ),
  ],
  controls: card(
    'Add a fault',
    form('fault', 'Add the fault', {
      first: ['operation', 'kind', 'status', 'latencyMs', 'times', 'when.msisdn', 'when.requestID'],
      values: { operation: 'gateway.charge', kind: 'lost-response' },
    }),
  ),
})

const resultOf = ({ status, error = 'no response' }: Pick<DeliveryRecord, 'status' | 'error'>): Html =>
  html`${status === undefined ? isolate(error) : badge(status)}`

/** Renders the time of a notification, which may be any text that a test sent. */
const timeOf = (timestamp: string): Html => {
  const time = new Date(Number(timestamp) * 1_000)
  return Number.isNaN(time.getTime()) ? isolate(timestamp) : instant(time.toISOString())
}

const countOf = ({ attempts }: ListedNotification): string =>
  attempts.length === 1 ? '1 delivery' : `${attempts.length} deliveries`

/** The page of one notification with its deliveries; `undefined` if the outbox has no such notification. */
export const notificationPage = ({ mock, form }: Context, id: string): PanelPage | undefined => {
  const one = findNotifications(mock, id).find(({ notificationId }) => notificationId === id)
  if (one === undefined) return undefined
  const { attempts, ...message } = one
  const state = card(
    'Notification',
    html`${facts({
      Delivery: html`${badge(deliveryState(one))} ${countOf(one)}`,
      Message: html`${isolate(one.type)} ${isolate(one.status)}`,
      Subscription: linkTo('subscriptions', one.subscriptionId),
      Payment: one.paymentId && isolate(one.paymentId),
      Identifier: identifier(id, 'the notification'),
      Time: timeOf(one.timestamp),
    })}
${actionsOf(form('resend', 'Resend', { given: { notificationId: id }, isPrimary: true }))}
${json('Payload', message)}`,
  )
  const deliveries = card(
    'Deliveries',
    attempts.map(
      (delivery, index) => html`<h3>Delivery ${index + 1} of ${attempts.length}</h3>
<p>${instant(delivery.at.toISOString())} ${resultOf(delivery)}</p>
${json('Headers', delivery.headers)}${json('Body', delivery.body)}`,
    ),
  )
  return { title: 'Notification', subject: id, data: [state, deliveries] }
}

/** Renders a receiver: its address, the options that were set, and the button that removes it. */
const receiver = ({ number, to, ...options }: PanelView['receivers'][number], form: RenderForm): Html => {
  const name = to ?? 'a function of the mock’s process'
  const set = Object.entries(options).filter(([, value]) => value !== undefined)
  const words = set.map(([option, value]) => `${option} ${JSON.stringify(value)}`).join(', ')
  return html`<strong>${isolate(name)}</strong> <span class="quiet">${isolate(words)}</span> ${form('disconnect', 'Remove', { given: { number }, of: `receiver ${name}` })}`
}

/** The page with the notifications and their receivers. */
export const notificationsPage = ({ view, query, form }: Context): PanelPage => ({
  title: 'Notifications',
  data: listTable(view.notifications, query, {
    id: 'notifications',
    none: 'None yet. Authorize a subscription, or move the clock to its next payment.',
    keyOf: ({ notificationId }) => notificationId,
    columns: {
      Message: messageLink,
      Delivery: (one) => html`${badge(deliveryState(one))} <span class="quiet">${countOf(one)}</span>`,
      About: ({ subscriptionId }) => linkTo('subscriptions', subscriptionId),
      Identifier: ({ notificationId }) => identifier(notificationId, 'the notification'),
      Time: ({ timestamp }) => timeOf(timestamp),
      Actions: ({ notificationId }) =>
        form('resend', 'Resend', { given: { notificationId }, of: notificationId }),
    },
  }),
  controls: [
    card(
      'Receivers',
      html`${rows(
        view.receivers.map((one) => receiver(one, form)),
        'None: notifications are kept, but sent to nobody. Connect your shop’s URL.',
      )}
${form('connect', 'Connect', { first: ['url', 'retries', 'signing.secret'] })}`,
    ),
    card(
      'Send by hand',
      form('send', 'Send', {
        first: ['type', 'status', 'subscriptionId'],
        values: { type: 'SUBSCRIPTION', status: 'CANCELLED' },
      }),
    ),
  ],
})

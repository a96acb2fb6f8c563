import type { DeliveryRecord, ListedNotification } from '../delivery/types.ts'
import { type Html, html } from '../pages/html.ts'
import {
  actionsOf,
  badge,
  capitalized,
  card,
  facts,
  identifier,
  instant,
  isolate,
  json,
  linkTo,
  rows,
  visuallyHidden,
} from './components.ts'
import { listTable } from './list-table.ts'
import type { Context, PanelPage } from './page.ts'
import { messageLink, requestLine } from './timeline.ts'
import { deliveryState, findNotifications, listNames } from './view.ts'
import { faultInWords } from './words.ts'

/** The first page: what there is, what happened last, and the state as a whole. */
export const overviewPage = ({ view, form }: Context): PanelPage => {
  const count = (name: string, total: number): readonly [string, Html] => [
    capitalized(name),
    html`<a href="/_mock/${name === 'payments' ? 'subscriptions' : name}">${total}${visuallyHidden(name)}</a>`,
  ]
  const counts = [
    ...listNames.map((name) => count(name, view[name].total)),
    count('faults', view.faults.length),
  ]
  const subscriptions = view.subscriptions.items
    .filter(({ phase }) => phase === 'PENDING')
    .map((one) => [linkTo('subscriptions', one.invoiceId, one.requestID), badge('waits for the payer')])
  const charges = view.charges.items
    .filter(({ status }) => status === 'pending_confirmation')
    .map(({ id }) => [linkTo('charges', id), badge('waits for the code')])
  const snapshot = ({ name, at }: { readonly name: string; readonly at: string }): Html => {
    const [given, of] = [{ name }, name]
    return html`<strong>${isolate(name)}</strong> ${instant(at)} ${actionsOf(form('restore-snapshot', 'Restore', { given, of }), form('remove-snapshot', 'Remove', { given, of }))}`
  }
  return {
    title: 'Overview',
    data: [
      card(
        'What the mock has',
        facts({
          ...Object.fromEntries(counts),
          Outages: view.outages.join(' and ') || 'none',
          'Next event': view.nextEventAt === undefined ? 'nothing is planned' : instant(view.nextEventAt),
        }),
      ),
      card(
        'Waiting for the payer',
        rows(
          [...subscriptions, ...charges].slice(0, 8),
          'Nothing waits. Create a subscription or a charge here.',
        ),
      ),
      card(
        'Last requests',
        rows(
          view.requests.items.slice(0, 8).map(requestLine),
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
        html`<p class="quiet">Everything due runs in order, each at its due time.${view.isFrozen && ' The clock is frozen until you move it: payments, expiries, lockouts (403) and retries of notifications wait.'} Moving it here does not expire tokens.</p>
${form('set-clock', 'Set the clock')}
<details id="by-length"><summary>Move by any length</summary>${form('advance', 'Move forward', { isPrimary: false })}</details>`,
      ),
      card('Snapshots', [
        rows(view.snapshots.map(snapshot), 'None yet. Save the state before you try something.'),
        form('save-snapshot', 'Save the state'),
      ]),
      card('Start again', form('reset', 'Reset the mock')),
    ],
  }
}

export const faultsPage = ({ view, form }: Context): PanelPage => {
  const faults = view.faults.map(({ number, fault, left }) => {
    const of = faultInWords(fault, left)
    return [html`<strong>${isolate(of)}</strong>`, form('remove-fault', 'Remove', { given: { number }, of })]
  })
  const areas = (['subscriptions', 'gateway'] as const).map((area) => {
    const options = { given: { area }, of: area }
    return view.outages.includes(area)
      ? html`${area} ${badge('down')} ${form('end-outage', 'End the outage', options)}`
      : html`${area} ${badge('up')} ${form('start-outage', 'Start an outage', options)}`
  })
  return {
    title: 'Faults',
    data: [
      card('Faults', [
        rows(faults, 'None. Add one in the form: it applies to the next calls of its operation.'),
        faults.length > 1 && form('clear-faults', 'Remove all'),
      ]),
      card('Outages', rows(areas, '')),
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
  }
}

/** Renders the time of a notification, which may be any text that a test sent. */
const timeOf = (timestamp: string): Html => {
  const time = Number(timestamp) * 1_000
  return Number.isNaN(new Date(time).getTime()) ? isolate(timestamp) : instant(time)
}

const deliveriesOf = ({ attempts, ...one }: ListedNotification): Html =>
  html`${badge(deliveryState({ attempts, ...one }))} <span class="quiet">${attempts.length} ${attempts.length === 1 ? 'delivery' : 'deliveries'}</span>`

export const notificationsPage = (context: Context): PanelPage => {
  const { view, form } = context
  const receivers = view.receivers.map(({ number, to = 'a function of the mock’s process', ...options }) => {
    const set = Object.entries(options).filter(([, value]) => value !== undefined)
    const words = set.map(([option, value]) => `${option} ${JSON.stringify(value)}`).join(', ')
    return html`<strong>${isolate(to)}</strong> <span class="quiet">${isolate(words)}</span> ${form('disconnect', 'Remove', { given: { number }, of: `receiver ${to}` })}`
  })
  return {
    title: 'Notifications',
    data: listTable(context, 'notifications', {
      none: 'None yet. Authorize a subscription, or move the clock to its next payment.',
      keyOf: ({ notificationId }) => notificationId,
      columns: {
        Message: messageLink,
        Delivery: deliveriesOf,
        About: ({ subscriptionId }) => linkTo('subscriptions', subscriptionId),
        Identifier: ({ notificationId }) => identifier(notificationId, 'the notification'),
        Time: ({ timestamp }) => timeOf(timestamp),
        Actions: ({ notificationId }) =>
          form('resend', 'Resend', { given: { notificationId }, of: notificationId }),
      },
    }),
    controls: [
      card('Receivers', [
        rows(receivers, 'None: notifications are kept, but sent to nobody. Connect your shop’s URL.'),
        form('connect', 'Connect', { first: ['url', 'retries', 'signing.secret'] }),
      ]),
      card(
        'Send by hand',
        form('send', 'Send', {
          first: ['type', 'status', 'subscriptionId'],
          values: { type: 'SUBSCRIPTION', status: 'CANCELLED' },
        }),
      ),
    ],
  }
}

export const notificationPage = ({ mock, form }: Context, id: string): PanelPage | undefined => {
  const one = findNotifications(mock, id).find(({ notificationId }) => notificationId === id)
  if (one === undefined) return undefined
  const { attempts, ...message } = one
  const delivery = ({ at, status, error = 'no response', headers, body }: DeliveryRecord, index: number) =>
    html`<h3>Delivery ${index + 1} of ${attempts.length}</h3>
<p>${instant(at)} ${status === undefined ? isolate(error) : badge(status)}</p>
${json('Headers', headers)}${json('Body', body)}`
  return {
    title: 'Notification',
    subject: id,
    data: [
      card('Notification', [
        facts({
          Delivery: deliveriesOf(one),
          Message: html`${isolate(one.type)} ${isolate(one.status)}`,
          Subscription: linkTo('subscriptions', one.subscriptionId),
          Payment: one.paymentId && isolate(one.paymentId),
          Identifier: identifier(id, 'the notification'),
          Time: timeOf(one.timestamp),
        }),
        actionsOf(form('resend', 'Resend', { given: { notificationId: id }, isPrimary: true })),
        json('Payload', message),
      ]),
      card('Deliveries', attempts.map(delivery)),
    ],
  }
}

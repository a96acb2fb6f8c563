import type { ListedNotification } from '../delivery/types.ts'
import type { LoggedRequest } from '../http/request-log.ts'
import { type Html, html } from '../pages/html.ts'
import type { Mock } from '../types.ts'
import {
  actionsOf,
  badge,
  copyButton,
  identifier,
  instant,
  isolate,
  json,
  linkTo,
  rows,
  visuallyHidden,
} from './components.ts'
import { asCurl, asTest } from './copies.ts'
import { type Entry, entry, factsOf, listOf, type PagedKind } from './list.ts'
import type { Context, PanelPage } from './page.ts'
import { deliveryState, findCharge, findNotifications, findSubscription, idsIn, requestsOf } from './view.ts'
import { inWords } from './words.ts'

const requestName = ({ method, operation, path }: LoggedRequest): string => `${method} ${operation ?? path}`

/** Renders a request in one line: its status, its operation with a link, the fault and the decision. */
export const requestLine = ({ number, status, operation, path, fault, decision }: LoggedRequest): Html =>
  html`${badge(status ?? 'no response')} <a href="/_mock/requests/${number}">${isolate(operation ?? path, 60)}</a> ${badge(fault && `fault ${fault}`)} <span class="quiet">${decision !== 'fault' && isolate(decision.replaceAll('_', ' '))}</span>`

/** Adds an object's requests to its events. Of events at the same time, only the first precedes the first request. */
export const withRequests = (mock: Mock, id: string, [created, ...events]: readonly Entry[]) => {
  const lines = requestsOf(mock, id).flatMap((one) => entry(one.at.getTime(), 'request', requestLine(one)))
  return [created, lines[0], ...events, ...lines.slice(1)].filter((one) => one !== undefined)
}

/** Renders links to the charge and the subscription that a request is about. */
const objectsOf = (one: LoggedRequest, { mock }: Context) => {
  const ids = idsIn(one)
  const charge = findCharge(mock, ids)
  const subscription = [...ids].map((id) => findSubscription(mock, id)).find((found) => found !== undefined)
  const { invoiceId, requestID, phase } = subscription ?? {}
  return [
    charge && [linkTo('charges', charge.id, charge.id, 'charge'), ' ', badge(charge.status)],
    subscription && [linkTo('subscriptions', invoiceId, requestID, 'subscription'), ' ', badge(phase)],
  ]
}

export const requests: PagedKind<LoggedRequest> = {
  noun: 'Request',
  none: html`None yet. Send one: <a href="/_mock/connect">Connect</a> has the addresses and commands to copy.`,
  keyOf: ({ number }) => number,
  name: (one) =>
    html`<a href="/_mock/requests/${one.number}">${isolate(requestName(one))}${visuallyHidden(`number ${one.number}`)}</a>`,
  find: (mock, number) => mock.requests.all().find((each) => String(each.number) === number),
  subject: requestName,
  facts: {
    Status: ({ status, fault }) => badge(status ?? 'no response', fault && 'fault'),
    Reason: ({ explanation }) => html`<span class="quiet">${isolate(explanation, 300)}</span>`,
    Decision: ({ decision }) => isolate(decision.replaceAll('_', ' ')),
    Operation: ({ operation }) => operation && isolate(operation),
    Charge: (one, context) => objectsOf(one, context)[0],
    Subscription: (one, context) => objectsOf(one, context)[1],
    Path: ({ path }) => isolate(path),
    'Nearest route': ({ nearestRoute }) => nearestRoute && isolate(nearestRoute),
    'Idempotency key': ({ idempotencyKey: key }) => key && identifier(key, 'the idempotency key'),
    Fault: ({ fault }) => fault && badge(`fault ${fault}`),
    Duration: ({ durationMs }) => `${Math.round(durationMs)} ms`,
    Time: ({ at }) => instant(at),
  },
  columns: ['Status', 'Reason', 'Duration', 'Time'],
  cards(one, { mock }, { Reason: _reason, ...values }) {
    const curl = asCurl(mock, one)
    const { code, dependsOn } = asTest(mock, one)
    return {
      'What happened': [
        html`<p class="explanation">${isolate(one.explanation, 2_000)}</p>`,
        factsOf(values),
        actionsOf(copyButton(curl, '', 'Copy as curl'), code && copyButton(code, '', 'Copy as test')),
        dependsOn &&
          html`<p class="quiet">There is no test to copy: a new mock would respond differently, because this response depends on ${dependsOn}.</p>`,
        html`<details id="as-code"><summary>${code ? 'The command and the test' : 'The command'}</summary>${json('Command', curl)}${json('Test', code)}</details>`,
      ],
      Request: [json('Headers', one.headers), json('Body', one.body)],
      Response: [
        one.status === undefined && html`<p class="quiet">No response was sent.</p>`,
        json('Headers', one.responseHeaders),
        json('Body', one.response),
      ],
    }
  },
}

export const requestsPage = (context: Context): PanelPage => {
  const object = context.query.get('requests.of')
  const about =
    object !== null && html`<p>Only requests about ${isolate(object)}. <a href="?">Show all</a></p>`
  return { title: 'Requests', data: listOf(context, 'requests', requests, about) }
}

const messageLink = ({ notificationId, type, status }: ListedNotification): Html =>
  html`<a href="/_mock/notifications/${encodeURIComponent(notificationId)}">${isolate(type)} ${isolate(status)}${visuallyHidden(notificationId)}</a>`

const resend = ({ notificationId }: ListedNotification, { form }: Context): Html =>
  form('resend', 'Resend', { given: { notificationId }, of: notificationId })

/** Returns the notifications about a subscription, as entries of its timeline. */
export const messageEntries = (context: Context, id: string): readonly Entry[] =>
  findNotifications(context.mock, id).flatMap((one) => {
    const text = html`<span>${badge(deliveryState(one))} ${messageLink(one)}</span> ${resend(one, context)}`
    return entry(Number(one.timestamp) * 1_000, 'notification', text)
  })

export const notifications: PagedKind<ListedNotification> = {
  noun: 'Notification',
  none: 'None yet. Authorize a subscription, or move the clock to its next payment.',
  keyOf: ({ notificationId }) => notificationId,
  name: messageLink,
  find: (mock, id) => findNotifications(mock, id).find(({ notificationId }) => notificationId === id),
  subject: ({ notificationId }) => notificationId,
  facts: {
    Delivery: (one) =>
      html`${badge(deliveryState(one))}${one.attempts.length > 1 && html` <span class="quiet">${one.attempts.length} deliveries</span>`}`,
    Message: ({ type, status }) => html`${isolate(type)} ${isolate(status)}`,
    Subscription: ({ subscriptionId }) => linkTo('subscriptions', subscriptionId),
    Payment: ({ paymentId }) => paymentId && isolate(paymentId),
    Identifier: ({ notificationId }) => identifier(notificationId, 'the notification'),
    Time: ({ timestamp }) => {
      // A test may send any text as the time.
      const time = Number(timestamp) * 1_000
      return Number.isNaN(new Date(time).getTime()) ? isolate(timestamp) : instant(time)
    },
  },
  columns: ['Delivery', 'Subscription', 'Time'],
  next: resend,
  cards({ attempts, ...message }, { form, view }, values) {
    const { notificationId } = message
    const again = form('resend', 'Resend', { given: { notificationId }, isPrimary: true })
    const hasReceivers = new Set([...view.receivers, ...attempts].map(({ to }) => to)).size > 1
    const deliveries = attempts.map(({ at, to = 'a function', status, error, headers, body }, index) => [
      html`<h3>Delivery ${index + 1} of ${attempts.length}</h3>
<p>${instant(at)} ${hasReceivers && isolate(`to ${to}`)} ${status === undefined ? isolate(error ?? 'no response') : badge(status)}</p>`,
      json('Headers', headers),
      json('Body', body),
    ])
    return {
      Notification: [factsOf(values), actionsOf(again), json('Payload', message)],
      Deliveries: deliveries,
    }
  },
}

export const notificationsPage = (context: Context): PanelPage => {
  const { view, form } = context
  const receivers = view.receivers.map(
    ({ number, to = 'a function of the mock’s process', ...options }) =>
      html`<strong>${isolate(to)}</strong> <span class="quiet">${isolate(inWords(options))}</span> ${form('disconnect', 'Remove', { given: { number }, of: `receiver ${to}` })}`,
  )
  return {
    title: 'Notifications',
    data: listOf(context, 'notifications', notifications),
    controls: {
      Receivers: [
        rows(receivers, 'None: notifications are kept, but sent to nobody. Connect your shop’s URL.'),
        form('connect', 'Connect', { first: ['url', 'retries', 'signing.secret'] }),
      ],
      'Send by hand': form('send', 'Send', {
        first: ['type', 'status', 'subscriptionId'],
        values: { type: 'SUBSCRIPTION', status: 'CANCELLED' },
      }),
    },
  }
}

import type { LoggedRequest } from '../http/request-log.ts'
import { html } from '../pages/html.ts'
import {
  actionsOf,
  badge,
  card,
  copyButton,
  facts,
  instant,
  isolate,
  json,
  linkTo,
  visuallyHidden,
} from './components.ts'
import { asCurl, asTest } from './copies.ts'
import { listTable } from './list-table.ts'
import type { Context, PanelPage } from './page.ts'
import { findCharge, findSubscription, idsIn } from './view.ts'

const nameOf = ({ method, operation, path }: LoggedRequest): string => `${method} ${operation ?? path}`

const duration = ({ durationMs }: LoggedRequest): string => `${Math.round(durationMs)} ms`

export const requestsPage = (context: Context): PanelPage => {
  const object = context.query.get('requests.of')
  const requests = listTable(context, 'requests', {
    none: html`None yet. Send one: <a href="/_mock/connect">Connect</a> has the addresses and commands to copy.`,
    keyOf: ({ number }) => number,
    columns: {
      Request: (one) =>
        html`<a href="/_mock/requests/${one.number}">${isolate(nameOf(one))}${visuallyHidden(`number ${one.number}`)}</a>`,
      Status: ({ status, fault }) => html`${badge(status ?? 'no response')} ${fault && badge('fault')}`,
      Reason: ({ explanation }) => html`<span class="quiet">${isolate(explanation, 300)}</span>`,
      Duration: duration,
      Time: ({ at }) => instant(at),
    },
  })
  const about =
    object !== null && html`<p>Only requests about ${isolate(object)}. <a href="?">Show all</a></p>`
  return { title: 'Requests', data: [about, requests] }
}

export const requestPage = ({ mock }: Context, number: string): PanelPage | undefined => {
  const one = mock.requests.all().find((each) => String(each.number) === number)
  if (one === undefined) return undefined
  const { status, operation, nearestRoute, idempotencyKey, fault } = one
  const ids = idsIn(one)
  const charge = findCharge(mock, ids)
  const subscription = [...ids].map((id) => findSubscription(mock, id)).find((found) => found !== undefined)
  const { invoiceId, requestID, phase = '' } = subscription ?? {}
  const [curl, test] = [asCurl(mock, one), asTest(mock, one)]
  return {
    title: 'Request',
    subject: nameOf(one),
    data: [
      card('What happened', [
        html`<p class="explanation">${isolate(one.explanation, 2_000)}</p>`,
        facts({
          Status: badge(status ?? 'no response'),
          Decision: isolate(one.decision.replaceAll('_', ' ')),
          Operation: operation && isolate(operation),
          Charge: charge && [linkTo('charges', charge.id, charge.id, 'charge'), ' ', badge(charge.status)],
          Subscription: subscription && [
            linkTo('subscriptions', invoiceId, requestID, 'subscription'),
            ' ',
            badge(phase),
          ],
          Path: isolate(one.path),
          'Nearest route': nearestRoute && isolate(nearestRoute),
          'Idempotency key': idempotencyKey && isolate(idempotencyKey),
          Fault: fault && badge(`fault ${fault}`),
          Duration: duration(one),
          Time: instant(one.at),
        }),
        actionsOf(copyButton(curl, '', 'Copy as curl'), test && copyButton(test, '', 'Copy as test')),
        test === undefined &&
          html`<p class="quiet">There is no test to copy: a new mock would respond differently, because this response depends on earlier requests.</p>`,
        html`<details id="as-code"><summary>${test ? 'The command and the test' : 'The command'}</summary>${json('Command', curl)}${test && json('Test', test)}</details>`,
      ]),
      card('Request', [json('Headers', one.headers), json('Body', one.body)]),
      card(
        'Response',
        status === undefined
          ? html`<p class="quiet">No response was sent.</p>`
          : [json('Headers', one.responseHeaders), json('Body', one.response)],
      ),
    ],
  }
}

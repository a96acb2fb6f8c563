import type { LoggedRequest } from '../http/request-log.ts'
import { type Html, html } from '../pages/html.ts'
import type { Mock } from '../types.ts'
import {
  badge,
  card,
  copyButton,
  facts,
  instant,
  isolate,
  json,
  linkTo,
  listTable,
  visuallyHidden,
} from './components.ts'
import { asCurl, asTest } from './copies.ts'
import type { Context, PanelPage } from './timeline.ts'
import { findCharge, findSubscription, idsIn } from './view.ts'

/** Links to the objects that a request is about. */
const objectsOf = (mock: Mock, one: LoggedRequest): Html | undefined => {
  const ids = idsIn(one)
  const charge = findCharge(mock, ids)
  const found = [...ids].map((id) => findSubscription(mock, id)).find((each) => each !== undefined)
  const links = [
    charge && html`${linkTo('charges', charge.id, charge.id, 'charge')} ${badge(charge.status)} `,
    found &&
      html`${linkTo('subscriptions', found.invoiceId, found.requestID, 'subscription')} ${badge(found.phase)}`,
  ]
  return links.some((link) => link !== undefined) ? html`${links}` : undefined
}

const duration = ({ durationMs }: LoggedRequest): string => `${Math.round(durationMs)} ms`

/** The page with all requests. */
export const requestsPage = ({ view, query }: Context): PanelPage => {
  const object = query.get('requests.of')
  const about =
    object === null
      ? undefined
      : html`<p>Only requests about ${isolate(object)}. <a href="?">Show all</a></p>`
  const requests = listTable(view.requests, query, {
    id: 'requests',
    none: html`None yet. Send one: <a href="/_mock/connect">Connect</a> has the addresses and commands to copy.`,
    keyOf: ({ number }) => number,
    columns: {
      Request: (one) =>
        html`<a href="/_mock/requests/${one.number}">${isolate(`${one.method} ${one.operation ?? one.path}`)}${visuallyHidden(`number ${one.number}`)}</a>`,
      Status: (one) => html`${badge(one.status ?? 'no response')} ${one.fault && badge('fault', 'bad')}`,
      Reason: ({ explanation }) => html`<span class="quiet">${isolate(explanation, 300)}</span>`,
      Duration: duration,
      Time: ({ at }) => instant(at.toISOString()),
    },
  })
  return { title: 'Requests', data: [about, requests] }
}

/** The page of one request; `undefined` if the log has no such request. */
export const requestPage = ({ mock }: Context, number: string): PanelPage | undefined => {
  const one = mock.requests.all().find((each) => String(each.number) === number)
  if (one === undefined) return undefined
  const { explanation, decision, nearestRoute, idempotencyKey, fault } = one
  const [curl, code] = [asCurl(mock, one), asTest(mock, one)]
  const decided = card(
    'What happened',
    html`<p class="explanation">${isolate(explanation, 2_000)}</p>
${facts({
  Status: badge(one.status ?? 'no response'),
  Decision: isolate(decision.replaceAll('_', ' ')),
  Operation: one.operation && isolate(one.operation),
  Object: objectsOf(mock, one),
  Path: isolate(one.path),
  'Nearest route': nearestRoute && isolate(nearestRoute),
  'Idempotency key': idempotencyKey && isolate(idempotencyKey),
  Fault: fault && badge(fault, 'bad'),
  Duration: duration(one),
  Time: instant(one.at.toISOString()),
})}
<div class="actions">${copyButton(curl, '', 'Copy as curl')}${copyButton(code, '', 'Copy as test')}</div>
<details id="as-code"><summary>The command and the test</summary>${json('Command', curl)}${json('Test', code)}</details>`,
  )
  const sent = card('Request', html`${json('Headers', one.headers)}${json('Body', one.body)}`)
  const received = card(
    'Response',
    one.status === undefined
      ? html`<p class="quiet">No response was sent.</p>`
      : html`${json('Headers', one.responseHeaders)}${json('Body', one.response)}`,
  )
  return {
    title: 'Request',
    subject: `${one.method} ${one.operation ?? one.path}`,
    data: [decided, sent, received],
  }
}

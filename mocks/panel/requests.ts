import { gatewayDefaults } from '../gateway/options.ts'
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
import { shellWord } from './connect.ts'
import type { Context, PanelPage } from './timeline.ts'
import { findCharge, findSubscription, idsIn } from './view.ts'

const HIDDEN = '[redacted]'

/** Headers that every client sets by itself. */
const AUTOMATIC = /^(?:host|connection|content-length|accept(?:-.*)?|user-agent|sec-.*|origin|referer|:.*)$/

/** Returns the headers for a command. Only the public API key of a mock without options is shown. */
const headersOf = (mock: Mock, { area, headers, idempotencyKey, status }: LoggedRequest) => {
  const [publicKey] = gatewayDefaults.apiKeys
  const hasPublicKey = area === 'gateway' && mock.clientOptions.gateway.apiKey === publicKey && status !== 401
  const shown = (name: string, value: string): string => {
    if (name === 'idempotency-key') return idempotencyKey ?? value
    return name === 'authorization' ? value.replace(HIDDEN, hasPublicKey ? publicKey : 'YOUR_TOKEN') : value
  }
  return Object.entries(headers).flatMap(([name, value]) =>
    AUTOMATIC.test(name) ? [] : [[name, shown(name, value)] as const],
  )
}

/** Returns the request as a command for a shell. */
const curlOf = (mock: Mock, one: LoggedRequest): string => {
  const parts = [
    `curl -i -X ${/^[A-Z]+$/.test(one.method) ? one.method : shellWord(one.method)} ${shellWord(`${mock.clientOptions[one.area].baseUrl}${one.path}`)}`,
    ...headersOf(mock, one).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(one.body === undefined ? [] : [`-d ${shellWord(JSON.stringify(one.body))}`]),
  ]
  return parts.join(' \\\n  ')
}

/** Returns a test that sends the request to a new mock, and expects the same status. */
const testOf = (mock: Mock, one: LoggedRequest): string => {
  const { area, method, path, status, fault: kind, operation } = one
  const text = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
  const init = {
    method,
    headers: Object.fromEntries(headersOf(mock, one)),
    body: one.body === undefined ? undefined : JSON.stringify(one.body),
  }
  const hasStatus = kind === 'status' || kind === 'html'
  const fault = { operation, kind, ...(hasStatus && { status }) }
  // A latency does not change the response.
  const arm = kind === undefined || kind === 'latency' ? '' : `  mock.faults.add(${text(fault)})\n`
  const result = status === undefined ? 'gets no response' : `responds with ${status}`
  return `import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'

test(${JSON.stringify(`${method} ${path.split('?')[0]} ${result}`)}, async () => {
  const mock = createMock()
${arm}  const { baseUrl } = mock.clientOptions.${area}
  const response = mock.fetch(baseUrl + ${text(path)}, ${text(init)})
  ${status === undefined ? 'await expect(response).rejects.toThrow()' : `expect((await response).status).toBe(${status})`}
})
`
}

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
  const [curl, code] = [curlOf(mock, one), testOf(mock, one)]
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

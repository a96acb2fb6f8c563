import { gatewayDefaults } from '../gateway/options.ts'
import { operations } from '../http/area.ts'
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
import { findCharge, findSubscription, idsIn, statusClasses } from './view.ts'

const HIDDEN = '[redacted]'

/** Headers that every client sets by itself. */
const AUTOMATIC = /^(?:host|connection|content-length|accept(?:-.*)?|user-agent|sec-.*|origin|referer|:.*)$/

const headersOf = ({ headers, idempotencyKey }: LoggedRequest): readonly (readonly [string, string])[] =>
  Object.entries(headers).flatMap(([name, value]) => {
    if (AUTOMATIC.test(name)) return []
    return [[name, name === 'idempotency-key' ? (idempotencyKey ?? value) : value] as const]
  })

/** Returns the value of a header for a command. Only the public API key of a mock without options is shown. */
const valueFor = (mock: Mock, { area }: LoggedRequest, name: string, value: string): string => {
  if (name !== 'authorization') return value
  const isPublic = area === 'gateway' && mock.clientOptions.gateway.apiKey === gatewayDefaults.apiKeys[0]
  return value.replace(HIDDEN, isPublic ? gatewayDefaults.apiKeys[0] : 'YOUR_TOKEN')
}

/** Returns the request as a command for a shell. */
const curlOf = (mock: Mock, one: LoggedRequest): string => {
  const parts = [
    `curl -i -X ${one.method} ${shellWord(`${mock.clientOptions[one.area].baseUrl}${one.path}`)}`,
    ...headersOf(one).map(
      ([name, value]) => `-H ${shellWord(`${name}: ${valueFor(mock, one, name, value)}`)}`,
    ),
    ...(one.body === undefined ? [] : [`-d ${shellWord(JSON.stringify(one.body))}`]),
  ]
  return parts.join(' \\\n  ')
}

/** Returns a test that sends the request to a new mock, and expects the same status. */
const testOf = (one: LoggedRequest): string => {
  const { area, method, path, status, fault, operation } = one
  const text = JSON.stringify
  const secret = area === 'gateway' ? 'mock.clientOptions.gateway.apiKey' : "'YOUR_TOKEN'"
  const headers = headersOf(one).map(([name, value]) =>
    name === 'authorization'
      ? `      ${text(name)}: \`Bearer \${${secret}}\`,\n`
      : `      ${text(name)}: ${text(value)},\n`,
  )
  const armed =
    fault === undefined ? '' : `  mock.faults.add({ operation: ${text(operation)}, kind: ${text(fault)} })\n`
  const body =
    one.body === undefined
      ? ''
      : `    body: JSON.stringify(${text(one.body, null, 2).replaceAll('\n', '\n    ')}),\n`
  const expected =
    status === undefined
      ? '  await expect(response).rejects.toThrow()'
      : `  expect((await response).status).toBe(${status})`
  return `import { createMock } from 'mandatekit/mocks/core'
import { expect, test } from 'vitest'

test(${text(`${method} ${path.split('?')[0]} ${status === undefined ? 'gets no response' : `responds with ${status}`}`)}, async () => {
  const mock = createMock()
${armed}  const response = mock.fetch(\`\${mock.clientOptions.${area}.baseUrl}${path.replace(/[\\`$]/g, '\\$&')}\`, {
    method: ${text(method)},
    headers: {
${headers.join('')}    },
${body}  })
${expected}
})
`
}

/** Links to the objects that a request is about. */
const objectsOf = (mock: Mock, one: LoggedRequest): Html | undefined => {
  const ids = idsIn(one)
  const charge = findCharge(mock, ids)
  const found = [...ids].map((id) => findSubscription(mock, id)).find((each) => each !== undefined)
  const links = [
    charge && html`${linkTo(`charges/${charge.id}`, charge.id, 'charge')} ${badge(charge.status)} `,
    found &&
      html`${linkTo(`subscriptions/${found.invoiceId}`, found.requestID, 'subscription')} ${badge(found.phase)}`,
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
  const requests = listTable(view.requests, {
    id: 'requests',
    title: 'Requests',
    query,
    filters: [
      ['requests.status', 'Status', statusClasses],
      ['requests.is', 'Operation', operations],
    ],
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
export const requestPage = ({ mock, form }: Context, number: string): PanelPage | undefined => {
  const one = mock.requests.all().find((each) => String(each.number) === number)
  if (one === undefined) return undefined
  const { explanation, decision, nearestRoute, idempotencyKey, fault } = one
  const decided = card(
    'decision',
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
<div class="actions">${copyButton(curlOf(mock, one), '', 'Copy as curl')}${copyButton(testOf(one), '', 'Copy as test')}</div>`,
  )
  const sent = card('sent', 'Request', html`${json('Headers', one.headers)}${json('Body', one.body)}`)
  const received = card(
    'received',
    'Response',
    one.status === undefined
      ? html`<p class="quiet">No response was sent.</p>`
      : html`${json('Headers', one.responseHeaders)}${json('Body', one.response)}`,
  )
  const code = card(
    'code',
    'As code',
    html`<details id="as-curl"><summary>curl</summary>${json('Command', curlOf(mock, one))}</details>
<details id="as-test"><summary>Test</summary>${json('Test', testOf(one))}</details>`,
  )
  const again =
    one.operation === undefined
      ? undefined
      : card(
          'fault',
          'A fault for this operation',
          form('fault', 'Add the fault', {
            given: { operation: one.operation },
            first: ['kind', 'status', 'latencyMs', 'times'],
            values: { kind: 'status', status: '503' },
          }),
        )
  return {
    title: 'Request',
    subject: `${one.method} ${one.operation ?? one.path}`,
    data: [decided, sent, received, code],
    controls: again,
  }
}

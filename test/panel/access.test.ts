import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { MockServer } from 'mandatekit/mocks/server'
import { describe, expect, test } from 'vitest'
import { startServer } from '../support/mock-server.ts'

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Sends a request with any headers. `fetch` would refuse those that a browser sets. */
const send = async (url: string, { method = 'GET', headers = {}, body = '' }: Sent = {}) => {
  const sent = request(url, { method, headers }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const outage = { method: 'POST', body: 'action=start-outage' }
const foreign = { origin: 'http://evil.example' }

const isDown = async ({ url }: MockServer) => (await fetch(`${url}/health`)).status === 503

describe('the panel refuses without any effect', () => {
  test.each<[string, string, string, Record<string, string>, number, string?]>([
    ['a form of another site', 'POST', '/_mock', { ...form, 'sec-fetch-site': 'cross-site' }, 403],
    ['a form of another local port', 'POST', '/_mock', { ...form, 'sec-fetch-site': 'same-site' }, 403],
    ['a form of another origin', 'POST', '/_mock', { ...form, ...foreign }, 403],
    ['a form of an unknown origin', 'POST', '/_mock', { ...form, origin: 'null' }, 403],
    ['another content type', 'POST', '/_mock', { 'content-type': 'text/plain' }, 415],
    ['a form that is too large', 'POST', '/_mock', form, 413, `${outage.body}&x=${'y'.repeat(1_100_000)}`],
    ['another method', 'PUT', '/_mock', {}, 405],
    ['a form for the state', 'POST', '/_mock/state', form, 405],
    ['an unknown path', 'GET', '/_mock/none', {}, 404],
  ])('%s', async (_, method, path, headers, status, body = method === 'GET' ? '' : outage.body) => {
    const one = await startServer()
    expect((await send(`${one.url}${path}`, { method, headers, body })).status).toBe(status)
    expect(await isDown(one)).toBe(false)
  })

  const names = [
    'evil.example:4010',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'mock.evil.example',
    'mock.internal',
    '@',
  ]
  test.each(['127.0.0.1', '0.0.0.0'].flatMap((bound) => names.map((name) => [bound, name] as const)))(
    'on %s every request under the foreign name %j',
    async (bound, host) => {
      const one = await startServer({ host: bound, allowedHosts: ['mock'] })
      const headers = { ...form, host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }
      for (const path of ['/_mock', '/_mock/state', '/_mock/none']) {
        const response = await send(`${one.url}${path}`, { headers })
        expect(response.status).toBe(403)
        expect(response.body).not.toContain('Mock control panel')
      }
      expect((await send(`${one.url}/_mock`, { ...outage, headers })).status).toBe(403)
      expect(await isDown(one)).toBe(false)
    },
  )
})

test('an unknown page is a small page with a link for a browser, and JSON for a program', async () => {
  const { url } = await startServer()
  const message = 'The panel has no such page.'
  const program = await send(`${url}/_mock/none`)
  expect([program.status, JSON.parse(program.body)]).toEqual([404, { ok: false, message }])
  const browser = await send(`${url}/_mock/none`, { headers: { accept: 'text/html,*/*;q=0.8' } })
  expect(browser).toMatchObject({ status: 404, headers: { 'content-type': 'text/html; charset=utf-8' } })
  expect(browser.body).toContain(message)
  expect(browser.body).toContain('href="/_mock"')
})

test('the panel accepts its own form, and shows the outcome by its number only', async () => {
  const one = await startServer()
  for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: one.url }]) {
    one.mock.outage.end()
    const { status, headers: sent } = await send(`${one.url}/_mock`, {
      ...outage,
      headers: { ...form, ...headers },
    })
    expect(status).toBe(303)
    expect(sent.location).toMatch(/^\/_mock\?notice=\d+$/)
    expect(await isDown(one)).toBe(true)
    expect((await send(`${one.url}${sent.location}`)).body).toContain('The area gateway is down')
  }
  for (const query of ['notice=999', 'notice=You+won', 'notice=constructor']) {
    expect((await send(`${one.url}/_mock?${query}`)).body).not.toMatch(/You won|class="alert"/)
  }
})

test.each(['127.0.0.1', '0.0.0.0'])(
  'a server on %s has the panel under IP addresses, localhost, allowed names and the host of its public URL',
  async (host) => {
    const names = { allowedHosts: ['mock', 'Mock.Internal'], publicUrl: 'https://pay.example:8443/mock' }
    const { url } = await startServer({ host, ...names })
    const own = [
      'localhost',
      'localhost:4010',
      'LOCALHOST:1',
      '127.1.2.3:80',
      '[::1]:4010',
      '10.0.0.1',
      '[::2]',
    ]
    for (const name of [...own, 'mock', 'mock:4010', 'mock.internal:80', 'pay.example', 'PAY.example:8443']) {
      expect((await send(`${url}/_mock`, { headers: { host: name } })).status, name).toBe(200)
    }
  },
)

test('every response forbids framing, caching, sniffing and reading by other origins', async () => {
  const { url } = await startServer()
  const preflight = { ...foreign, 'access-control-request-method': 'POST' }
  const responses = [
    await send(`${url}/_mock`, { headers: foreign }),
    await send(`${url}/_mock/state`, { headers: foreign }),
    await send(`${url}/_mock/none`),
    await send(`${url}/_mock`, { ...outage, headers: form }),
    await send(`${url}/_mock`, { method: 'OPTIONS', headers: preflight }),
  ]
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 404, 303, 405])
  for (const { headers } of responses) {
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})

test('the page allows its own style and script by hash, and preselects a fault that can be added as it is', async () => {
  const { url } = await startServer()
  const { headers, body } = await send(`${url}/_mock/faults`)
  const policy = String(headers['content-security-policy'])
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^' ]+'; script-src 'sha256-[^' ]+';/)
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
  expect(policy).toContain("form-action 'self'")
  expect(policy).toContain("frame-ancestors 'none'")

  expect(body.match(/<option value="[^"]*" selected="">[^<]*</g)).toEqual([
    '<option value="gateway.charge" selected="">gateway.charge<',
    '<option value="status" selected="">status<',
  ])
  const fault = 'action=fault&operation=*&kind=status&times=&status=&latencyMs='
  const asProgram = { ...form, accept: 'application/json' }
  expect((await send(`${url}/_mock`, { method: 'POST', headers: asProgram, body: fault })).status).toBe(200)
})

test('requests for the panel, the page at the root and the icon are not logged, and HEAD gets no body', async () => {
  const { url, mock } = await startServer()
  expect(await send(`${url}/_mock`, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
  await send(`${url}/_mock`, { ...outage, headers: form })
  const page = await send(`${url}/?from=readme`, { headers: { accept: 'text/html,*/*;q=0.8' } })
  expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
  expect(page.body).toContain('href="/_mock"')
  expect(await send(`${url}/favicon.ico`)).toMatchObject({ status: 204, body: '' })
  expect(mock.requests.all()).toEqual([])
})

test('every other request belongs to the mock', async () => {
  const { url, mock } = await startServer()
  const json = await send(`${url}/`, { headers: { accept: '*/*' } })
  expect(json).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } })
  expect((await send(`${url}/`, { method: 'POST', headers: { accept: 'text/html' } })).status).toBe(404)
  expect((await send(`${url}/_mocking`)).status).toBe(404)
  expect(mock.requests.all().map(({ decision }) => decision)).toEqual(Array(3).fill('unknown-path'))
})

test('without the panel nothing leads to it', async () => {
  const { url, mock } = await startServer({ panel: false })
  expect((await send(`${url}/`, { headers: { accept: 'text/html' } })).status).toBe(404)
  expect((await send(`${url}/_mock`)).status).toBe(404)
  expect(mock.requests.all()).toMatchObject([{ path: '/' }, { path: '/_mock' }])
})

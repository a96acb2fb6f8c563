import { request } from 'node:http'
import type { MockServer, MockServerOptions } from 'mandatekit/mocks/server'
import { startMockServer } from 'mandatekit/mocks/server'
import { afterEach, describe, expect, test } from 'vitest'

let server: MockServer | undefined

afterEach(() => server?.close())

const started = async (options: MockServerOptions = {}) => {
  server = await startMockServer(options)
  return server
}

interface Answer {
  readonly status: number | undefined
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

/** Sends a request with any headers: a `fetch` would refuse those that a browser sets. */
const send = (
  url: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: text }))
    })
    sent.on('error', reject).end(body)
  })

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const outage = { method: 'POST', body: 'action=start-outage' }

const isDown = async ({ url }: MockServer) => (await fetch(`${url}/health`)).status === 503

describe('a form from elsewhere does nothing', () => {
  test.each([
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['of another origin, by a browser that says no more', { origin: 'http://evil.example' }],
    ['of a page without an origin', { origin: 'null' }],
  ])('%s', async (_, headers) => {
    const one = await started()
    const answer = await send(`${one.url}/_mock`, { ...outage, headers: { ...form, ...headers } })
    expect(answer.status).toBe(403)
    expect(await isDown(one)).toBe(false)
  })

  test('its own does', async () => {
    const one = await started()
    for (const headers of [{ 'sec-fetch-site': 'same-origin' }, { origin: one.url }]) {
      one.mock.outage.end()
      const answer = await send(`${one.url}/_mock`, { ...outage, headers: { ...form, ...headers } })
      expect(answer).toMatchObject({
        status: 303,
        headers: { location: expect.stringMatching(/^\/_mock\?notice=\d+$/) },
      })
      expect(await isDown(one)).toBe(true)
    }
  })
})

describe('a server on this machine alone', () => {
  test.each([
    'evil.example',
    'evil.example:4010',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
    '[::2]',
    '@',
  ])('shows and does nothing under the foreign name %j', async (host) => {
    const one = await started()
    const headers = { ...form, host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }
    for (const path of ['/_mock', '/_mock/state', '/_mock/none']) {
      const shown = await send(`${one.url}${path}`, { headers })
      expect(shown.status).toBe(403)
      expect(shown.body).not.toContain('Mock control panel')
    }
    expect((await send(`${one.url}/_mock`, { ...outage, headers })).status).toBe(403)
    expect(await isDown(one)).toBe(false)
  })

  test.each(['localhost', 'localhost:4010', 'LOCALHOST:1', '127.0.0.1', '127.1.2.3:80', '[::1]:4010'])(
    'answers under its own name %s',
    async (host) => {
      const one = await started()
      expect((await send(`${one.url}/_mock`, { headers: { host } })).status).toBe(200)
    },
  )
})

test('a server that others may reach answers under every name', async () => {
  const one = await started({ host: '0.0.0.0' })
  expect((await send(`${one.url}/_mock`, { headers: { host: 'mock.internal:4010' } })).status).toBe(200)
})

test('every answer forbids framing, keeping, sniffing and reading by other origins', async () => {
  const { url } = await started()
  const answers = [
    await send(`${url}/_mock`, { headers: { origin: 'http://evil.example' } }),
    await send(`${url}/_mock/state`, { headers: { origin: 'http://evil.example' } }),
    await send(`${url}/_mock/none`),
    await send(`${url}/_mock`, { ...outage, headers: form }),
    await send(`${url}/_mock`, {
      method: 'OPTIONS',
      headers: { origin: 'http://evil.example', 'access-control-request-method': 'POST' },
    }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 303, 405])
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})

test('the page allows its own style and script by hash, and nothing else', async () => {
  const { url } = await started()
  const { headers } = await send(`${url}/_mock`)
  const policy = String(headers['content-security-policy'])
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^' ]+'; script-src 'sha256-[^' ]+';/)
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
  expect(policy).toContain("form-action 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
})

describe('requests that make no sense', () => {
  test.each([
    ['PUT', '/_mock', {}, '', 405],
    ['POST', '/_mock/state', form, '', 405],
    ['POST', '/_mock', { 'content-type': 'text/plain' }, 'action=start-outage', 415],
    ['POST', '/_mock', form, `action=start-outage&x=${'y'.repeat(20_000)}`, 413],
    ['GET', '/_mock/none', {}, '', 404],
  ])('%s %s with %j is refused', async (method, path, headers, body, status) => {
    const one = await started()
    expect((await send(`${one.url}${path}`, { method, headers, body })).status).toBe(status)
    expect(await isDown(one)).toBe(false)
  })
})

test('HEAD answers headers only, and no request to the panel stands in the log', async () => {
  const one = await started()
  const { status, body } = await send(`${one.url}/_mock`, { method: 'HEAD' })
  expect({ status, body }).toEqual({ status: 200, body: '' })
  await send(`${one.url}/_mock`, { ...outage, headers: form })
  expect(one.mock.requests.all()).toEqual([])
})

test('paths that only begin like the panel’s are the mock’s own, and panel: false leaves it away', async () => {
  const one = await started()
  expect(await send(`${one.url}/_mocking`)).toMatchObject({ status: 404 })
  expect(one.mock.requests.all()).toMatchObject([{ decision: 'unknown-path' }])
  await one.close()
  const without = await started({ panel: false })
  expect((await send(`${without.url}/_mock`)).status).toBe(404)
  expect(without.mock.requests.all()).toMatchObject([{ path: '/_mock' }])
})

test('a notice is told by its number alone: nobody can make the panel say something by a link', async () => {
  const { url } = await started()
  const { headers } = await send(`${url}/_mock`, { ...outage, headers: form })
  expect((await send(`${url}${headers.location}`)).body).toContain('The gateway cannot be reached')
  for (const query of ['notice=999', 'notice=You+won', 'notice=constructor']) {
    expect((await send(`${url}/_mock?${query}`)).body).not.toMatch(/You won|class="alert"/)
  }
})

test('a browser that opens the server finds the way to the panel; what it asks for by itself is not logged', async () => {
  const { url, mock } = await started()
  const page = await send(`${url}/?from=readme`, { headers: { accept: 'text/html,*/*;q=0.8' } })
  expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
  expect(page.body).toContain('href="/_mock"')
  expect(await send(`${url}/favicon.ico`)).toMatchObject({ status: 204, body: '' })
  expect(mock.requests.all()).toEqual([])

  const json = await send(`${url}/`, { headers: { accept: '*/*' } })
  expect(json).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } })
  expect((await send(`${url}/`, { method: 'POST', headers: { accept: 'text/html' } })).status).toBe(404)
  expect(mock.requests.all()).toHaveLength(2)
})

test('without a panel nothing leads to it', async () => {
  const { url } = await started({ panel: false })
  expect((await send(`${url}/`, { headers: { accept: 'text/html' } })).status).toBe(404)
})

test('the fault that the form offers first can be added as it stands', async () => {
  const { url } = await started()
  const { body } = await send(`${url}/_mock`)
  expect(body.match(/<option selected>([^<]*)</g)).toEqual(['<option selected>lost-response<'])
  const fault = 'action=fault&operation=*&kind=lost-response&times=&status=&latencyMs='
  const headers = { ...form, accept: 'application/json' }
  expect((await send(`${url}/_mock`, { method: 'POST', headers, body: fault })).status).toBe(200)
})

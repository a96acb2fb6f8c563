import { execFile } from 'node:child_process'
import { request as httpRequest } from 'node:http'
import { promisify } from 'node:util'
import { createMock, type Mock } from 'mandatekit/mocks/core'
import { describe, expect, test } from 'vitest'
import { startServer } from '../support/mock-server.ts'
import { without } from '../support/without.ts'

const run = promisify(execFile)

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const API_KEY = { authorization: 'Bearer mock-api-key' }
const LOGIN = '/oauth/token'
const CHARGES = '/api/v1/mfs/charges'
const CHARGE = {
  msisdn: '+99900000001',
  amount: 250,
  currency: 'it\'s $(id) `id` "!"\n\\',
  redirect_uri: 'https://shop.example/',
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const login = (fields: object, headers: Sent['headers'] = {}, body = JSON.stringify(fields)): Sent => ({
  method: 'POST',
  path: LOGIN,
  headers,
  body,
})
const credentials = { grant_type: 'password', username: "o'neil & co", password: 'wrong password' }
const charge = (headers: Sent['headers'], body = JSON.stringify(CHARGE)): Sent => ({
  method: 'POST',
  path: CHARGES,
  headers: { ...API_KEY, ...headers },
  body,
})

const REQUESTS: Readonly<Record<string, Sent>> = {
  'a login as a form': login({}, FORM, new URLSearchParams(credentials).toString()),
  'a login as JSON': login(credentials, JSON_TYPE),
  'a login as JSON that is labeled as a form': login({ ...credentials, username: 5 }, FORM),
  'a login without a Content-Type': login(credentials),
  'a form that is missing its fields': login({}, FORM, 'grant_type=password&username=%5B%5D+%27'),
  'an empty form': login({}, FORM, ''),
  'JSON with quotes': charge({ ...JSON_TYPE, 'idempotency-key': 'it\'s $1 "key"' }),
  'a form where only JSON is accepted': charge({ ...FORM, 'idempotency-key': 'key' }, 'msisdn=1&amount=2'),
  'a body that is not JSON': charge({ ...JSON_TYPE, 'idempotency-key': 'key' }, 'amount: 5'),
  'a body that is not an object': charge({ ...JSON_TYPE, 'idempotency-key': 'key' }, '@/etc/passwd'),
  'a charge without a key': charge(JSON_TYPE),
  'a charge with an empty key': charge({ ...JSON_TYPE, 'idempotency-key': '' }),
  'a request without a body': { method: 'POST', path: CHARGES, headers: { ...API_KEY, ...JSON_TYPE } },
  'a query with brackets': {
    method: 'GET',
    path: `${CHARGES}/{none}?of[]=1&and=it's%20${'%5B'}x&token=secret`,
    headers: API_KEY,
  },
  'a reset': { method: 'DELETE', path: '/api/v1/reset', headers: API_KEY },
  'a wrong key': { method: 'DELETE', path: CHARGES, headers: { authorization: 'Bearer wrong' } },
  'a HEAD request': { method: 'HEAD', path: '/health' },
}

/** Sends a request with exactly the given headers. */
const send = (url: string, { method, path, headers = {}, body }: Sent): Promise<number> =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const outgoing = httpRequest(
      `${url}${path}`,
      { method, headers: { ...headers, ...length } },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      },
    )
    outgoing.on('error', reject).end(body)
  })

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Returns what the buttons of the page of the last request copy. */
const readCopies = async (url: string, mock: Mock): Promise<readonly string[]> => {
  const page = await (await fetch(`${url}/_mock/requests/${mock.requests.all().length}`)).text()
  return [...page.matchAll(/data-copy="([^"]*)"/g)].map(([, text = '']) =>
    text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? ''),
  )
}

const decisionOf = (mock: Mock) => {
  const { method, path, status, decision, body, headers = {} } = mock.requests.all().at(-1) ?? {}
  const { 'content-type': type, 'idempotency-key': key } = headers
  return { method, path, status, decision, body, type, key }
}

const serve = () => startServer({ mock: createMock({ clock: '2027-01-01T06:00:00Z' }) })

describe('a copied request is decided as the original', () => {
  test.skipIf(without('curl')).each(Object.entries(REQUESTS))('by curl: %s', async (_, request) => {
    const { url, mock } = await serve()
    await send(url, request)
    const original = decisionOf(mock)
    const [curl = ''] = await readCopies(url, mock)
    mock.reset()
    await run('bash', ['-ec', curl.replaceAll('curl -i', 'curl -is --max-time 20')])
    expect(decisionOf(mock), curl).toEqual(original)
  })

  test.each(Object.entries(REQUESTS))('by a test: %s', async (_, request) => {
    const { url, mock } = await serve()
    const status = await send(url, request)
    const [, code = ''] = await readCopies(url, mock)
    const call = /mock\.fetch\(baseUrl \+ [\s\S]*?\n {2}\}\)/.exec(code)?.[0] ?? ''
    const fresh = createMock()
    const response = new Function('mock', 'baseUrl', `return ${call}`)(
      fresh,
      fresh.clientOptions[request.path === LOGIN ? 'subscriptions' : 'gateway'].baseUrl,
    )
    expect((await response).status, code).toBe(status)
    expect(code).toContain(`.toBe(${status})`)
  })
})

test('a copied login hides its secrets, in the media type that was sent', async () => {
  const { url, mock } = await serve()
  const { clientId, clientSecret, ...user } = mock.clientOptions.subscriptions.credentials
  const fields = { grant_type: 'password', client_id: clientId, client_secret: clientSecret, ...user }
  await send(url, login({}, FORM, new URLSearchParams(fields).toString()))
  const copies = await readCopies(url, mock)
  for (const copy of copies) {
    expect(copy).toContain(`grant_type=password&client_id=${clientId}&client_secret=%5Bredacted%5D`)
    expect(copy).not.toContain(clientSecret)
    expect(copy).not.toContain(user.password)
  }
})

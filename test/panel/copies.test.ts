import { execFile } from 'node:child_process'
import { request as httpRequest } from 'node:http'
import { promisify } from 'node:util'
import { createMock, type Mock, type MockOptions } from 'mandatekit/mocks/core'
import { describe, expect, test } from 'vitest'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
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

const confirmation = (otp: string): Sent => ({
  ...charge(JSON_TYPE, JSON.stringify({ otp })),
  path: '/api/v1/mfs/confirm/conf_none',
})

const NUMBER = JSON.stringify({ ...CHARGE, currency: 'BDT', msisdn: '+8801700000000' })
const UNLISTED = charge({ ...JSON_TYPE, 'idempotency-key': 'key' }, NUMBER)
const ORDER = { ...login({}, { ...JSON_TYPE, authorization: 'Bearer hush' }), path: '/api/v1.0/subscribe' }
const TIME = '2027-01-01T06:00:00Z'

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
  'a correct code for no charge': confirmation('123456'),
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
const readCopies = async (url: string, mock: Mock, number = mock.requests.all().length) => {
  const page = await (await fetch(`${url}/_mock/requests/${number}`)).text()
  const [, actions = ''] = page.split('class="actions"')
  return [...actions.matchAll(/data-copy="([^"]*)"/g)].map(([, text = '']) =>
    text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? ''),
  )
}

/** Runs a copied command, with a time limit. */
const runCurl = (curl: string) => run('bash', ['-ec', curl.replaceAll('curl -i', 'curl -is --max-time 20')])

const decisionOf = (mock: Mock) => {
  const { method, path, status, decision, body, headers = {} } = mock.requests.all().at(-1) ?? {}
  const { 'content-type': type, 'idempotency-key': key } = headers
  return { method, path, status, decision, body, type, key }
}

const serve = () => startServer({ mock: createMock({ clock: TIME }) })

describe('a copied request is decided as the original', () => {
  test.skipIf(without('curl')).each(Object.entries(REQUESTS))('by curl: %s', async (_, request) => {
    const { url, mock } = await serve()
    await send(url, request)
    const original = decisionOf(mock)
    const [curl = ''] = await readCopies(url, mock)
    mock.reset()
    await runCurl(curl)
    expect(decisionOf(mock), curl).toEqual(original)
  })

  test.each(Object.entries(REQUESTS))('by a test: %s', async (_, request) => {
    const { url, mock } = await serve()
    const status = await send(url, request)
    const [, code = ''] = await readCopies(url, mock)
    await runTest(code)
    expect(code).toContain(`.toBe(${status})`)
  })
})

/** Runs a copied test. */
const runTest = async (code: string): Promise<void> => {
  const body = code.replace(/^import .*$/gm, '').replace(/^test\(/m, 'return test(')
  const test = (_: string, act: () => unknown) => act()
  await new Function('createMock', 'expect', 'test', body)(createMock, expect, test)
}

describe('with the public credentials, a copy of a client needs no change', () => {
  const openBoth = async (rules: 'spec' | 'strict') => {
    const { url, mock } = await startServer({ mock: createMock({ rules, clock: TIME }) })
    const client = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, baseUrl: url })
    const gateway = new GatewayClient({ ...mock.clientOptions.gateway, baseUrl: url })
    const order = { start: '2027-01-02', end: '2027-06-01', cycle: 'WEEKLY' as const, amount: '25.00' }
    const request = { ...order, requestID: 'order-1', userReturnURL: 'https://shop.example/' }
    const { invoiceID } = await client.subscribe(request)
    const charge = await gateway.charge({ ...CHARGE, currency: 'BDT' })
    return { url, mock, client, invoiceID, request, gateway, charge }
  }

  test.each(['spec', 'strict'] as const)('a test under rules %s', async (rules) => {
    const { url, mock } = await openBoth(rules)
    expect(mock.requests.all().map(({ operation, status }) => [operation, status])).toEqual([
      ['subscriptions.login', 200],
      ['subscriptions.subscribe', 200],
      ['gateway.charge', 202],
    ])
    for (const { number } of mock.requests.all()) {
      const [, code = ''] = await readCopies(url, mock, number)
      await runTest(code)
      expect(code.includes('strict')).toBe(rules === 'strict')
    }
  })

  test.skipIf(without('curl'))('a command', async () => {
    const { url, mock, client, invoiceID } = await openBoth('spec')
    await client.status(invoiceID)
    for (const { number, operation } of mock.requests.all()) {
      const [curl = ''] = await readCopies(url, mock, number)
      const { stdout } = await runCurl(curl)
      expect(stdout, curl).toMatch(/^HTTP\/1.1 20[02] /)
      expect(mock.requests.all().at(-1)?.operation).toBe(operation)
    }
  })

  test('there is no test of a response that depends on what happened before', async () => {
    const { url, mock, client, invoiceID, request, gateway, charge } = await openBoth('strict')
    const reuse = (amount: number) =>
      gateway.charge({ ...CHARGE, currency: 'BDT', amount }, { idempotencyKey: charge.id })
    const calls = [
      () => client.status(invoiceID),
      () => gateway.status(charge.id),
      () => gateway.renew(charge.id, { idempotencyKey: 'early' }),
      () => client.subscribe(request),
      () => reuse(1),
      () => reuse(2),
    ]
    for (const call of calls) await call().catch(() => undefined)
    for (const { number, status } of mock.requests.all().slice(3)) {
      const copies = await readCopies(url, mock, number)
      for (const code of copies.slice(1)) await runTest(code)
      if (status !== 202) expect(copies).toHaveLength(1)
    }
    await expect(gateway.status('ch_none')).rejects.toMatchObject({ status: 404 })
    const [, missing = ''] = await readCopies(url, mock)
    await runTest(missing)
  })
})

test.each<[options: MockOptions, request: Sent, missing?: string]>([
  [{ subscriptions: { validationStatus: 400, tokens: [{ accessToken: 'hush' }] } }, ORDER],
  [{ gateway: { unlistedNumbers: 'refuse' } }, UNLISTED],
  [{ gateway: { unlistedNumbers: 'refuse', testNumbers: { '8801700000000': 'succeeds' } } }, UNLISTED],
  [{ rules: 'strict', gateway: { unlistedNumbers: 'accept' } }, UNLISTED],
  [{ gateway: { apiPrefix: '/v2', otp: 'hush' } }, { ...UNLISTED, path: '/v2/mfs/charges' }],
  [{ gateway: { otp: 'hush' } }, confirmation('hush'), 'gateway.otp'],
  [{ gateway: { apiKeys: ['hush'] } }, UNLISTED, 'gateway.apiKeys'],
  [{ subscriptions: { amountPattern: /hush/ } }, login(credentials), 'subscriptions.amountPattern'],
])(
  'a copied test has the options of its mock, or the page names one that it does not show: %j',
  async (options, request, missing) => {
    const { url, mock } = await startServer({ mock: createMock({ ...options, clock: TIME }) })
    const status = await send(url, request)
    const [, code = `.toBe(${status})`] = await readCopies(url, mock)
    const page = await (await fetch(`${url}/_mock/requests/1`)).text()
    expect(code).toContain(`.toBe(${status})`)
    if (missing === undefined) await runTest(code)
    else expect(page).toContain(`on the option ${missing}, whose value the page does not show.`)
    expect(page).not.toContain('hush')
  },
)

test('a copied login hides its secrets, in the media type that was sent', async () => {
  const own = {
    name: 'Shop',
    clientId: 'shop',
    clientSecret: 'own-secret',
    users: [{ username: 'user', password: 'own-password' }],
  }
  const { url, mock } = await startServer({ mock: createMock({ subscriptions: { merchants: [own] } }) })
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

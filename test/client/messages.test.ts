import { describe, expect, it } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { GatewayClient, toInstant } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { type Call, calls, failureOf, once, openClients } from '../support/open-clients.ts'
import { type Script, startServer } from '../support/scripted-server.ts'
import { closedPort } from '../support/serve.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const NOWHERE = 'http://127.0.0.1:1'

// What a message must contain, not its wording.

const messageOf = async (script: Script, call: Call, options: object = once): Promise<string> =>
  (await failureOf(script, call, options)).message

const notFound = { status: 404, body: { error: { code: 'not_found', message: 'No such charge.' } } }
const CHARGE_OF_KEY = /idempotencyKey/
const BASE_URL = /base ?URL/i

describe('a message begins with the operation and names the request', () => {
  it.each<[string, Script]>([
    ['of a refusal', notFound],
    ['of a lost connection', { fault: 'close' }],
    ['of a response that is not JSON', { body: '<h1>Hello</h1>' }],
    ['of a redirect', { status: 302 }],
  ])('%s', async (_, script) => {
    const place = /^gateway\.status failed: .*GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\/mfs\/charges\/:id/
    expect(await messageOf(script, calls.status)).toMatch(place)
  })

  it('with a mark in place of a base path', async () => {
    const mock = createMock()
    const { baseUrl, ...rest } = mock.clientOptions.gateway
    const client = new GatewayClient({ ...rest, baseUrl: `${baseUrl}/secret/api/v1`, fetch: mock.fetch })
    const { message } = await errorOf(client.charge(CHARGE_REQUEST))
    expect(message).toContain('POST https://gateway.mandatekit.test/…/api/v1/mfs/charges. Check baseUrl')
    expect(message).not.toContain('secret')
  })

  it('names baseUrl if its path is in the address twice, or else the record is unknown', async () => {
    const mock = createMock()
    const { baseUrl, ...options } = mock.clientOptions.gateway
    const read = (path: string) =>
      errorOf(new GatewayClient({ ...options, baseUrl: baseUrl + path, fetch: mock.fetch }).status('ch_1'))
    for (const path of ['/api', '/api/v1']) expect((await read(path)).message).toContain('Check baseUrl')
    expect((await read('')).message).not.toContain('Check baseUrl')
  })

  it('with the status, the code and the text of a refusal', async () => {
    const body = { errorCode: '01', errorMessage: 'start must not be in the past.' }
    const message = await messageOf({ status: 422, body }, calls.subscribe)
    expect(message).toMatch(/^subscriptions\.subscribe failed: .*422.*"?01"?.*start must not be in the past/)
    expect(message).not.toContain('.".')
  })
})

describe('a message about input', () => {
  const subscribe = (fields: object) => subscriptionsClient(NOWHERE).subscribe({ ...SUBSCRIPTION, ...fields })

  it.each<[string, () => unknown]>([
    ['a base URL without a scheme', () => gatewayClient('shop.example')],
    ['an end before the start', () => subscribe({ start: '2027-01-02', end: '2027-01-01' })],
    ['an end that is too far away', () => subscribe({ start: '2027-01-02', end: '2037-01-01' })],
    ['an unknown time zone', () => toInstant('2027-01-01', 'Dhaka')],
  ])('does not name the type of %s, because the type is right', async (_, call) => {
    const { message } = await errorOf(Promise.resolve().then(call))
    expect(message).toMatch(/ must be /)
    expect(message).not.toContain('received')
  })

  it('names the fields that a missing object must have', async () => {
    const missing = JSON.parse('{}').missing
    const construct = await errorOf(Promise.resolve().then(() => new GatewayClient(missing)))
    expect(construct.message).toBe('GatewayClient: Missing options: pass an object with baseUrl, apiKey.')
    const renew = await errorOf(gatewayClient(NOWHERE).renew('ch_1', missing))
    expect(renew.message).toBe('gateway.renew: Missing request: pass an object with dueDate.')
  })
})

describe('a message tells what to do:', () => {
  const lost = { status: 401, body: { errorCode: '401', errorMessage: 'Bad credentials' } }
  const busy = { status: 429, headers: { 'retry-after': '7' } }
  const silent = { fault: 'silent' } as const
  it.each<[string, Script, Call, words: RegExp, options?: object]>([
    ['a charge after a lost connection', { fault: 'close' }, calls.charge, CHARGE_OF_KEY],
    ['a charge after a 503', { status: 503 }, calls.charge, CHARGE_OF_KEY],
    ['a charge after JSON that is cut off', { body: '{"id":"ch' }, calls.charge, CHARGE_OF_KEY],
    ['a timeout', silent, calls.charge, /30 ms.*timeout.*idempotencyKey/, { timeout: 30 }],
    ['a total time', silent, calls.charge, /30 ms.*totalTimeout.*idempotencyKey/, { totalTimeout: 30 }],
    ['a 429', busy, calls.charge, /^gateway\.charge failed: .*429.*\b7 s/],
    ['a rejected API key', { status: 401 }, calls.status, /API key.*401/i],
    ['a rejected token', { status: 401 }, calls.details, /token.*401/i],
    ['a 404 of another server', { status: 404, body: 'Cannot GET /' }, calls.status, BASE_URL],
    ['a 404 on a charge', notFound, calls.charge, BASE_URL],
  ])('%s', async (_, script, call, words, options) => {
    expect(await messageOf(script, call, { ...once, ...options })).toMatch(words)
  })

  it.each<[string, Script, 'login' | 'status', words: RegExp]>([
    ['a rejected login', lost, 'login', /^subscriptions\.login failed: .*credentials.*401.*login\(\)/],
    ['its call', lost, 'status', /^subscriptions\.status failed: .*not sent.*credentials.*login\(\)/],
    ['a locked account', { status: 403, body: { errorCode: '403' } }, 'login', /locked.*403/],
    ['a failed login', { status: 500 }, 'status', /^subscriptions\.status .*not sent.*500.*\/oauth\/token/],
  ])('%s', async (_, script, call, words) => {
    const client = subscriptionsClient((await startServer([script])).url, once)
    const work = call === 'login' ? client.login() : client.status('inv-1')
    expect((await errorOf(work)).message).toMatch(words)
  })

  it('a connection that was refused needs no key', async () => {
    const { message } = await errorOf(gatewayClient(await closedPort(), once).charge(CHARGE_REQUEST))
    expect(message).toMatch(/ECONNREFUSED/)
    expect(message).not.toMatch(CHARGE_OF_KEY)
  })

  it('a charge that is unknown has nothing to do with the base URL, unless the path is in it twice', async () => {
    expect(await messageOf(notFound, calls.status)).not.toMatch(BASE_URL)
    const { url } = await openClients({ status: 404 })
    const { message } = await errorOf(gatewayClient(`${url}/api/v1/`, once).status('ch_1'))
    expect(message).toMatch(/base ?URL.*\/api\/v1/i)
  })

  it('a login that was rejected before says when the next one is made', async () => {
    const { url } = await startServer([{ status: 403, body: { errorCode: '403' } }])
    const client = subscriptionsClient(url, { clock: skippingClock(), loginCooldown: 60_000 })
    await errorOf(client.details('sub-1'))
    const { message } = await errorOf(client.subscribe(SUBSCRIPTION))
    expect(message).toMatch(/^subscriptions\.subscribe failed: .*not sent.*locked.*60 s.*loginCooldown/)
  })
})

it.each<[code: string, url: string, words: RegExp]>([
  ['ENOTFOUND', 'https://g.example', /ENOTFOUND(?!.*mock\.fetch).*base ?URL/i],
  ['CERT_HAS_EXPIRED', 'https://g.example', /CERT_HAS_EXPIRED.*NODE_EXTRA_CA_CERTS/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'https://g.example', /ERR_SSL_WRONG_VERSION_NUMBER.*http/],
  ['ENOTFOUND', 'https://g.mandatekit.test', /mock\.fetch/],
])('the message of a connection that failed with %s to %s says what to check', async (code, url, words) => {
  const cause = Object.assign(new Error(code), { code })
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
  expect((await errorOf(gatewayClient(url, { ...once, fetch }).charge(CHARGE_REQUEST))).message).toMatch(
    words,
  )
  expect((await errorOf(subscriptionsClient(url, { ...once, fetch }).details('sub-1'))).message).toMatch(
    words,
  )
})

it('the message of a wait that its signal ends warns of a second subscription', async () => {
  const abort = new AbortController()
  const hooks = { onError: () => abort.abort() }
  const { subscriptions } = await openClients({ status: 503 }, { ...once, hooks })
  const error = await errorOf(subscriptions.waitForStatus('inv-1', { signal: abort.signal }))
  expect(error).toMatchObject({ code: 'aborted', outcome: 'unknown', retryable: true })
  expect(error.message).toMatch(/signal.*do not subscribe again/)
})

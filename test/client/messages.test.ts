import { describe, expect, it } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import type { FetchFunction, TimeoutError } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { clientsOf } from '../support/mock-clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { closedPort } from '../support/serve.ts'
import { skippingClock } from '../support/skipping-clock.ts'

// What a message must say, not how: its wording may change.

const once = { retry: false } as const

/** The message of a call at a server that responds so. */
const saidOf = async (script: Script, call: (url: string) => Promise<unknown>): Promise<string> =>
  (await errorOf(call((await startServer(withLogin([script]))).url))).message

/** The message of a call whose login is responded to so. */
const saidOfLogin = async (script: Script, call: 'login' | 'details' = 'details'): Promise<string> => {
  const client = subscriptionsClient((await startServer([script])).url, once)
  return (await errorOf(call === 'login' ? client.login() : client.details('sub-1'))).message
}

const failing =
  (code: string): FetchFunction =>
  () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) }))

const charge = (url: string) => gatewayClient(url, once).charge(CHARGE_REQUEST)
const read = (url: string) => gatewayClient(url, once).status('ch_1')

describe('a message begins with the operation and names the request', () => {
  it.each<[string, Script]>([
    ['that was refused', { status: 404, body: { error: { code: 'no', message: 'No.' } } }],
    ['that failed', { fault: 'close' }],
    ['whose response is not JSON', { body: '<h1>Hello</h1>' }],
    ['whose response is a redirect', { status: 302 }],
  ])('%s', async (_, script) => {
    const message = await saidOf(script, read)
    expect(message).toMatch(/^gateway\.status failed: /)
    expect(message).toMatch(/GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\/mfs\/charges\/:id/)
  })

  it('without an identifier, or what stands before the path of the API', async () => {
    const fetch = failing('ECONNREFUSED')
    const client = gatewayClient('https://g.example/tenant-77', { ...once, fetch })
    const { message } = await errorOf(client.renew('ch_secret', { dueDate: '2026-12-01' }))
    expect(message).toMatch(/POST https:\/\/g\.example\/.*\/charges\/:id\/renew/)
    expect(message).not.toMatch(/tenant-77|ch_secret/)
  })

  it('with the status and the code of a refusal, and its words', async () => {
    const body = { errorCode: '01', errorMessage: 'start must not be in the past.' }
    const message = await saidOf({ status: 422, body }, (url) =>
      subscriptionsClient(url).subscribe(SUBSCRIPTION),
    )
    expect(message).toMatch(/^subscriptions\.subscribe failed: .*422.*"?01"?.*start must not be in the past/)
  })
})

describe('the message of a charge of unknown outcome names the idempotencyKey', () => {
  it.each<[string, Script]>([
    ['after a lost connection', { fault: 'close' }],
    ['after a 503', { status: 503 }],
    ['after JSON that was cut off', { body: '{"id":"ch' }],
  ])('%s', async (_, script) => {
    expect(await saidOf(script, charge)).toMatch(/idempotencyKey/)
  })

  it('after a timeout, with the option and its length', async () => {
    const { url } = await startServer([{ fault: 'silent' }])
    const { message } = await errorOf(gatewayClient(url, once).charge(CHARGE_REQUEST, { timeout: 30 }))
    expect(message).toMatch(/30 ms.*timeout.*idempotencyKey/)
    const total = await errorOf(gatewayClient(url, once).charge(CHARGE_REQUEST, { totalTimeout: 30 }))
    expect(total.message).toMatch(/30 ms.*totalTimeout.*idempotencyKey/)
  })

  it('and of a connection that was never made does not', async () => {
    const { message } = await errorOf(charge(await closedPort()))
    expect(message).toMatch(/ECONNREFUSED/)
    expect(message).not.toMatch(/idempotencyKey/)
  })
})

describe('the message of a connection says what to check', () => {
  it.each<[code: string, words: RegExp]>([
    ['ENOTFOUND', /ENOTFOUND.*base ?URL/i],
    ['CERT_HAS_EXPIRED', /CERT_HAS_EXPIRED.*NODE_EXTRA_CA_CERTS/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', /ERR_SSL_WRONG_VERSION_NUMBER.*http/],
  ])('on %s', async (code, words) => {
    const client = gatewayClient('https://g.example', { ...once, fetch: failing(code) })
    expect((await errorOf(client.reset())).message).toMatch(words)
  })

  it('when it goes to the host of a mock: mock.fetch', async () => {
    const mock = createMock()
    const lost = clientsOf(mock, { ...once, fetch: failing('ENOTFOUND') })
    expect((await errorOf(lost.gateway.charge(CHARGE_REQUEST))).message).toMatch(/mock\.fetch/)
    expect((await errorOf(lost.subscriptions.details('sub-1'))).message).toMatch(/mock\.fetch/)
    const refused = clientsOf(mock, { ...once, fetch: failing('ECONNREFUSED') })
    expect((await errorOf(refused.gateway.reference())).message).not.toMatch(/mock\.fetch/)
    const other = gatewayClient('https://gateway.example', { ...once, fetch: failing('ENOTFOUND') })
    expect((await errorOf(other.reference())).message).not.toMatch(/mock\.fetch/)
  })
})

describe('the message of a 404 names the base URL', () => {
  it('when the response is not that of the API', async () => {
    expect(await saidOf({ status: 404, body: 'Cannot GET /' }, read)).toMatch(/base ?URL/i)
    const known = { status: 404, body: { error: { code: 'not_found', message: 'No such charge.' } } }
    expect(await saidOf(known, read)).not.toMatch(/base ?URL/i)
    expect(await saidOf(known, charge)).toMatch(/base ?URL/i)
  })

  it('that ends in what the client adds', async () => {
    expect(await saidOf({ status: 404 }, (url) => read(`${url}/api/v1/`))).toMatch(/base ?URL.*\/api\/v1/i)
  })
})

it('the message of a 429 says in how many seconds to call again', async () => {
  const message = await saidOf({ status: 429, headers: { 'retry-after': '7' } }, charge)
  expect(message).toMatch(/^gateway\.charge failed: .*429.*\b7 s/)
})

describe('the message of a 401', () => {
  it('names the credential that was not accepted', async () => {
    expect(await saidOf({ status: 401 }, read)).toMatch(/API key.*401/i)
    expect(await saidOf({ status: 401 }, (url) => subscriptionsClient(url).details('sub-1'))).toMatch(
      /token.*401/i,
    )
  })
})

describe('the message of a login', () => {
  it('that was refused names the credentials and login()', async () => {
    const script = { status: 401, body: { errorCode: '401', errorMessage: 'Bad credentials' } }
    expect(await saidOfLogin(script, 'login')).toMatch(
      /^subscriptions\.login failed: .*credentials.*401.*login\(\)/,
    )
    expect(await saidOfLogin(script)).toMatch(
      /^subscriptions\.details failed: .*not sent.*credentials.*login\(\)/,
    )
  })

  it('of a locked account says that it is locked', async () => {
    expect(await saidOfLogin({ status: 403, body: { errorCode: '403' } }, 'login')).toMatch(/locked.*403/)
  })

  it('that was refused before says in how many seconds the next one is made', async () => {
    const { url } = await startServer([{ status: 403, body: { errorCode: '403' } }])
    const client = subscriptionsClient(url, { clock: skippingClock(), loginCooldown: 60_000 })
    await errorOf(client.details('sub-1'))
    const { message } = await errorOf(client.subscribe(SUBSCRIPTION))
    expect(message).toMatch(/^subscriptions\.subscribe failed: .*not sent.*locked.*60 s.*loginCooldown/)
  })

  it('that failed names the status, and the call that was not sent', async () => {
    expect(await saidOfLogin({ status: 500 })).toMatch(
      /^subscriptions\.details failed: .*not sent.*500.*\/oauth\/token/,
    )
  })
})

describe('the message of a wait that ended early', () => {
  it('says after how many seconds, and warns of a second charge', async () => {
    const { url } = await startServer([{ body: { status: 'pending_retry' } }])
    const client = gatewayClient(url, { clock: skippingClock() })
    const error = await errorOf<TimeoutError>(client.waitForCharge('ch_1', { timeout: 60_000 }))
    expect(error).toMatchObject({ outcome: 'unknown', retryable: true })
    expect(error.cause).toBeUndefined()
    expect(error.message).toMatch(/^gateway\.status: .*60 s.*lastState.*do not charge again/)
  })

  it('by its signal warns of a second subscription', async () => {
    const abort = new AbortController()
    const { url } = await startServer(withLogin([{ status: 503 }]))
    const hooks = { onError: () => abort.abort() }
    const client = subscriptionsClient(url, { ...once, clock: skippingClock(), hooks })
    const error = await errorOf(client.waitForStatus('inv-1', { signal: abort.signal }))
    expect(error).toMatchObject({ code: 'aborted', outcome: 'unknown', retryable: true })
    expect(error.message).toMatch(/signal.*do not subscribe again/)
  })

  it('keeps the last failure as its cause when nothing could be read', async () => {
    const client = gatewayClient(await closedPort(), { ...once, clock: skippingClock() })
    const error = await errorOf<TimeoutError>(client.waitForCharge('ch_1', { timeout: 60_000 }))
    expect(error).toMatchObject({ lastState: undefined, cause: { code: 'connection_failed' } })
  })
})

it('a function that gives credentials or a key and fails is named, and its words are not', async () => {
  const broken = () => Promise.reject(Object.assign(new Error('hunter2'), { code: 'ECONNREFUSED' }))
  const calls = {
    credentials: subscriptionsClient('http://s.example', { credentials: broken }).details('sub-1'),
    apiKey: gatewayClient('http://g.example', { apiKey: broken }).reset(),
  }
  for (const [option, call] of Object.entries(calls)) {
    const { message } = await errorOf(call)
    expect(message).toMatch(new RegExp(`${option}.*ECONNREFUSED`))
    expect(message).not.toContain('hunter2')
  }
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import type { TimeoutError } from '../../src/index.ts'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import {
  CHARGE_REQUEST,
  errorOf,
  gatewayClient,
  SUBSCRIPTION,
  skippingClock,
  subscriptionsClient,
  withLogin,
} from './clients.ts'
import type { Script } from './scripted-server.ts'
import { closedPort, startServer } from './scripted-server.ts'

const once = { retry: false } as const
const LATER =
  'Later calls fail without a request until the credentials change, login() is called or the cool-down (loginCooldown) has passed.'
const SAME_KEY =
  'The server may have acted. Call again with the same idempotencyKey (error.idempotencyKey): the answer is then the original charge, never a second one.'

/** The message of a call at a server that answers so; the server's address reads HOST in it. */
const said = async (script: Script, call: (url: string) => Promise<unknown>): Promise<string> => {
  const { url } = await startServer(withLogin([script]))
  return (await errorOf(call(url))).message.replaceAll(url, 'HOST')
}

/** The message of a call whose login is answered so. */
const saidOfLogin = async (script: Script, call: 'login' | 'details'): Promise<string> => {
  const { url } = await startServer([script])
  const client = subscriptionsClient(url, once)
  const error = await errorOf(call === 'login' ? client.login() : client.details('sub-1'))
  return error.message.replaceAll(url, 'HOST')
}

const failing = (code: string) => () =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) }))

describe('the message of a connection that failed names the request and the platform’s code', () => {
  it('when nobody listens there', async () => {
    const url = await closedPort()
    const error = await errorOf(gatewayClient(url, once).status('ch_1'))
    expect(error.message).toBe(
      `gateway.status: GET ${url}/api/v1/mfs/charges/:id got no connection (ECONNREFUSED). Calling again is safe.`,
    )
  })

  it('when it closed without an answer, and says what to do about a charge', async () => {
    expect(await said({ fault: 'close' }, (url) => gatewayClient(url, once).charge(CHARGE_REQUEST))).toBe(
      `gateway.charge: POST HOST/api/v1/mfs/charges failed (UND_ERR_SOCKET). ${SAME_KEY}`,
    )
  })

  it('when the server does not speak TLS', async () => {
    const words = await said({}, (url) => gatewayClient(url.replace('http:', 'https:'), once).status('ch_1'))
    expect(words).toContain('(ERR_SSL_WRONG_VERSION_NUMBER); is it http, not https? Reading again is safe.')
  })

  it('when its host does not exist, and doubts the base URL', async () => {
    const fetch = failing('ENOTFOUND')
    const error = await errorOf(gatewayClient('http://g.example', { ...once, fetch }).reset())
    expect(error.message).toBe(
      'gateway.reset: POST http://g.example/api/v1/reset got no connection (ENOTFOUND); is the base URL right? Calling again is safe.',
    )
  })

  it('when its certificate is refused, and says what to do', async () => {
    const fetch = failing('CERT_HAS_EXPIRED')
    const error = await errorOf(gatewayClient('https://g.example', { fetch }).charge(CHARGE_REQUEST))
    expect(error.message).toBe(
      "gateway.charge: POST https://g.example/api/v1/mfs/charges got no connection: the server's certificate is not accepted (CERT_HAS_EXPIRED); check the base URL and the machine's date, or trust its issuer (Node: NODE_EXTRA_CA_CERTS). Nothing was sent.",
    )
  })

  it('when the platform gives no code', async () => {
    const fetch = () => Promise.reject(new TypeError('Failed to fetch'))
    const error = await errorOf(gatewayClient('http://g.example', { ...once, fetch }).reference())
    expect(error.message).toBe(
      'gateway.reference: GET http://g.example/api/v1/reference failed, and the platform does not say why. Reading again is safe.',
    )
  })

  it.each(['ENOTFOUND', 'EAI_AGAIN'])('and what a mock’s address needs, on %s', async (code) => {
    const { gateway, subscriptions } = createMock().clientOptions
    const options = { ...once, fetch: failing(code) }
    const hint = 'This is the address of a mock: give the client fetch: mock.fetch, or set MSW up.'
    const charge = new GatewayClient({ ...gateway, ...options }).charge(CHARGE_REQUEST)
    expect((await errorOf(charge)).message).toBe(
      `gateway.charge: POST https://gateway.mandatekit.test/api/v1/mfs/charges got no connection (${code}). ${hint}`,
    )
    const details = new SubscriptionsClient({ ...subscriptions, ...options }).details('sub-1')
    expect((await errorOf(details)).message).toBe(
      `subscriptions.details: not sent, since there is no token: POST https://subscriptions.mandatekit.test/oauth/token got no connection (${code}). ${hint}`,
    )
  })

  it('but says nothing of a mock for another host or another failure', async () => {
    const other = gatewayClient('https://gateway.example', { ...once, fetch: failing('ENOTFOUND') })
    expect((await errorOf(other.reference())).message).not.toContain('mock')
    const { gateway } = createMock().clientOptions
    const refused = new GatewayClient({ ...gateway, ...once, fetch: failing('ECONNREFUSED') })
    expect((await errorOf(refused.reference())).message).not.toContain('a mock')
    // Somebody answers there: what is to be said is what may have happened.
    const codes = ['ECONNRESET', 'ENOTFOUND']
    const fetch = () => failing(codes.shift() ?? '')()
    const lost = new GatewayClient({ ...gateway, clock: skippingClock(), retry: { limit: 1 }, fetch })
    expect((await errorOf(lost.charge(CHARGE_REQUEST))).message).toContain(`(ENOTFOUND). ${SAME_KEY}`)
  })
})

describe('the path in a message', () => {
  const gone = { ...once, fetch: failing('ECONNREFUSED') }

  it.each([
    ['as it is', '', undefined, '/api/v1/mfs/charges/:id'],
    ['behind a path of the base URL', '/tenant', undefined, '/…/api/v1/mfs/charges/:id'],
    ['with another version', '', '/api/v2', '/…/mfs/charges/:id'],
    ['with no version', '', '', '/mfs/charges/:id'],
  ])('is the template, %s', async (_, base, apiPrefix, path) => {
    const client = gatewayClient(`https://g.example:8443${base}`, { ...gone, apiPrefix })
    expect((await errorOf(client.status('ch_1'))).message).toContain(`GET https://g.example:8443${path} got`)
  })

  it('holds nothing of an identifier or of what stands in front, whatever that is', async () => {
    const segment = fc.stringMatching(/^[a-f0-9]{8,12}$/)
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 6 }), segment, async (front, id) => {
        const client = gatewayClient(`https://g.example/${front.join('/')}/`, gone)
        const { message } = await errorOf(client.renew(id, { cycle: '2026-12-01' }))
        for (const text of [...front, id]) expect(message).not.toContain(text)
        expect(message).toContain('POST https://g.example/…/api/v1/mfs/charges/:id/renew')
      }),
      { numRuns: 100 },
    )
  })
})

describe('the message of a time that ran out names the request and the option', () => {
  it('for one attempt and for the whole call', async () => {
    const { url } = await startServer([{ fault: 'silent' }])
    const client = gatewayClient(url, once)
    expect((await errorOf(client.status('ch_1', { timeout: 30 }))).message).toBe(
      `gateway.status: GET ${url}/api/v1/mfs/charges/:id got no complete answer within 30 ms (timeout). Reading again is safe.`,
    )
    expect((await errorOf(client.charge(CHARGE_REQUEST, { totalTimeout: 30 }))).message).toBe(
      `gateway.charge: POST ${url}/api/v1/mfs/charges took longer than 30 ms (totalTimeout). ${SAME_KEY}`,
    )
  })

  it('and says when it ran out in a wait', async () => {
    const { url } = await startServer([{ fault: 'silent' }])
    const error = await errorOf(subscriptionsClient(url).details('sub-1', { totalTimeout: 1500 }))
    expect(error.message).toBe(
      `subscriptions.details: POST ${url}/api/v1.0/subscription/:subscriptionId took longer than 1.5 s (totalTimeout) while waiting for a token. Calling again is safe.`,
    )
  })
})

describe('the message of a refusal', () => {
  it('of 404 names the request, and doubts the base URL when the answer is not the API’s', async () => {
    const read = (url: string) => gatewayClient(`${url}/prefix`, once).status('ch_1')
    const known = { status: 404, body: { error: { code: 'not_found', message: 'No such charge.' } } }
    expect(await said(known, read)).toBe(
      'gateway.status: GET HOST/…/api/v1/mfs/charges/:id answered HTTP 404, code "not_found" ("No such charge.").',
    )
    expect(await said({ status: 404, body: 'Cannot GET /' }, read)).toBe(
      'gateway.status: GET HOST/…/api/v1/mfs/charges/:id answered HTTP 404; is the base URL right?',
    )
  })

  it('of 404 where nothing but the path can be missing doubts the base URL whatever the code', async () => {
    const known = { status: 404, body: { errorCode: '02', error: { code: 'not_found', message: 'No.' } } }
    const doubt = /\("No\."\); is the base URL right\?/
    expect(await said(known, (url) => gatewayClient(url, once).charge(CHARGE_REQUEST))).toMatch(doubt)
    expect(await said(known, (url) => gatewayClient(url, once).reference())).toMatch(doubt)
    expect(
      await said(known, (url) => gatewayClient(url, once).renew('ch_1', { cycle: '2026-12-01' })),
    ).not.toMatch(/base URL/)
    for (const status of [404, 405])
      expect(await saidOfLogin({ status, body: { errorCode: '02' } }, 'login')).toContain(
        'is the base URL right?',
      )
  })

  it('of 404 says that the base URL ends in what the client adds', async () => {
    const known = { status: 404, body: { error: { code: 'not_found', message: 'No such charge.' } } }
    const hint = (prefix: string) => `; the base URL already ends in ${prefix}, which the client adds.`
    expect(await said(known, (url) => gatewayClient(`${url}/api/v1/`, once).status('ch_1'))).toContain(
      hint('/api/v1'),
    )
    const { url } = await startServer([{ status: 404 }])
    expect((await errorOf(subscriptionsClient(`${url}/api/v1.0`, once).details('sub-1'))).message).toContain(
      hint('/api/v1.0'),
    )
    const own = { ...once, apiPrefix: '/v2' }
    expect(await said(known, (url) => gatewayClient(`${url}/v2`, own).status('ch_1'))).toContain(hint('/v2'))
    expect(await said(known, (url) => gatewayClient(`${url}/api/v1`, own).status('ch_1'))).not.toContain(
      'ends in',
    )
  })

  it('of 429 says when to call again', async () => {
    const charge = (url: string) => gatewayClient(url, once).charge(CHARGE_REQUEST)
    expect(await said({ status: 429, headers: { 'retry-after': '7' } }, charge)).toBe(
      'gateway.charge: HTTP 429. The server did not act: call again in 7 s.',
    )
    expect(await said({ status: 429 }, charge)).toContain('did not act: call again later.')
    const read = (url: string) => gatewayClient(url, once).status('ch_1')
    expect(await said({ status: 429 }, read)).toBe('gateway.status: HTTP 429. Call again later.')
  })

  it('of an input that the server refuses says that it did not act, where it could have', async () => {
    const body = { errorCode: '01', errorMessage: 'start must not be in the past.' }
    const words = 'HTTP 422, code "01" ("start must not be in the past.").'
    const refused = { status: 422, body }
    expect(await said(refused, (url) => subscriptionsClient(url).subscribe(SUBSCRIPTION))).toBe(
      `subscriptions.subscribe: ${words} The server did not act.`,
    )
    expect(await said(refused, (url) => subscriptionsClient(url).details('sub-1'))).toBe(
      `subscriptions.details: ${words}`,
    )
  })

  it('of 401 says which credential was not accepted', async () => {
    const body = { error: { code: 'unauthorized', message: 'No.' } }
    expect(await said({ status: 401, body }, (url) => gatewayClient(url).status('ch_1'))).toBe(
      'gateway.status: the API key was not accepted (HTTP 401, code "unauthorized": "No.").',
    )
    expect(await said({ status: 401 }, (url) => subscriptionsClient(url).details('sub-1'))).toBe(
      'subscriptions.details: the token was not accepted, although the login was (HTTP 401).',
    )
  })
})

describe('the message of a login', () => {
  it('that is refused says so, and when later calls send a request again', async () => {
    const script = { status: 401, body: { errorCode: '401', errorMessage: 'Bad credentials' } }
    const words = `the credentials were not accepted (HTTP 401, code "401"). ${LATER}`
    expect(await saidOfLogin(script, 'login')).toBe(`subscriptions.login: ${words}`)
    expect(await saidOfLogin(script, 'details')).toBe(
      `subscriptions.details: not sent, since there is no token: ${words}`,
    )
  })

  it('of a locked account says that right credentials are refused as well', async () => {
    expect(await saidOfLogin({ status: 403 }, 'login')).toBe(
      `subscriptions.login: the account is locked, and valid credentials are refused as well until the server unlocks it (HTTP 403). ${LATER}`,
    )
  })

  it('that was refused before says when the next one is tried', async () => {
    for (const [status, words] of [
      [401, 'the last login was refused (HTTP 401)'],
      [403, 'the account was locked at the last login (HTTP 403)'],
    ] as const) {
      const { url } = await startServer([{ status }])
      const client = subscriptionsClient(url, { clock: skippingClock(), loginCooldown: 60_000 })
      await errorOf(client.details('sub-1'))
      expect((await errorOf(client.subscribe(SUBSCRIPTION))).message).toBe(
        `subscriptions.subscribe: not sent, since there is no token: ${words}. The next one is tried when the credentials change, when login() is called, or in 60 s (loginCooldown).`,
      )
    }
  })

  it('that nobody answered asks for a pause', async () => {
    expect(await saidOfLogin({ status: 500, body: '<h1>Oops</h1>' }, 'details')).toBe(
      'subscriptions.details: not sent, since there is no token: POST HOST/oauth/token answered HTTP 500. Call again after a pause: repeated failures lock the account.',
    )
  })
})

describe('the message of an answer that is not the contract names the request', () => {
  it('and doubts the base URL', async () => {
    const read = (url: string) => gatewayClient(url, once).status('ch_1')
    const place = 'gateway.status: the answer of GET HOST/api/v1/mfs/charges/:id'
    expect(await said({ body: '<h1>Hello</h1>' }, read)).toBe(
      `${place} (HTTP 200) is not JSON; is the base URL right?`,
    )
    expect(await said({ status: 302 }, read)).toBe(
      `${place} (HTTP 302) is a redirect, which is not followed; is the base URL right?`,
    )
  })

  it('but not when it was only cut off', async () => {
    const charge = (url: string) => gatewayClient(url, once).charge(CHARGE_REQUEST)
    expect(await said({ body: '{"id":"ch' }, charge)).toBe(
      `gateway.charge: the answer of POST HOST/api/v1/mfs/charges (HTTP 200) is JSON that was cut off. ${SAME_KEY}`,
    )
  })
})

describe('the message of a wait that ended early says what to do next, for a read cannot know it', () => {
  it('for a charge', async () => {
    const { url } = await startServer([{ body: { status: 'pending_retry' } }])
    const client = gatewayClient(url, { clock: skippingClock() })
    const error = await errorOf<TimeoutError>(client.waitForCharge('ch_1', { timeout: 60_000 }))
    expect(error).toMatchObject({ outcome: 'unknown', retryable: true })
    expect(error.cause).toBeUndefined()
    expect(error.message).toBe(
      'gateway.status: the awaited state did not come within 60 s; lastState is what was seen last. The charge may still change: wait again or read it later, and do not charge again meanwhile.',
    )
  })

  it('for a subscription request, also when its signal ended it', async () => {
    const abort = new AbortController()
    const { url } = await startServer(withLogin([{ status: 503 }]))
    const hooks = { onError: () => abort.abort() }
    const client = subscriptionsClient(url, { ...once, clock: skippingClock(), hooks })
    const error = await errorOf(client.waitForStatus('inv-1', { signal: abort.signal }))
    expect(error).toMatchObject({ code: 'aborted', outcome: 'unknown', retryable: true })
    expect(error.message).toBe(
      'subscriptions.status: the wait was ended by the given signal. The request may still change: wait again or read it later, and do not subscribe again meanwhile.',
    )
  })

  it('and keeps the last failure as its cause when nothing could be read', async () => {
    const client = gatewayClient(await closedPort(), { ...once, clock: skippingClock() })
    const error = await errorOf<TimeoutError>(client.waitForCharge('ch_1', { timeout: 60_000 }))
    expect(error.message).toContain('within 60 s; nothing could be read.')
    expect(error).toMatchObject({ lastState: undefined, cause: { code: 'connection_failed' } })
  })
})

it('a function that gives credentials or a key and fails is named, and its words are not', async () => {
  const broken = () => Promise.reject(Object.assign(new Error('hunter2'), { code: 'ECONNREFUSED' }))
  const client = subscriptionsClient('http://s.example', { credentials: broken })
  expect((await errorOf(client.details('sub-1'))).message).toBe(
    'subscriptions.details: the function given as credentials ended in a failure (Error, ECONNREFUSED). Nothing was sent: calling again is safe.',
  )
  const gateway = gatewayClient('http://g.example', { apiKey: broken })
  expect((await errorOf(gateway.reset())).message).toBe(
    'gateway.reset: the function given as apiKey ended in a failure (Error, ECONNREFUSED). Nothing was sent: calling again is safe.',
  )
})

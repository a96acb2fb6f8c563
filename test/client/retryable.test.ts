import { createServer } from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { CallOptions, MandateKitError } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { type Script, startServer, withLogin } from '../support/scripted-server.ts'
import { closedPort, open } from '../support/serve.ts'

/** How a call fails: by what the server does, or before the call reaches it. */
type Failure = Script | 'refused' | 'certificate' | 'aborted'
type Call = (clients: Clients, options: CallOptions) => Promise<unknown>

const clientsOf = (url: string, timeout = 30_000) => ({
  s: subscriptionsClient(url, { retry: false, timeout }),
  g: gatewayClient(url, { retry: false, timeout }),
})
type Clients = ReturnType<typeof clientsOf>

/** Calls by what a second execution would do. */
const CALLS = {
  read: [
    ({ s }, options) => s.details('sub-1', options),
    ({ g }, options) => g.status('ch_1', options),
    ({ g }, options) => g.reference(options),
  ],
  'charge or renewal with the caller’s key': [
    ({ g }, options) => g.charge(CHARGE_REQUEST, { ...options, idempotencyKey: 'order-77' }),
    ({ g }, options) => g.renew('ch_1', { dueDate: '2026-12-01' }, options),
  ],
  'charge whose key the client made': [({ g }, options) => g.charge(CHARGE_REQUEST, options)],
  'call without a key that acts': [
    ({ s }, options) => s.subscribe(SUBSCRIPTION, options),
    ({ s }, options) => s.cancel('sub-1', options),
    ({ g }, options) => g.confirm('conf_1', { otp: '123456' }, options),
    ({ g }, options) => g.reset(options),
  ],
  login: [({ s }, options) => s.login(options)],
} as const satisfies Record<string, readonly Call[]>
type Kind = keyof typeof CALLS

const GROUPS = Object.keys(CALLS) as Kind[]
const EVERY = GROUPS
/** What may be called again after a lost response, because it cannot act twice. */
const HARMLESS: readonly Kind[] = ['read', 'charge or renewal with the caller’s key', 'login']
const KEYED: readonly Kind[] = ['charge or renewal with the caller’s key']
/** A response to a login that is not the API's own says nothing about the credentials, so a later login may succeed. */
const LOGIN: readonly Kind[] = ['login']

const REFUSAL = { errorCode: '17', errorMessage: 'no', error: { code: 'no', message: 'no' } }

const half = { body: '{"id":"ch_1","status":"INIT' }

const ROWS: readonly (readonly [string, Failure, readonly Kind[]])[] = [
  ['the connection is refused', 'refused', EVERY],
  ['the server’s certificate is refused', 'certificate', []],
  ['the response is 429', { status: 429 }, EVERY],
  ['the response is 429 with a wait', { status: 429, headers: { 'retry-after': '7' } }, EVERY],
  ...[408, 500, 502, 503, 504, 520, 530].map(
    (status) => [`the response is ${status}`, { status }, HARMLESS] as const,
  ),
  ['the response is 502 with a page', { status: 502, body: '<h1>Bad Gateway</h1>' }, HARMLESS],
  ['no response comes in time', { fault: 'silent' }, HARMLESS],
  ['the caller aborts it on the way', 'aborted', HARMLESS],
  ['the connection closes without a response', { fault: 'close' }, HARMLESS],
  ['the connection breaks in the response', { ...half, fault: 'cut' }, HARMLESS],
  ['the response is JSON without an end', half, HARMLESS],
  ['the response is a page', { body: '<h1>Hello</h1>' }, LOGIN],
  ['the response is a redirect', { status: 302, headers: { location: '/login' } }, LOGIN],
  ...[409, 425].map((status) => [`the response is ${status}`, { status }, [...KEYED, ...LOGIN]] as const),
  ...[400, 403, 404, 422, 501].map((status) => [`the response is ${status}`, { status }, LOGIN] as const),
  ['the response is 401', { status: 401 }, []],
  ['the response is an error of the API', { status: 400, body: REFUSAL }, []],
]

/** The address of a server with a self-signed certificate. */
const selfSigned = async () => `https://127.0.0.1:${await open(createServer(localhostCertificate))}`

/** The error of a call that fails so. With `atLogin`, the login of the call fails. */
const fail = async (call: Call, failure: Failure, atLogin = false): Promise<MandateKitError> => {
  if (failure === 'refused') return errorOf(call(clientsOf(await closedPort()), {}))
  if (failure === 'certificate') return errorOf(call(clientsOf(await selfSigned()), {}))
  const abort = new AbortController()
  const script = (): Script => {
    if (failure !== 'aborted') return failure
    abort.abort()
    return { fault: 'silent' }
  }
  const isLogin = call === CALLS.login[0]
  const { url } = await startServer(atLogin || isLogin ? script : withLogin(script))
  if (failure === 'aborted' || failure.fault !== 'silent') {
    return errorOf(call(clientsOf(url), { signal: abort.signal }))
  }
  if (atLogin || isLogin) return errorOf(call(clientsOf(url, 100), {}))
  // A login in advance has time enough on a busy machine.
  const clients = clientsOf(url)
  await clients.s.login()
  return errorOf(call(clients, { timeout: 100 }))
}

describe.each(ROWS)('when %s, retryable is', (_, failure, retryable) => {
  it.each(GROUPS)('right for a %s', async (kind) => {
    const errors = await Promise.all(CALLS[kind].map((call: Call) => fail(call, failure)))
    for (const error of errors) expect(error.retryable, error.message).toBe(retryable.includes(kind))
  })

  it('the same for a login as for its call, which was not sent', async () => {
    const error = await fail(CALLS['call without a key that acts'][0], failure, true)
    expect(error).toMatchObject({ operation: 'subscriptions.subscribe', phase: 'login', outcome: 'not-sent' })
    expect(error.retryable).toBe(retryable.includes('login'))
  })
})

describe('retryable is', () => {
  it('false after a refused login, and true after a login that the server delays', async () => {
    const refused = clientsOf((await startServer([{ status: 401, body: { errorCode: '17' } }])).url).s
    await errorOf(refused.details('sub-1'))
    expect(await errorOf(refused.details('sub-1'))).toMatchObject({ attempts: 0, retryable: false })
    const { url } = await startServer([{ status: 429, headers: { 'retry-after': '600' } }])
    const delayed = clientsOf(url).s
    await errorOf(delayed.details('sub-1'))
    expect(await errorOf(delayed.details('sub-1'))).toMatchObject({ code: 'rate_limited', retryable: true })
  })

  it('false for a charge of unknown outcome, and true when the call has the key of that error', async () => {
    const { url, requests } = await startServer([{ status: 503 }])
    const lost = await errorOf(clientsOf(url).g.charge(CHARGE_REQUEST))
    expect(lost).toMatchObject({ outcome: 'unknown', retryable: false })
    const { idempotencyKey } = lost
    expect(await errorOf(clientsOf(url).g.charge(CHARGE_REQUEST, { idempotencyKey }))).toMatchObject({
      retryable: true,
    })
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })
})

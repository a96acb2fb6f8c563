import { createServer } from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { CallOptions, Hooks, MandateKitError } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import { localhostCertificate } from '../support/certificates.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { closedPort, open } from '../support/serve.ts'

/** How a call is spoilt: by what the server does, or before it gets there. */
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
/** A lost answer: what cannot act twice may be called again. */
const HARMLESS: readonly Kind[] = ['read', 'charge or renewal with the caller’s key', 'login']

const half = { body: '{"id":"ch_1","status":"INIT' }

const ROWS: readonly (readonly [string, Failure, readonly Kind[]])[] = [
  ['the connection is refused', 'refused', EVERY],
  ['the server’s certificate is refused', 'certificate', []],
  ['the answer is 429', { status: 429 }, EVERY],
  ['the answer is 429 with a wait', { status: 429, headers: { 'retry-after': '7' } }, EVERY],
  ...[408, 500, 502, 503, 504].map((status) => [`the answer is ${status}`, { status }, HARMLESS] as const),
  ['the answer is 502 with a page', { status: 502, body: '<h1>Bad Gateway</h1>' }, HARMLESS],
  ['no answer comes in time', { fault: 'silent' }, HARMLESS],
  ['the caller ends it under way', 'aborted', HARMLESS],
  ['the connection closes without an answer', { fault: 'close' }, HARMLESS],
  ['the connection breaks in the answer', { ...half, fault: 'cut' }, HARMLESS],
  ['the answer is JSON without an end', half, HARMLESS],
  ['the answer is a page', { body: '<h1>Hello</h1>' }, []],
  ['the answer is a redirect', { status: 302, headers: { location: '/login' } }, []],
  ...[400, 401, 403, 404, 409, 422, 501].map(
    (status) => [`the answer is ${status}`, { status }, []] as const,
  ),
]

/** The address of a server that nobody vouches for. */
const selfSigned = async () => `https://127.0.0.1:${await open(createServer(localhostCertificate))}`

/** The error of a call that fails so; `atLogin`: the login that it needs does. */
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
  const isSilent = failure !== 'aborted' && failure.fault === 'silent'
  return errorOf(call(clientsOf(url, isSilent ? 200 : undefined), { signal: abort.signal }))
}

describe.each(ROWS)('when %s, retryable is', (_, failure, retryable) => {
  it.each(GROUPS)('right for a %s', async (kind) => {
    for (const call of CALLS[kind]) {
      const error = await fail(call, failure)
      expect(error.retryable, error.message).toBe(retryable.includes(kind))
    }
  })

  it('the same for a login as for the call that needs it, and that call was not sent', async () => {
    const error = await fail(CALLS['call without a key that acts'][0], failure, true)
    expect(error).toMatchObject({ operation: 'subscriptions.subscribe', phase: 'login', outcome: 'not-sent' })
    expect(error.retryable).toBe(retryable.includes('login'))
  })
})

describe('retryable is', () => {
  it('false for input that breaks a rule, and true for credentials that could not be had this time', async () => {
    const { url } = await startServer([{}])
    expect(await errorOf(clientsOf(url).g.status(''))).toMatchObject({
      code: 'invalid_request',
      retryable: false,
    })
    const client = subscriptionsClient(url, { credentials: () => Promise.reject(new Error('not now')) })
    expect(await errorOf(client.details('sub-1'))).toMatchObject({
      code: 'invalid_request',
      outcome: 'not-sent',
      retryable: true,
    })
  })

  it('true for a call that was ended before it was sent: with another signal it may succeed', async () => {
    const error = await errorOf(clientsOf('http://127.0.0.1:1').g.reset({ signal: AbortSignal.abort() }))
    expect(error).toMatchObject({ code: 'aborted', outcome: 'not-sent', retryable: true })
  })

  it('true for a health check that found the service down, and told to the onError hook', async () => {
    const { url } = await startServer([{ status: 503 }])
    const told: unknown[] = []
    const hooks: Hooks = { onError: ({ code, retryable }) => told.push([code, retryable]) }
    const health = await gatewayClient(url, { hooks }).health()
    expect(health).toMatchObject({ ok: false, status: 503, error: { retryable: true } })
    await errorOf(gatewayClient(url, { hooks, retry: false }).reset())
    expect(told).toEqual([
      ['api_error', true],
      ['api_error', false],
    ])
  })

  it('false while a refused login stands, and true while a login is only asked to wait', async () => {
    const refusing = clientsOf((await startServer([{ status: 401 }])).url).s
    await errorOf(refusing.details('sub-1'))
    expect(await errorOf(refusing.details('sub-1'))).toMatchObject({ attempts: 0, retryable: false })
    const { url } = await startServer([{ status: 429, headers: { 'retry-after': '600' } }])
    const patient = clientsOf(url).s
    await errorOf(patient.details('sub-1'))
    expect(await errorOf(patient.details('sub-1'))).toMatchObject({ code: 'rate_limited', retryable: true })
  })

  it('false for a charge of unknown outcome until it is called with the error’s key', async () => {
    const { url, requests } = await startServer([{ status: 503 }])
    const lost = await errorOf(clientsOf(url).g.charge(CHARGE_REQUEST))
    expect(lost).toMatchObject({ outcome: 'unknown', retryable: false })
    const { idempotencyKey } = lost
    expect(await errorOf(clientsOf(url).g.charge(CHARGE_REQUEST, { idempotencyKey }))).toMatchObject({
      retryable: true,
    })
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  })

  it('false once an attempt may have acted, whatever the last one said', async () => {
    const { url } = await startServer([{ fault: 'close' }, { status: 429 }])
    const client = gatewayClient(url, {
      clock: { now: () => 0, sleep: async () => undefined },
      retry: { limit: 1 },
    })
    const error = await errorOf(client.charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ code: 'rate_limited', outcome: 'unknown', attempts: 2, retryable: false })
  })
})

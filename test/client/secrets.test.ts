import { describe, expect, it } from 'vitest'
import type { Hooks, MandateKitError } from '../../src/index.ts'
import { CHARGE_REQUEST, SUBSCRIPTION } from '../support/bodies.ts'
import {
  API_KEY,
  CREDENTIALS,
  errorOf,
  gatewayClient,
  subscriptionsClient,
  TOKEN,
} from '../support/clients.ts'
import { textOf } from '../support/refused.ts'
import type { Received, Script } from '../support/scripted-server.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { closedPort } from '../support/serve.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const OTP = '918273'
const REFRESH = 'refresh-03'
const SECRETS = [TOKEN, REFRESH, API_KEY, OTP, CREDENTIALS.clientSecret, CREDENTIALS.password]

const expectNoSecret = (value: unknown): void => {
  const text = textOf(value)
  for (const secret of SECRETS) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(encodeURIComponent(secret))
  }
}

/** A server that repeats everything it received, in body and headers. */
const echo = (status: number, request: Received): Script => ({
  status,
  headers: {
    'x-echo': String(request.headers.authorization),
    'set-cookie': `session=${API_KEY}`,
    'x-api-key': API_KEY,
    'x-request-id': `id-${request.headers.authorization?.slice(7) ?? ''}`,
  },
  body: {
    errorCode: request.headers.authorization ?? '07',
    errorMessage: `received ${JSON.stringify(request.headers)} ${request.body}`,
    error: { code: 'echo', message: request.body },
    access_token: TOKEN,
    nested: [{ client_secret: 'x', otp: OTP, password: CREDENTIALS.password, kept: 'kept' }],
    [`name-${request.headers.authorization}`]: encodeURIComponent(String(request.headers.authorization)),
  },
})

const watching = () => {
  const seen: unknown[] = []
  const watch = (facts: unknown) => seen.push(facts)
  const hooks: Hooks = {
    onRequest: watch,
    onResponse: watch,
    onRetry: watch,
    onError: watch,
    onTokenRenewed: watch,
  }
  return { options: { hooks, onUnexpected: watch }, seen }
}

describe('nothing secret is in an error, a hook, a report or a client', () => {
  it.each([200, 400, 401, 403, 404, 422, 429, 500])(
    'when the server echoes everything with status %i',
    async (status) => {
      const server = await startServer(withLogin((request) => echo(status, request)))
      const watched = watching()
      const options = { retry: false as const, ...watched.options }
      const subscriptions = subscriptionsClient(server.url, options)
      const gateway = gatewayClient(server.url, options)
      const errors: MandateKitError[] = [
        await errorOf(subscriptions.subscribe(SUBSCRIPTION)),
        await errorOf(gateway.charge(CHARGE_REQUEST)),
      ]
      if (status !== 200) errors.push(await errorOf(gateway.confirm('conf_1', { otp: OTP })))
      for (const error of errors) expectNoSecret(error)
      expectNoSecret(watched.seen)
      expectNoSecret([subscriptions, gateway])
      expect(watched.seen.length).toBeGreaterThan(4)
    },
  )

  it('when the login fails and its answer repeats the credentials', async () => {
    for (const status of [400, 401, 403, 500, 200]) {
      const server = await startServer((request) => echo(status, request))
      const watched = watching()
      const subscriptions = subscriptionsClient(server.url, { retry: false, ...watched.options })
      const errors = [await errorOf(subscriptions.details('sub-1')), await errorOf(subscriptions.login())]
      for (const error of errors) {
        expectNoSecret(error)
        expect(error).toMatchObject({ body: undefined })
      }
      expectNoSecret(watched.seen)
    }
  })

  it('when there is no answer, or one that is text', async () => {
    const gone = await closedPort()
    expectNoSecret(await errorOf(gatewayClient(gone, { retry: false }).charge(CHARGE_REQUEST)))
    expectNoSecret(await errorOf(subscriptionsClient(gone, { retry: false }).details('sub-1')))
    const html = await startServer((request) => ({
      body: `<p>${request.headers.authorization} ${'x'.repeat(1900)}`,
    }))
    expectNoSecret(await errorOf(gatewayClient(html.url).charge(CHARGE_REQUEST)))
    const edge = await startServer((request) => ({
      status: 500,
      body: `${'x'.repeat(1990)}${request.headers.authorization}`,
    }))
    const error = await errorOf(gatewayClient(edge.url, { retry: false }).charge(CHARGE_REQUEST))
    expect(textOf(error)).not.toContain('api-key')
  })

  it('when the given fetch throws an error that quotes the request', async () => {
    const gateway = gatewayClient('http://gateway.example', {
      retry: false,
      fetch: (_, request) => Promise.reject(Object.assign(new Error(JSON.stringify(request)), { request })),
    })
    const error = await errorOf(gateway.confirm('conf_1', { otp: OTP }))
    expectNoSecret(error)
    expect(error.cause).toBeUndefined()
  })

  it('when a waiting helper keeps its last failure as its cause', async () => {
    const server = await startServer((request) => echo(503, request))
    const gateway = gatewayClient(server.url, { retry: false, clock: skippingClock() })
    const error = await errorOf(gateway.waitForCharge('ch_1'))
    expect(error.cause).toMatchObject({ code: 'api_error', status: 503 })
    expectNoSecret(error)
  })

  it('nor, in a message, an identifier, a query or a path of the caller’s own in front of the API’s', async () => {
    const hidden = ['tenant-path-9f2c', 'version-path-41d7', 'charge-id-77b0', 'page=5150']
    const below = { apiPrefix: '/version-path-41d7' }
    const read = (url: string, options: object) =>
      gatewayClient(`${url}/tenant-path-9f2c`, { ...below, retry: false, ...options }).status(
        'charge-id-77b0',
      )
    const page = (url: string) =>
      subscriptionsClient(url, { ...below, retry: false }).payments('charge-id-77b0', { page: 5150 })
    const errors: MandateKitError[] = [await errorOf(read(await closedPort(), {}))]
    for (const script of [
      { status: 404 },
      { fault: 'close' },
      { fault: 'silent' },
      { status: 302, headers: { location: '/tenant-path-9f2c' } },
      { body: '<p>tenant-path-9f2c</p>' },
    ] as const) {
      const { url } = await startServer(withLogin([script]))
      const timeout = 'fault' in script && script.fault === 'silent' ? { timeout: 40 } : {}
      errors.push(await errorOf(read(url, timeout)))
      if (!('fault' in script)) errors.push(await errorOf(page(url)))
    }
    expect(errors).toHaveLength(9)
    for (const error of errors) {
      for (const text of hidden) expect(`${error.message}${error.stack}`).not.toContain(text)
    }
  })

  it('and what is no secret is kept', async () => {
    const server = await startServer((request) => echo(422, request))
    const error = await errorOf(gatewayClient(server.url).confirm('conf_1', { otp: OTP }))
    expect(error).toMatchObject({ body: { nested: [{ kept: 'kept' }] }, status: 422 })
    expect(textOf(error)).not.toContain('set-cookie')
    expect(textOf(error)).toContain('x-echo')
  })
})

it('a network failure keeps the platform’s code as its cause, and nothing else of it', async () => {
  const error = await errorOf(gatewayClient(await closedPort(), { retry: false }).reset())
  expect(error.cause).toMatchObject({ message: 'ECONNREFUSED', code: 'ECONNREFUSED' })
  expect(Object.keys(error.cause as object)).toEqual(['code'])
})

it('the number of a payer who is charged stands in no error, whatever the answer says of it', async () => {
  const { msisdn } = CHARGE_REQUEST
  for (const status of [202, 302, 400, 409, 500]) {
    const body = { error: { code: 'no', message: `+${msisdn} has no wallet` }, msisdn, payer: [msisdn] }
    const server = await startServer([{ status, body, headers: { 'x-payer': msisdn } }])
    const error = await errorOf(gatewayClient(server.url, { retry: false }).charge(CHARGE_REQUEST))
    expect(textOf(error)).not.toContain(msisdn)
  }
})

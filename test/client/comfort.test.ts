import { describe, expect, it, vi } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import type { GatewayClientOptions, Logger, RawRequest } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST, DETAILS } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { calls, failureOf, once, openClients } from '../support/open-clients.ts'
import { loosely, refusedFields } from '../support/refused.ts'
import { api, clock, useTokenServer } from '../support/token-set-up.ts'

/** A logger that keeps its lines. */
const recorder = () => {
  const lines: string[] = []
  const write = (level: string) => (line: string) => lines.push(`${level} ${line}`)
  const [debug, info, warn, error] = ['debug', 'info', 'warn', 'error'].map(write)
  return { logger: { debug, info, warn, error } as Logger, lines }
}

const lost = { status: 503 }
const charged = { status: 202, body: { ...CHARGE, amount: 'many' } }
const refused = { status: 422, body: { error: { code: 'no_way', message: 'no' } } }
const broken = new Error('The disk is full.')
const throwing = () => {
  throw broken
}

describe('the log', () => {
  it('of debug has a line for each request, response, retry, failure and unexpected field', async () => {
    const { logger, lines } = recorder()
    const { gateway } = await openClients([lost, charged, refused], { logger, logLevel: 'debug' })
    await gateway.charge(CHARGE_REQUEST)
    await errorOf(gateway.status('ch_1'))
    expect(lines.map((line) => line.replace(/\d+ ms/g, '# ms'))).toEqual([
      'debug mandatekit gateway.charge: attempt 1: POST /api/v1/mfs/charges',
      'debug mandatekit gateway.charge: HTTP 503 after # ms',
      'warn mandatekit gateway.charge: attempt 1 failed: response-lost (HTTP 503); retry in # ms',
      'debug mandatekit gateway.charge: attempt 2: POST /api/v1/mfs/charges',
      'debug mandatekit gateway.charge: HTTP 202 after # ms',
      expect.stringMatching(/^warn mandatekit gateway\.charge: amount must be/),
      'debug mandatekit gateway.status: attempt 1: GET /api/v1/mfs/charges/:id',
      'debug mandatekit gateway.status: HTTP 422 after # ms',
      'error mandatekit gateway.status: failed: api_error (HTTP 422), code "no_way", outcome rejected, attempts 1, # ms',
    ])
  })

  it.each([
    ['error', ['error']],
    ['warn', ['warn', 'warn', 'error']],
    ['off', []],
  ] as const)('of %s has the lines of its levels alone', async (logLevel, levels) => {
    const { logger, lines } = recorder()
    const { gateway } = await openClients([lost, charged, refused], { logger, logLevel })
    await gateway.charge(CHARGE_REQUEST)
    await errorOf(gateway.status('ch_1'))
    expect(lines.map((line) => line.split(' ')[0])).toEqual(levels)
  })

  it.each([
    ['error', 1],
    ['loud', 0],
    ['', 0],
  ])('without an option has the level of MANDATEKIT_LOG=%j, on the console', async (level, count) => {
    vi.stubEnv('MANDATEKIT_LOG', level)
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await failureOf(refused, calls.status)
    expect(error).toHaveBeenCalledTimes(count)
  })

  it.each([
    ['throws', throwing],
    ['rejects', () => Promise.reject(broken)],
  ])('fails no call when the logger %s', async (_, fail) => {
    const logger = { debug: fail, info: fail, warn: fail, error: fail }
    const clients = await openClients(charged, { logger, logLevel: 'debug' })
    expect(await calls.charge(clients)).toMatchObject({ id: 'ch_1' })
  })
})

describe('a login', () => {
  useTokenServer()

  it('has a line, and shows no token', async () => {
    const { logger, lines } = recorder()
    await subscriptionsClient(api.url, { clock, logger, logLevel: 'info' }).details('sub-1')
    expect(lines).toEqual(['info mandatekit subscriptions.login: new token: first, by password'])
  })

  it('serves the clients that withOptions returns', async () => {
    const client = subscriptionsClient(api.url, { clock })
    await client.details('sub-1')
    await Promise.all([
      client.withOptions({ timeout: 5_000 }).details('sub-1'),
      client.withOptions({}).details('sub-1'),
    ])
    expect(api.tokenRequests).toHaveLength(1)
  })
})

describe('withOptions', () => {
  it('changes options and adds headers for the new client alone', async () => {
    const { gateway, requests } = await openClients([lost, lost, { body: { status: 'failed' } }], {
      headers: { 'x-one': '1' },
    })
    const other = gateway.withOptions({ headers: { 'x-two': '2' }, retry: false, timeout: undefined })
    expect(await errorOf(other.status('ch_1'))).toMatchObject({ attempts: 1 })
    await gateway.status('ch_1')
    const sent = requests.map(({ headers }) => [headers['x-one'], headers['x-two']])
    const own = ['1', undefined]
    expect(sent).toEqual([['1', '2'], own, own])
  })

  it.each(['wait', 'throw'] as const)('shares the rate limit with a client that would %s', async (first) => {
    const refusal = { status: 429, headers: { 'retry-after': '600' } }
    const { gateway, requests } = await openClients([refusal, { body: { status: 'failed' } }])
    await errorOf(gateway.withOptions({ rateLimit: first }).status('ch_1'))
    const patient = gateway.withOptions({ timeout: 1_000 })
    expect(await errorOf(patient.status('ch_1'))).toMatchObject({ attempts: 0 })
    await gateway.withOptions({ rateLimit: 'throw' }).status('ch_1')
    expect(requests).toHaveLength(2)
  })

  it.each([
    ['timeout', { timeout: 0 }],
    ['baseUrl', { baseUrl: 'https://other.example' }],
    ['apiKey', { apiKey: 'other' }],
  ])('refuses a wrong %s', async (field, changes) => {
    const { gateway, subscriptions } = await openClients({})
    expect(await refusedFields(() => gateway.withOptions(loosely(changes)))).toEqual([field])
    expect(await refusedFields(() => subscriptions.withOptions(loosely(changes)))).toEqual([field])
  })
})

describe('request', () => {
  it('sends the method, path, query and body with the authorization, and returns the response as received', async () => {
    const { gateway, requests } = await openClients({ status: 201, body: { refunded: 25, extra: [1] } })
    const raw: RawRequest = {
      method: 'PUT',
      path: '/api/v1/refunds/a:b',
      query: { page: 2, gone: undefined, q: 'x y' },
      body: { amount: 25 },
      idempotencyKey: 'refund-1',
    }
    const { data, response } = await gateway.request(raw).withResponse()
    expect(data).toEqual({ refunded: 25, extra: [1] })
    expect(response).toMatchObject({ status: 201, attempts: 1, idempotencyKey: 'refund-1' })
    expect(requests).toMatchObject([
      {
        method: 'PUT',
        url: '/api/v1/refunds/a:b?page=2&q=x+y',
        body: '{"amount":25}',
        headers: { 'idempotency-key': 'refund-1', authorization: expect.stringMatching(/^Bearer /) },
      },
    ])
  })

  it.each<[string, Partial<RawRequest>, attempts: number]>([
    ['by default', {}, 1],
    ['with retry: never', { retry: 'never' }, 1],
    ['with a key', { idempotencyKey: 'k' }, 1],
    ['with retry: always, under one key', { retry: 'always', idempotencyKey: 'k' }, 3],
  ])('%s is sent this often when responses are lost: %o %i', async (_, change, attempts) => {
    const { gateway, requests } = await openClients(lost)
    const error = await errorOf(gateway.request({ method: 'POST', path: '/refunds', ...change }))
    expect(error).toMatchObject({ operation: 'gateway.request', attempts, outcome: 'unknown' })
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual(Array(attempts).fill(change.idempotencyKey))
  })

  it('obeys inherited options', async () => {
    const { gateway } = await openClients({ fault: 'silent' })
    const options = Object.create({ totalTimeout: 100 })
    const error = await errorOf(gateway.request({ method: 'GET', path: '/refunds' }, options))
    expect(error).toMatchObject({ code: 'timeout', timeoutMs: 100 })
  })

  it('of area S logs in, renews a rejected token once, and reads the errorCode', async () => {
    const { subscriptions } = await openClients([
      { status: 401 },
      { body: { errorCode: '02', errorMessage: 'no' } },
      { body: { ...DETAILS, errorCode: '00' } },
    ])
    const raw = { method: 'GET', path: '/api/v1.0/plans' } as const
    expect(await errorOf(subscriptions.request(raw))).toMatchObject({ errorCode: '02', outcome: 'rejected' })
    expect(await subscriptions.request(raw)).toMatchObject({ errorCode: '00' })
  })
})

it.each([
  [7_000, undefined, [7_000, 7_000]],
  [7_000, '20', [20_000, 20_000]],
  [7_000, '3', [7_000, 7_000]],
])('a pollInterval of %i ms with a Retry-After of %s waits %j', async (pollInterval, retryAfter, waits) => {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  const pending = { body: { status: 'pending_retry' }, headers }
  const clients = await openClients([pending, pending, { body: { status: 'succeeded' } }])
  await clients.gateway.waitForCharge('ch_1', { pollInterval })
  expect(clients.clock.waits).toEqual(waits)
})

describe('the header User-Agent', () => {
  const agent = async (options: Partial<GatewayClientOptions> = {}) => {
    const sent: (string | undefined)[] = []
    const fetch = async (_url: string, { headers }: { readonly headers: Record<string, string> }) => {
      sent.push(headers['user-agent'])
      return Response.json({ status: 'failed' })
    }
    await gatewayClient('https://g.example', { fetch, ...once, ...options }).status('ch_1')
    return sent[0]
  }

  it('names the version of package.json and the runtime', async () => {
    expect(await agent()).toBe(`mandatekit/${packageJson.version} (${navigator.userAgent})`)
  })

  it('is left to a browser, and to you', async () => {
    expect(await agent({ headers: { 'User-Agent': 'shop/1' } })).toBe('shop/1')
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11)' })
    expect(await agent()).toBeUndefined()
    vi.stubGlobal('navigator', undefined)
    expect(await agent()).toBe(`mandatekit/${packageJson.version}`)
  })
})

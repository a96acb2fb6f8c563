import { describe, expect, it } from 'vitest'
import type { ApiError, ConnectionError, TimeoutError } from '../../src/index.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST, DETAILS, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { CREDENTIALS, errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'
import { closedPort } from '../support/serve.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const clock = skippingClock

describe('a charge whose answer was lost', () => {
  it('is repeated with the same key and the same body', async () => {
    const server = await startServer([
      { fault: 'close' },
      { fault: 'cut', body: CHARGE },
      { status: 202, body: CHARGE },
    ])
    const gateway = gatewayClient(server.url, { clock: clock() })
    const { data, response } = await gateway.charge(CHARGE_REQUEST).withResponse()
    expect(data.id).toBe('ch_1')
    expect(response.attempts).toBe(3)
    expect(server.requests).toHaveLength(3)
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1)
    const keys = new Set(server.requests.map(({ headers }) => headers['idempotency-key']))
    expect(keys).toEqual(new Set([response.idempotencyKey]))
  })

  it('keeps its key and an unknown outcome on the error when every repeat fails too', async () => {
    const server = await startServer([
      { fault: 'close' },
      { status: 400, body: { error: { code: 'no', message: '' } } },
    ])
    const error = await errorOf<ApiError>(
      gatewayClient(server.url, { clock: clock() }).charge(CHARGE_REQUEST),
    )
    expect(error).toMatchObject({ status: 400, outcome: 'unknown', attempts: 2, retryable: false })
    expect(error.idempotencyKey).toBe(server.requests[0]?.headers['idempotency-key'])
    expect(error.message).toContain('idempotencyKey')
  })

  it('two equal calls without a key are two charges with two keys', async () => {
    const server = await startServer([{ status: 202, body: CHARGE }])
    const gateway = gatewayClient(server.url)
    await Promise.all([gateway.charge(CHARGE_REQUEST), gateway.charge(CHARGE_REQUEST)])
    expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)
  })

  it('sends the caller’s key as it is', async () => {
    const server = await startServer([{ status: 202, body: CHARGE }])
    await gatewayClient(server.url).charge(CHARGE_REQUEST, { idempotencyKey: 'order 77/a' })
    expect(server.requests[0]?.headers['idempotency-key']).toBe('order 77/a')
  })
})

describe('an operation that must not act twice', () => {
  it('subscribe that times out is not repeated; its error has the requestID and says how to find out', async () => {
    const server = await startServer(withLogin([{ fault: 'silent' }]))
    const error = await errorOf<TimeoutError>(
      subscriptionsClient(server.url).subscribe(SUBSCRIPTION, { timeout: 60 }),
    )
    expect(error).toMatchObject({
      code: 'timeout',
      operation: 'subscriptions.subscribe',
      outcome: 'unknown',
      requestID: 'order-77',
      timeoutMs: 60,
      attempts: 1,
      retryable: false,
    })
    expect(error.message).toContain('requestID')
    expect(server.requests).toHaveLength(2)
  })

  it.each([500, 502, 503, 504, 408])(
    'subscribe answered %i is not repeated and its outcome is unknown',
    async (status) => {
      const server = await startServer(withLogin([{ status }]))
      const error = await errorOf(subscriptionsClient(server.url, { clock: clock() }).subscribe(SUBSCRIPTION))
      expect(error).toMatchObject({ outcome: 'unknown', attempts: 1, status })
    },
  )

  it('subscribe answered 429 is repeated, since the server said that it did not act', async () => {
    const server = await startServer(withLogin([{ status: 429 }, { body: SUBSCRIBED }]))
    const subscriptions = subscriptionsClient(server.url, { clock: clock() })
    expect((await subscriptions.subscribe(SUBSCRIPTION)).invoiceID).toBe('inv-1')
  })

  it('cancel whose answer was lost is not repeated; calling it again gives the record', async () => {
    const server = await startServer(withLogin([{ fault: 'close' }, { body: CANCELLED }]))
    const subscriptions = subscriptionsClient(server.url)
    const error = await errorOf(subscriptions.cancel('sub-1'))
    expect(error).toMatchObject({ code: 'connection_failed', outcome: 'unknown', attempts: 1 })
    expect((await subscriptions.cancel('sub-1')).status).toBe('PROCESSED')
  })
})

it('a repeat after 503 sends the same body as the first attempt', async () => {
  const server = await startServer([{ status: 503 }, { status: 202, body: CHARGE }])
  await gatewayClient(server.url, { clock: clock() }).charge(CHARGE_REQUEST)
  expect(server.requests.map(({ body }) => JSON.parse(body))).toEqual([CHARGE_REQUEST, CHARGE_REQUEST])
})

it('refused connection, abort, timeout and unknown host are four different errors without a status', async () => {
  const silent = await startServer([{ fault: 'silent' }])
  const options = { retry: false } as const
  const abort = new AbortController()
  const reached = await startServer(() => {
    abort.abort()
    return { fault: 'silent' }
  })
  const aborted = errorOf(gatewayClient(reached.url).charge(CHARGE_REQUEST, { signal: abort.signal }))
  const errors = [
    await errorOf<ConnectionError>(gatewayClient(await closedPort(), options).charge(CHARGE_REQUEST)),
    await errorOf<ConnectionError>(gatewayClient('http://nowhere.invalid', options).charge(CHARGE_REQUEST)),
    await errorOf(gatewayClient(silent.url, options).charge(CHARGE_REQUEST, { timeout: 50 })),
    await aborted,
  ]
  expect(errors.map(({ code }) => code)).toEqual([
    'connection_failed',
    'connection_failed',
    'timeout',
    'aborted',
  ])
  expect(errors.map((error) => 'reason' in error && error.reason)).toEqual([
    'ECONNREFUSED',
    expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
    false,
    false,
  ])
  expect(errors.map(({ outcome }) => outcome)).toEqual(['not-sent', 'not-sent', 'unknown', 'unknown'])
  for (const error of errors) expect(error).not.toHaveProperty('status')
})

it('a refused connection is repeated even for what must not act twice', async () => {
  const waits = clock()
  const error = await errorOf(
    subscriptionsClient(await closedPort(), { clock: waits, retry: { limit: 3 } }).subscribe(SUBSCRIPTION),
  )
  expect(error).toMatchObject({
    operation: 'subscriptions.subscribe',
    phase: 'login',
    outcome: 'not-sent',
    attempts: 0,
    retryable: true,
  })
  expect(waits.waits).toHaveLength(3)
})

describe('options narrow what is repeated', () => {
  it('retry: false repeats nothing, and a call cannot raise the client’s limit', async () => {
    const server = await startServer([{ status: 503 }])
    const gateway = gatewayClient(server.url, { clock: clock(), retry: { limit: 1 } })
    await errorOf(gateway.charge(CHARGE_REQUEST, { retry: false }))
    expect(server.requests).toHaveLength(1)
    await errorOf(gateway.charge(CHARGE_REQUEST, { retry: { limit: 9 } }))
    expect(server.requests).toHaveLength(3)
  })

  it('the total time ends a call that would go on repeating', async () => {
    const server = await startServer([{ fault: 'silent' }])
    const gateway = gatewayClient(server.url, { timeout: 40, totalTimeout: 120, retry: { limit: 99 } })
    const error = await errorOf(gateway.charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ code: 'timeout', outcome: 'unknown' })
  })
})

it('a 401 on a token renews it once and repeats the call, even one that must not act twice', async () => {
  const server = await startServer(withLogin([{ status: 401 }, { body: SUBSCRIBED }]))
  const { response } = await subscriptionsClient(server.url).subscribe(SUBSCRIPTION).withResponse()
  expect(response.attempts).toBe(2)
  expect(server.requests.map(({ url }) => url)).toEqual([
    '/oauth/token',
    '/api/v1.0/subscribe',
    '/oauth/token',
    '/api/v1.0/subscribe',
  ])
})

it('a login that fails keeps the operation of the call, which was not sent', async () => {
  const server = await startServer([
    { status: 401, body: { errorCode: '401', errorMessage: CREDENTIALS.password } },
  ])
  const error = await errorOf<ApiError>(subscriptionsClient(server.url).details('sub-1'))
  expect(error).toMatchObject({
    code: 'authentication_failed',
    operation: 'subscriptions.details',
    phase: 'login',
    outcome: 'not-sent',
    attempts: 0,
    status: 401,
    body: undefined,
    retryable: false,
  })
  expect(server.requests).toHaveLength(1)
})

it('403 of a token request is a lockout, 403 of any other call is not', async () => {
  const locked = await startServer([{ status: 403 }])
  expect(await errorOf(subscriptionsClient(locked.url).login())).toMatchObject({ code: 'locked_out' })
  const forbidden = await startServer(withLogin([{ status: 403 }, { body: DETAILS }]))
  expect(await errorOf(subscriptionsClient(forbidden.url).details('sub-1'))).toMatchObject({
    code: 'api_error',
  })
})

it('health is never repeated and throws on abort alone', async () => {
  const server = await startServer([
    { status: 503 },
    { status: 200, body: 'up' },
    { status: 204 },
    { fault: 'close' },
  ])
  const gateway = gatewayClient(server.url)
  expect(await gateway.health()).toMatchObject({ ok: false, status: 503 })
  expect(server.requests).toHaveLength(1)
  expect(await gateway.health()).toEqual({ ok: true, status: 200 })
  expect(await gateway.health()).toEqual({ ok: false, status: 204 })
  expect(await gateway.health()).toMatchObject({ ok: false, error: { code: 'connection_failed' } })
  await expect(gateway.health({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
})

it('a redirect is an error of unknown outcome, and nothing is sent where it points', async () => {
  const target = await startServer([{ status: 202, body: CHARGE }])
  const server = await startServer([
    { status: 307, headers: { location: `${target.url}/api/v1/mfs/charges` } },
  ])
  const error = await errorOf(gatewayClient(server.url).charge(CHARGE_REQUEST))
  expect(error).toMatchObject({ code: 'unexpected_response', status: 307, outcome: 'unknown' })
  expect(target.requests).toHaveLength(0)
})

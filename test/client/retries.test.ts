import { describe, expect, it, vi } from 'vitest'
import type { ApiError } from '../../src/index.ts'
import { CANCELLED, CHARGE, CHARGE_REQUEST, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { calls, failureOf, once, openClients, unexpected } from '../support/open-clients.ts'
import { startServer } from '../support/scripted-server.ts'
import { closedPort } from '../support/serve.ts'

const charged = { status: 202, body: CHARGE }
const half = JSON.stringify(CHARGE).slice(0, 80)

describe('cases 15, 17 and 51: a charge', () => {
  it('whose response was lost or cut, or whose key is in use, is retried with the same key and the same body', async () => {
    const lost = [
      { fault: 'close' },
      { fault: 'cut', body: CHARGE },
      { body: half },
      {},
      { status: 503 },
    ] as const
    const { gateway, requests } = await openClients([...lost, { status: 409 }, charged], {
      retry: { limit: 6 },
    })
    const { data, response } = await gateway.charge(CHARGE_REQUEST).withResponse()
    expect([data.id, response.attempts]).toEqual(['ch_1', 7])
    expect(requests.map(({ body }) => JSON.parse(body))).toEqual(Array(7).fill(CHARGE_REQUEST))
    const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']))
    expect(keys).toEqual(new Set([response.idempotencyKey]))
  })

  it('keeps its key and the outcome unknown on the error when every retry fails, too', async () => {
    const refusal = { status: 400, body: { error: { code: 'no', message: '' } } }
    const clients = await openClients([{ fault: 'close' }, refusal])
    const error = await errorOf<ApiError>(calls.charge(clients))
    expect(error).toMatchObject({ status: 400, outcome: 'unknown', attempts: 2, retryable: false })
    expect(error.idempotencyKey).toBe(clients.requests[0]?.headers['idempotency-key'])
    expect(error.message).toContain('Find out first')
  })

  it('without a key has a key of its own; the key of the caller is sent as it is', async () => {
    const { gateway, requests } = await openClients(charged)
    await Promise.all([gateway.charge(CHARGE_REQUEST), gateway.charge(CHARGE_REQUEST)])
    await gateway.charge(CHARGE_REQUEST, { idempotencyKey: 'order 77/a' })
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect([new Set(keys).size, keys[2]]).toEqual([3, 'order 77/a'])
  })

  it('keeps the error of its attempt, with the key, when the clock fails before the retry', async () => {
    const clock = { now: () => 0, sleep: () => Promise.reject(new Error('The clock is broken.')) }
    const error = await failureOf({ status: 500 }, calls.charge, { clock })
    const idempotencyKey = expect.any(String)
    expect(error).toMatchObject({ code: 'api_error', outcome: 'unknown', attempts: 1, idempotencyKey })
  })
})

it('case 16: subscribe that times out is not retried; its error has the requestID', async () => {
  const { subscriptions, requests } = await openClients({ fault: 'silent' })
  await subscriptions.login()
  const error = await errorOf(subscriptions.subscribe(SUBSCRIPTION, { timeout: 300 }))
  const facts = { code: 'timeout', operation: 'subscriptions.subscribe', outcome: 'unknown', timeoutMs: 300 }
  expect(error).toMatchObject({ ...facts, requestID: 'order-77', attempts: 1, retryable: false })
  expect(error.message).toContain('requestID')
  // On a busy machine, the request may reach the server after the time limit.
  await expect.poll(() => requests.length).toBe(2)
})

it('case 19: a cancel whose response was lost is not retried; a second call returns the record', async () => {
  const clients = await openClients([{ fault: 'close' }, { body: CANCELLED }])
  expect(await errorOf(calls.cancel(clients))).toMatchObject({ outcome: 'unknown', attempts: 1 })
  expect(await calls.cancel(clients)).toMatchObject({ status: 'PROCESSED' })
})

it('subscribe is sent again after a 401: once with the same token, which is new, and once with another', async () => {
  const unauthorized = { status: 401 }
  const { subscriptions, requests } = await openClients([unauthorized, unauthorized, { body: SUBSCRIBED }])
  expect((await subscriptions.subscribe(SUBSCRIPTION).withResponse()).response.attempts).toBe(3)
  const [login, subscribe] = ['/oauth/token', '/api/v1.0/subscribe']
  expect(requests.map(({ url }) => url)).toEqual([login, subscribe, subscribe, login, subscribe])
})

it('case 20: refused connection, unknown host, timeout and abort are four errors without a status', async () => {
  const abort = new AbortController()
  const silent = await openClients(() => {
    abort.abort()
    return { fault: 'silent' }
  })
  const errors = [
    await errorOf(gatewayClient(await closedPort(), once).charge(CHARGE_REQUEST)),
    await errorOf(gatewayClient('http://nowhere.invalid', once).charge(CHARGE_REQUEST)),
    await failureOf({ fault: 'silent' }, ({ gateway }) => gateway.reset({ timeout: 50 })),
    await errorOf(silent.gateway.charge(CHARGE_REQUEST, { signal: abort.signal })),
  ]
  const unknownHost = expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/)
  expect(errors).toMatchObject([
    { code: 'connection_failed', outcome: 'not-sent', reason: 'ECONNREFUSED' },
    { code: 'connection_failed', outcome: 'not-sent', reason: unknownHost },
    { code: 'timeout', outcome: 'unknown' },
    { code: 'aborted', outcome: 'unknown' },
  ])
  for (const error of errors) expect(error).not.toHaveProperty('status')
})

it('options limit the retries: retry: false allows none, and a call cannot raise the limit of its client', async () => {
  const { gateway, requests } = await openClients({ status: 503 }, { retry: { limit: 1 } })
  await errorOf(gateway.charge(CHARGE_REQUEST, { retry: false }))
  expect(requests).toHaveLength(1)
  await errorOf(gateway.charge(CHARGE_REQUEST, { retry: { limit: 9 } }))
  expect(requests).toHaveLength(3)
})

it('health is never retried and throws on abort alone', async () => {
  const up = { status: 200, body: 'up' }
  const { gateway, requests } = await openClients([{ status: 503 }, up, { status: 204 }, { fault: 'close' }])
  expect(await gateway.health()).toMatchObject({ ok: false, status: 503, error: { retryable: true } })
  expect(requests).toHaveLength(1)
  expect(await gateway.health()).toEqual({ ok: true, status: 200 })
  expect(await gateway.health()).toEqual({ ok: false, status: 204 })
  expect(await gateway.health()).toMatchObject({ ok: false, error: { code: 'connection_failed' } })
  await expect(gateway.health({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
})

it('a redirect is an error of unknown outcome, and the client does not follow it', async () => {
  const target = await startServer([charged])
  const script = { status: 307, headers: { location: `${target.url}/api/v1/mfs/charges` } }
  expect(await failureOf(script, calls.charge)).toMatchObject({ ...unexpected, status: 307 })
  expect(target.requests).toHaveLength(0)
})

it('case 108: a page without TLS, which lacks randomUUID, sends rejected credentials once and creates keys', async () => {
  const getRandomValues = crypto.getRandomValues.bind(crypto)
  vi.stubGlobal('crypto', { getRandomValues })
  const server = await startServer(({ url }) =>
    url === '/oauth/token' ? { status: 401, body: { errorCode: '17' } } : charged,
  )
  const client = subscriptionsClient(server.url)
  for (let call = 0; call < 5; call += 1)
    expect(await errorOf(client.status('inv-1'))).toMatchObject({ code: 'authentication_failed' })
  expect(server.requests).toHaveLength(1)
  await gatewayClient(server.url).charge(CHARGE_REQUEST)
  expect(server.requests[1]?.headers['idempotency-key']).toMatch(/^\d+(-\d+){3}$/)
})

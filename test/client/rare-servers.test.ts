import { describe, expect, it, vi } from 'vitest'
import type { FetchFunction } from '../../src/index.ts'
import { InvalidRequestError } from '../../src/index.ts'
import { CHARGE_REQUEST } from '../support/bodies.ts'
import { CREDENTIALS, errorOf, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { startServer } from '../support/scripted-server.ts'

const CHARGE = { id: 'ch_1', status: 'pending_confirmation' }

const respondWith =
  (text: string, status = 200): FetchFunction =>
  async () => ({ status, headers: new Headers(), text: async () => text })

describe('an error of a charge keeps its outcome and its key', () => {
  it('when the body is nested deeper than the stack allows', async () => {
    const body = `{"d":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const server = await startServer(() => ({ status: 500, body }))
    const error = await errorOf(gatewayClient(server.url, { retry: false }).charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ outcome: 'unknown', idempotencyKey: expect.any(String) })
  })

  it('when the body holds many beginnings of a title, and the time limit is kept', async () => {
    const body = '<title'.repeat(80_000)
    const server = await startServer(() => ({ status: 502, body }))
    const client = gatewayClient(server.url, { retry: false, totalTimeout: 1_000 })
    const startedAt = performance.now()
    expect(await errorOf(client.charge(CHARGE_REQUEST))).toMatchObject({ status: 502, outcome: 'unknown' })
    // The old pattern took minutes.
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })
})

describe('a charge that was made stays a success', () => {
  it('when a given fetch leaves a byte order mark in the text', async () => {
    const fetch = respondWith(`\ufeff${JSON.stringify(CHARGE)}`)
    const client = gatewayClient('https://api.example', { fetch })
    expect(await client.charge(CHARGE_REQUEST)).toMatchObject(CHARGE)
  })

  it('when the sleep of a given clock throws while another call is delayed', async () => {
    const clock = {
      now: () => Date.now(),
      sleep: () => {
        throw new Error('The clock is broken.')
      },
    }
    const reset = String(Date.now() + 60_000)
    const headers = { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }
    const server = await startServer(() => ({ status: 202, headers, body: CHARGE }))
    const client = gatewayClient(server.url, { clock })
    await client.charge(CHARGE_REQUEST)
    const both = [client.charge(CHARGE_REQUEST), client.charge(CHARGE_REQUEST)]
    expect(await Promise.all(both)).toMatchObject([CHARGE, CHARGE])
  })
})

it('a key that is null is refused, because its giver relies on it', async () => {
  const server = await startServer(() => ({ status: 202, body: CHARGE }))
  const options = { idempotencyKey: null } as never
  const error = await errorOf(gatewayClient(server.url).charge(CHARGE_REQUEST, options))
  expect(error).toBeInstanceOf(InvalidRequestError)
  expect(error.message).toContain('idempotencyKey')
  expect(server.requests).toEqual([])
})

it('a null `until` counts as omitted', async () => {
  const server = await startServer(() => ({ body: { ...CHARGE, status: 'succeeded' } }))
  const options = { until: null } as never
  expect(await gatewayClient(server.url).waitForCharge('ch_1', options)).toMatchObject({
    status: 'succeeded',
  })
})

it('a page without TLS, which has no randomUUID, sends rejected credentials once and makes keys', async () => {
  const getRandomValues = crypto.getRandomValues.bind(crypto)
  vi.stubGlobal('crypto', { getRandomValues })
  const server = await startServer(({ url }) =>
    url === '/oauth/token' ? { status: 401, body: { errorCode: '17' } } : { status: 202, body: CHARGE },
  )
  const client = subscriptionsClient(server.url)
  for (let call = 0; call < 5; call += 1)
    expect(await errorOf(client.status('inv-1'))).toMatchObject({ code: 'authentication_failed' })
  expect(server.requests).toHaveLength(1)
  await gatewayClient(server.url).charge(CHARGE_REQUEST)
  expect(server.requests[1]?.headers['idempotency-key']).toMatch(/^\d+(-\d+){3}$/)
})

it('the title of a page that a login gets is not quoted, because it may repeat the password', async () => {
  const password = 'pa"ss&word 9'
  const body = '<title>Bad login pa&quot;ss&amp;word 9</title>'
  const server = await startServer(() => ({ status: 500, headers: { 'content-type': 'text/html' }, body }))
  const client = subscriptionsClient(server.url, { credentials: { ...CREDENTIALS, password }, retry: false })
  const error = await errorOf(client.login())
  expect(error.message).not.toContain('Bad login')
})

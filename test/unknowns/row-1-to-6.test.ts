import { expect } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { GatewayClient } from '../../src/index.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { CHARGES, ORDER, openStrict, test } from './set-up.ts'

test('row 1: each area has its own base URL, and both accept one URL with a path and trailing slashes', async (open) => {
  const { clientOptions } = createMock()
  expect(clientOptions.subscriptions.baseUrl).not.toBe(clientOptions.gateway.baseUrl)

  const baseUrl = 'https://pay.example/sandbox'
  const { mock, fetch, clientWith, subscribe } = await open({
    subscriptions: { baseUrl: `${baseUrl}//` },
    gateway: { baseUrl },
  })
  const base = mock.clientOptions.gateway.baseUrl
  for (const written of [base, `${base}/`, `${base}//`]) {
    const gateway = new GatewayClient({ ...mock.clientOptions.gateway, baseUrl: written, fetch })
    expect(await gateway.health()).toEqual({ ok: true, status: 200 })
    expect((await clientWith({ baseUrl: written }).login()).token_type).toBe('Bearer')
  }
  // A server, too, gives payers the configured URL.
  const { json } = await subscribe()
  expect(json.url).toBe(`${baseUrl}/authorize/${json.invoiceID}`)
})

test('row 2: an unknown path is a 404 in the shape of its area, and the log names the nearest route', async (open) => {
  const { g, s, mock } = await open()
  expect((await g('/api/v1/mfs/charge')).json).toEqual({
    error: { code: 'not_found', message: expect.any(String) },
  })
  const answer = await s('/api/v1.0/subscribtion/x')
  expect([answer.status, answer.json.errorCode]).toEqual([404, '02'])
  expect(answer.headers.get('x-ratelimit-limit')).toBe('600')
  expect(mock.requests.all().map(({ nearestRoute, executed }) => [nearestRoute, executed])).toEqual([
    ['POST /api/v1/mfs/charges', false],
    ['POST /api/v1.0/subscription/:subscriptionId', false],
  ])
})

const typed = (type: string, body: unknown) => ({
  headers: { 'content-type': type },
  body: JSON.stringify(body),
})

test('row 3: a wrong method is 405 with Allow, malformed JSON is 400, and another content type is 415 unless the option allows any (case 85)', async (open) => {
  const spec = await open()
  for (const [answer, allow] of [
    [await spec.g(CHARGES, { method: 'PUT' }), 'POST'],
    [await spec.g('/api/v1/reference', { method: 'DELETE' }), 'GET, HEAD'],
    [await spec.s('/api/v1.0/subscribe', { method: 'GET' }), 'POST'],
  ] as const) {
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allow])
  }
  for (const body of ['{', '[]', '"text"', 'msisdn=1']) {
    const ofG = await spec.g(CHARGES, { key: 'a', body })
    expect([ofG.status, ofG.json.error.code]).toEqual([400, 'invalid_request'])
    const ofS = await spec.s('/api/v1.0/subscribe', { body })
    expect([ofS.status, ofS.json.errorCode]).toEqual([400, '01'])
  }
  const lax = await open({ subscriptions: { contentType: 'any' }, gateway: { contentType: 'any' } })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/merge-patch+json']) {
    for (const [mock, ofG, ofS] of [
      [spec, 415, 415],
      [lax, 202, 200],
    ] as const) {
      expect((await mock.g(CHARGES, { key: type, ...typed(type, CHARGE) })).status).toBe(ofG)
      expect((await mock.s('/api/v1.0/subscribe', typed(type, ORDER))).status).toBe(ofS)
    }
  }
  expect(
    (await spec.g(CHARGES, { key: 'b', ...typed('Application/JSON; charset=utf-8', CHARGE) })).status,
  ).toBe(202)
  // Where no body fields are defined, an empty body needs no content type.
  expect((await spec.s('/api/v1.0/subscription/x')).status).toBe(404)
})

test('row 4: unknown fields are ignored, or refused under strict rules', async (open) => {
  const spec = await open()
  expect((await spec.subscribe({ note: 'x' })).status).toBe(200)
  expect((await spec.charge('a', { note: 'x' })).status).toBe(202)
  const refusing = {
    subscriptions: { unknownFields: 'refuse' },
    gateway: { unknownFields: 'refuse' },
  } as const
  for (const mock of await openStrict(open, refusing)) {
    expect((await mock.subscribe({ note: 'x' })).status).toBe(422)
    expect((await mock.charge('a', { note: 'x' })).status).toBe(400)
    expect((await mock.subscribe()).status).toBe(200)
    // Operations without body fields refuse any.
    expect((await mock.s('/api/v1.0/subscription/x/cancel', { body: { reason: 'x' } })).status).toBe(422)
    expect((await mock.g('/api/v1/reset', { body: { all: true } })).status).toBe(400)
    expect((await mock.g('/api/v1/reset')).status).toBe(200)
  }
})

test('row 5: the mock checks rate limit, route, authentication, key, content type, body and state in this order', async (open) => {
  const { g } = await open({ gateway: { rateLimit: { limit: 7, windowMs: 60_000 } } })
  const text = { headers: { 'content-type': 'text/plain' } }
  expect((await g('/nowhere', { anonymous: true, body: '{' })).status).toBe(404)
  expect((await g(CHARGES, { anonymous: true, body: '{' })).status).toBe(401)
  expect((await g(CHARGES, { ...text, body: '{' })).json.error.code).toBe('missing_idempotency_key')
  expect((await g(CHARGES, { ...text, key: 'a', body: '{' })).status).toBe(415)
  expect((await g(CHARGES, { key: 'a', body: '{' })).json.error.code).toBe('invalid_request')
  expect((await g(`${CHARGES}/ch_none/renew`, { key: 'a', body: { mandate_id: 'ch_none' } })).status).toBe(
    404,
  )
  expect((await g(CHARGES, { key: 'a', body: CHARGE })).status).toBe(202)
  expect((await g(CHARGES, { anonymous: true, body: '{' })).status).toBe(429)
  expect((await g('/nowhere')).status).toBe(429)
})

test('row 6: HEAD returns the headers of GET without a body', async (open) => {
  const { g, s } = await open()
  for (const path of ['/health', '/api/v1/reference']) {
    const [head, get] = [await g(path, { method: 'HEAD' }), await g(path, { method: 'GET' })]
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    expect(get.text).not.toBe('')
  }
  expect((await s('/api/v1.0/subscribe', { method: 'HEAD' })).status).toBe(405)
})

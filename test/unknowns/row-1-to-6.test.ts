import { expect } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { GatewayClient } from '../../src/index.ts'
import type { OpenMock } from '../mock/open.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { CHARGES, G, ORDER, statusesOf, strictOr, test, testCases } from './set-up.ts'

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
  const error = { code: 'not_found', message: expect.any(String) }
  expect((await g('/api/v1/mfs/charge')).json).toEqual({ error })
  await g('/mfs/charges')
  const answer = await s('/api/v1.0/subscribtion/x')
  expect([answer.status, answer.json.errorCode]).toEqual([404, '02'])
  expect(answer.headers.get('x-ratelimit-limit')).toBe('600')
  expect(mock.requests.all().map(({ nearestRoute, executed }) => [nearestRoute, executed])).toEqual([
    ['POST /api/v1/mfs/charges', false],
    // Without its prefix, this path is as similar to `GET /api/v1/mfs/charges/:id`.
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
  for (const [{ status, headers }, allow] of [
    [await spec.g(CHARGES, { method: 'PUT' }), 'POST'],
    [await spec.g('/api/v1/reference', { method: 'DELETE' }), 'GET, HEAD'],
    [await spec.s('/api/v1.0/subscribe', { method: 'GET' }), 'POST'],
  ] as const)
    expect([status, headers.get('allow')]).toEqual([405, allow])
  for (const body of ['{', '[]', '"text"', 'msisdn=1']) {
    const answers = [await spec.g(CHARGES, { key: 'a', body }), await spec.s('/api/v1.0/subscribe', { body })]
    const codes = answers.map(({ status, json }) => [status, json.error?.code ?? json.errorCode])
    expect(codes).toEqual([
      [400, 'invalid_request'],
      [400, '01'],
    ])
  }
  const any = { contentType: 'any' } as const
  const lax = await open({ subscriptions: any, gateway: any })
  const sendAs = async ({ g, s }: OpenMock, type: string) =>
    statusesOf([
      await g(CHARGES, { key: type, ...typed(type, CHARGE) }),
      await s('/api/v1.0/subscribe', typed(type, ORDER)),
    ])
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/merge-patch+json'])
    expect([await sendAs(spec, type), await sendAs(lax, type)]).toEqual([
      [415, 415],
      [202, 200],
    ])
  expect(await sendAs(spec, 'Application/JSON; charset=utf-8')).toEqual([202, 200])
  // Where no body fields are defined, an empty body needs no content type.
  expect((await spec.s('/api/v1.0/subscription/x')).status).toBe(404)
})

const unknownFields = async ({ subscribe, charge, s, g }: OpenMock) =>
  statusesOf([
    await subscribe({ note: 'x' }),
    await charge('a', { note: 'x' }),
    // Operations without body fields.
    await s('/api/v1.0/subscription/x/cancel', { body: { reason: 'x' } }),
    await g('/api/v1/reset', { body: { all: true } }),
    await subscribe(),
    await g('/api/v1/reset'),
  ])
const refuse = { unknownFields: 'refuse' } as const

testCases('row 4: unknown fields are ignored, or refused under strict rules', [
  [{}, unknownFields, [200, 202, 404, 200, 200, 200]],
  [strictOr({ subscriptions: refuse, gateway: refuse }), unknownFields, [422, 400, 422, 400, 200, 200]],
])

test('row 5: the mock checks rate limit, route, authentication, key, content type, body and state in this order', async (open) => {
  const { g } = await open(G({ rateLimit: { limit: 7, windowMs: 60_000 } }))
  const bad = { headers: { 'content-type': 'text/plain' }, body: '{' }
  const renewal = `${CHARGES}/ch_none/renew`
  for (const [path, asking, status, code] of [
    ['/nowhere', { ...bad, anonymous: true }, 404, 'not_found'],
    [CHARGES, { ...bad, anonymous: true }, 401, 'unauthorized'],
    [CHARGES, bad, 400, 'missing_idempotency_key'],
    [CHARGES, { ...bad, key: 'a' }, 415, 'invalid_request'],
    [renewal, { key: 'a', body: '{' }, 400, 'invalid_request'],
    [renewal, { key: 'a', body: { mandate_id: 'ch_none' } }, 404, 'not_found'],
    [CHARGES, { key: 'a', body: CHARGE }, 202, undefined],
    ['/nowhere', { ...bad, anonymous: true }, 429, 'rate_limited'],
  ] as const) {
    const response = await g(path, asking)
    expect([path, response.status, response.json.error?.code]).toEqual([path, status, code])
  }
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

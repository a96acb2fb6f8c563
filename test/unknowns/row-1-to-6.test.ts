import { expect, test } from 'vitest'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import { OK } from '../support/bodies.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { answered, ORDER, open } from './set-up.ts'

test('row 1: two base URLs by default, or one for both, with or without a path and slashes at the end', async () => {
  const two = open()
  expect(two.mock.clientOptions.subscriptions.baseUrl).not.toBe(two.mock.clientOptions.gateway.baseUrl)
  expect(await two.gateway.health()).toEqual({ ok: true, status: 200 })

  const baseUrl = 'https://pay.example/sandbox'
  const { mock } = open({ subscriptions: { baseUrl: `${baseUrl}//` }, gateway: { baseUrl } })
  for (const written of [baseUrl, `${baseUrl}/`, `${baseUrl}//`]) {
    const fetch = mock.fetch
    const gateway = new GatewayClient({ ...mock.clientOptions.gateway, baseUrl: written, fetch })
    expect(await gateway.health()).toEqual({ ok: true, status: 200 })
    const subscriptions = new SubscriptionsClient({
      ...mock.clientOptions.subscriptions,
      baseUrl: written,
      fetch,
    })
    expect((await subscriptions.login()).token_type).toBe('Bearer')
  }
})

test('row 2: an unknown path is a 404 in its area’s shape, and the log names the nearest route', async () => {
  const { g, s, mock } = open()
  expect((await g('/api/v1/mfs/charge')).json).toEqual({
    error: { code: 'not_found', message: expect.any(String) },
  })
  const answer = await s('/api/v1.0/subscribtion/x')
  expect([answer.status, answer.json.errorCode]).toEqual([404, '02'])
  expect(mock.requests.all().map(({ nearestRoute, executed }) => [nearestRoute, executed])).toEqual([
    ['POST /api/v1/mfs/charges', false],
    ['POST /api/v1.0/subscription/:subscriptionId', false],
  ])
})

test('row 3: a wrong method is 405 with Allow, no JSON is 400, and a label matters under strict rules alone', async () => {
  const text = { headers: { 'content-type': 'text/plain' }, body: JSON.stringify(CHARGE) }
  const spec = open()
  const wrong = await spec.g('/api/v1/mfs/charges', { method: 'PUT' })
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  for (const body of ['{', '[]', '"text"', 'msisdn=1']) {
    expect((await spec.g('/api/v1/mfs/charges', { key: 'a', body })).status).toBe(400)
    expect((await spec.s('/api/v1.0/subscribe', { body })).status).toBe(400)
  }
  expect((await spec.g('/api/v1/mfs/charges', { key: 'a', ...text })).status).toBe(202)

  for (const mock of [open({ rules: 'strict' }), open({ gateway: { contentType: 'json' } })]) {
    expect((await mock.g('/api/v1/mfs/charges', { key: 'a', ...text })).status).toBe(415)
    expect((await mock.charge('a')).status).toBe(202)
  }
  const strict = open({ rules: 'strict' })
  const order = { ...text, body: JSON.stringify(ORDER) }
  expect((await strict.s('/api/v1.0/subscribe', order)).status).toBe(415)
  // Where no body fields are defined, an empty body needs no label.
  expect((await strict.s('/api/v1.0/subscription/x')).status).toBe(404)
})

test('row 4: unknown fields are ignored, or refused under strict rules; clients keep those of answers', async () => {
  const spec = open()
  expect((await spec.subscribe({ note: 'x' })).status).toBe(200)
  expect((await spec.charge('a', { note: 'x' })).status).toBe(202)
  const refusing = open({ subscriptions: { unknownFields: 'refuse' }, gateway: { unknownFields: 'refuse' } })
  for (const mock of [open({ rules: 'strict' }), refusing]) {
    expect((await mock.subscribe({ note: 'x' })).status).toBe(422)
    expect((await mock.charge('a', { note: 'x' })).status).toBe(400)
    expect((await mock.subscribe()).status).toBe(200)
  }
  const { subscriptions } = answered({ body: { id: 'sub-1', loyaltyTier: 'gold', ...OK } })
  expect(await subscriptions.details('sub-1')).toMatchObject({ loyaltyTier: 'gold' })
})

test('row 5: route, rate limit, authentication, headers, body and state are checked in this order', async () => {
  const path = '/api/v1/mfs/charges'
  const { g } = open({ gateway: { rateLimit: { limit: 5, windowMs: 60_000 } } })
  expect((await g('/nowhere', { anonymous: true, body: '{' })).status).toBe(404)
  expect((await g(path, { anonymous: true, body: '{' })).status).toBe(401)
  expect((await g(path, { body: '{' })).json.error.code).toBe('missing_idempotency_key')
  expect((await g(path, { key: 'a', body: '{' })).json.error.code).toBe('invalid_request')
  expect((await g(`${path}/ch_none/renew`, { key: 'a', body: { mandate_id: 'ch_none' } })).status).toBe(404)
  expect((await g(path, { anonymous: true, body: '{' })).status).toBe(429)
  expect((await g('/nowhere')).status).toBe(404)
})

test('row 6: HEAD gives the headers of GET and nothing else', async () => {
  const { g, s } = open()
  for (const path of ['/health', '/api/v1/reference']) {
    const [head, get] = [await g(path, { method: 'HEAD' }), await g(path, { method: 'GET' })]
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    expect(get.text).not.toBe('')
  }
  expect((await s('/api/v1.0/subscribe', { method: 'HEAD' })).status).toBe(405)
})

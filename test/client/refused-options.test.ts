import { describe, expect, it } from 'vitest'
import type { GatewayClientOptions } from '../../src/index.ts'
import { GatewayClient, SubscriptionsClient } from '../../src/index.ts'
import { CHARGE, CHARGE_REQUEST } from '../support/bodies.ts'
import { CREDENTIALS, gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { loosely, refusedBy, refusedFields, SECRET } from '../support/refused.ts'
import { startServer } from '../support/scripted-server.ts'

const NOWHERE = 'http://127.0.0.1:1'

describe('a client is not made', () => {
  it.each([
    'shop.example',
    'ftp://shop.example',
    `https://user:${SECRET}@shop.example`,
    'https://shop.example?x=1',
    'https://shop.example#x',
    'https://',
    '',
    7,
    undefined,
  ])('with the base URL %j', async (baseUrl) => {
    expect(await refusedFields(() => gatewayClient(loosely(baseUrl)))).toEqual(['baseUrl'])
    expect(await refusedFields(() => subscriptionsClient(loosely(baseUrl)))).toEqual(['baseUrl'])
  })

  it.each<[field: string, options: object]>([
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: '5000' }],
    ['totalTimeout', { totalTimeout: Number.NaN }],
    ['retry', { retry: 3 }],
    ['retry.limit', { retry: { limit: -1 } }],
    ['retry.limit', { retry: { limit: 1.5 } }],
    ['retry.maxWait', { retry: { maxWait: Number.NaN } }],
    ['rateLimit', { rateLimit: 'hold' }],
    ['fetch', { fetch: 'fetch' }],
    ['apiPrefix', { apiPrefix: 'v2/' }],
    ['headers.Authorization', { headers: { Authorization: SECRET } }],
    ['headers.content-type', { headers: { 'content-type': 'text/plain' } }],
    ['headers.Idempotency-Key', { headers: { 'Idempotency-Key': 'x' } }],
    ['headers.x-note', { headers: { 'x-note': `${SECRET}\r\nx-evil: 1` } }],
    ['hooks.onRequest', { hooks: { onRequest: 'log' } }],
    ['onUnexpected', { onUnexpected: 'log' }],
    ['timeOut', { timeOut: 5 }],
    ['retry.limits', { retry: { limits: 0 } }],
    ['hooks.onRequst', { hooks: { onRequst: () => undefined } }],
  ])('with a wrong %s: %o', async (field, options) => {
    expect(await refusedFields(() => gatewayClient(NOWHERE, options))).toEqual([field])
    expect(await refusedFields(() => subscriptionsClient(NOWHERE, options))).toEqual([field])
  })

  it.each<[field: string, options: object]>([
    ['loginCooldown', { loginCooldown: 0 }],
    ['refresh', { refresh: 'token' }],
    ['tokenRequestFormat', { tokenRequestFormat: 'xml' }],
    ['emptyBody', { emptyBody: 'null' }],
    ['apiKey', { apiKey: SECRET }],
    ['credentials', { credentials: SECRET }],
    ['credentials', { credentials: undefined }],
    ['credentials.password', { credentials: { ...CREDENTIALS, password: `${SECRET}\n` } }],
    ['credentials.username', { credentials: { ...CREDENTIALS, username: ' ' } }],
    ['credentials.clientSecret', { credentials: { ...CREDENTIALS, clientSecret: 42 } }],
  ])('of area S with a wrong %s', async (field, options) => {
    expect(await refusedFields(() => subscriptionsClient(NOWHERE, options))).toEqual([field])
  })

  it.each<[field: string, options: object]>([
    ['apiKey', { apiKey: `${SECRET}\n` }],
    ['apiKey', { apiKey: `${SECRET} x` }],
    ['apiKey', { apiKey: 'é' }],
    ['apiKey', { apiKey: '' }],
    ['apiKey', { apiKey: undefined }],
    ['resetMethod', { resetMethod: 'GET' }],
    ['refresh', { refresh: 'password' }],
  ])('of area G with a wrong %s', async (field, options) => {
    expect(await refusedFields(() => gatewayClient(NOWHERE, options))).toEqual([field])
  })

  it('with a clock or a token store that lacks a method', async () => {
    const clock = { now: () => 0 }
    const [first] = await refusedFields(() => gatewayClient(NOWHERE, { clock: loosely(clock) }))
    expect(first).toMatch(/^clock/)
    const tokenStore = { get: () => undefined }
    const [field] = await refusedFields(() =>
      subscriptionsClient(NOWHERE, { tokenStore: loosely(tokenStore) }),
    )
    expect(field).toMatch(/^tokenStore/)
  })

  it('without options', async () => {
    await refusedBy(() => new GatewayClient(loosely(undefined)))
    await refusedBy(() => new SubscriptionsClient(loosely(SECRET)))
  })

  it('and every wrong option is named at once', async () => {
    const options: object = { baseUrl: 'x', apiKey: '', timeout: -1, colour: SECRET }
    expect(await refusedFields(() => new GatewayClient(options as GatewayClientOptions))).toEqual([
      'apiKey',
      'baseUrl',
      'colour',
      'timeout',
    ])
  })
})

describe('a call is not made', () => {
  it.each<[field: string, options: object]>([
    ['timeout', { timeout: 0 }],
    ['totalTimeout', { totalTimeout: '1' }],
    ['retry.limit', { retry: { limit: -1 } }],
    ['signal', { signal: new AbortController() }],
    ['headers.Authorization', { headers: { Authorization: SECRET } }],
    ['headers.content-type', { headers: { 'content-type': 'text/plain' } }],
    ['headers.Idempotency-Key', { headers: { 'Idempotency-Key': SECRET } }],
    ['headers.x-note', { headers: { 'x-note': `${SECRET}\r\nx-evil: 1` } }],
    ['idempotencyKey', { idempotencyKey: '' }],
    ['idempotencyKey', { idempotencyKey: `${SECRET}\n` }],
    ['idempotencyKey', { idempotencyKey: 'é' }],
    ['idempotencyKey', { idempotencyKey: 5 }],
    // A misspelled key would be another charge.
    ['idempotencykey', { idempotencykey: 'order-1' }],
  ])('with a wrong %s: %o', async (field, options) => {
    const server = await startServer([{ status: 202, body: CHARGE }])
    const call = () => gatewayClient(server.url).charge(CHARGE_REQUEST, options)
    expect(await refusedFields(call)).toEqual([field])
    expect(server.requests).toEqual([])
  })

  it('with an idempotency key where the operation takes none', async () => {
    const server = await startServer([{ body: CHARGE }])
    const client = gatewayClient(server.url)
    const options: object = { idempotencyKey: SECRET }
    expect(await refusedFields(() => client.status('ch_1', options))).toEqual(['idempotencyKey'])
    expect(await refusedFields(() => client.confirm('c', { otp: '1' }, options))).toEqual(['idempotencyKey'])
    expect(server.requests).toEqual([])
  })

  it('with options that are no object', async () => {
    const server = await startServer([{ body: CHARGE }])
    const client = gatewayClient(server.url)
    await refusedBy(() => client.charge(CHARGE_REQUEST, loosely(SECRET)))
    await refusedBy(() =>
      client.waitForCharge(
        'ch_1',
        loosely(() => true),
      ),
    )
    expect(server.requests).toEqual([])
  })
})

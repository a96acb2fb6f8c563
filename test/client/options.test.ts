import { describe, expect, it } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import type { SubscriptionsClientOptions } from '../../src/index.ts'
import { GatewayClient, InvalidRequestError, SubscriptionsClient, toInstant } from '../../src/index.ts'
import {
  API_KEY,
  CHARGE,
  CHARGE_REQUEST,
  errorOf,
  gatewayClient,
  SUBSCRIPTION,
  subscriptionsClient,
} from './clients.ts'
import { startServer } from './scripted-server.ts'

/** Options as someone without a type checker gives them. */
const loosely = (options: object) => options as Partial<SubscriptionsClientOptions>

describe('options that break a rule are refused when the client is made', () => {
  it.each([
    ['loginCooldown', { loginCooldown: Number.NaN }],
    ['loginCooldown', { loginCooldown: 0 }],
    ['loginCooldown', { loginCooldown: Number.POSITIVE_INFINITY }],
    ['refresh', { refresh: 'token' }],
    ['tokenRequestFormat', { tokenRequestFormat: 'xml' }],
    ['emptyBody', { emptyBody: 'null' }],
    ['tokenStore', { tokenStore: { get: () => undefined } }],
    ['hooks.onRequest', { hooks: { onRequest: 'log' } }],
    ['hooks', { hooks: [] }],
    ['rateLimit', { rateLimit: 'hold' }],
    ['headers.Connection', { headers: { Connection: 'close' } }],
    ['headers.transfer-encoding', { headers: { 'transfer-encoding': 'chunked' } }],
  ])('%s in %o', (field, options) => {
    try {
      subscriptionsClient('https://api.example', loosely(options))
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidRequestError)
      expect((error as InvalidRequestError).issues.map((issue) => issue.field)).toEqual([field])
      return
    }
    expect.unreachable()
  })

  it.each([
    ['retries', { retries: 3 }, /Client: retries is no option; did you mean retry\?$/],
    [
      'retry.limits',
      { retry: { limits: 0 } },
      /Client: retry\.limits is no option; did you mean retry\.limit\?$/,
    ],
    [
      'hooks.onRequst',
      { hooks: { onRequst: () => undefined } },
      /Client: hooks\.onRequst is no hook; did you mean hooks\.onRequest\?$/,
    ],
  ])('%s, which is no option of a client', (_, options, words) => {
    expect(() => subscriptionsClient('https://s.example', options as object)).toThrow(words)
    expect(() => gatewayClient('https://g.example', options as object)).toThrow(words)
  })

  it('an option of the other client', () => {
    expect(() => gatewayClient('https://g.example', { tokenStore: undefined } as object)).toThrow(
      /tokenStore/,
    )
    expect(() => subscriptionsClient('https://s.example', { tokenStroe: {} } as object)).toThrow(
      /tokenStroe is no option; did you mean tokenStore\?/,
    )
  })

  it('but not what a mock gives for its clients', () => {
    const mock = createMock({ gateway: { apiPrefix: '/v9' }, subscriptions: { apiPrefix: '/v9' } })
    const { gateway, subscriptions } = mock.clientOptions
    expect(() => new GatewayClient({ ...gateway, fetch: mock.fetch })).not.toThrow()
    expect(() => new SubscriptionsClient({ ...subscriptions, fetch: mock.fetch })).not.toThrow()
  })

  it('resetMethod other than POST and DELETE', () => {
    const options = { baseUrl: 'https://g.example', apiKey: API_KEY, resetMethod: 'GET' }
    expect(() => new GatewayClient(options as never)).toThrow(/resetMethod must be "POST" or "DELETE"/)
  })
})

describe('options of a call', () => {
  it('a misspelt idempotency key is refused: the charge would be another one', async () => {
    const server = await startServer([{ status: 202, body: CHARGE }])
    const options = { idempotencykey: 'order-1' } as object
    const error = await errorOf(gatewayClient(server.url).charge(CHARGE_REQUEST, options))
    expect(error.message).toContain('idempotencykey is no option of charge; did you mean idempotencyKey?')
    expect(server.requests).toHaveLength(0)
  })

  it('misspelt options of a page, or a number in their place, are refused before any request', async () => {
    const server = await startServer([{}])
    const client = subscriptionsClient(server.url)
    const page = { per_page: 5 } as object
    const words = 'per_page is no option of a page; did you mean perPage?'
    expect((await errorOf(client.payments('sub-1', page))).message).toContain(words)
    expect((await errorOf(client.allPayments('sub-1', page).next())).message).toContain(words)
    expect((await errorOf(client.payments('sub-1', 2 as never))).message).toContain('page must be an object')
    expect(server.requests).toEqual([])
  })

  it('an idempotency key where there is none is refused', async () => {
    const server = await startServer([{ body: CHARGE }])
    const error = await errorOf(gatewayClient(server.url).status('ch_1', { idempotencyKey: 'x' } as object))
    expect(error.code).toBe('invalid_request')
  })

  it('null instead of options of a page or a wait throws no TypeError', async () => {
    const server = await startServer([{}])
    const client = subscriptionsClient(server.url)
    expect(await errorOf(client.waitForStatus('inv-1', null as never))).toMatchObject({
      code: 'invalid_request',
    })
    expect(() => client.allPayments('sub-1', null as never)).not.toThrow()
  })

  it('what a call was given is what is sent, whatever happens to it afterwards', async () => {
    const server = await startServer([{ status: 202, body: CHARGE }])
    const request = { ...CHARGE_REQUEST }
    const options = { idempotencyKey: 'order-1', headers: { 'x-shop': 'one' } }
    const call = gatewayClient(server.url).charge(request, options)
    request.amount = 9_999
    options.idempotencyKey = 'order-2'
    options.headers['x-shop'] = 'two'
    await call
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ amount: 250 })
    expect(server.requests[0]?.headers).toMatchObject({ 'idempotency-key': 'order-1', 'x-shop': 'one' })
  })

  it('a subscription whose fields change while the credentials are fetched is sent as it was checked', async () => {
    const server = await startServer(({ url }) =>
      url === '/oauth/token'
        ? { body: { token_type: 'Bearer', expires_in: 3600, access_token: 'access-token-1' } }
        : { body: { url: 'https://pay.example/1', invoiceID: 'inv-1', errorCode: '00' } },
    )
    const request: { amount: string } & typeof SUBSCRIPTION = { ...SUBSCRIPTION }
    const client = subscriptionsClient(server.url, {
      credentials: async () => ({
        clientId: 'merchant-1',
        clientSecret: 'client-secret-1',
        username: 'merchant',
        password: 'pass-word-1',
      }),
    })
    const call = client.subscribe(request)
    Object.assign(request, { amount: '9999.00', end: 'never' })
    await call
    expect(JSON.parse(server.requests[1]?.body ?? '')).toMatchObject({ amount: '25.00', end: '2027-11-30' })
  })
})

describe('the words of an InvalidRequestError', () => {
  it('say that nothing was sent only where something would have been', async () => {
    const server = await startServer([{}])
    const error = await errorOf(gatewayClient(server.url).status('..'))
    expect(error.message).toMatch(/Nothing was sent\.$/)
    expect(() => toInstant('yesterday', 'UTC')).toThrow(/received text of another form\.$/)
    expect(() => subscriptionsClient('ftp://x')).toThrow(/received text of another form\.$/)
  })

  it('do not deny an attempt that came before the key could not be had', async () => {
    const server = await startServer([{ status: 503 }, { status: 202, body: CHARGE }])
    let asked = 0
    const client = gatewayClient(server.url, {
      clock: { now: () => 0, sleep: async () => undefined },
      apiKey: () => {
        asked += 1
        if (asked > 1) throw new Error('The vault is closed.')
        return API_KEY
      },
    })
    const error = await errorOf(client.charge(CHARGE_REQUEST))
    expect(error).toMatchObject({ code: 'invalid_request', outcome: 'unknown', attempts: 1 })
    expect(error.message).not.toContain('Nothing was sent')
    expect(error.message).toContain('outcome is unknown')
  })
})

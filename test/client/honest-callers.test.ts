import { describe, expect, it } from 'vitest'
import { createMock } from '../../mocks/core.ts'
import { CHARGE, CHARGE_REQUEST, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { gatewayClient, subscriptionsClient } from '../support/clients.ts'
import { clientsOf } from '../support/mock-clients.ts'
import { loosely, refusedFields, SECRET } from '../support/refused.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'

const charging = () => startServer([{ status: 202, body: CHARGE }])
const subscribing = () => startServer(withLogin([{ body: SUBSCRIBED }]))

describe('case 91: what an honest caller gives is accepted', () => {
  it('a signal that is null, as frameworks give it', async () => {
    const server = await charging()
    await gatewayClient(server.url).charge(CHARGE_REQUEST, loosely({ signal: null }))
    expect(server.requests).toHaveLength(1)
  })

  it('a header that is undefined, which is not sent', async () => {
    const server = await charging()
    const client = gatewayClient(server.url, { headers: loosely({ 'x-tenant': undefined, 'x-shop': 'a' }) })
    await client.charge(CHARGE_REQUEST, { headers: loosely({ 'x-trace': undefined }) })
    const [request] = server.requests
    expect(request?.headers['x-shop']).toBe('a')
    expect(request?.headers).not.toHaveProperty('x-tenant')
    expect(request?.headers).not.toHaveProperty('x-trace')
  })

  it('a field that is undefined, which is not sent', async () => {
    const charges = await charging()
    await gatewayClient(charges.url).charge(loosely({ ...CHARGE_REQUEST, note: undefined }))
    expect(JSON.parse(charges.requests[0]?.body ?? '')).toEqual(CHARGE_REQUEST)
    const subscriptions = await subscribing()
    await subscriptionsClient(subscriptions.url).subscribe(loosely({ ...SUBSCRIPTION, coupon: undefined }))
    expect(JSON.parse(subscriptions.requests[1]?.body ?? '')).not.toHaveProperty('coupon')
  })

  it('options that are undefined, those of a call included', async () => {
    const server = await charging()
    const options: object = { timeout: undefined, retry: undefined, fetch: undefined, hooks: undefined }
    const callOptions: object = { idempotencyKey: undefined, signal: undefined, headers: undefined }
    await gatewayClient(server.url, options).charge(CHARGE_REQUEST, callOptions)
    expect(server.requests).toHaveLength(1)
  })

  it('a Headers instance, whose Authorization is refused as in an object', async () => {
    const server = await charging()
    const client = gatewayClient(server.url, { headers: loosely(new Headers({ 'X-Tenant': 'a' })) })
    await client.charge(CHARGE_REQUEST, { headers: loosely(new Headers({ 'x-trace': 't' })) })
    expect(server.requests[0]?.headers).toMatchObject({ 'x-tenant': 'a', 'x-trace': 't' })
    const headers = loosely(new Headers({ authorization: SECRET }))
    expect(await refusedFields(() => client.charge(CHARGE_REQUEST, { headers }))).toEqual([
      'headers.authorization',
    ])
  })

  it('a URL as the base URL', async () => {
    const server = await charging()
    await gatewayClient(loosely(new URL('/tenant', server.url))).charge(CHARGE_REQUEST)
    expect(server.requests[0]?.url).toBe('/tenant/api/v1/mfs/charges')
  })

  it('a URL as redirect_uri and as userReturnURL, which is sent as text', async () => {
    const address = 'https://shop.example/paid?cart=7'
    const charges = await charging()
    await gatewayClient(charges.url).charge({ ...CHARGE_REQUEST, redirect_uri: loosely(new URL(address)) })
    expect(JSON.parse(charges.requests[0]?.body ?? '')).toMatchObject({ redirect_uri: address })
    const subscriptions = await subscribing()
    const client = subscriptionsClient(subscriptions.url)
    await client.subscribe({ ...SUBSCRIPTION, userReturnURL: loosely(new URL(address)) })
    expect(JSON.parse(subscriptions.requests[1]?.body ?? '')).toMatchObject({ userReturnURL: address })
  })

  it.each(['\n', '\r\n'])('a base URL from an environment file, which ends in %j', async (end) => {
    const server = await charging()
    await gatewayClient(`${server.url}${end}`).charge(CHARGE_REQUEST)
    expect(server.requests[0]?.url).toBe('/api/v1/mfs/charges')
  })

  it('an infinite timeout, of a client and of a call', async () => {
    const server = await charging()
    const timeout = Number.POSITIVE_INFINITY
    await gatewayClient(server.url, { timeout }).charge(CHARGE_REQUEST)
    await gatewayClient(server.url).charge(CHARGE_REQUEST, { timeout })
    expect(server.requests).toHaveLength(2)
  })

  it.each(['myapp:return', 'myapp://return'])('the address of an app: %s', async (address) => {
    const charges = await charging()
    await gatewayClient(charges.url).charge({ ...CHARGE_REQUEST, redirect_uri: address })
    expect(JSON.parse(charges.requests[0]?.body ?? '')).toMatchObject({ redirect_uri: address })
    const subscriptions = await subscribing()
    await subscriptionsClient(subscriptions.url).subscribe({ ...SUBSCRIPTION, userReturnURL: address })
    expect(JSON.parse(subscriptions.requests[1]?.body ?? '')).toMatchObject({ userReturnURL: address })
  })

  it('the options that a mock gives for its clients', () => {
    const mock = createMock({ gateway: { apiPrefix: '/v9' }, subscriptions: { apiPrefix: '/v9' } })
    expect(() => clientsOf(mock)).not.toThrow()
  })
})

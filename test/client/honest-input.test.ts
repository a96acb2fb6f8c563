import { describe, expect, it } from 'vitest'
import { CHARGE, CHARGE_REQUEST, OK, SUBSCRIBED, SUBSCRIPTION } from '../support/bodies.ts'
import { gatewayClient } from '../support/clients.ts'
import { type Clients, openClients } from '../support/open-clients.ts'
import { loosely, refusedFields, SECRET } from '../support/refused.ts'

const subscribing = () => openClients({ body: SUBSCRIBED })
const charging = () => openClients({ status: 202, body: CHARGE })
const lastOf = ({ requests }: Clients) => requests.at(-1)
const bodyOf = (clients: Clients) => JSON.parse(lastOf(clients)?.body ?? '')

describe('case 91: an honest caller gives', () => {
  const timeout = Number.POSITIVE_INFINITY
  const none = { timeout: undefined, retry: undefined, fetch: undefined, hooks: undefined }
  it.each<[string, client: object, call: object]>([
    ['null as a signal, as frameworks give it', {}, { signal: null }],
    ['undefined options', none, { idempotencyKey: undefined, signal: undefined, headers: undefined }],
    ['an infinite timeout', { timeout }, { timeout }],
  ])('%s of a client and of a call', async (_, options, callOptions) => {
    const { url } = await charging()
    expect(await gatewayClient(url, options).charge(CHARGE_REQUEST, callOptions)).toEqual(CHARGE)
  })

  it('undefined headers and fields, and do not send them', async () => {
    const clients = await charging()
    const headers = loosely({ 'x-tenant': undefined, 'x-shop': 'a' })
    const request = loosely({ ...CHARGE_REQUEST, note: undefined })
    await gatewayClient(clients.url, { headers }).charge(request, {
      headers: loosely({ 'x-trace': undefined }),
    })
    expect(bodyOf(clients)).toEqual(CHARGE_REQUEST)
    expect(lastOf(clients)?.headers['x-shop']).toBe('a')
    for (const name of ['x-tenant', 'x-trace']) expect(lastOf(clients)?.headers).not.toHaveProperty(name)
    const subscribed = await subscribing()
    await subscribed.subscriptions.subscribe(loosely({ ...SUBSCRIPTION, coupon: undefined }))
    expect(bodyOf(subscribed)).not.toHaveProperty('coupon')
  })

  it('Headers, and refuse their Authorization as they refuse it in an object', async () => {
    const clients = await charging()
    const client = gatewayClient(clients.url, { headers: loosely(new Headers({ 'X-Tenant': 'a' })) })
    await client.charge(CHARGE_REQUEST, { headers: loosely(new Headers({ 'x-trace': 't' })) })
    expect(lastOf(clients)?.headers).toMatchObject({ 'x-tenant': 'a', 'x-trace': 't' })
    const headers = loosely(new Headers({ authorization: SECRET }))
    const refused = await refusedFields(() => client.charge(CHARGE_REQUEST, { headers }))
    expect(refused).toEqual(['headers.authorization'])
  })

  it.each(['\n', '\r\n', ' ', '\t', new URL('http://shop.example/tenant')])(
    'a base URL that ends in a line break or a blank, or is a URL: %j',
    async (end) => {
      const clients = await charging()
      const isUrl = end instanceof URL
      await gatewayClient(loosely(isUrl ? new URL('/tenant', clients.url) : `${clients.url}${end}`)).charge(
        CHARGE_REQUEST,
      )
      expect(lastOf(clients)?.url).toBe(`${isUrl ? '/tenant' : ''}/api/v1/mfs/charges`)
    },
  )

  it.each([new URL('https://shop.example/paid?cart=7'), 'myapp:return', 'myapp://return'])(
    'the return address %s, and send it as text',
    async (address) => {
      const charged = await charging()
      await charged.gateway.charge({ ...CHARGE_REQUEST, redirect_uri: loosely(address) })
      expect(bodyOf(charged)).toMatchObject({ redirect_uri: String(address) })
      const subscribed = await subscribing()
      await subscribed.subscriptions.subscribe({ ...SUBSCRIPTION, userReturnURL: loosely(address) })
      expect(bodyOf(subscribed)).toMatchObject({ userReturnURL: String(address) })
    },
  )

  it('the same to a wait, a list and a renewal', async () => {
    const { gateway } = await openClients({ status: 201, body: { ...CHARGE, status: 'succeeded' } })
    const wait = { signal: null, timeout: Number.POSITIVE_INFINITY, until: undefined }
    expect(await gateway.waitForCharge('ch_1', wait)).toMatchObject({ status: 'succeeded' })
    const renewal = { dueDate: '2026-12-01', attempt: undefined, idempotencyKey: undefined }
    expect(await gateway.renew('ch_0', renewal, { signal: null })).toMatchObject({ id: 'ch_1' })
    const { subscriptions } = await openClients({ body: { ...OK, subscriptionPayments: [] } })
    const page = { page: undefined, perPage: undefined }
    expect(
      await subscriptions.payments('sub-1', page, { headers: new Headers({ 'x-a': '1' }) }),
    ).toBeDefined()
  })

  it('an app link such as com.shop://back, but not a scheme that runs code', async () => {
    const charged = await charging()
    await charged.gateway.charge({ ...CHARGE_REQUEST, redirect_uri: 'com.shop://back' })
    expect(bodyOf(charged)).toMatchObject({ redirect_uri: 'com.shop://back' })
    for (const redirect_uri of ['javascript:alert(1)', 'data:text/html,x', ' https://shop.example']) {
      const refused = await refusedFields(() => charged.gateway.charge({ ...CHARGE_REQUEST, redirect_uri }))
      expect(refused).toEqual(['redirect_uri'])
    }
  })
})

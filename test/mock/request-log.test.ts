import { inspect } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import type { MockOptions } from '../../mocks/options.ts'
import type { OpenMerchant } from './merchant.ts'
import { CHARGE, openMerchant, REQUEST } from './merchant.ts'
import { throughFetch } from './transports.ts'

let merchant: OpenMerchant
const open = async (options?: MockOptions) => {
  merchant = await openMerchant(throughFetch, options)
  return merchant
}
afterEach(() => merchant.close())

const secretMerchant = {
  name: 'Shop',
  clientId: 'shop',
  clientSecret: 's3cret-of-the-client',
  users: [{ username: 'ada', password: 'p4ssword"of ada' }],
}

describe('the request log', () => {
  test('shows what was asked, what was answered, and which rule decided', async () => {
    const { mock, charge } = await open()
    await charge('k')
    await charge('k')
    await charge('k2', { amount: '250' })
    expect(mock.requests.of('gateway.charge')).toMatchObject([
      {
        number: 1,
        at: new Date('2026-12-01T06:00:00Z'),
        area: 'gateway',
        method: 'POST',
        path: '/api/v1/mfs/charges',
        body: CHARGE,
        idempotencyKey: 'k',
        status: 202,
        answer: { status: 'pending_confirmation' },
        executed: true,
        decision: 'accepted',
      },
      { number: 2, executed: false, decision: 'replayed', status: 202 },
      { number: 3, executed: false, decision: 'invalid', explanation: expect.stringContaining('amount') },
    ])
    expect(mock.explain('gateway.charge')).toMatch(/was answered 400 \(invalid\).*amount/)
  })

  test('holds no secret: not in bodies, answers, paths or headers, whatever was sent where', async () => {
    const { mock, s, g, login, charge, key } = await open({
      subscriptions: { merchants: [secretMerchant] },
      gateway: { apiKeys: ['k3y-of-the-gateway'], otp: '918273' },
    })
    const token = (await login()).json
    const { json } = await charge('k')
    await g(`/api/v1/mfs/confirm/${String(json.confirmation_id)}`, {
      headers: key(),
      body: { otp: '918273' },
    })
    await g('/api/v1/reference', { method: 'GET' })
    await s('/oauth/token', { body: `{"password":"${secretMerchant.clientSecret}` })
    await s('/auth/login', { body: { username: 'ada', password: secretMerchant.users[0]?.password } })
    await s(
      `/api/v1.0/subscribe?access_token=${String(token.access_token)}&x=${secretMerchant.clientSecret}`,
      {
        headers: { Authorization: `Bearer ${String(token.access_token)}` },
        body: { ...REQUEST, clientID: 'shop', note: secretMerchant.users[0]?.password },
      },
    )
    await s('/oauth/token', {
      body: { grant_type: 'refresh_token', refresh_token: token.refresh_token, client_secret: 'another one' },
    })
    const shown = `${JSON.stringify(mock.requests.all())}${inspect(mock.requests.all(), { depth: 9 })}${mock.explain('subscriptions.subscribe')}`
    const secrets = [
      secretMerchant.clientSecret,
      'p4ssword',
      'k3y-of-the-gateway',
      '918273',
      'another one',
      String(token.access_token),
      String(token.refresh_token),
    ]
    for (const secret of secrets) expect(shown).not.toContain(secret)
    expect(mock.requests.all()).toHaveLength(8)
  })

  test('keeps the newest entries and counts the dropped ones', async () => {
    const { mock, charge } = await open({ logSize: 3 })
    for (const key of ['1', '2', '3', '4', '5']) await charge(key)
    expect(mock.requests.all().map(({ number, idempotencyKey }) => [number, idempotencyKey])).toEqual([
      [3, '3'],
      [4, '4'],
      [5, '5'],
    ])
    expect(mock.requests.dropped).toBe(2)
    mock.requests.clear()
    expect([mock.requests.all(), mock.requests.dropped]).toEqual([[], 0])
  })

  test('gives copies', async () => {
    const { mock, charge } = await open()
    await charge('k')
    const [entry] = mock.requests.all()
    Object.assign(entry?.body ?? {}, { amount: 1 })
    entry?.at.setFullYear(1999)
    expect(mock.requests.all()[0]).toMatchObject({ body: CHARGE, at: new Date('2026-12-01T06:00:00Z') })
  })

  test('refuses a name that is no operation', async () => {
    const { mock } = await open()
    expect(() => mock.requests.of('gateway.pay' as 'gateway.charge')).toThrow(/gateway\.charge/)
    expect(() => mock.explain('charge' as 'gateway.charge')).toThrow(/gateway\.charge/)
    expect(mock.explain('gateway.renew')).toBe(
      'gateway.renew (POST /api/v1/mfs/charges/:id/renew): no such request has arrived.',
    )
  })
})

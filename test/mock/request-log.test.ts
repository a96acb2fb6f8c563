import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { MockOptions } from '../../mocks/options.ts'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { openMerchant, REQUEST } from './merchant.ts'
import { throughFetch } from './transports.ts'

const open = (options?: MockOptions) => openMerchant(throughFetch, options)

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

  test('holds no secret in places where nobody expects one', async () => {
    const { mock, s, g, login, charge } = await open({
      subscriptions: { merchants: [secretMerchant], tokens: [{ accessToken: 'a token+of one’s own' }] },
      gateway: { apiKeys: ['k3y-of-the-gateway'], unknownFields: 'refuse' },
    })
    const token = (await login()).json
    const issued = [String(token.access_token), String(token.refresh_token)]
    const secrets = [secretMerchant.clientSecret, 'k3y-of-the-gateway', 'a token+of one’s own', ...issued]
    const key = { Authorization: 'Bearer k3y-of-the-gateway' }
    for (const secret of secrets) {
      const written = encodeURIComponent(secret)
      const everyLetter = [...new TextEncoder().encode(secret)]
        .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
        .join('')
      await s(`/api/v1.0/subscription/${written}/cancel`)
      await s(`/api/v1.0/subscription/${everyLetter}`)
      await s(`/nowhere/Bearer%20${written}?${new URLSearchParams({ q: secret })}`)
      await g(`/api/v1/mfs/charges/x?note=${written}`, { method: 'GET', headers: key })
      await g('/api/v1/mfs/charges', {
        headers: { ...key, 'Idempotency-Key': 'k' },
        body: { [secret]: [secret] },
      })
      await g('/api/v1/mfs/charges', { headers: key, body: `{"note":"${secret}` })
    }
    await charge('k3y-of-the-gateway')
    const shown = `${JSON.stringify(mock.requests.all())}${mock.explain('gateway.charge')}${mock.explain('subscriptions.cancel')}`
    for (const secret of secrets) {
      expect(shown).not.toContain(secret)
      expect(shown).not.toContain(encodeURIComponent(secret))
    }
    expect(decodeURIComponent(shown.replace(/%(?![0-9a-f]{2})/gi, '%25'))).not.toMatch(
      /s3cret-of|k3y-of|a token/,
    )
    expect(mock.requests.all()).toHaveLength(2 + 6 * secrets.length)
  })

  test('keeps neither what is very long nor what is very deep, and fails over neither', async () => {
    const { mock, g, charge, key } = await open()
    const deep = `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},${JSON.stringify(CHARGE).slice(1)}`
    expect((await g('/api/v1/mfs/charges', { headers: key('deep'), body: deep })).status).toBe(202)
    expect((await charge('long', { note: 'x'.repeat(1_000_000) })).status).toBe(202)
    expect((await g(`/${'a/'.repeat(500_000)}`)).status).toBe(404)
    expect((await g(`/?${'a=1&'.repeat(500_000)}`)).status).toBe(404)
    expect(mock.state.charges()).toHaveLength(2)
    const log = mock.requests.all()
    expect(log.map(({ body }) => body)).toEqual([
      '[too deep, not kept]',
      expect.stringMatching(/^\[1000\d{3} characters, not kept\]$/),
      undefined,
      undefined,
    ])
    expect(JSON.stringify(log).length).toBeLessThan(20_000)
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

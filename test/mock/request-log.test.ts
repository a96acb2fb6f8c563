import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { MOCK_CHARGE as CHARGE } from '../support/mock-clients.ts'
import { CHARGES, ORDER, open } from './open.ts'

const secretMerchant = {
  name: 'Shop',
  clientId: 'shop',
  clientSecret: 's3cret-of-the-client',
  users: [{ username: 'ada', password: 'p4ssword"of ada' }],
}

describe('the request log', () => {
  test('shows each request, its response, and the rule that decided, as copies', async () => {
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
        response: { status: 'pending_confirmation' },
        executed: true,
        decision: 'accepted',
      },
      { number: 2, executed: false, decision: 'replayed', status: 202 },
      { number: 3, executed: false, decision: 'invalid', explanation: expect.stringContaining('amount') },
    ])
    expect(mock.explain('gateway.charge')).toMatch(/400.*amount/)
    const [entry] = mock.requests.all()
    Object.assign(entry?.body ?? {}, { amount: 1 })
    entry?.at.setFullYear(1999)
    expect(mock.requests.all()[0]).toMatchObject({ body: CHARGE, at: new Date('2026-12-01T06:00:00Z') })
  })

  test('case 123: names a mistaken identifier, field, header or key of area G, and what to send', async () => {
    const { mock, g, charge, confirm, renew, read, paid } = await open()
    const { json: first } = await charge('k')
    await charge('k', { amount: 999 })
    expect(mock.explain('gateway.charge')).toMatch(
      /original response.* another amount.* send a new Idempotency-Key/,
    )
    await charge('k2', { redirect_uri: undefined, redirectUri: CHARGE.redirect_uri })
    expect(mock.explain('gateway.charge')).toContain('The body has redirectUri. Send redirect_uri.')
    await g(CHARGES, { anonymous: true, key: 'k3', body: CHARGE })
    expect(mock.explain('gateway.charge')).toContain('Send the header Authorization: Bearer')
    await read(first.confirmation_id)
    expect(mock.explain('gateway.status')).toContain('This is the confirmation_id of a charge. Send the id')
    await confirm(first.id)
    expect(mock.explain('gateway.confirm')).toContain('This is the id of a charge. Send the confirmation_id')
    const { id } = await paid()
    await renew(id, 'r', { mandateId: id })
    expect(mock.explain('gateway.renew')).toContain('The body has mandateId. Send mandate_id.')
  })

  test('explains a key that was used with another body, under keyReuse: reject', async () => {
    const { mock, charge } = await open({ gateway: { keyReuse: 'reject' } })
    await charge('k')
    expect((await charge('k', { currency: 'USD' })).status).toBe(422)
    expect(mock.explain('gateway.charge')).toMatch(
      /another currency\. Send a new key, or the first body again/,
    )
  })

  test('says which identifier was passed in place of which, and that no bearer token was sent', async () => {
    const { mock, s, subscription } = await open()
    const { invoiceId, subscriptionId } = await subscription()
    for (const [path, words] of [
      [`subscription/${invoiceId}`, 'an invoiceID. Pass the subscriptionId'],
      [`subscription/${invoiceId}/cancel`, 'an invoiceID. Pass the subscriptionId'],
      [`subscription/${invoiceId}/payments`, 'an invoiceID. Pass the subscriptionId'],
      [`subscribe/${subscriptionId}/status`, 'a subscriptionId. Pass the invoiceID'],
      [`subscription/payment/${subscriptionId}`, 'a subscriptionId. Pass a paymentId'],
      ['subscription/elsewhere', 'not issued'],
    ] as const) {
      expect((await s(`/api/v1.0/${path}`)).status).toBe(404)
      expect(mock.requests.all().at(-1)?.explanation).toContain(words)
    }
    expect(() => mock.payer.authorize(subscriptionId)).toThrow('This is a subscriptionId. Pass the invoiceID')
    await s(`/api/v1.0/subscribe/${invoiceId}/status`, { anonymous: true })
    expect(mock.explain('subscriptions.status')).toContain('no Authorization header with a bearer token')
  })

  test('holds no secret of a login, a confirmation or an option', async () => {
    const { mock, s, g, login, refresh, charge, confirm } = await open({
      subscriptions: { merchants: [secretMerchant] },
      gateway: { apiKeys: ['k3y-of-the-gateway'], otp: '918273' },
    })
    const [{ password = '' } = {}] = secretMerchant.users
    const { access_token: token, refresh_token } = (await login()).json
    const { json } = await charge('k')
    await confirm(json.confirmation_id, '918273')
    await g('/api/v1/reference', { method: 'GET' })
    await s('/oauth/token', { body: `{"password":"${secretMerchant.clientSecret}` })
    await s('/auth/login', { body: { username: 'ada', password } })
    await s(
      `/api/v1.0/subscribe?access_token=${token}&x=${secretMerchant.clientSecret}&password=unknown-one`,
      {
        token,
        body: { ...ORDER, clientID: 'shop', note: password },
      },
    )
    await refresh(refresh_token, { client_secret: 'another one' })
    const shown = `${JSON.stringify(mock.requests.all())}${inspect(mock.requests.all(), { depth: 9 })}${mock.explain('subscriptions.subscribe')}`
    const own = [
      secretMerchant.clientSecret,
      'p4ssword',
      'k3y-of-the-gateway',
      '918273',
      'another one',
      'unknown-one',
    ]
    for (const secret of [...own, token, refresh_token]) expect(shown).not.toContain(secret)
    const inspected = inspect(mock, { depth: 20, showHidden: true })
    for (const secret of own) expect(inspected).not.toContain(secret)
    expect(mock.requests.all()).toHaveLength(8)
  })

  test('holds no secret that is sent in an unexpected place, encoded or not', async () => {
    const { mock, s, g, login, charge } = await open({
      subscriptions: { merchants: [secretMerchant], tokens: [{ accessToken: 'a token+of one’s own' }] },
      gateway: { apiKeys: ['k3y-of-the-gateway'], unknownFields: 'refuse' },
    })
    const { access_token, refresh_token } = (await login()).json
    const own = [secretMerchant.clientSecret, 'k3y-of-the-gateway', 'a token+of one’s own']
    const secrets: string[] = [...own, access_token, refresh_token]
    for (const secret of secrets) {
      const written = encodeURIComponent(secret)
      const bytes = [...new TextEncoder().encode(secret)]
      const everyLetter = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
      await s(`/api/v1.0/subscription/${written}/cancel`)
      await s(`/api/v1.0/subscription/${everyLetter}`)
      await s(`/nowhere/Bearer%20${written}?${new URLSearchParams({ q: secret })}`)
      await g(`${CHARGES}/x?note=${written}`, { method: 'GET' })
      await g(CHARGES, { key: 'k', body: { [secret]: [secret] } })
      await g(CHARGES, { body: `{"note":"${secret}` })
    }
    await charge('k3y-of-the-gateway')
    const noToken = 'z'.repeat(60)
    await g(`/${noToken}`)
    const shown = `${JSON.stringify(mock.requests.all())}${mock.explain('gateway.charge')}${mock.explain('subscriptions.cancel')}`
    for (const secret of secrets) {
      expect(shown).not.toContain(secret)
      expect(shown).not.toContain(encodeURIComponent(secret))
    }
    const decoded = decodeURIComponent(shown.replace(/%(?![0-9a-f]{2})/gi, '%25'))
    expect(decoded).not.toMatch(/s3cret-of|k3y-of|a token/)
    expect(decoded).toContain(noToken)
    expect(mock.requests.all()).toHaveLength(3 + 6 * secrets.length)
  })

  test('keeps the names of fields and the grant_type, although a credential is the same word', async () => {
    const users = [{ username: 'admin', password: 'password' }]
    const merchants = [{ name: 'Shop', clientId: 'shop', clientSecret: 'secret', users }]
    const { mock, login } = await open({ subscriptions: { merchants, tokens: [] } })
    const given = { client_id: 'shop', client_secret: 'secret', username: 'admin', password: 'password' }
    await login({ ...given, note: 'a password, a secret' })
    expect(mock.requests.all()[0]?.body).toEqual({
      ...given,
      grant_type: 'password',
      client_secret: '[redacted]',
      password: '[redacted]',
      note: 'a [redacted], a [redacted]',
    })
  })

  test('does not keep very long or very deep bodies, and the mock still reads them', async () => {
    const { mock, g, charge } = await open()
    const deep = `{"x":${'['.repeat(30_000)}${']'.repeat(30_000)},${JSON.stringify(CHARGE).slice(1)}`
    expect((await g(CHARGES, { key: 'deep', body: deep })).status).toBe(202)
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
    const kept = mock.requests.all().map(({ number, idempotencyKey }) => `${number}: ${idempotencyKey}`)
    expect([...kept, mock.requests.dropped]).toEqual(['3: 3', '4: 4', '5: 5', 2])
    mock.requests.clear()
    expect([mock.requests.all(), mock.requests.dropped]).toEqual([[], 0])
  })

  test('names the options that let a charge expire', async () => {
    const { mock, charge, confirm } = await open()
    const { json } = await charge('k')
    await mock.clock.advance({ days: 2 })
    await confirm(json.confirmation_id)
    expect(mock.explain('gateway.confirm')).toMatch(
      /charge_expired.*gateway\.confirmationTtl, gateway\.maxOtpAttempts/,
    )
  })

  test('explains an operation without a request', async () => {
    const { mock } = await open()
    expect(mock.explain('gateway.renew')).toContain('/api/v1/mfs/charges/:id/renew')
  })
})

test('a body that the log does not keep drops no other request', async () => {
  const { mock, charge } = await open()
  const redirect_uri = `https://shop.example/${'a'.repeat(1_000_000)}`
  for (let index = 0; index < 20; index += 1) await charge(`key-${index}`, { redirect_uri })
  expect(mock.requests.dropped).toBe(0)
  expect(mock.requests.all()[0]?.body).toMatch(/^\[\d+ characters, not kept\]$/)
})

test('case 127: keeps fewer requests if they are long, and counts those that it dropped', async () => {
  const { mock, charge } = await open({ gateway: { rateLimit: false } })
  const redirect_uri = `https://shop.example/${'a-'.repeat(30_000)}`
  for (let index = 0; index < 300; index += 1) await charge(`key-${index}`, { redirect_uri })
  const kept = mock.requests.all()
  expect(mock.requests.dropped + kept.length).toBe(300)
  expect([kept.length > 200, kept.length < 270]).toEqual([true, true])
  expect(kept.at(-1)).toMatchObject({ number: 300, idempotencyKey: 'key-299' })
})

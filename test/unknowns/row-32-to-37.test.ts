import { expect, test } from 'vitest'
import { SubscriptionsClient } from '../../src/index.ts'
import { OK } from '../support/bodies.ts'
import { errorOf as failure } from '../support/clients.ts'
import { answered, open } from './set-up.ts'

const form = (fields: Record<string, string>) => ({
  anonymous: true,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
})

const CREDENTIALS = {
  grant_type: 'password',
  client_id: 'mock-client',
  client_secret: 'mock-client-secret',
  username: 'mock-user',
  password: 'mock-password',
}

test('row 32: a login comes as JSON or as form fields, and clients send either', async () => {
  const { s, login, mock } = open()
  expect((await login()).status).toBe(200)
  expect((await s('/oauth/token', form(CREDENTIALS))).status).toBe(200)
  for (const tokenRequestFormat of ['json', 'form'] as const) {
    const { subscriptions, sent } = answered({ body: { id: 'sub-1', ...OK } }, { tokenRequestFormat })
    await subscriptions.login()
    expect(sent[0]?.type).toContain(tokenRequestFormat === 'json' ? 'application/json' : 'form-urlencoded')
    const client = new SubscriptionsClient({
      ...mock.clientOptions.subscriptions,
      fetch: mock.fetch,
      tokenRequestFormat,
    })
    expect((await client.login()).token_type).toBe('Bearer')
  }
})

test('row 33: a token lives 3600 seconds or as told, and an odd lifetime means neither for ever nor a loop', async () => {
  const { login } = open()
  expect((await login()).json).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })

  const short = open({ subscriptions: { tokenTtl: { minutes: 1 } } })
  const { json } = await short.login()
  expect(json.expires_in).toBe(60)
  const ask = () =>
    short.s('/api/v1.0/subscription/x', {
      anonymous: true,
      headers: { authorization: `Bearer ${json.access_token}` },
    })
  await short.mock.clock.advance({ seconds: 59 })
  expect((await ask()).status).toBe(404)
  await short.mock.clock.advance({ seconds: 1 })
  expect((await ask()).status).toBe(401)

  for (const expires_in of [undefined, null, 'abc', 0, -5, 1e308, '3600']) {
    let now = Date.parse('2026-12-01T06:00:00Z')
    const clock = { now: () => now, sleep: async () => undefined }
    const body = { access_token: 'access', expires_in }
    const { subscriptions, sent } = answered({ body: { id: 'sub-1', ...OK } }, { clock }, { body })
    const logins = () => sent.filter(({ url }) => url.endsWith('/oauth/token')).length
    for (let call = 0; call < 10; call += 1) await subscriptions.details('sub-1')
    expect(logins()).toBe(1)
    now += 86_400_000
    await subscriptions.details('sub-1')
    expect(logins()).toBe(2)
  }
})

test('row 34: a refresh token rotates, or stays, or is refused; clients keep an old one and fall back to one login', async () => {
  const refresh = async (mock: ReturnType<typeof open>, token: unknown) =>
    mock.login({
      grant_type: 'refresh_token',
      refresh_token: token,
      username: undefined,
      password: undefined,
    })
  const rotating = open()
  const { refresh_token: first } = (await rotating.login()).json
  const second = await refresh(rotating, first)
  expect([second.status, second.json.refresh_token === first]).toEqual([200, false])
  expect((await refresh(rotating, first)).status).toBe(401)
  expect((await refresh(rotating, second.json.refresh_token)).status).toBe(200)

  const reusing = open({ subscriptions: { refresh: 'reuse' } })
  const { refresh_token: kept } = (await reusing.login()).json
  expect((await refresh(reusing, kept)).json.refresh_token).toBe(kept)
  expect((await refresh(reusing, kept)).status).toBe(200)
  const rejecting = open({ subscriptions: { refresh: 'reject' } })
  expect((await refresh(rejecting, (await rejecting.login()).json.refresh_token)).status).toBe(401)

  for (const [{ mock }, grants] of [
    [open(), ['password', 'refresh_token']],
    [open({ subscriptions: { refresh: 'reject' } }), ['password', 'refresh_token', 'password']],
  ] as const) {
    const client = new SubscriptionsClient({
      ...mock.clientOptions.subscriptions,
      fetch: mock.fetch,
      refresh: 'refresh_token',
    })
    await failure(client.details('sub-unknown'))
    mock.tokens.expire()
    expect(await failure(client.details('sub-unknown'))).toMatchObject({ status: 404 })
    const logins = mock.requests.of('subscriptions.login')
    expect(logins.map(({ body }) => (body as { grant_type: string }).grant_type)).toEqual(grants)
  }
  const sentTokens: unknown[] = []
  let now = 0
  const keeping = new SubscriptionsClient({
    baseUrl: 'https://server.example',
    credentials: { clientId: 'c', clientSecret: 's', username: 'u', password: 'p' },
    refresh: 'refresh_token',
    clock: { now: () => now, sleep: async () => undefined },
    fetch: async (input, init) => {
      const request = new Request(input as string, init as RequestInit)
      if (!request.url.endsWith('/oauth/token')) return Response.json({ id: 'sub-1', ...OK })
      const fields = await request.json()
      sentTokens.push(fields.refresh_token)
      const extra = fields.grant_type === 'password' ? { refresh_token: 'the-first' } : {}
      return Response.json({ access_token: 'access', expires_in: 3600, ...extra })
    },
  })
  for (let hour = 0; hour < 3; hour += 1) {
    await keeping.details('sub-1')
    now += 3_600_000
  }
  expect(sentTokens).toEqual([undefined, 'the-first', 'the-first'])
})

test('row 35: five failures in a minute lock the user out for fifteen minutes, right credentials and refresh grant included', async () => {
  const { login, s, mock } = open()
  const { access_token, refresh_token } = (await login()).json
  for (const wrong of [
    { password: 'x' },
    { client_secret: 'x' },
    { password: 'y' },
    { password: 'z' },
    { password: 'w' },
  ]) {
    expect((await login(wrong)).status).toBe(401)
  }
  const refresh = { grant_type: 'refresh_token', refresh_token }
  expect([(await login()).status, (await login(refresh)).status]).toEqual([403, 403])
  // Tokens that were issued go on, and another user is not locked.
  const authorization = `Bearer ${access_token}`
  const asked = await s('/api/v1.0/subscription/x', { anonymous: true, headers: { authorization } })
  expect(asked.status).toBe(404)
  expect((await login({ username: 'nobody' })).status).toBe(401)
  await mock.clock.advance({ minutes: 14, seconds: 59 })
  // An attempt while locked does not prolong it.
  expect((await login()).status).toBe(403)
  await mock.clock.advance({ seconds: 1 })
  expect((await login()).status).toBe(200)

  const spread = open()
  for (let count = 0; count < 8; count += 1) {
    expect((await spread.login({ password: 'x' })).status).toBe(401)
    await spread.mock.clock.advance({ seconds: 20 })
  }
  const cleared = open()
  for (let count = 0; count < 4; count += 1) await cleared.login({ password: 'x' })
  expect((await cleared.login()).status).toBe(200)
  for (let count = 0; count < 4; count += 1) expect((await cleared.login({ password: 'x' })).status).toBe(401)
  expect((await cleared.login()).status).toBe(200)
})

test('row 35: the count, its time and the lock’s time are an option, and clients take any count and body', async () => {
  const lockout = { attempts: 2, windowSeconds: 10, durationSeconds: 30 }
  const strictly = open({ subscriptions: { lockout } })
  for (let count = 0; count < 2; count += 1) await strictly.login({ password: 'x' })
  expect((await strictly.login()).status).toBe(403)
  await strictly.mock.clock.advance({ seconds: 30 })
  expect((await strictly.login()).status).toBe(200)
  const never = open({ subscriptions: { lockout: false } })
  for (let count = 0; count < 20; count += 1) await never.login({ password: 'x' })
  expect((await never.login()).status).toBe(200)

  for (const body of [
    '',
    '<html></html>',
    { error: 'locked' },
    { errorCode: '403', errorMessage: 'Locked' },
  ]) {
    const { subscriptions, sent } = answered({}, {}, { status: 403, body })
    expect(await failure(subscriptions.details('sub-1'))).toMatchObject({
      code: 'locked_out',
      outcome: 'not-sent',
    })
    expect(await failure(subscriptions.details('sub-1'))).toMatchObject({ code: 'locked_out' })
    expect(sent).toHaveLength(1)
  }
})

test('row 36: /auth/login is not there, and no client calls it', async () => {
  const { s, mock, subscriptions } = open()
  expect(
    (await s('/auth/login', { body: { username: 'mock-user', password: 'mock-password' } })).status,
  ).toBe(404)
  await subscriptions.login()
  expect(mock.requests.all().at(-1)?.path).toBe('/oauth/token')
})

test('row 37: 401, 403 and 429 carry errorCode and errorMessage, and clients read them with any body', async () => {
  const { s, login } = open({ subscriptions: { rateLimit: { limit: 7, windowMs: 60_000 } } })
  const refusals = [await s('/api/v1.0/subscription/x', { anonymous: true })]
  for (let count = 0; count < 5; count += 1) await login({ password: 'x' })
  refusals.push(await login(), await login(), await login())
  expect(refusals.map(({ status, json }) => [status, json.errorCode, typeof json.errorMessage])).toEqual([
    [401, '401', 'string'],
    [403, '403', 'string'],
    [403, '403', 'string'],
    [429, '429', 'string'],
  ])
  for (const body of [
    '',
    '<html></html>',
    { error: 'invalid_token', error_description: 'x' },
    { errorCode: 401 },
  ]) {
    const unauthorized = answered({ status: 401, body }).subscriptions
    expect(await failure(unauthorized.details('sub-1'))).toMatchObject({
      code: 'authentication_failed',
      status: 401,
    })
    const limited = answered({ status: 429, body }).subscriptions
    expect(await failure(limited.details('sub-1'))).toMatchObject({ code: 'rate_limited', status: 429 })
    const forbidden = answered({ status: 403, body }).subscriptions
    expect(await failure(forbidden.details('sub-1'))).toMatchObject({ code: 'api_error', status: 403 })
  }
})

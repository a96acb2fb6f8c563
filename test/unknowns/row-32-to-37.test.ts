import { expect } from 'vitest'
import { defaultMerchant } from '../../mocks/core.ts'
import { errorOf as failure } from '../support/clients.ts'
import { test } from './set-up.ts'

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

test('row 32: a login is JSON or a form, and clients send either', async (open) => {
  const { s, login, clientWith } = await open()
  expect((await login()).status).toBe(200)
  expect((await s('/oauth/token', form(CREDENTIALS))).status).toBe(200)
  for (const tokenRequestFormat of ['json', 'form'] as const) {
    expect((await clientWith({ tokenRequestFormat }).login()).token_type).toBe('Bearer')
  }
})

test('row 33: a token lives 3600 seconds or the time of the option', async (open) => {
  const { login } = await open()
  expect((await login()).json).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })

  const short = await open({ subscriptions: { tokenTtl: { minutes: 1 } } })
  const { json } = await short.login()
  expect(json.expires_in).toBe(60)
  const ask = () => short.s('/api/v1.0/subscription/x', { token: json.access_token })
  await short.mock.clock.advance({ seconds: 59 })
  expect((await ask()).status).toBe(404)
  await short.mock.clock.advance({ seconds: 1 })
  expect((await ask()).status).toBe(401)
})

test('row 34: a refresh token rotates, stays, or is refused, and clients then fall back to one login', async (open) => {
  const rotating = await open()
  const { refresh_token: first } = (await rotating.login()).json
  const second = await rotating.refresh(first)
  expect([second.status, second.json.refresh_token === first]).toEqual([200, false])
  expect((await rotating.refresh(first)).status).toBe(401)
  expect((await rotating.refresh(second.json.refresh_token)).status).toBe(200)

  const reusing = await open({ subscriptions: { refresh: 'reuse' } })
  const { refresh_token: kept } = (await reusing.login()).json
  expect((await reusing.refresh(kept)).json.refresh_token).toBe(kept)
  expect((await reusing.refresh(kept)).status).toBe(200)
  const rejecting = await open({ subscriptions: { refresh: 'reject' } })
  expect((await rejecting.refresh((await rejecting.login()).json.refresh_token)).status).toBe(401)

  const other = { clientId: 'other', clientSecret: 'secret', users: [{ username: 'other', password: 'x' }] }
  const shared = await open({ subscriptions: { merchants: [defaultMerchant, { name: 'Other', ...other }] } })
  const { refresh_token: own } = (await shared.login()).json
  expect((await shared.refresh(own, { client_id: 'other', client_secret: 'secret' })).status).toBe(401)
  expect((await shared.refresh(own)).status).toBe(200)

  for (const [{ mock, clientWith }, grants] of [
    [await open(), ['password', 'refresh_token']],
    [await open({ subscriptions: { refresh: 'reject' } }), ['password', 'refresh_token', 'password']],
  ] as const) {
    const client = clientWith({ refresh: 'refresh_token' })
    await failure(client.details('sub-unknown'))
    mock.tokens.expire()
    expect(await failure(client.details('sub-unknown'))).toMatchObject({ status: 404 })
    const logins = mock.requests.of('subscriptions.login')
    expect(logins.map(({ body }) => (body as { grant_type: string }).grant_type)).toEqual(grants)
  }
})

test('row 35: five failures in a minute lock a username for 15 minutes, with valid credentials and refresh grants too', async (open) => {
  const { login, refresh, s, mock } = await open()
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
  expect([(await login()).status, (await refresh(refresh_token)).status]).toEqual([403, 403])
  // Tokens that were issued go on, and another user is not locked, nor is another merchant's user of that name.
  expect((await s('/api/v1.0/subscription/x', { token: access_token })).status).toBe(404)
  expect((await login({ username: 'nobody' })).status).toBe(401)
  expect((await login({ client_id: 'another' })).status).toBe(401)
  await mock.clock.advance({ minutes: 14, seconds: 59 })
  // An attempt while locked neither prolongs it nor counts later.
  expect((await login({ password: 'x' })).status).toBe(403)
  await mock.clock.advance({ seconds: 1 })
  for (let count = 0; count < 4; count += 1) expect((await login({ password: 'x' })).status).toBe(401)
  expect((await login()).status).toBe(200)

  const unknown = await open()
  for (let count = 0; count < 5; count += 1) await unknown.login({ username: 'nobody' })
  expect((await unknown.login({ username: 'nobody' })).status).toBe(403)
  for (let count = 0; count < 9; count += 1) expect((await unknown.login({ password: '' })).status).toBe(422)
  expect((await unknown.login()).status).toBe(200)

  const spread = await open()
  for (let count = 0; count < 8; count += 1) {
    expect((await spread.login({ password: 'x' })).status).toBe(401)
    await spread.mock.clock.advance({ seconds: 20 })
  }
  const cleared = await open()
  for (let count = 0; count < 4; count += 1) await cleared.login({ password: 'x' })
  expect((await cleared.login()).status).toBe(200)
  for (let count = 0; count < 4; count += 1) expect((await cleared.login({ password: 'x' })).status).toBe(401)
  expect((await cleared.login()).status).toBe(200)
})

test('row 35: attempts, window and duration of the lockout are an option', async (open) => {
  const lockout = { attempts: 2, windowSeconds: 10, durationSeconds: 30 }
  const strictly = await open({ subscriptions: { lockout } })
  for (let count = 0; count < 2; count += 1) await strictly.login({ password: 'x' })
  expect((await strictly.login()).status).toBe(403)
  await strictly.mock.clock.advance({ seconds: 30 })
  expect((await strictly.login()).status).toBe(200)
  const never = await open({ subscriptions: { lockout: false } })
  for (let count = 0; count < 20; count += 1) await never.login({ password: 'x' })
  expect((await never.login()).status).toBe(200)
})

test('row 36: /auth/login does not exist, and no client calls it', async (open) => {
  const { s, mock, subscriptions } = await open()
  expect(
    (await s('/auth/login', { body: { username: 'mock-user', password: 'mock-password' } })).status,
  ).toBe(404)
  await subscriptions.login()
  expect(mock.requests.all().at(-1)?.path).toBe('/oauth/token')
})

test('row 37: 401, 403 and 429 carry errorCode and errorMessage', async (open) => {
  const { s, login } = await open({ subscriptions: { rateLimit: { limit: 7, windowMs: 60_000 } } })
  const refusals = [await s('/api/v1.0/subscription/x', { anonymous: true })]
  for (let count = 0; count < 5; count += 1) await login({ password: 'x' })
  refusals.push(await login(), await login(), await login())
  expect(refusals.map(({ status, json }) => [status, json.errorCode, typeof json.errorMessage])).toEqual([
    [401, '401', 'string'],
    [403, '403', 'string'],
    [403, '403', 'string'],
    [429, '429', 'string'],
  ])
})

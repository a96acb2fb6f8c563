import { expect } from 'vitest'
import { defaultMerchant } from '../../mocks/core.ts'
import type { OpenMock } from '../mock/open.ts'
import { errorOf as failure } from '../support/clients.ts'
import { S, statusesOf, test, testCases } from './set-up.ts'

test('row 32: a login is JSON or a form, and clients send either', async (open) => {
  const { s, login, clientWith, mock } = await open()
  expect((await login()).status).toBe(200)
  const { clientId, clientSecret, username, password } = mock.clientOptions.subscriptions.credentials
  const client = { client_id: clientId, client_secret: clientSecret }
  const body = String(new URLSearchParams({ grant_type: 'password', ...client, username, password }))
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  expect((await s('/oauth/token', { anonymous: true, headers, body })).status).toBe(200)
  for (const tokenRequestFormat of ['json', 'form'] as const)
    expect((await clientWith({ tokenRequestFormat }).login()).token_type).toBe('Bearer')
})

/** `expires_in`, and the statuses of calls with the token just before and at that time. */
const lifetime = async ({ login, s, mock }: OpenMock) => {
  const { expires_in, access_token: token } = (await login()).json
  const ask = async () => (await s('/api/v1.0/subscription/x', { token })).status
  await mock.clock.advance({ seconds: expires_in - 1 })
  const last = await ask()
  await mock.clock.advance({ seconds: 1 })
  return [expires_in, last, await ask()]
}

testCases('row 33: a token lives 3600 seconds or the time of the option', [
  [{}, lifetime, [3600, 404, 401]],
  [S({ tokenTtl: { minutes: 1 } }), lifetime, [60, 404, 401]],
])

/** The statuses of two uses of one refresh token, whether it stays, and the grants of a client whose token expires. */
const refreshing = async ({ login, refresh, clientWith, mock }: OpenMock) => {
  const { refresh_token: first } = (await login()).json
  const [one, two] = [await refresh(first), await refresh(first)]
  const client = clientWith({ refresh: 'refresh_token' })
  mock.requests.clear()
  await failure(client.details('sub-unknown'))
  mock.tokens.expire()
  expect(await failure(client.details('sub-unknown'))).toMatchObject({ status: 404 })
  const grants = mock.requests.of('subscriptions.login').map(({ body }) => Object(body).grant_type)
  return [...statusesOf([one, two]), one.json.refresh_token === first, ...grants]
}

testCases('row 34: a refresh token rotates, stays, or is refused, and clients then fall back to one login', [
  [{}, refreshing, [200, 401, false, 'password', 'refresh_token']],
  [S({ refresh: 'reuse' }), refreshing, [200, 200, true, 'password', 'refresh_token']],
  [S({ refresh: 'reject' }), refreshing, [401, 401, false, 'password', 'refresh_token', 'password']],
  [
    S({ merchants: [defaultMerchant, { ...defaultMerchant, clientId: 'other', users: [] }] }),
    async ({ login, refresh }) => {
      const { refresh_token: own } = (await login()).json
      return statusesOf([await refresh(own, { client_id: 'other' }), await refresh(own)])
    },
    [401, 200],
  ],
])

const wrong = { password: 'x' }

test('row 35: five failures in a minute lock a username for 15 minutes, with valid credentials and refresh grants too', async (open) => {
  const { login, refresh, s, mock } = await open()
  const { access_token, refresh_token } = (await login()).json
  const times = async (count: number, fields: object = wrong) => {
    const responses = []
    while (responses.length < count) responses.push(await login(fields))
    return statusesOf(responses)
  }
  expect([...(await times(4)), ...(await times(1, { client_secret: 'x' }))]).toEqual(Array(5).fill(401))
  expect([(await login()).status, (await refresh(refresh_token)).status]).toEqual([403, 403])
  // Tokens that were issued go on, and another user is not locked, nor is another merchant's user of that name.
  expect((await s('/api/v1.0/subscription/x', { token: access_token })).status).toBe(404)
  expect((await login({ client_id: 'another' })).status).toBe(401)
  await mock.clock.advance({ minutes: 14, seconds: 59 })
  // An attempt while locked neither prolongs it nor counts later.
  expect(await times(1)).toEqual([403])
  await mock.clock.advance({ seconds: 1 })
  expect([...(await times(4)), ...(await times(1, {}))]).toEqual([401, 401, 401, 401, 200])
  expect([...(await times(4)), ...(await times(1, {}))]).toEqual([401, 401, 401, 401, 200])
  // An unknown user is locked too; an input that is refused does not count.
  expect(await times(6, { username: 'nobody' })).toEqual([401, 401, 401, 401, 401, 403])
  expect([...(await times(9, { password: '' })), ...(await times(1, {}))]).toEqual([
    ...Array(9).fill(422),
    200,
  ])
  for (let count = 0; count < 8; count += 1) {
    expect(await times(1)).toEqual([401])
    await mock.clock.advance({ seconds: 20 })
  }
})

const failing = async ({ login, mock }: OpenMock) => {
  const responses = [await login(wrong), await login(wrong), await login()]
  await mock.clock.advance({ seconds: 30 })
  return statusesOf([...responses, await login()])
}

testCases('row 35: attempts, window and duration of the lockout are an option', [
  [S({ lockout: { attempts: 2, windowSeconds: 10, durationSeconds: 30 } }), failing, [401, 401, 403, 200]],
  [S({ lockout: { attempts: 1, windowSeconds: 10, durationSeconds: 31 } }), failing, [401, 403, 403, 403]],
  [S({ lockout: false }), failing, [401, 401, 200, 200]],
])

test('row 36: /auth/login does not exist, and no client calls it', async (open) => {
  const { s, mock, subscriptions } = await open()
  const body = { username: 'mock-user', password: 'mock-password' }
  expect((await s('/auth/login', { body })).status).toBe(404)
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

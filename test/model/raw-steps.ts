import * as fc from 'fast-check'
import { expect } from 'vitest'
import { MOCK_CHARGE } from '../support/mock-clients.ts'
import type { Model, ModelToken } from './model.ts'
import { steps } from './step.ts'
import type { MerchantName, Pair, RawAnswer, RawRequest } from './world.ts'
import { API_KEYS, both, MERCHANTS, send } from './world.ts'

/* Requests past the clients: each is wrong in one way, so that its refusal has one reason. */

type Raw = Omit<RawRequest, 'area'>

const rawAnswer = async (pair: Pair, request: RawRequest): Promise<RawAnswer> =>
  (await both(pair, (world) => send(world, request))).value as RawAnswer

/** Sends to area S, and compares the status (429 over the limit), the headers and the errorCode. */
const askSubscriptions = async (
  model: Model,
  pair: Pair,
  request: Raw,
  bucket: string,
  status: number,
): Promise<RawAnswer> => {
  const answer = await rawAnswer(pair, { area: 'subscriptions', ...request })
  const limit = model.countCall(bucket)
  expect(answer.status).toBe(limit.passes ? status : 429)
  expect(answer.limit).toEqual(limit.headers)
  const { errorCode, errorMessage } = JSON.parse(answer.text)
  expect([typeof errorCode, typeof errorMessage]).toEqual(['string', 'string'])
  expect(errorCode === '00').toBe(answer.status === 200)
  return answer
}

/** Requests a token with a body, and keeps it. */
const askToken = async (
  model: Model,
  pair: Pair,
  {
    owner,
    username,
    status,
    fields,
  }: Pick<ModelToken, 'owner' | 'username'> & { status: number; fields: object },
): Promise<number> => {
  const body = { client_id: owner, client_secret: `${owner}-secret`, ...fields }
  const answer = await askSubscriptions(model, pair, { path: '/oauth/token', body }, owner, status)
  if (answer.status !== 200) return answer.status
  model.succeedLogin({ owner, username })
  const token = JSON.parse(answer.text)
  expect(token).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })
  const { access_token: access, refresh_token: refresh } = token
  const expiresAt = model.now + 3_600_000
  model.tokens.push({ owner, username, access, refresh, expiresAt, accessHolds: true, refreshHolds: true })
  return 200
}

interface Credentials {
  readonly merchant: MerchantName
  readonly username: string
  readonly password: string
  readonly secret: string
}

const tryLogin = async (model: Model, pair: Pair, credentials: Credentials): Promise<void> => {
  const { merchant: owner, username, password, secret } = credentials
  const isRight = secret === '-secret' && password === 'right' && username === `${owner}-clerk`
  const status = model.isLocked({ owner, username }) ? 403 : isRight ? 200 : 401
  const fields = { grant_type: 'password', client_secret: `${owner}${secret}`, username, password }
  if ((await askToken(model, pair, { owner, username, status, fields })) === 401) {
    model.failLogin({ owner, username })
  }
}

const merchant = fc.constantFrom(...MERCHANTS)
const clerk = fc.constantFrom('shop-clerk', 'kiosk-clerk', 'nobody')

const login = steps(
  'raw login',
  fc.record({
    merchant,
    username: fc.oneof({ weight: 4, arbitrary: fc.constant('own') }, { weight: 1, arbitrary: clerk }),
    password: fc.constantFrom('right', 'right', 'right', 'wrong'),
    secret: fc.constantFrom('-secret', '-secret', '-secret', '-wrong'),
  }),
  (model, pair, { username, ...input }) =>
    tryLogin(model, pair, { ...input, username: username === 'own' ? `${input.merchant}-clerk` : username }),
)

const guesses = steps(
  'raw logins, wrong password',
  fc.record({ merchant, username: clerk, times: fc.integer({ min: 2, max: 6 }) }),
  async (model, pair, { times, ...who }) => {
    for (let time = 0; time <= times; time += 1) {
      await tryLogin(model, pair, { ...who, password: time < times ? 'wrong' : 'right', secret: '-secret' })
    }
  },
)

const refresh = steps('raw refresh', fc.nat({ max: 2 }), async (model, pair, index) => {
  const old = model.tokens.at(-1 - index)
  if (old === undefined) return
  const { owner, username, refresh: refresh_token } = old
  const status = !old.refreshHolds ? 401 : model.isLocked(old) ? 403 : 200
  const fields = { grant_type: 'refresh_token', refresh_token }
  // It rotates: the used one no longer holds.
  if ((await askToken(model, pair, { owner, username, status, fields })) === 200) old.refreshHolds = false
})

const bearer = steps('raw bearer', fc.nat({ max: 2 }), async (model, pair, index) => {
  const token = model.tokens.at(-1 - index)
  const owner = model.ownerOf(token)
  const request = { path: '/api/v1.0/subscribe', bearer: token?.access, body: {} }
  await askSubscriptions(model, pair, request, owner ?? '', owner === undefined ? 401 : 422)
})

const stray = steps(
  'stray',
  fc.constantFrom<[Raw, status: number]>(
    [{ path: '/api/v1.0/subscription' }, 404],
    [{ path: '/api/v1.0/subscribe', method: 'DELETE' }, 405],
    [{ path: '/api/v1.0/subscription/x/payments', body: '{}' }, 401],
    [{ path: '/oauth/token', body: '{"grant_type":' }, 400],
    [{ path: '/oauth/token', body: { grant_type: 'implicit' } }, 422],
  ),
  async (model, pair, [request, status]) => {
    await askSubscriptions(model, pair, request, '', status)
  },
)

const [apiKey] = API_KEYS
const path = '/api/v1/mfs/charges'
const renewal = `${path}/ch_x/renew`
const keyed = { bearer: apiKey, headers: { 'idempotency-key': 'flawed' } }
const body = MOCK_CHARGE

const flawed = steps(
  'flawed',
  fc.constantFrom<[Raw, status: number, code: string]>(
    [{ path, bearer: apiKey, body }, 400, 'missing_idempotency_key'],
    [{ path, bearer: apiKey, headers: { 'idempotency-key': ' ' }, body }, 400, 'missing_idempotency_key'],
    [{ path, ...keyed, bearer: 'another', body }, 401, 'unauthorized'],
    [{ path, ...keyed, bearer: undefined, body }, 401, 'unauthorized'],
    [{ path, ...keyed, body: '{' }, 400, 'invalid_request'],
    [{ path, ...keyed, body: { ...body, amount: '250' } }, 400, 'invalid_request'],
    [{ path: renewal, ...keyed, body: { mandate_id: 'ch_y' } }, 422, 'mandate_mismatch'],
    [{ path: renewal, ...keyed, body: {} }, 400, 'invalid_request'],
    [{ path: '/api/v1/reset', bearer: 'another' }, 401, 'unauthorized'],
    [{ path: '/api/v1/charges', bearer: apiKey }, 404, 'not_found'],
    [{ path, bearer: apiKey, method: 'PUT' }, 405, 'invalid_request'],
  ),
  async (model, pair, [request, status, code]) => {
    const answer = await rawAnswer(pair, { area: 'gateway', ...request })
    const passes = model.countGatewayCall()
    const { error } = JSON.parse(answer.text)
    expect([answer.status, error]).toEqual([
      passes ? status : 429,
      { code: passes ? code : 'rate_limited', message: expect.any(String) },
    ])
    expect(answer.retryAfter).toBe(passes ? null : String(model.gatewayRetryAfter()))
  },
)

const usedKeys = steps(
  'a used key with another body',
  fc.record({ index: fc.nat({ max: 9 }), body: fc.constantFrom<unknown>('{', '', [], { amount: 'x' }) }),
  async (model, pair, input) => {
    const used = [...model.gateway.answers].at(-1 - input.index)
    if (used === undefined) return
    const [scope, text] = used
    const [caller, route, ...rest] = JSON.parse(scope) as [number, string, ...string[]]
    const renewed = route === 'renew' ? `/${rest[0]}/renew` : ''
    const headers = { 'content-type': 'text/plain', 'idempotency-key': rest.at(-1) ?? '' }
    const request = { path: `${path}${renewed}`, bearer: API_KEYS[caller], headers, body: input.body }
    const answer = await rawAnswer(pair, { area: 'gateway', ...request })
    const status = model.gatewayCall(route === 'renew' ? 201 : 202)
    expect(answer.status).toBe(status)
    if (status !== 429) expect(answer.text).toBe(text)
  },
)

/** Steps that no client takes. */
export const rawSteps = [
  { weight: 3, arbitrary: login },
  { weight: 1, arbitrary: guesses },
  { weight: 3, arbitrary: refresh },
  { weight: 2, arbitrary: bearer },
  { weight: 1, arbitrary: stray },
  { weight: 3, arbitrary: flawed },
  { weight: 2, arbitrary: usedKeys },
]

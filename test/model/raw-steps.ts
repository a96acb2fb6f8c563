import * as fc from 'fast-check'
import { expect } from 'vitest'
import type { Model, ModelToken } from './model.ts'
import { steps } from './step.ts'
import { dateText, dayOf } from './subscriptions-model.ts'
import type { MerchantName, Pair, RawAnswer, RawRequest } from './world.ts'
import { API_KEYS, both, MERCHANTS, send } from './world.ts'

/** Requests past the clients: wrong in one way each, so that their refusal has one reason. */

const rawAnswer = async (pair: Pair, request: RawRequest): Promise<RawAnswer> =>
  (await both(pair, (world) => send(world, request))).value as RawAnswer

/** Sends to area S: the status is the foreseen one unless the limit is reached, and the headers tell where it stands. */
const askSubscriptions = async (
  model: Model,
  pair: Pair,
  request: Omit<RawRequest, 'area'>,
  bucket: string,
  status: number,
): Promise<RawAnswer> => {
  const answer = await rawAnswer(pair, { area: 'subscriptions', ...request })
  const limit = model.subscriptionsLimit.take(bucket, model.now)
  // A path that does not exist is told so before the limit is looked at.
  expect(answer.status).toBe(limit.passes || status === 404 || status === 405 ? status : 429)
  expect(answer.limit).toEqual(limit.headers)
  const { errorCode, errorMessage } = JSON.parse(answer.text)
  expect([typeof errorCode, typeof errorMessage]).toEqual(['string', 'string'])
  expect(errorCode === '00').toBe(answer.status === 200)
  return answer
}

interface Credentials {
  readonly merchant: MerchantName
  readonly username: string
  readonly password: string
  readonly secret: string
}

const tryLogin = async (model: Model, pair: Pair, credentials: Credentials): Promise<void> => {
  const { merchant, username, password, secret } = credentials
  const lock = model.lock(username)
  const isRight = secret === '-secret' && password === 'right' && username === `${merchant}-clerk`
  const locked = lock.isLocked(model.now)
  const status = locked ? 403 : isRight ? 200 : 401
  const body = {
    grant_type: 'password',
    client_id: merchant,
    client_secret: `${merchant}${secret}`,
    username,
    password,
  }
  const answer = await askSubscriptions(model, pair, { path: '/oauth/token', body }, merchant, status)
  if (answer.status === 401) lock.fail(model.now)
  if (answer.status !== 200) return
  lock.succeed()
  const token = JSON.parse(answer.text)
  expect(token).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })
  model.tokens.push(tokenOf(model, merchant, username, token))
}

const clerk = fc.constantFrom('shop-clerk', 'kiosk-clerk', 'nobody')

const login = steps(
  'raw login',
  fc.record({
    merchant: fc.constantFrom(...MERCHANTS),
    username: fc.oneof({ weight: 4, arbitrary: fc.constant('own') }, { weight: 1, arbitrary: clerk }),
    password: fc.constantFrom('right', 'right', 'right', 'wrong'),
    secret: fc.constantFrom('-secret', '-secret', '-secret', '-wrong'),
  }),
  (model, pair, { username, ...input }) =>
    tryLogin(model, pair, { ...input, username: username === 'own' ? `${input.merchant}-clerk` : username }),
)

const guesses = steps(
  'raw logins, wrong password',
  fc.record({
    merchant: fc.constantFrom(...MERCHANTS),
    username: clerk,
    times: fc.integer({ min: 2, max: 6 }),
  }),
  async (model, pair, { times, ...who }) => {
    for (let time = 0; time < times; time += 1) {
      await tryLogin(model, pair, { ...who, password: 'wrong', secret: '-secret' })
    }
    await tryLogin(model, pair, { ...who, password: 'right', secret: '-secret' })
  },
)

const tokenOf = (
  model: Model,
  owner: MerchantName,
  username: string,
  { access_token: access, refresh_token: refresh }: { access_token: string; refresh_token: string },
): ModelToken => ({
  owner,
  username,
  access,
  refresh,
  expiresAt: model.now + 3_600_000,
  accessHolds: true,
  refreshHolds: true,
})

const newest = (model: Model, back: number): ModelToken | undefined => model.tokens.at(-1 - back)

const refresh = steps(
  'raw refresh',
  fc.record({ back: fc.nat({ max: 2 }) }),
  async (model, pair, { back }) => {
    const old = newest(model, back)
    if (old === undefined) return
    const lock = model.lock(old.username)
    const holds = old.refreshHolds
    const status = !holds ? 401 : lock.isLocked(model.now) ? 403 : 200
    const body = {
      grant_type: 'refresh_token',
      client_id: old.owner,
      client_secret: `${old.owner}-secret`,
      refresh_token: old.refresh,
    }
    const answer = await askSubscriptions(model, pair, { path: '/oauth/token', body }, old.owner, status)
    if (answer.status !== 200) return
    lock.succeed()
    // It rotates: the one that was used is spent.
    old.refreshHolds = false
    model.tokens.push(tokenOf(model, old.owner, old.username, JSON.parse(answer.text)))
  },
)

type Body = Readonly<Record<string, unknown>>

/** Ways in which a subscription request can be wrong; each is refused as a validation failure. */
const BROKEN: Readonly<Record<string, (body: Body, today: number) => Body>> = {
  'no requestID': ({ requestID: _, ...body }) => body,
  'amount as number': (body) => ({ ...body, amount: 25 }),
  'amount of zero': (body) => ({ ...body, amount: '0.00' }),
  'a cycle of another length': (body) => ({ ...body, cycle: 'MONTHLY' }),
  'a day that no calendar has': (body) => ({ ...body, start: '2027-02-30' }),
  'an end before the start': (body, today) => ({ ...body, end: dateText(today) }),
  'an end 731 days after the start': (body, today) => ({ ...body, end: dateText(today + 1 + 731) }),
  'a relative return address': (body) => ({ ...body, userReturnURL: '/return' }),
}

const broken = steps(
  'raw subscribe',
  fc.record({ back: fc.nat({ max: 2 }), flaw: fc.constantFrom(...Object.keys(BROKEN)) }),
  async (model, pair, { back, flaw }) => {
    const token = newest(model, back)
    const owner = model.ownerOf(token)
    const today = dayOf(model.now)
    const good = {
      clientID: 'shop',
      requestID: 'order-1',
      start: dateText(today + 1),
      end: dateText(today + 9),
      userReturnURL: 'https://shop.example/return',
      cycle: 'DAILY',
      amount: '1',
    }
    const request = { path: '/api/v1.0/subscribe', bearer: token?.access, body: BROKEN[flaw]?.(good, today) }
    await askSubscriptions(model, pair, request, owner ?? '', owner === undefined ? 401 : 422)
  },
)

const stray = steps(
  'stray',
  fc.constantFrom<Omit<RawRequest, 'area'> & { expected: number }>(
    { path: '/api/v1.0/subscription', expected: 404 },
    { path: '/api/v1.0/subscribe', method: 'DELETE', expected: 405 },
    { path: '/api/v1.0/subscription/x/payments', body: '{}', expected: 401 },
    { path: '/oauth/token', body: '{"grant_type":', expected: 400 },
    { path: '/oauth/token', body: { grant_type: 'implicit' }, expected: 422 },
  ),
  async (model, pair, { expected, ...request }) => {
    await askSubscriptions(model, pair, request, '', expected)
  },
)

const GOOD_CHARGE = {
  msisdn: '+99900000001',
  amount: 250,
  currency: 'BDT',
  redirect_uri: 'https://shop.example/paid',
}

type Flawed = Omit<RawRequest, 'area'> & { readonly expected: number; readonly code: string }

const CHARGES = '/api/v1/mfs/charges'
const [apiKey] = API_KEYS
const keyed = { 'idempotency-key': 'flawed' }

const FLAWED: readonly Flawed[] = [
  { path: CHARGES, bearer: apiKey, body: GOOD_CHARGE, expected: 400, code: 'missing_idempotency_key' },
  {
    path: CHARGES,
    bearer: apiKey,
    headers: { 'idempotency-key': ' ' },
    body: GOOD_CHARGE,
    expected: 400,
    code: 'missing_idempotency_key',
  },
  {
    path: CHARGES,
    bearer: 'another',
    headers: keyed,
    body: GOOD_CHARGE,
    expected: 401,
    code: 'unauthorized',
  },
  { path: CHARGES, headers: keyed, body: GOOD_CHARGE, expected: 401, code: 'unauthorized' },
  { path: CHARGES, bearer: apiKey, headers: keyed, body: '{', expected: 400, code: 'invalid_request' },
  {
    path: CHARGES,
    bearer: apiKey,
    headers: keyed,
    body: { ...GOOD_CHARGE, amount: '250' },
    expected: 400,
    code: 'invalid_request',
  },
  {
    path: `${CHARGES}/ch_x/renew`,
    bearer: apiKey,
    headers: keyed,
    body: { mandate_id: 'ch_y' },
    expected: 422,
    code: 'mandate_mismatch',
  },
  {
    path: `${CHARGES}/ch_x/renew`,
    bearer: apiKey,
    headers: keyed,
    body: {},
    expected: 400,
    code: 'invalid_request',
  },
  { path: '/api/v1/reset', bearer: 'another', expected: 401, code: 'unauthorized' },
  { path: '/api/v1/charges', bearer: apiKey, expected: 404, code: 'not_found' },
  { path: CHARGES, bearer: apiKey, method: 'PUT', expected: 405, code: 'invalid_request' },
]

const flawed = steps(
  'flawed',
  fc.constantFrom(...FLAWED),
  async (model, pair, { expected, code, ...request }) => {
    const answer = await rawAnswer(pair, { area: 'gateway', ...request })
    const passes = model.gatewayLimit.take(model.now)
    const unrouted = expected === 404 || expected === 405
    expect(answer.status).toBe(passes || unrouted ? expected : 429)
    const { error } = JSON.parse(answer.text)
    expect(error).toEqual({
      code: answer.status === 429 ? 'rate_limited' : code,
      message: expect.any(String),
    })
    expect(answer.retryAfter).toBe(
      answer.status === 429 ? String(model.gatewayLimit.retryAfter(model.now)) : null,
    )
  },
)

/** Steps that no client takes. */
export const rawSteps = [
  { weight: 3, arbitrary: login },
  { weight: 1, arbitrary: guesses },
  { weight: 3, arbitrary: refresh },
  { weight: 2, arbitrary: broken },
  { weight: 1, arbitrary: stray },
  { weight: 3, arbitrary: flawed },
]

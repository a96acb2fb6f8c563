import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TokenRecord, TokenStore } from '../../src/index.ts'
import { DETAILS } from '../support/bodies.ts'
import { errorOf, subscriptionsClient, TOKEN } from '../support/clients.ts'
import type { Script } from '../support/scripted-server.ts'
import { startServer } from '../support/scripted-server.ts'
import { skippingClock } from '../support/skipping-clock.ts'

const REFUSED: Script = { status: 401, body: { errorCode: '17', errorMessage: 'no' } }
const EMPTY: TokenRecord = { version: 1, refusals: [], unauthorizedRenewals: [] }
const NOW = Date.parse('2026-11-28T12:00:00Z')
const old = (id = 'old'): TokenRecord => ({
  ...EMPTY,
  token: { id, accessToken: 'token-of-yesterday', obtainedAt: NOW - 86_400_000, lifetime: 3_600_000 },
})

/** A store whose answers are changed on the way. */
const storeThatReads = (read: (kept: TokenRecord | undefined) => TokenRecord | undefined): TokenStore => {
  let kept: TokenRecord | undefined
  return {
    get: () => read(kept),
    set: (_, record) => {
      kept = record
    },
    delete: () => undefined,
  }
}

const tokenServer = async (answer: Script | ((index: number) => Script)) => {
  let logins = 0
  const server = await startServer(({ url }) => {
    if (url !== '/oauth/token') return { body: DETAILS }
    logins += 1
    return typeof answer === 'function' ? answer(logins) : answer
  })
  return { url: server.url, logins: () => logins }
}

afterEach(() => vi.restoreAllMocks())

describe('a store that forgets', () => {
  it.each<[string, TokenStore]>([
    ['returns an old record for ever', storeThatReads(() => old())],
    ['returns an empty record for ever', storeThatReads(() => EMPTY)],
    ['returns another old record each time', storeThatReads(() => old(String(Math.random())))],
    ['loses the salt', storeThatReads((kept) => kept && { ...kept, salt: undefined as never })],
    ['loses what was refused', storeThatReads((kept) => kept && { ...kept, refusals: [] })],
  ])('and %s does not make refused credentials be sent again', async (_, tokenStore) => {
    const server = await tokenServer(REFUSED)
    const client = subscriptionsClient(server.url, { tokenStore, clock: skippingClock(NOW) })
    for (let call = 0; call < 10; call += 1) {
      expect(await errorOf(client.details('sub-1'))).toMatchObject({ status: 401, errorCode: '17' })
    }
    expect(server.logins()).toBe(1)
  })

  it('does not make a pause be forgotten that the server asked for', async () => {
    const server = await tokenServer({ status: 429, headers: { 'retry-after': '50' } })
    const options = { tokenStore: storeThatReads(() => old()), rateLimit: 'throw' } as const
    const client = subscriptionsClient(server.url, { ...options, retry: false, clock: skippingClock(NOW) })
    for (let call = 0; call < 10; call += 1) {
      expect(await errorOf(client.details('sub-1'))).toMatchObject({ code: 'rate_limited' })
    }
    expect(server.logins()).toBe(1)
  })

  it('lets a login be tried once more after the cool-down, and at once when login() is called', async () => {
    const server = await tokenServer(REFUSED)
    let time = NOW
    const clock = { ...skippingClock(), now: () => time }
    const client = subscriptionsClient(server.url, { tokenStore: storeThatReads(() => old()), clock })
    await errorOf(client.details('sub-1'))
    time += 900_001
    await errorOf(client.details('sub-1'))
    await errorOf(client.details('sub-1'))
    expect(server.logins()).toBe(2)
    await errorOf(client.login())
    expect(server.logins()).toBe(3)
  })
})

it('a refusal ends for this client when another one has logged in since', async () => {
  const server = await tokenServer((index) =>
    index === 1 ? REFUSED : { body: { access_token: TOKEN, expires_in: 60 } },
  )
  let time = NOW
  const clock = { ...skippingClock(), now: () => time }
  const tokenStore = storeThatReads((kept) => kept)
  const one = subscriptionsClient(server.url, { tokenStore, clock })
  const other = subscriptionsClient(server.url, { tokenStore, clock })
  await errorOf(one.details('sub-1'))
  time += 1000
  await other.login()
  time += 120_000
  await one.details('sub-1')
  expect(server.logins()).toBe(3)
})

it('a refusal is remembered where the platform cannot derive a fingerprint', async () => {
  vi.spyOn(crypto.subtle, 'deriveBits').mockRejectedValue(new DOMException('no', 'NotSupportedError'))
  const server = await tokenServer(REFUSED)
  const client = subscriptionsClient(server.url)
  for (let call = 0; call < 5; call += 1) {
    expect(await errorOf(client.details('sub-1'))).toMatchObject({ code: 'authentication_failed' })
  }
  expect(server.logins()).toBe(1)
})

it.each([
  ['of OAuth', { error: 'invalid_grant', error_description: 'no' }],
  ['of area G', { error: { code: 'invalid_credentials', message: 'no' } }],
])('a login that is refused with HTTP 200 and an error %s is not tried again', async (_, body) => {
  const server = await tokenServer({ body })
  const client = subscriptionsClient(server.url)
  for (let call = 0; call < 5; call += 1) {
    expect(await errorOf(client.details('sub-1'))).toMatchObject({ code: 'api_error', status: 200 })
  }
  expect(server.logins()).toBe(1)
})

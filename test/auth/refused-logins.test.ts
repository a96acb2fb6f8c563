import { describe, expect, it, vi } from 'vitest'
import { type Credentials, createMemoryTokenStore } from '../../src/index.ts'
import { CREDENTIALS, errorOf } from '../support/clients.ts'
import { api, clock, merchant, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

/** A body in the API's own format: only a rejection with a code opens the breaker. */
const CODED = { errorCode: '17', errorMessage: 'no' }

/** Grants the logins with this password alone. */
const grantOnly = (right: string) => {
  api.onToken = ({ password }, index) =>
    password === right ? { status: 200, body: api.tokenBody(index) } : { status: 401, body: CODED }
}

const parallel = <Value>(count: number, call: () => Promise<Value>) =>
  Promise.all(Array.from({ length: count }, call))

describe('a rejected login', () => {
  it.each<[status: number, body: object, code: string]>([
    [403, CODED, 'locked_out'],
    [401, CODED, 'authentication_failed'],
    [400, CODED, 'api_error'],
    [200, CODED, 'api_error'],
    [200, { error: 'invalid_grant', error_description: 'no' }, 'api_error'],
    [200, { error: { code: 'invalid_credentials', message: 'no' } }, 'api_error'],
  ])('case 5: (HTTP %i, %j) makes later calls fail at once without a request', async (status, body, code) => {
    api.refuse(status, body)
    const { details } = merchant()
    const first = await errorOf(details())
    expect(first).toMatchObject({ code, status })
    for (let call = 0; call < 10; call += 1) {
      const later = await errorOf(details())
      expect(later).toMatchObject({ code, status, phase: 'login', outcome: 'not-sent', attempts: 0 })
      expect(later).toMatchObject('errorCode' in body ? { errorCode: body.errorCode } : {})
      expect(later.name).toBe(first.name)
    }
    expect(api.tokenRequests).toHaveLength(1)
    expect(api.calls).toEqual([])
  })

  it('is one token request for 10 parallel clients with one store', async () => {
    api.refuse(401, CODED)
    const tokenStore = createMemoryTokenStore()
    await parallel(10, () => errorOf(merchant({ tokenStore }).details()))
    expect(api.tokenRequests).toHaveLength(1)
  })

  it.each([
    ['default', 900_000, {}],
    ['loginCooldown', 1_000, { loginCooldown: 1_000 }],
  ])('is retried once after the cool-down of %s, by one of many calls', async (_, coolDown, options) => {
    api.refuse(403, CODED)
    const { details } = merchant(options)
    await errorOf(details())
    clock.jump(coolDown - 1)
    await errorOf(details())
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(1)
    await parallel(20, () => errorOf(details()))
    await errorOf(details())
    expect(api.tokenRequests).toHaveLength(2)
    clock.jump(coolDown)
    api.grant()
    await details()
  })

  it('is retried by login(), which ends the refusal when it succeeds', async () => {
    api.refuse(401, CODED)
    const { details, login } = merchant()
    await errorOf(details())
    expect(await errorOf(login())).toMatchObject({ code: 'authentication_failed', status: 401 })
    await errorOf(details())
    expect(api.tokenRequests).toHaveLength(2)
    api.grant()
    expect(await login()).toMatchObject({ access_token: 'access-3' })
    await details()
    expect(api.tokenRequests).toHaveLength(3)
  })

  it('is not retried with the same credentials, and retried at once with others', async () => {
    grantOnly('right')
    let credentials: Credentials = { ...CREDENTIALS, password: 'wrong' }
    const { details } = merchant({ credentials: async () => credentials })
    await errorOf(details())
    credentials = { ...CREDENTIALS, password: 'wrong too' }
    await errorOf(details())
    credentials = { ...CREDENTIALS, password: 'wrong' }
    expect(await errorOf(details())).toMatchObject({ status: 401, attempts: 0 })
    expect(api.tokenRequests).toHaveLength(2)
    credentials = { ...CREDENTIALS, password: 'right' }
    await details()
    expect(api.tokenRequests).toHaveLength(3)
  })

  it('is remembered by the store; a process with valid credentials logs in for all', async () => {
    grantOnly('right')
    const tokenStore = createMemoryTokenStore()
    const details = (password: string) =>
      merchant({ tokenStore, credentials: { ...CREDENTIALS, password } }).details()
    await errorOf(details('old'))
    expect(await errorOf(details('old'))).toMatchObject({ attempts: 0 })
    expect(api.tokenRequests).toHaveLength(1)
    await details('right')
    await details('old')
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('after a revocation makes later calls fail without a request', async () => {
    const { details } = merchant()
    await details()
    clock.jump(5_000)
    api.revoke()
    api.refuse(401, CODED)
    for (let call = 0; call < 5; call += 1) {
      expect(await errorOf(details())).toMatchObject({ code: 'authentication_failed', phase: 'login' })
    }
    expect(api.tokenRequests).toHaveLength(2)
    expect(api.calls).toEqual(['access-1', 'access-1'])
  })

  it('leaves no secret in the store, and no fingerprint that depends on the password alone', async () => {
    api.refuse(401, CODED)
    const kept: string[] = []
    for (const tokenStore of [createMemoryTokenStore(), createMemoryTokenStore()]) {
      const set = vi.spyOn(tokenStore, 'set')
      await errorOf(merchant({ tokenStore }).details())
      kept.push(JSON.stringify(set.mock.calls))
    }
    for (const text of kept) {
      expect(text).not.toContain(CREDENTIALS.password)
      expect(text).not.toContain(CREDENTIALS.clientSecret)
    }
    const fingerprints = kept.map((text) => /"fingerprint":"(\w+)"/.exec(text)?.[1])
    expect(fingerprints[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(fingerprints[0]).not.toBe(fingerprints[1])
  })
})

describe('a login that fails without a rejection', () => {
  it('case 10: (HTTP 500, a page) is an error with its status, and one token request for 50 calls', async () => {
    api.onToken = () => ({ status: 500, body: '<h1>Oops</h1>', headers: { 'content-type': 'text/html' } })
    const { details } = merchant()
    const errors = await parallel(50, () => errorOf(details()))
    for (const error of errors) expect(error).toMatchObject({ code: 'api_error', status: 500 })
    expect(api.tokenRequests).toHaveLength(1)
  })
})

describe('login()', () => {
  it('shares the token request of a call that waits for it', async () => {
    const { details, login } = merchant()
    const [, token] = await Promise.all([details(), login()])
    expect(token.access_token).toBe('access-1')
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('makes its own token request beside a call that fails because of an earlier rejection', async () => {
    api.refuse(401, CODED)
    const { details, login } = merchant()
    await errorOf(details())
    api.grant()
    const [call, token] = await Promise.all([errorOf(details()), login()])
    expect(call).toMatchObject({ status: 401, attempts: 0 })
    expect(token.access_token).toBe('access-2')
  })
})

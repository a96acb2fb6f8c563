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
    for (let call = 0; call < 5; call += 1)
      expect(await errorOf(details())).toMatchObject({ code: 'authentication_failed', phase: 'login' })
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

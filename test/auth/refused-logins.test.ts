import { describe, expect, it, vi } from 'vitest'
import { type Credentials, createMemoryTokenStore } from '../../src/index.ts'
import { CREDENTIALS, errorOf } from '../support/clients.ts'
import type { MerchantOptions } from '../support/merchant.ts'
import { api, clock, merchant, useTokenServer } from '../support/token-set-up.ts'

// Which responses reject a login is tested in refusal-shapes.test.ts.

useTokenServer()

const CODED = { errorCode: '17', errorMessage: 'no' }

/** Grants the logins with the password `right` alone. */
const grantRight = () => {
  api.onToken = ({ password }, index) =>
    password === 'right' ? { body: api.tokenBody(index) } : { status: 401, body: CODED }
}

/** A merchant whose login was rejected. */
const rejected = async (options: MerchantOptions = {}) => {
  api.refuse(401, CODED)
  const opened = merchant(options)
  await errorOf(opened.details())
  return opened
}

describe('a rejected login', () => {
  it.each([
    ['default', 900_000, {}],
    ['loginCooldown', 1_000, { loginCooldown: 1_000 }],
  ])('is retried once after the cool-down of %s, by one of many calls', async (_, coolDown, options) => {
    const { details } = await rejected(options)
    clock.jump(coolDown - 1)
    await errorOf(details())
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(1)
    await Promise.all(Array.from({ length: 20 }, () => errorOf(details())))
    await errorOf(details())
    expect(api.tokenRequests).toHaveLength(2)
    clock.jump(coolDown)
    api.grant()
    await details()
  })

  it('is retried by login(), which ends the refusal when it succeeds', async () => {
    const { details, login } = await rejected()
    expect(await errorOf(login())).toMatchObject({ code: 'authentication_failed', status: 401 })
    await errorOf(details())
    expect(api.tokenRequests).toHaveLength(2)
    api.grant()
    expect(await login()).toMatchObject({ access_token: 'access-3' })
    await details()
    expect(api.tokenRequests).toHaveLength(3)
  })

  it('is not retried with the same credentials, and retried at once with others', async () => {
    grantRight()
    let credentials: Credentials = CREDENTIALS
    const { details } = merchant({ credentials: async () => credentials })
    const callWith = (password: string) => {
      credentials = { ...CREDENTIALS, password }
      return details()
    }
    await errorOf(callWith('wrong'))
    await errorOf(callWith('wrong too'))
    expect(await errorOf(callWith('wrong'))).toMatchObject({ status: 401, attempts: 0 })
    expect(api.tokenRequests).toHaveLength(2)
    await callWith('right')
    expect(api.tokenRequests).toHaveLength(3)
  })

  it('is remembered by the store; a process with valid credentials logs in for all', async () => {
    grantRight()
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
    const fingerprints: (string | undefined)[] = []
    for (const tokenStore of [createMemoryTokenStore(), createMemoryTokenStore()]) {
      const set = vi.spyOn(tokenStore, 'set')
      await rejected({ tokenStore })
      const text = JSON.stringify(set.mock.calls)
      for (const secret of [CREDENTIALS.password, CREDENTIALS.clientSecret])
        expect(text).not.toContain(secret)
      fingerprints.push(/"fingerprint":"(\w+)"/.exec(text)?.[1])
    }
    expect(fingerprints[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(fingerprints[0]).not.toBe(fingerprints[1])
  })
})

it('login() shares the token request of a call that waits for it', async () => {
  const { details, login } = merchant()
  const [, token] = await Promise.all([details(), login()])
  expect(token.access_token).toBe('access-1')
  expect(api.tokenRequests).toHaveLength(1)
})

it('login() makes its own token request beside a call that fails because of an earlier rejection', async () => {
  const { details, login } = await rejected()
  api.grant()
  const [call, token] = await Promise.all([errorOf(details()), login()])
  expect(call).toMatchObject({ status: 401, attempts: 0 })
  expect(token.access_token).toBe('access-2')
})

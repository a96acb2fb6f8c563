import { describe, expect, it, vi } from 'vitest'
import { createMemoryTokenStore } from '../../src/index.ts'
import { CREDENTIALS } from '../support/clients.ts'
import { deferred } from '../support/deferred.ts'
import { createMerchant } from '../support/merchant.ts'
import { TokenServer } from '../support/token-server.ts'
import { api, clock, merchant, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

const parallel = (count: number, call: () => Promise<void>) =>
  Promise.all(Array.from({ length: count }, () => call()))

describe('a token', () => {
  it('case 6: is requested once for 50 calls in sequence', async () => {
    const { details } = merchant()
    for (let call = 0; call < 50; call += 1) await details()
    expect(api.tokenRequests).toHaveLength(1)
    expect(api.tokenRequests[0]).toEqual({
      grant_type: 'password',
      client_id: CREDENTIALS.clientId,
      client_secret: CREDENTIALS.clientSecret,
      username: CREDENTIALS.username,
      password: CREDENTIALS.password,
    })
  })

  it('case 8: is renewed before a call when it ends in 10 s', async () => {
    const { details } = merchant()
    await details()
    clock.jump(3_569_999)
    await details()
    clock.jump(20_001)
    await details()
    expect(api.calls).toEqual(['access-1', 'access-1', 'access-2'])
  })

  it.each<[string, given: unknown, lifetime: number, before?: number]>([
    ['20 s, of which the last two are left,', 20, 20_000, 2_000],
    ['"3600"', '3600', 3_600_000],
    ['"abc"', 'abc', 300_000],
    ['null', null, 300_000],
    ['missing', undefined, 300_000],
    ['0', 0, 300_000],
    ['-5', -5, 300_000],
    ['1e308', 1e308, 86_400_000],
    ['a week', 604_800, 86_400_000],
  ])(
    'case 7: with an expires_in of %s is used, and renewed in time',
    async (_, expiresIn, lifetime, before = 30_000) => {
      api.grant({ expires_in: expiresIn })
      const { details } = merchant()
      await details()
      clock.jump(lifetime - before - 1)
      await details()
      expect(api.tokenRequests).toHaveLength(1)
      clock.jump(1)
      await details()
      await details()
      expect(api.tokenRequests).toHaveLength(2)
    },
  )

  it('with the token_type MAC is used as a bearer token and reported', async () => {
    api.grant({ token_type: 'MAC' })
    const reports: string[] = []
    const { details } = merchant({ onUnexpected: ({ message }) => reports.push(message) })
    await details()
    expect(reports).toEqual([expect.stringContaining('token_type')])
  })
})

describe('a 401 on a call', () => {
  it('case 2: renews the token once for 20 parallel calls, and all succeed', async () => {
    const { details } = merchant()
    await details()
    clock.jump(5_000)
    api.revoke()
    await parallel(20, details)
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('case 2: that arrives late retries the call with the newer token, which stays', async () => {
    const { details } = merchant()
    await details()
    clock.jump(5_000)
    api.revoke()
    const late = deferred()
    api.beforeAnswer = (token, index) => (token === 'access-1' && index === 2 ? late.promise : undefined)
    const first = details()
    await expect.poll(() => api.calls).toHaveLength(2)
    await details()
    expect(api.tokenRequests).toHaveLength(2)
    late.resolve()
    await first
    expect(api.tokenRequests).toHaveLength(2)
    expect(api.calls.at(-1)).toBe('access-2')
  })

  it('case 3: that never ends costs a call two tokens, each sent twice, and a hundred calls four logins a minute', async () => {
    api.accepts = () => false
    clock.skips = 1_000
    const { details } = merchant()
    const unauthorized = { code: 'authentication_failed', status: 401 }
    await expect(details()).rejects.toMatchObject(unauthorized)
    expect([api.calls.length, api.tokenRequests.length]).toEqual([4, 2])
    for (let call = 0; call < 99; call += 1) await expect(details()).rejects.toMatchObject(unauthorized)
    expect(api.tokenRequests).toHaveLength(4)
    expect(api.calls.length).toBeLessThanOrEqual(112)
    for (let call = 0; call < 100; call += 1) {
      clock.jump(600)
      await expect(details()).rejects.toMatchObject(unauthorized)
    }
    expect(api.tokenRequests.length).toBeLessThanOrEqual(7)
    expect(api.tokenRequests.length).toBeGreaterThan(4)
  })

  it('that never ends is remembered when the clock is set back by ten minutes', async () => {
    api.accepts = () => false
    clock.skips = 1_000
    const { details } = merchant()
    for (let call = 0; call < 50; call += 1) {
      if (call === 25) clock.jump(-600_000)
      await expect(details()).rejects.toMatchObject({ code: 'authentication_failed' })
    }
    expect(api.tokenRequests.length).toBeLessThanOrEqual(7)
  })
})

describe('case 9: a clock that is wrong by ten minutes', () => {
  it.each([600_000, -600_000])(
    'from some moment on, or on one of two machines (%i ms), costs one login at most',
    async (skew) => {
      const { details } = merchant()
      await details()
      clock.jump(skew)
      for (let call = 0; call < 20; call += 1) await details()
      expect(api.tokenRequests.length).toBeLessThanOrEqual(2)
      const tokenStore = createMemoryTokenStore()
      const skewed = { now: () => clock.now() + skew, sleep: async () => undefined }
      const two = [clock, skewed].map((each) => createMerchant(api.url, each, { tokenStore }))
      for (let round = 0; round < 20; round += 1) for (const one of two) await one.details()
      expect(api.tokenRequests.length).toBeLessThanOrEqual(4)
    },
  )

  it('on the machine that stored a token does not change how long the token is used', async () => {
    api.grant({ expires_in: 300 })
    const tokenStore = createMemoryTokenStore()
    const ahead = { now: () => clock.now() + 600_000, sleep: async () => undefined }
    await createMerchant(api.url, ahead, { tokenStore }).details()
    const { details } = merchant({ tokenStore })
    await details()
    clock.jump(300_000)
    await details()
    expect(api.calls).toEqual(['access-1', 'access-1', 'access-2'])
  })
})

describe('two clients', () => {
  it('case 11: do not share a token without a store, nor when merchant or host differ', async () => {
    const second = await TokenServer.start()
    const tokenStore = createMemoryTokenStore()
    await merchant().details()
    await merchant({ tokenStore }).details()
    await merchant({ tokenStore, credentials: { ...CREDENTIALS, username: 'other' } }).details()
    await merchant({ tokenStore, credentials: { ...CREDENTIALS, clientId: 'other' } }).details()
    await createMerchant(second.url, clock, { tokenStore }).details()
    expect(api.calls).toEqual(['access-1', 'access-2', 'access-3', 'access-4'])
    expect(second.calls).toEqual(['access-1'])
  })

  it('case 12: with one store log in once when they start at the same time', async () => {
    const tokenStore = createMemoryTokenStore()
    const clients = Array.from({ length: 10 }, () => merchant({ tokenStore }))
    await Promise.all(clients.map(({ details }) => details()))
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(5_000)
    api.revoke()
    for (const { details } of clients) await details()
    expect(api.tokenRequests).toHaveLength(2)
  })
})

it('onTokenRenewed receives why a token was requested, and may throw', async () => {
  const onTokenRenewed = vi.fn().mockThrow(new Error('from the hook'))
  const { details, login } = merchant({ hooks: { onTokenRenewed } })
  await details()
  clock.jump(3_600_000)
  await details()
  clock.jump(5_000)
  api.revoke()
  await details()
  await login()
  const reasons = ['first', 'expiring', 'unauthorized', 'login-called']
  expect(onTokenRenewed.mock.calls.flat()).toMatchObject(
    reasons.map((reason) => ({ reason, grant: 'password' })),
  )
})

it('an aborted call does not end the login that other calls share', async () => {
  const held = api.holdLogins()
  const { details } = merchant()
  const controller = new AbortController()
  const aborted = details(controller.signal)
  const others = parallel(5, details)
  await expect.poll(() => api.tokenRequests).toHaveLength(1)
  controller.abort(new Error('gone'))
  await expect(aborted).rejects.toMatchObject({ code: 'aborted', phase: 'login', outcome: 'not-sent' })
  held.resolve()
  await others
  expect(api.tokenRequests).toHaveLength(1)
})

it.each([0, 700, 4_900])(
  'case 96: a token that is %i ms old and that a part of the API does not know yet is sent once more, without a login',
  async (age) => {
    clock.skips = 1_000
    const { details, login } = merchant()
    await login()
    clock.jump(age)
    api.accepts = () => api.calls.length > 1
    await details()
    expect(api.tokenRequests).toHaveLength(1)
    expect(api.calls).toEqual(['access-1', 'access-1'])
  },
)

it('case 112: a 401 for a token from the store does not count as a renewal, so one more 401 logs in', async () => {
  const tokenStore = createMemoryTokenStore()
  const old = merchant({ tokenStore })
  await old.details()
  clock.jump(10_000)
  await merchant({ tokenStore }).login()
  clock.jump(10_000)
  api.accepts = (token) => token === 'access-3'
  await old.details()
  expect(api.tokenRequests).toHaveLength(3)
  expect(api.calls).toEqual(['access-1', 'access-1', 'access-2', 'access-3'])
})

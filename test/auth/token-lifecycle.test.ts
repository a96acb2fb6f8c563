import { describe, expect, it } from 'vitest'
import { createMemoryTokenStore } from '../../src/index.ts'
import { CREDENTIALS } from '../support/clients.ts'
import { deferred } from '../support/deferred.ts'
import { createMerchant } from '../support/merchant.ts'
import { TokenServer } from '../support/token-server.ts'
import { api, clock, merchant } from '../support/token-set-up.ts'

const parallel = (count: number, call: () => Promise<unknown>) =>
  Promise.allSettled(Array.from({ length: count }, call))

const failures = (results: readonly PromiseSettledResult<unknown>[]) =>
  results
    .filter((result) => result.status === 'rejected')
    .map((result) => result.reason as Record<string, unknown>)

/** Revokes every token issued so far. */
const revoke = () => {
  const issued = api.tokenRequests.length
  api.accepts = (token) => Number(token.split('-')[1]) > issued
}

describe('a token', () => {
  it('is got once for 50 calls in sequence within its lifetime', async () => {
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

  it('is got once for 1 000 parallel calls of a cold client', async () => {
    const { details } = merchant()
    expect(failures(await parallel(1000, details))).toEqual([])
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('is got once more when 1 000 parallel calls meet its revocation', async () => {
    const { details } = merchant()
    await details()
    revoke()
    expect(failures(await parallel(1000, details))).toEqual([])
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('is renewed before a call when 10 s of its life are left', async () => {
    const { details } = merchant()
    await details()
    clock.jump(3_590_000)
    await details()
    expect(api.calls).toEqual(['access-1', 'access-2'])
  })

  it('is not renewed while its margin has not begun', async () => {
    const { details } = merchant()
    await details()
    clock.jump(3_569_999)
    await details()
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('of a lifetime of 20 s has a margin of 2 s and is never renewed in a loop', async () => {
    api.onToken = (_request, index) => ({ status: 200, body: api.tokenBody(index, { expires_in: 20 }) })
    const { details } = merchant()
    await details()
    clock.jump(17_999)
    await details()
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(1)
    await details()
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it.each([
    ['"3600"', '3600', 3_600_000],
    ['"abc"', 'abc', 300_000],
    ['null', null, 300_000],
    ['missing', undefined, 300_000],
    ['0', 0, 300_000],
    ['-5', -5, 300_000],
    ['1e308', 1e308, 86_400_000],
    ['a week', 604_800, 86_400_000],
  ])('with an expires_in of %s is used, and renewed in time', async (_name, expiresIn, lifetime) => {
    api.onToken = (_request, index) => ({
      status: 200,
      body: api.tokenBody(index, { expires_in: expiresIn }),
    })
    const { details } = merchant()
    await details()
    clock.jump(lifetime - 30_001)
    await details()
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(30_000)
    await details()
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('with the token_type MAC is used as a bearer token and reported', async () => {
    api.onToken = (_request, index) => ({ status: 200, body: api.tokenBody(index, { token_type: 'MAC' }) })
    const reports: string[] = []
    const { details } = merchant({ onUnexpected: ({ message }) => reports.push(message) })
    await details()
    expect(reports).toEqual([expect.stringContaining('token_type')])
  })

  it.each(['two\nlines', 'café', 'two words', '\u0000'])(
    'that reads %j is not used, and the error does not quote it',
    async (text) => {
      api.onToken = () => ({
        status: 200,
        body: api.tokenBody(1, { access_token: text }),
      })
      const { details } = merchant()
      const error = await details().catch((reason: unknown) => reason as Error)
      expect(error).toMatchObject({ code: 'unexpected_response', phase: 'login', outcome: 'not-sent' })
      expect(String((error as Error).stack)).not.toContain(text)
      expect(api.calls).toEqual([])
    },
  )
})

describe('a 401 on a call', () => {
  it('renews once for 20 parallel calls, all of which succeed', async () => {
    const { details } = merchant()
    await details()
    revoke()
    expect(failures(await parallel(20, details))).toEqual([])
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('that arrives late repeats with the newer token and does not throw it away', async () => {
    const { details } = merchant()
    await details()
    revoke()
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

  it('for ever costs one call two requests and two logins', async () => {
    api.accepts = () => false
    const { details } = merchant()
    await expect(details()).rejects.toMatchObject({ code: 'authentication_failed', status: 401 })
    expect(api.calls).toHaveLength(2)
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('for ever lets a hundred calls make at most four logins in a minute', async () => {
    api.accepts = () => false
    const { details } = merchant()
    for (let call = 0; call < 100; call += 1) {
      await expect(details()).rejects.toMatchObject({ code: 'authentication_failed' })
    }
    expect(api.tokenRequests).toHaveLength(4)
    expect(api.calls.length).toBeLessThanOrEqual(103)
    for (let call = 0; call < 100; call += 1) {
      clock.jump(600)
      await expect(details()).rejects.toMatchObject({ code: 'authentication_failed' })
    }
    expect(api.tokenRequests.length).toBeLessThanOrEqual(7)
    expect(api.tokenRequests.length).toBeGreaterThan(4)
  })

  it('for ever is not forgotten when the clock is set back by ten minutes', async () => {
    api.accepts = () => false
    const { details } = merchant()
    for (let call = 0; call < 50; call += 1) {
      if (call === 25) clock.jump(-600_000)
      await expect(details()).rejects.toMatchObject({ code: 'authentication_failed' })
    }
    expect(api.tokenRequests.length).toBeLessThanOrEqual(7)
  })
})

describe('a clock that is wrong', () => {
  it.each([
    ['ahead', 600_000],
    ['behind', -600_000],
  ])('by ten minutes %s in the middle costs at most one login', async (_name, jump) => {
    const { details } = merchant()
    await details()
    clock.jump(jump)
    for (let call = 0; call < 20; call += 1) await details()
    expect(api.tokenRequests.length).toBeLessThanOrEqual(2)
  })

  it.each([
    ['ahead', 600_000],
    ['behind', -600_000],
  ])(
    'on one of two machines by ten minutes %s costs one login a lifetime, and no loop',
    async (_name, skew) => {
      api.onToken = (_request, index) => ({ status: 200, body: api.tokenBody(index, { expires_in: 300 }) })
      const tokenStore = createMemoryTokenStore()
      const one = createMerchant(api.url, clock, { tokenStore })
      const skewed = { now: () => clock.now() + skew, sleep: async () => undefined }
      const other = createMerchant(api.url, skewed, { tokenStore })
      for (let round = 0; round < 20; round += 1) {
        await one.details()
        await other.details()
      }
      expect(api.tokenRequests.length).toBeLessThanOrEqual(2)
    },
  )
})

describe('a token that a clock ahead of ours wrote', () => {
  it('is expected for its lifetime from first sight, not from its date', async () => {
    api.onToken = (_request, index) => ({ status: 200, body: api.tokenBody(index, { expires_in: 300 }) })
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
  it('never see each other’s token without a shared store', async () => {
    await merchant().details()
    await merchant().details()
    expect(api.calls).toEqual(['access-1', 'access-2'])
  })

  it('of different merchants on one store never see each other’s token', async () => {
    const tokenStore = createMemoryTokenStore()
    await merchant({ tokenStore }).details()
    await merchant({ tokenStore, credentials: { ...CREDENTIALS, username: 'other' } }).details()
    await merchant({ tokenStore, credentials: { ...CREDENTIALS, clientId: 'other' } }).details()
    expect(api.calls).toEqual(['access-1', 'access-2', 'access-3'])
  })

  it('of different hosts on one store never see each other’s token', async () => {
    const second = await TokenServer.start()
    const tokenStore = createMemoryTokenStore()
    await merchant({ tokenStore }).details()
    await createMerchant(second.url, clock, { tokenStore }).details()
    expect([api.tokenRequests.length, second.tokenRequests.length]).toEqual([1, 1])
  })

  it('with one store log in once, also when both start at the same moment', async () => {
    const tokenStore = createMemoryTokenStore()
    const clients = Array.from({ length: 10 }, () => merchant({ tokenStore }))
    await Promise.all(clients.map(({ details }) => details()))
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('with one store take over the token that the other renewed', async () => {
    const tokenStore = createMemoryTokenStore()
    const one = merchant({ tokenStore })
    const other = merchant({ tokenStore })
    await one.details()
    await other.details()
    revoke()
    await one.details()
    await other.details()
    expect(api.tokenRequests).toHaveLength(2)
  })
})

describe('the renewal hook', () => {
  it('hears why a token was requested, and breaks nothing when it throws', async () => {
    const heard: unknown[] = []
    const { details, login } = merchant({
      hooks: {
        onTokenRenewed: ({ reason, grant }) => {
          heard.push({ reason, grant })
          throw new Error('from the hook')
        },
      },
    })
    await details()
    clock.jump(3_600_000)
    await details()
    revoke()
    await details()
    await login()
    expect(heard).toEqual([
      { reason: 'first', grant: 'password' },
      { reason: 'expiring', grant: 'password' },
      { reason: 'unauthorized', grant: 'password' },
      { reason: 'login-called', grant: 'password' },
    ])
  })
})

describe('an aborted caller', () => {
  it('does not take the shared login from the others', async () => {
    const held = deferred()
    api.onToken = async (_request, index) => {
      await held.promise
      return { status: 200, body: api.tokenBody(index) }
    }
    const { details } = merchant()
    const controller = new AbortController()
    const aborted = details(controller.signal)
    const others = parallel(5, details)
    await expect.poll(() => api.tokenRequests).toHaveLength(1)
    controller.abort(new Error('gone'))
    await expect(aborted).rejects.toMatchObject({ code: 'aborted', phase: 'login', outcome: 'not-sent' })
    held.resolve()
    expect(failures(await others)).toEqual([])
    expect(api.tokenRequests).toHaveLength(1)
  })
})

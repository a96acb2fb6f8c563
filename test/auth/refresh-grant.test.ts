import { describe, expect, it, vi } from 'vitest'
import { createMemoryTokenStore } from '../../src/index.ts'
import { CREDENTIALS } from '../support/clients.ts'
import { deferred } from '../support/deferred.ts'
import { createMerchant, type MerchantOptions } from '../support/merchant.ts'
import { api, clock, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

const merchant = (options: MerchantOptions = {}) =>
  createMerchant(api.url, clock, { refresh: 'refresh_token', ...options })
const parallel = (count: number, call: () => Promise<void>) =>
  Promise.all(Array.from({ length: count }, () => call()))

/** A merchant whose token has ended, or was revoked some seconds ago. */
const expired = async (after = 3_600_000) => {
  const opened = merchant()
  await opened.details()
  clock.jump(after)
  return opened
}

/** A server whose refresh tokens rotate: each is good once. */
const rotating = () => {
  let good: string | undefined
  api.onToken = ({ grant_type, refresh_token }, index) => {
    if (grant_type === 'refresh_token' && refresh_token !== good) return { status: 401 }
    good = `refresh-${index}`
    return { body: api.tokenBody(index) }
  }
}

/** The password logins and the refreshes so far. */
const grants = () => [api.grants('password'), api.grants('refresh_token')]

/** Answers every refresh with this response. */
const refreshAnswers = (status: number, body: object = {}) => {
  api.onToken = ({ grant_type }, index) =>
    grant_type === 'refresh_token' ? { status, body } : { body: api.tokenBody(index) }
}

describe('a renewal by refresh token', () => {
  it('case 1: is one token request for 20 parallel calls with an expired token, and rotates', async () => {
    rotating()
    const { details } = await expired()
    for (let round = 0; round < 3; round += 1) {
      await parallel(20, details)
      clock.jump(3_600_000)
    }
    const { clientId: client_id, clientSecret: client_secret } = CREDENTIALS
    const fields = { grant_type: 'refresh_token', client_id, client_secret }
    const refreshes = [1, 2, 3].map((index) => ({ ...fields, refresh_token: `refresh-${index}` }))
    expect(api.tokenRequests.slice(1)).toEqual(refreshes)
  })

  it.each([undefined, '', null])('keeps the old refresh token when the response has %j', async (given) => {
    const { details } = merchant()
    await details()
    api.grant({ refresh_token: given })
    for (let round = 0; round < 2; round += 1) {
      clock.jump(3_600_000)
      await details()
    }
    const used = api.tokenRequests.map(({ refresh_token }) => refresh_token)
    expect(used).toEqual([undefined, 'refresh-1', 'refresh-1'])
  })

  it.each<[string, number, object]>([
    ['that fails with HTTP 400', 400, {}],
    ['that fails with HTTP 401', 401, {}],
    ['that fails with HTTP 403', 403, {}],
    ['that fails with HTTP 500', 500, {}],
    ['whose response has no usable token', 200, { access_token: 'not a token' }],
  ])('%s is followed by one password login', async (_, status, body) => {
    refreshAnswers(status, body)
    const { details } = await expired()
    await parallel(10, details)
    expect(grants()).toEqual([2, 1])
  })

  it('case 4: and the password login are made once each when both are rejected', async () => {
    const { details } = merchant()
    await details()
    api.refuse(401)
    clock.jump(3_600_000)
    for (let call = 0; call < 10; call += 1)
      await expect(details()).rejects.toMatchObject({ code: 'authentication_failed' })
    expect(grants()).toEqual([2, 1])
  })

  it('that fails with HTTP 503 ends its call, and the next call logs in by password', async () => {
    refreshAnswers(503)
    const { details } = await expired()
    await expect(details()).rejects.toMatchObject({ status: 503 })
    expect(grants()).toEqual([1, 1])
    await details()
    expect(grants()).toEqual([2, 1])
  })

  it('is made after a 401, too', async () => {
    rotating()
    const { details } = await expired(5_000)
    api.accepts = (token) => token !== 'access-1'
    await parallel(20, details)
    expect(grants()).toEqual([1, 1])
  })

  it('case 12: that loses a race without a lock takes the token of the other client from the store', async () => {
    rotating()
    const { get, set, delete: remove } = createMemoryTokenStore()
    // Two processes with one store but without its lock.
    const one = merchant({ tokenStore: { get, set, delete: remove } })
    const other = merchant({ tokenStore: { get, set, delete: remove } })
    await one.details()
    await other.details()
    clock.jump(3_600_000)
    const issue = api.onToken
    const gate = deferred()
    let refreshes = 0
    api.onToken = async (request, index) => {
      refreshes += 1
      if (refreshes === 2) await gate.promise
      return issue(request, index)
    }
    const both = [one.details(), other.details()]
    await expect.poll(() => refreshes).toBe(2)
    await Promise.race(both)
    gate.resolve()
    await Promise.all(both)
    expect(grants()).toEqual([1, 2])
  })

  it('that is refused leads to no login after another process saved that the password is rejected', async () => {
    const { get, set, delete: remove } = createMemoryTokenStore()
    let saved = ''
    const save: typeof set = (key, record, timeToLive) => {
      saved = JSON.stringify(record)
      return set(key, record, timeToLive)
    }
    const process = () => merchant({ tokenStore: { get, set: save, delete: remove } })
    const [one, other] = [process(), process()]
    await one.details()
    await other.details()
    clock.jump(3_600_000)
    const gate = deferred()
    let refreshes = 0
    api.onToken = async ({ grant_type }) => {
      if (grant_type === 'refresh_token' && ++refreshes === 2) await gate.promise
      return { status: 401 }
    }
    const both = Promise.allSettled([one.details(), other.details()])
    await expect.poll(() => [saved.includes('rejected-credentials'), refreshes]).toEqual([true, 2])
    gate.resolve()
    for (const { status } of await both) expect(status).toBe('rejected')
    expect(grants()).toEqual([2, 2])
  })

  it('is the only reason to keep a refresh token in the store', async () => {
    const tokenStore = createMemoryTokenStore()
    const set = vi.spyOn(tokenStore, 'set')
    await merchant({ refresh: 'password', tokenStore }).details()
    expect(set).toHaveBeenCalledOnce()
    expect(JSON.stringify(set.mock.calls)).not.toContain('refresh-1')
  })
})

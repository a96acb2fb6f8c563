import { describe, expect, it } from 'vitest'
import { createMemoryTokenStore } from '../../src/index.ts'
import { CREDENTIALS } from '../support/clients.ts'
import { deferred } from '../support/deferred.ts'
import type { MerchantOptions } from '../support/merchant.ts'
import { createMerchant } from '../support/merchant.ts'
import { api, clock } from '../support/token-set-up.ts'

const merchant = (options: MerchantOptions = {}) =>
  createMerchant(api.url, clock, { refresh: 'refresh_token', ...options })

/** A server whose refresh tokens rotate: each is good once. */
const rotating = () => {
  let good: string | undefined
  api.onToken = ({ grant_type, refresh_token }, index) => {
    if (grant_type === 'refresh_token' && refresh_token !== good) return { status: 401 }
    good = `refresh-${index}`
    return { status: 200, body: api.tokenBody(index) }
  }
}

const refreshAnswers = (status: number, body: object = {}) => {
  api.onToken = ({ grant_type }, index) =>
    grant_type === 'refresh_token' ? { status, body } : { status: 200, body: api.tokenBody(index) }
}

describe('renewal by refresh token', () => {
  it('is one token request for 20 parallel calls with an expired token, and rotates', async () => {
    rotating()
    const { details } = merchant()
    await details()
    for (let round = 0; round < 3; round += 1) {
      clock.jump(3_600_000)
      await Promise.all(Array.from({ length: 20 }, () => details()))
    }
    expect(api.grants('password')).toBe(1)
    expect(api.tokenRequests.slice(1)).toEqual(
      [1, 2, 3].map((index) => ({
        grant_type: 'refresh_token',
        client_id: CREDENTIALS.clientId,
        client_secret: CREDENTIALS.clientSecret,
        refresh_token: `refresh-${index}`,
      })),
    )
  })

  it.each([undefined, '', null])(
    'keeps the old refresh token when the answer has %j',
    async (refreshToken) => {
      api.onToken = ({ grant_type }, index) => ({
        status: 200,
        body: api.tokenBody(index, grant_type === 'refresh_token' ? { refresh_token: refreshToken } : {}),
      })
      const { details } = merchant()
      for (let round = 0; round < 3; round += 1) {
        await details()
        clock.jump(3_600_000)
      }
      expect(api.tokenRequests.map(({ refresh_token }) => refresh_token)).toEqual([
        undefined,
        'refresh-1',
        'refresh-1',
      ])
    },
  )

  it.each([400, 401, 403, 500])('refused with HTTP %i falls back to one password login', async (status) => {
    refreshAnswers(status)
    const { details } = merchant()
    await details()
    clock.jump(3_600_000)
    await Promise.all(Array.from({ length: 10 }, () => details()))
    expect([api.grants('password'), api.grants('refresh_token')]).toEqual([2, 1])
  })

  it('answered with something that is no token falls back to one password login', async () => {
    refreshAnswers(200, { access_token: 'not a token' })
    const { details } = merchant()
    await details()
    clock.jump(3_600_000)
    await details()
    expect([api.grants('password'), api.grants('refresh_token')]).toEqual([2, 1])
  })

  it('and password both refused make two requests, then none', async () => {
    const { details } = merchant()
    await details()
    api.onToken = () => ({ status: 401 })
    clock.jump(3_600_000)
    for (let call = 0; call < 10; call += 1) {
      await expect(details()).rejects.toMatchObject({ code: 'authentication_failed' })
    }
    expect([api.grants('password'), api.grants('refresh_token')]).toEqual([2, 1])
  })

  it('that got no clear answer is not followed by a login within the same call, and not tried twice', async () => {
    refreshAnswers(503)
    const { details } = merchant()
    await details()
    clock.jump(3_600_000)
    await expect(details()).rejects.toMatchObject({ status: 503 })
    expect([api.grants('password'), api.grants('refresh_token')]).toEqual([1, 1])
    await details()
    expect([api.grants('password'), api.grants('refresh_token')]).toEqual([2, 1])
  })

  it('is used after a 401 as well', async () => {
    rotating()
    const { details } = merchant()
    await details()
    api.accepts = (token) => token !== 'access-1'
    await Promise.all(Array.from({ length: 20 }, () => details()))
    expect([api.grants('password'), api.grants('refresh_token')]).toEqual([1, 1])
  })

  it('lost in a race without a lock takes the winner’s token from the store', async () => {
    rotating()
    const { get, set, delete: remove } = createMemoryTokenStore()
    // Two views of one store, as two processes have: they do not take turns.
    const view = () => ({ get, set, delete: remove })
    const one = merchant({ tokenStore: view() })
    const other = merchant({ tokenStore: view() })
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
    expect([api.grants('password'), api.grants('refresh_token')]).toEqual([1, 2])
  })

  it('keeps no refresh token in the store when renewal is by password', async () => {
    const tokenStore = createMemoryTokenStore()
    const kept: string[] = []
    const watched = {
      ...tokenStore,
      set: (...[key, record, timeToLive]: Parameters<typeof tokenStore.set>) => {
        kept.push(JSON.stringify(record))
        return tokenStore.set(key, record, timeToLive)
      },
    }
    await merchant({ refresh: 'password', tokenStore: watched }).details()
    expect(kept).toHaveLength(1)
    expect(kept[0]).not.toContain('refresh-1')
  })
})

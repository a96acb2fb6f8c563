import { describe, expect, it } from 'vitest'
import type { Credentials } from '../../src/index.ts'
import { createMemoryTokenStore } from '../../src/index.ts'
import { CREDENTIALS } from '../support/clients.ts'
import { api, clock, merchant } from '../support/token-set-up.ts'

const refuse = (status: number, errorCode?: string) => {
  api.onToken = () => ({ status, body: errorCode === undefined ? {} : { errorCode } })
}

const allow = () => {
  api.onToken = (_request, index) => ({ status: 200, body: api.tokenBody(index) })
}

const reasonOf = (call: Promise<unknown>): Promise<Record<string, unknown>> =>
  call.then(
    () => ({ resolved: true }),
    (reason: Record<string, unknown>) => reason,
  )

describe('a login that is refused', () => {
  it.each([
    [403, 'locked_out'],
    [401, 'authentication_failed'],
    [400, 'api_error'],
    [404, 'api_error'],
    [422, 'api_error'],
  ])(
    'with HTTP %i makes ten later calls fail at once with the same facts and no request',
    async (status, code) => {
      refuse(status, '17')
      const { details } = merchant()
      const first = await reasonOf(details())
      expect(first).toMatchObject({ code, status, errorCode: '17' })
      for (let call = 0; call < 10; call += 1) {
        const later = await reasonOf(details())
        expect(later).toMatchObject({
          code,
          status,
          errorCode: '17',
          phase: 'login',
          outcome: 'not-sent',
          attempts: 0,
        })
        expect(later.name).toBe(first.name)
      }
      expect(api.tokenRequests).toHaveLength(1)
      expect(api.calls).toEqual([])
    },
  )

  it('with HTTP 200 and an errorCode other than 00 is not tried again either', async () => {
    refuse(200, '07')
    const { details } = merchant()
    for (let call = 0; call < 5; call += 1) {
      expect(await reasonOf(details())).toMatchObject({ code: 'api_error', status: 200, errorCode: '07' })
    }
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('makes one token request for 100 parallel calls', async () => {
    refuse(401)
    const { details } = merchant()
    const reasons = await Promise.all(Array.from({ length: 100 }, () => reasonOf(details())))
    expect(reasons.every(({ code }) => code === 'authentication_failed')).toBe(true)
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('makes one token request for 10 parallel clients with one store', async () => {
    refuse(401)
    const tokenStore = createMemoryTokenStore()
    const clients = Array.from({ length: 10 }, () => merchant({ tokenStore }))
    await Promise.all(clients.map(({ details }) => reasonOf(details())))
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('is tried once after the cool-down, by one of many calls, and stands again when refused', async () => {
    refuse(403)
    const { details } = merchant()
    await reasonOf(details())
    clock.jump(899_999)
    await reasonOf(details())
    expect(api.tokenRequests).toHaveLength(1)
    clock.jump(1)
    await Promise.all(Array.from({ length: 20 }, () => reasonOf(details())))
    await reasonOf(details())
    expect(api.tokenRequests).toHaveLength(2)
    clock.jump(900_000)
    allow()
    expect(await reasonOf(details())).toEqual({ resolved: true })
  })

  it('is tried again after a cool-down of the merchant’s choice', async () => {
    refuse(403)
    const { details } = merchant({ loginCooldown: 1_000 })
    await reasonOf(details())
    clock.jump(1_000)
    allow()
    expect(await reasonOf(details())).toEqual({ resolved: true })
  })

  it('is tried again by login(), which resets it for all', async () => {
    refuse(401)
    const { details, login } = merchant()
    await reasonOf(details())
    expect(await reasonOf(login())).toMatchObject({ code: 'authentication_failed', status: 401 })
    expect(api.tokenRequests).toHaveLength(2)
    await reasonOf(details())
    expect(api.tokenRequests).toHaveLength(2)
    allow()
    expect(await login()).toMatchObject({ access_token: 'access-3' })
    expect(await reasonOf(details())).toEqual({ resolved: true })
    expect(api.tokenRequests).toHaveLength(3)
  })

  it('is tried at once with credentials that changed, and stays refused for the old ones', async () => {
    api.onToken = ({ password }, index) =>
      password === 'right' ? { status: 200, body: api.tokenBody(index) } : { status: 401 }
    let credentials: Credentials = { ...CREDENTIALS, password: 'wrong' }
    const { details } = merchant({ credentials: async () => credentials })
    await reasonOf(details())
    credentials = { ...CREDENTIALS, password: 'wrong too' }
    await reasonOf(details())
    credentials = { ...CREDENTIALS, password: 'wrong' }
    expect(await reasonOf(details())).toMatchObject({ status: 401, attempts: 0 })
    expect(api.tokenRequests).toHaveLength(2)
    credentials = { ...CREDENTIALS, password: 'right' }
    expect(await reasonOf(details())).toEqual({ resolved: true })
    expect(api.tokenRequests).toHaveLength(3)
  })

  it('is remembered by a fleet, while a process with good credentials gets on', async () => {
    api.onToken = ({ password }, index) =>
      password === 'right' ? { status: 200, body: api.tokenBody(index) } : { status: 401 }
    const tokenStore = createMemoryTokenStore()
    const old = { ...CREDENTIALS, password: 'old' }
    await reasonOf(merchant({ tokenStore, credentials: old }).details())
    expect(await reasonOf(merchant({ tokenStore, credentials: old }).details())).toMatchObject({
      attempts: 0,
    })
    expect(api.tokenRequests).toHaveLength(1)
    const good = { ...CREDENTIALS, password: 'right' }
    expect(await reasonOf(merchant({ tokenStore, credentials: good }).details())).toEqual({ resolved: true })
    expect(await reasonOf(merchant({ tokenStore, credentials: old }).details())).toEqual({ resolved: true })
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('after a revocation makes later calls fail without any request', async () => {
    const { details } = merchant()
    await details()
    api.accepts = () => false
    refuse(401)
    for (let call = 0; call < 5; call += 1) {
      expect(await reasonOf(details())).toMatchObject({ code: 'authentication_failed', phase: 'login' })
    }
    expect(api.tokenRequests).toHaveLength(2)
    expect(api.calls).toEqual(['access-1', 'access-1'])
  })

  it('leaves no secret in the store, and nothing that the password alone leads to', async () => {
    refuse(401)
    const store = createMemoryTokenStore()
    const kept: string[] = []
    const tokenStore = {
      ...store,
      set: (...[key, record, timeToLive]: Parameters<typeof store.set>) => {
        kept.push(JSON.stringify([key, record]))
        return store.set(key, record, timeToLive)
      },
    }
    await reasonOf(merchant({ tokenStore }).details())
    await reasonOf(
      merchant({ tokenStore: { ...tokenStore, ...createMemoryTokenStore(), set: tokenStore.set } }).details(),
    )
    expect(kept).toHaveLength(2)
    for (const text of kept) {
      expect(text).not.toContain(CREDENTIALS.password)
      expect(text).not.toContain(CREDENTIALS.clientSecret)
    }
    const fingerprints = kept.map((text) => /"fingerprint":"(\w+)"/.exec(text)?.[1])
    expect(fingerprints[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(fingerprints[0]).not.toBe(fingerprints[1])
  })
})

describe('a login that fails without being refused', () => {
  it.each([500, 503, 408, 429])('with HTTP %i is tried again by the next call', async (status) => {
    refuse(status, '99')
    const { details } = merchant()
    expect(await reasonOf(details())).toMatchObject({ status })
    allow()
    expect(await reasonOf(details())).toEqual({ resolved: true })
  })

  it('is one token request for all calls that wait for it', async () => {
    refuse(500)
    const { details } = merchant()
    await Promise.all(Array.from({ length: 50 }, () => reasonOf(details())))
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('ahead of the end leaves the living token in use, and is tried again after 5 s at the earliest', async () => {
    const reports: string[] = []
    const { details } = merchant({ onUnexpected: ({ message }) => reports.push(message) })
    await details()
    refuse(503)
    clock.jump(3_575_000)
    for (let call = 0; call < 10; call += 1) await details()
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports).toHaveLength(1)
    clock.jump(5_000)
    await details()
    expect(api.tokenRequests).toHaveLength(3)
    clock.jump(20_000)
    expect(await reasonOf(details())).toMatchObject({ status: 503 })
  })
})

describe('login()', () => {
  it('called 100 times at once makes one token request', async () => {
    const { login } = merchant()
    const tokens = await Promise.all(Array.from({ length: 100 }, () => login()))
    expect(new Set(tokens.map(({ access_token }) => access_token))).toEqual(new Set(['access-1']))
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('shares the token request that calls wait for', async () => {
    const { details, login } = merchant()
    const [, token] = await Promise.all([details(), login()])
    expect(token.access_token).toBe('access-1')
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('makes a token request of its own beside a call that meets an earlier refusal', async () => {
    refuse(401)
    const { details, login } = merchant()
    await reasonOf(details())
    allow()
    const [call, token] = await Promise.all([reasonOf(details()), login()])
    expect(call).toMatchObject({ status: 401, attempts: 0 })
    expect(token.access_token).toBe('access-2')
  })

  it('replaces a token that is still good', async () => {
    const { details, login } = merchant()
    await details()
    await login()
    await details()
    expect(api.calls).toEqual(['access-1', 'access-2'])
  })
})

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TokenRecord, TokenStore } from '../../src/index.ts'
import { createMemoryTokenStore } from '../../src/index.ts'
import type { MerchantOptions } from '../support/merchant.ts'
import { createMerchant, recordKey } from '../support/merchant.ts'
import { api, clock } from '../support/token-set-up.ts'

let reports: string[]

beforeEach(() => {
  reports = []
})

afterEach(() => vi.useRealTimers())

const merchant = (options: MerchantOptions = {}) =>
  createMerchant(api.url, clock, { onUnexpected: ({ message }) => reports.push(message), ...options })

const broken = (): never => {
  throw Object.assign(new Error('redis://user:hunter2@host is down'), { code: 'ECONNREFUSED' })
}

/** A store in memory that takes no more records once it is full, and keeps those it has. */
const fillable = () => {
  const memory = createMemoryTokenStore()
  let isFull = false
  const tokenStore: TokenStore = {
    ...memory,
    set: (key, record, timeToLive) => (isFull ? broken() : memory.set(key, record, timeToLive)),
  }
  const fill = () => {
    isFull = true
  }
  return { tokenStore, fill }
}

const refused = async (call: Promise<unknown>) => {
  await expect(call).rejects.toMatchObject({ code: 'authentication_failed' })
}

/** Calls for two lifetimes, in a fleet of one. */
const twoLifetimes = async (tokenStore: TokenStore) => {
  const { details } = merchant({ tokenStore })
  await Promise.all(Array.from({ length: 20 }, () => details()))
  await details()
  clock.jump(3_600_000)
  await Promise.all(Array.from({ length: 20 }, () => details()))
  await details()
}

describe('a store that fails', () => {
  it.each<[string, Partial<TokenStore>]>([
    ['from the start', { get: broken, set: broken, delete: broken, withLock: broken }],
    [
      'with rejections',
      { get: async () => broken(), set: async () => broken(), withLock: async () => broken() },
    ],
    ['at reading', { get: broken }],
    ['at writing, as a full one does', { set: broken }],
    ['at locking', { withLock: broken }],
    ['without a lock', { withLock: undefined as never }],
    ['by forgetting everything', { get: () => undefined }],
    ['by a lock that runs nothing', { withLock: async () => undefined as never }],
    [
      'after the task, at releasing the lock',
      {
        withLock: async (_key, task) => {
          await task()
          return broken()
        },
      },
    ],
    [
      'by running the task twice',
      {
        withLock: async (_key, task) => {
          await task()
          return task()
        },
      },
    ],
  ])('%s costs one login a lifetime and no call', async (_name, failing) => {
    await twoLifetimes({ ...createMemoryTokenStore(), ...failing })
    expect(api.tokenRequests).toHaveLength(2)
    for (const report of reports) expect(report).not.toContain('hunter2')
  })

  it('is reported with the reason, and asked again after a while', async () => {
    let failing = true
    const memory = createMemoryTokenStore()
    const tokenStore = { ...memory, get: (key: string) => (failing ? broken() : memory.get(key)) }
    const { details } = merchant({ tokenStore })
    await details()
    expect(reports).toEqual([expect.stringContaining('ECONNREFUSED')])
    failing = false
    clock.jump(3_600_000)
    await details()
    await merchant({ tokenStore }).details()
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports).toHaveLength(1)
  })

  it.each<[string, Partial<TokenStore>]>([
    ['that is down', { get: broken, set: broken, withLock: broken }],
    ['that is full', { set: broken }],
    ['that forgets', { get: () => undefined }],
  ])('%s lets no refused login be repeated', async (_name, failing) => {
    api.onToken = () => ({ status: 401 })
    const { details } = merchant({ tokenStore: { ...createMemoryTokenStore(), ...failing } })
    for (let call = 0; call < 20; call += 1) {
      await refused(details())
      clock.jump(10_000)
    }
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('that is full and keeps an old record lets no refused login be repeated', async () => {
    const { tokenStore, fill } = fillable()
    const { details } = merchant({ tokenStore })
    await details()
    fill()
    clock.jump(3_600_000)
    api.onToken = () => ({ status: 401 })
    for (let call = 0; call < 20; call += 1) {
      await refused(details())
      clock.jump(10_000)
    }
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('by running the task twice makes one token request for login()', async () => {
    const tokenStore: TokenStore = {
      ...createMemoryTokenStore(),
      withLock: async (_key, task) => {
        await task()
        return task()
      },
    }
    await merchant({ tokenStore }).login()
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('by returning a token without a credible end has it renewed after a day', async () => {
    const tokenStore = createMemoryTokenStore()
    const record = recordWith({ lifetime: 1e15 })
    await tokenStore.set(recordKey(api.url), record, 0)
    const { details } = merchant({ tokenStore })
    await details()
    clock.jump(86_400_000)
    await details()
    expect(api.calls).toEqual(['access-x', 'access-1'])
  })

  it('that is full and keeps an old record does not bring a spent token back', async () => {
    const { tokenStore, fill } = fillable()
    const { details } = merchant({ tokenStore })
    await details()
    fill()
    for (let round = 1; round <= 3; round += 1) {
      api.accepts = (token) => token === `access-${round + 1}`
      await details()
      clock.jump(60_000)
    }
    expect(api.calls).toEqual([
      'access-1',
      'access-1',
      'access-2',
      'access-2',
      'access-3',
      'access-3',
      'access-4',
    ])
  })

  it.each<[string, unknown]>([
    ['text', 'garbage'],
    ['a number', 7],
    ['an array', []],
    ['another version', { version: 2, token: {} }],
    ['a token that cannot stand in a header', recordWith({ accessToken: 'two\nlines' })],
    ['a token without an end', recordWith({ lifetime: Number.POSITIVE_INFINITY })],
    ['a token of a million years', recordWith({ lifetime: 1e300, obtainedAt: -1e300 })],
    ['a token without a beginning', recordWith({ obtainedAt: 'today' })],
    ['half a refusal', { version: 1, refusals: [{ status: 401 }, null], unauthorizedRenewals: ['x'] }],
  ])('by returning %s is overwritten by one login', async (_name, garbage) => {
    const tokenStore = createMemoryTokenStore()
    await tokenStore.set(recordKey(api.url), garbage as never, 0)
    await merchant({ tokenStore }).details()
    await merchant({ tokenStore }).details()
    expect(api.calls).toEqual(['access-1', 'access-1'])
  })

  it('by never answering holds a call up for seconds, not for ever', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const never = () => new Promise<never>(() => undefined)
    const { details } = merchant({ tokenStore: { get: never, set: never, delete: never, withLock: never } })
    const call = details()
    await vi.advanceTimersByTimeAsync(5_000)
    await call
    expect(api.tokenRequests).toHaveLength(1)
    expect(reports).toEqual([expect.stringContaining('get')])
  })

  it('by a lock that is never given is left for a login of this process’s own', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const never = () => new Promise<never>(() => undefined)
    const { details } = merchant({
      tokenStore: { ...createMemoryTokenStore(), withLock: never },
      totalTimeout: 600_000,
    })
    const calls = Array.from({ length: 20 }, () => details())
    await vi.advanceTimersByTimeAsync(150_000)
    await Promise.all(calls)
    expect(api.tokenRequests).toHaveLength(1)
  })
})

function recordWith(token: object): TokenRecord {
  const good = { id: 'id', accessToken: 'access-x', obtainedAt: Date.UTC(2026, 10, 28), lifetime: 3_600_000 }
  return { version: 1, refusals: [], unauthorizedRenewals: [], token: { ...good, ...token } }
}

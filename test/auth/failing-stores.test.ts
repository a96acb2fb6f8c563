import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  type MandateKitError,
  type TokenRecord,
  type TokenStore,
} from '../../src/index.ts'
import { CREDENTIALS, errorOf } from '../support/clients.ts'
import { deferred } from '../support/deferred.ts'
import { createMerchant, type MerchantOptions, recordKey } from '../support/merchant.ts'
import { api, clock, useTokenServer } from '../support/token-set-up.ts'

useTokenServer()

let reports: string[]

beforeEach(() => {
  reports = []
  // A login without the store waits up to 10 s at random.
  clock.skips = 10_000
})

afterEach(() => vi.useRealTimers())

const merchant = (options: MerchantOptions = {}) =>
  createMerchant(api.url, clock, { onUnexpected: ({ message }) => reports.push(message), ...options })

/** Makes so many calls that fail, some time apart, and returns their errors. */
const failures = async (count: number, details: () => Promise<void>, apart = 10_000) => {
  const errors: MandateKitError[] = []
  for (let call = 0; call < count; call += 1) {
    errors.push(await errorOf(details()))
    clock.jump(apart)
  }
  return errors
}

const broken = (): never => {
  throw Object.assign(new Error('redis://user:hunter2@host is down'), { code: 'ECONNREFUSED' })
}
const never = () => new Promise<never>(() => undefined)
const isDown = { get: broken, set: broken, delete: broken, withLock: broken }

const EMPTY: TokenRecord = { version: 2, blocks: [], unauthorizedRenewals: [] }
const NOW = Date.UTC(2026, 10, 28)
const recordWith = (token: object): TokenRecord => ({
  ...EMPTY,
  token: { id: 'id', accessToken: 'access-x', obtainedAt: NOW, lifetime: 3_600_000, ...token },
})
const old = (id = 'old') => recordWith({ id, obtainedAt: NOW - 86_400_000 })

type Task = () => Promise<unknown>
const lockThatEnds = (end: (task: Task) => unknown) => async (_key: string, task: Task) => {
  await task()
  return end(task)
}

/** A store in memory with other methods. */
const storeWith = (methods: object): TokenStore => ({ ...createMemoryTokenStore(), ...methods })

/** A store that changes the record that it reads. */
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

/** Another process, whose store lost the record, was answered 503 after the rejected login. */
const withShortBlock = (salt?: string) => (kept: TokenRecord | undefined) =>
  kept && { ...EMPTY, salt, blocks: [{ at: (kept.blocks[0]?.at ?? 0) + 1, wait: 10_000 }] }

describe('a store that', () => {
  it.each<[string, object]>([
    ['throws', isDown],
    ['rejects', { get: async () => broken(), set: async () => broken(), withLock: async () => broken() }],
    ['cannot read', { get: broken }],
    ['cannot write, as a full one', { set: broken }],
    ['cannot lock', { withLock: broken }],
    ['has no lock', { withLock: undefined }],
    ['forgets everything', { get: () => undefined }],
    ['runs nothing in its lock', { withLock: async () => undefined }],
    ['cannot release its lock', { withLock: lockThatEnds(broken) }],
    ['runs the task twice', { withLock: lockThatEnds((task) => task()) }],
  ])('%s costs one login for each lifetime and no call', async (_, methods) => {
    const { details, login } = merchant({ tokenStore: storeWith(methods) })
    for (const lifetime of [1, 2]) {
      await Promise.all(Array.from({ length: 20 }, () => details()))
      await details()
      expect(api.tokenRequests).toHaveLength(lifetime)
      clock.jump(3_600_000)
    }
    await login()
    expect(api.tokenRequests).toHaveLength(3)
    for (const report of reports) expect(report).not.toContain('hunter2')
  })

  it('fails is reported with the reason, and used again after a while', async () => {
    const tokenStore = createMemoryTokenStore()
    const get = vi.spyOn(tokenStore, 'get').mockImplementation(broken)
    const { details } = merchant({ tokenStore })
    await details()
    expect(reports).toEqual([expect.stringContaining('ECONNREFUSED')])
    get.mockRestore()
    clock.jump(3_600_000)
    await details()
    await merchant({ tokenStore }).details()
    expect(api.tokenRequests).toHaveLength(2)
    expect(reports).toHaveLength(1)
  })

  it.each<[string, () => TokenStore]>([
    ['is down', () => storeWith(isDown)],
    ['is full', () => storeWith({ set: broken })],
    ['forgets', () => storeWith({ get: () => undefined })],
    ['always returns an old record', () => storeThatReads(() => old())],
    ['always returns an empty record', () => storeThatReads(() => EMPTY)],
    ['returns another old record each time', () => storeThatReads(() => old(String(Math.random())))],
    ['loses the salt', () => storeThatReads((kept) => kept && { ...kept, salt: undefined as never })],
    ['loses the blocks', () => storeThatReads((kept) => kept && { ...kept, blocks: [] })],
    ['returns a later, shorter block with another salt', () => storeThatReads(withShortBlock('other'))],
    ['returns a later, shorter block without a salt', () => storeThatReads(withShortBlock())],
  ])('%s does not make the client retry a rejected login', async (_, tokenStore) => {
    api.refuse(401, { errorCode: '17', errorMessage: 'no' })
    const { details } = merchant({ tokenStore: tokenStore() })
    const rejected = { code: 'authentication_failed', status: 401, errorCode: '17' }
    expect(await failures(20, details)).toMatchObject(Array(20).fill(rejected))
    expect(api.tokenRequests).toHaveLength(1)
  })

  it.each([
    ['token', { password: 'right' }, undefined],
    ['rejection', { password: 'wrong' }, 'authentication_failed'],
  ])('whose lock ended during a login that hangs keeps the %s of the next login', async (_, login, code) => {
    const { get, set, delete: remove } = createMemoryTokenStore()
    const process = () =>
      merchant({ credentials: { ...CREDENTIALS, ...login }, tokenStore: { get, set, delete: remove } })
    const hangs = deferred()
    api.onToken = async ({ password }, index) => {
      if (index === 1) await hangs.promise
      if (index === 1) return { status: 503 }
      return password === 'right' ? { body: api.tokenBody(index) } : { status: 401 }
    }
    const first = errorOf(process().details())
    await expect.poll(() => api.tokenRequests).toHaveLength(1)
    const outcome = () =>
      process()
        .details()
        .then(
          () => undefined,
          (error) => error.code,
        )
    expect(await outcome()).toBe(code)
    clock.jump(6_000)
    hangs.resolve()
    expect(await first).toMatchObject({ status: 503 })
    clock.jump(60_000)
    expect(await outcome()).toBe(code)
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('fills up after a login does not make the client retry a rejected login', async () => {
    const tokenStore = createMemoryTokenStore()
    const { details } = merchant({ tokenStore })
    await details()
    vi.spyOn(tokenStore, 'set').mockImplementation(broken)
    clock.jump(3_600_000)
    api.refuse(401, { errorCode: '17' })
    await failures(20, details)
    expect(api.tokenRequests).toHaveLength(2)
  })

  it('fills up after a login does not bring a rejected token back', async () => {
    const tokenStore = createMemoryTokenStore()
    const { details } = merchant({ tokenStore })
    await details()
    vi.spyOn(tokenStore, 'set').mockImplementation(broken)
    clock.jump(5_000)
    for (let round = 1; round <= 3; round += 1) {
      api.accepts = (token) => token === `access-${round + 1}`
      await details()
      clock.jump(60_000)
    }
    expect(api.calls).toEqual([1, 1, 2, 2, 3, 3, 4].map((index) => `access-${index}`))
  })

  it('forgets does not end a pause that the server asked for', async () => {
    api.refuse(429, {}, { 'retry-after': '50' })
    const tokenStore = storeThatReads(() => old())
    const { details } = merchant({ tokenStore, rateLimit: 'throw', retry: false })
    const limited = { code: 'rate_limited' }
    expect(await failures(10, details, 0)).toMatchObject(Array(10).fill(limited))
    expect(api.tokenRequests).toHaveLength(1)
  })

  it('forgets allows one login after the cool-down, and one for each login()', async () => {
    api.refuse(401, { errorCode: '17' })
    const { details, login } = merchant({ tokenStore: storeThatReads(() => old()) })
    await errorOf(details())
    clock.jump(900_001)
    await errorOf(details())
    await errorOf(details())
    expect(api.tokenRequests).toHaveLength(2)
    await errorOf(login())
    expect(api.tokenRequests).toHaveLength(3)
  })

  it('has no lock ends a refusal for one client when another has logged in since', async () => {
    const tokenStore = storeThatReads((kept) => kept)
    const [one, other] = [merchant({ tokenStore }), merchant({ tokenStore })]
    api.refuse(401, { errorCode: '17' })
    await errorOf(one.details())
    clock.jump(1000)
    api.grant({ expires_in: 60 })
    await other.login()
    clock.jump(120_000)
    await one.details()
    expect(api.tokenRequests).toHaveLength(3)
  })

  it('returns a token without a credible end has it renewed after a day', async () => {
    const tokenStore = createMemoryTokenStore()
    await tokenStore.set(recordKey(api.url), recordWith({ lifetime: 1e15 }), 0)
    const { details } = merchant({ tokenStore })
    await details()
    clock.jump(86_400_000)
    await details()
    expect(api.calls).toEqual(['access-x', 'access-1'])
  })

  it.each<[string, unknown]>([
    ['text', 'garbage'],
    ['a number', 7],
    ['an array', []],
    ['another version', { version: 1, token: {} }],
    ['a token that cannot be in a header', recordWith({ accessToken: 'two\nlines' })],
    ['a token without an end', recordWith({ lifetime: Number.POSITIVE_INFINITY })],
    ['a token of a million years', recordWith({ lifetime: 1e300, obtainedAt: -1e300 })],
    ['a token without a beginning', recordWith({ obtainedAt: 'today' })],
    ['half a refusal', { version: 2, blocks: [{ status: 401 }, null], unauthorizedRenewals: ['x'] }],
  ])('returns %s has it overwritten by one login', async (_, garbage) => {
    const tokenStore = createMemoryTokenStore()
    await tokenStore.set(recordKey(api.url), garbage as never, 0)
    await merchant({ tokenStore }).details()
    await merchant({ tokenStore }).details()
    expect(api.calls).toEqual(['access-1', 'access-1'])
  })

  it('never responds delays a call by seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { details } = merchant({ tokenStore: { get: never, set: never, delete: never, withLock: never } })
    const call = details()
    await vi.advanceTimersByTimeAsync(5_000)
    await call
    expect(api.tokenRequests).toHaveLength(1)
    expect(reports).toEqual([expect.stringContaining('get')])
  })

  it('never grants its lock fails the waiting calls after 30 s, with a time to call again, and no login', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const tokenStore = storeWith({ withLock: never })
    const { details } = merchant({ tokenStore, totalTimeout: 600_000 })
    const calls = Array.from({ length: 20 }, () => errorOf(details()))
    await vi.advanceTimersByTimeAsync(30_000)
    const facts = { code: 'rate_limited', phase: 'login', outcome: 'not-sent', retryable: true }
    for (const error of await Promise.all(calls))
      expect(error).toMatchObject({ ...facts, retryAfterMs: 5_000 })
    expect(api.tokenRequests).toHaveLength(0)
    expect(reports).toEqual([])
  })
})

it('a rejected login is remembered on a runtime that cannot calculate a fingerprint', async () => {
  vi.spyOn(crypto, 'subtle', 'get').mockReturnValue(undefined as never)
  api.refuse(401, { errorCode: '17' })
  await failures(5, merchant().details, 0)
  expect(api.tokenRequests).toHaveLength(1)
})

it('case 118: a record of another version under its own key is neither read nor overwritten', async () => {
  const tokenStore = createMemoryTokenStore()
  const key = recordKey(api.url).replace(/:2$/, '')
  const foreign = { ...EMPTY, version: 1 }
  await Reflect.apply(tokenStore.set, tokenStore, [key, foreign, 60_000])
  await merchant({ tokenStore }).details()
  expect(await tokenStore.get(key)).toBe(foreign)
  expect(await tokenStore.get(`${key}:2`)).toMatchObject({ version: 2, token: { accessToken: 'access-1' } })
  expect(reports).toEqual([])
})

it.each([Number.POSITIVE_INFINITY, Number.MAX_VALUE, 1e15])(
  'case 132: a rejected login with a loginCooldown of %d stays rejected for every process, through JSON',
  async (loginCooldown) => {
    const texts = new Map<string, string>()
    const tokenStore: TokenStore = {
      get: (key) => JSON.parse(texts.get(key) ?? 'null'),
      set: (key, record) => texts.set(key, JSON.stringify(record)),
      delete: (key) => texts.delete(key),
    }
    api.refuse(401, {})
    const process = () => merchant({ tokenStore: { ...tokenStore }, loginCooldown }).details()
    for (const { code } of await failures(5, process, 3_600_000)) expect(code).toBe('authentication_failed')
    expect(api.tokenRequests).toHaveLength(1)
    expect(reports).toEqual([])
  },
)

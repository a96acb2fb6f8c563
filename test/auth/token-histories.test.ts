import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryTokenStore, type FetchFunction, type TokenStore } from '../../src/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createMerchant } from '../support/merchant.ts'
import { sized } from '../support/sizes.ts'

/** A kind of event with its weight and its fields. */
const event = <Kind extends string, Fields extends object>(
  weight: number,
  kind: Kind,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) => ({ weight, arbitrary: fc.record<Fields>(fields).map((values) => ({ kind, ...values })) })

const CALLS = event(6, 'calls', { parallel: fc.integer({ min: 1, max: 8 }), client: fc.nat(1) })
const STORE = event(1, 'store', { failing: fc.boolean() })
const timeOf = (...seconds: number[]) => event(4, 'time', { seconds: fc.constantFrom(...seconds) })

const step = fc.oneof(
  CALLS,
  STORE,
  timeOf(1, 4, 30, 60, 280, 300, 900, 3600, -600, 600),
  event(1, 'login', { client: fc.nat(1) }),
  event(2, 'revoke', {}),
  event(2, 'reject calls', { on: fc.boolean() }),
  event(2, 'password', { status: fc.constantFrom(200, 200, 401, 403, 500, 0) }),
  event(2, 'refresh', { status: fc.constantFrom(200, 400, 401, 500, 0) }),
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
const steps = fc.array(step, { minLength: 1, maxLength: 40 })

/** A server in one function, because sockets would only slow the search down. */
class FakeServer {
  readonly valid = new Set<string>()
  passwordStatus = 200
  refreshStatus = 200
  rejectsCalls = false
  passwords: number[] = []
  requests = 0
  calls = 0
  readonly #clock: ManualClock
  #issued = 0
  #refreshToken = ''

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  readonly fetch: FetchFunction = async (url, { body, headers }) => {
    await Promise.resolve()
    if (!url.endsWith('/oauth/token')) {
      this.calls += 1
      const token = (headers.authorization ?? headers.Authorization ?? '').replace('Bearer ', '')
      const accepted = this.valid.has(token) && !this.rejectsCalls
      return Response.json(
        { id: 'sub-1', errorCode: accepted ? '00' : '401' },
        { status: accepted ? 200 : 401 },
      )
    }
    const fields = JSON.parse(String(body ?? '{}')) as Record<string, string>
    const isPassword = fields.grant_type === 'password'
    this.requests += 1
    if (isPassword) this.passwords.push(this.#clock.now())
    const status = isPassword ? this.passwordStatus : this.refreshStatus
    if (status === 0) throw new TypeError('fetch failed')
    const good = isPassword || fields.refresh_token === this.#refreshToken
    if (status !== 200 || !good)
      return Response.json({ errorCode: '17', errorMessage: 'no' }, { status: status === 200 ? 401 : status })
    this.#issued += 1
    const token = `access-${this.#issued}`
    this.#refreshToken = `refresh-${this.#issued}`
    this.valid.add(token)
    const tokens = { access_token: token, refresh_token: this.#refreshToken }
    return Response.json({ token_type: 'Bearer', expires_in: 300, ...tokens, errorCode: '00' })
  }
}

const run = async (refresh: 'password' | 'refresh_token', history: readonly Step[]) => {
  const clock = new ManualClock()
  clock.skips = 10_000
  const server = new FakeServer(clock)
  let failing = false
  const memory = createMemoryTokenStore()
  const orFail = <Result>(result: () => Result): Result => {
    if (failing) throw new Error('the store is down')
    return result()
  }
  const tokenStore: TokenStore = {
    get: (key) => orFail(() => memory.get(key)),
    set: (key, record, timeToLive) => orFail(() => memory.set(key, record, timeToLive)),
    delete: (key) => orFail(() => memory.delete(key)),
  }
  const merchants = [0, 1].map(() =>
    createMerchant('https://api.example', clock, {
      tokenStore,
      refresh,
      fetch: server.fetch,
      retry: false,
      rateLimit: 'throw',
    }),
  )
  for (const step of history) {
    const before = { requests: server.requests, passwords: server.passwords.length, calls: server.calls }
    if (step.kind === 'calls' || step.kind === 'login') {
      const merchant = merchants[step.client]
      if (merchant === undefined) continue
      const work =
        step.kind === 'login'
          ? [merchant.login()]
          : Array.from({ length: step.parallel }, () => merchant.details())
      await Promise.allSettled(work)
      // The calls log in once, and once more after a 401; each login follows one refresh at most. A call sends
      // its own token, that of the store and a new one, each twice while it is new.
      expect(server.passwords.length - before.passwords).toBeLessThanOrEqual(step.kind === 'login' ? 1 : 2)
      expect(server.requests - before.requests).toBeLessThanOrEqual(step.kind === 'login' ? 1 : 4)
      expect(server.calls - before.calls).toBeLessThanOrEqual(step.kind === 'login' ? 0 : 6 * step.parallel)
    }
    if (step.kind === 'time') clock.jump(step.seconds * 1000)
    if (step.kind === 'revoke') server.valid.clear()
    if (step.kind === 'reject calls') server.rejectsCalls = step.on
    if (step.kind === 'password') server.passwordStatus = step.status
    if (step.kind === 'refresh') server.refreshStatus = step.status
    if (step.kind === 'store') failing = step.failing
  }
  // After any history, one login() and one call succeed when the server and the store work.
  server.rejectsCalls = false
  server.passwordStatus = 200
  for (const merchant of merchants) {
    await merchant.login()
    await merchant.details()
  }
  return { server }
}

describe('a history of expiry, revocation, refusals, outages and wrong clocks', () => {
  it.each(['password', 'refresh_token'] as const)('makes no needless login by %s', async (refresh) => {
    const property = fc.asyncProperty(steps, async (history) => void (await run(refresh, history)))
    await fc.assert(property, { numRuns: sized(300, 100) })
  })

  it('with rejected logins makes one password request in 15 minutes for each process', async () => {
    const waves = fc.array(fc.oneof(CALLS, timeOf(1, 60, 300, 899), STORE), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(waves, fc.constantFrom(401, 403), async (history, status) => {
        const { server } = await run('password', [{ kind: 'password', status }, ...history])
        // The last two are the final login() calls.
        const times = server.passwords.slice(0, -2)
        for (const [index, at] of times.entries()) {
          const within = times.slice(index).filter((other) => other - at < 900_000)
          expect(within.length).toBeLessThanOrEqual(2)
        }
      }),
      { numRuns: sized(150, 40) },
    )
  })
})

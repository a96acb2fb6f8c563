import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createMock, type Mock } from '../../mocks/core.ts'
import { createMemoryTokenStore, SubscriptionsClient, type TokenStore } from '../../src/index.ts'
import { errorOf } from '../support/clients.ts'
import { settled } from '../support/manual-clock.ts'
import { sized } from '../support/sizes.ts'

const SLOTS = sized(200, 40)
const MINUTES = 6
const LOCK_TIME = 31_000

type Fetch = typeof fetch

let mock: Mock
/** The fingerprints in progress. They take real time, so the simulated time must wait for them. */
const digests = new Set<Promise<ArrayBuffer>>()

beforeEach(() => {
  const digest = crypto.subtle.digest.bind(crypto.subtle)
  vi.spyOn(crypto.subtle, 'digest').mockImplementation((...given) => {
    const made = digest(...given)
    digests.add(made)
    return made.finally(() => digests.delete(made))
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  // Only the loop moves the time: a sleep that moves the clock by itself would leave the timers behind.
  mock = createMock({ clock: '2026-12-01T06:00:00Z', sleep: 'wait', subscriptions: { rateLimit: false } })
  return () => vi.useRealTimers()
})

/** Connects processes to one store, whose locks expire. The lock of a killed process is not released. */
const sharedStore = () => {
  const records = createMemoryTokenStore()
  const lockedUntil = new Map<string, number>()
  return (isKilled = false): TokenStore => ({
    ...records,
    withLock: async (key, task) => {
      while ((lockedUntil.get(key) ?? 0) > mock.clock.now())
        await new Promise((resolve) => setTimeout(resolve, 200))
      const until = mock.clock.now() + LOCK_TIME
      lockedUntil.set(key, until)
      try {
        return await task()
      } finally {
        if (!isKilled && lockedUntil.get(key) === until) lockedUntil.delete(key)
      }
    },
  })
}

const page: Fetch = async () => new Response('<h1>Forbidden</h1>', { status: 403 })
const never: Fetch = () => new Promise(() => undefined)
const down = () => Promise.reject(new Error('down'))

interface Scene {
  readonly store: (slot: number) => TokenStore
  readonly login: (slot: number, send: Fetch) => Fetch
  /** The process that is killed during its first login. Its store does nothing after that. */
  readonly killed?: number
}

const untilRepaired = (answer: Fetch) => (): Scene => {
  const connect = sharedStore()
  const end = mock.clock.now() + 120_000
  return { store: () => connect(), login: (_, send) => (mock.clock.now() < end ? answer : send) }
}

const scenes: Record<string, () => Scene> = {
  'a process that is killed inside its login while it holds the lock': () => {
    const connect = sharedStore()
    return {
      store: (slot) => (slot === 0 ? { ...connect(true), set: () => undefined } : connect()),
      login: (slot, send) => (slot === 0 ? never : send),
      killed: 0,
    }
  },
  'a token endpoint that does not respond for two minutes': untilRepaired(never),
  'a page of a firewall for two minutes': untilRepaired(page),
}

const deadStore: Scene = {
  store: () => ({ get: down, set: down, delete: down, withLock: down }),
  login: (_, send) => send,
}

/** Runs processes that call the API every 20 s, and moves both kinds of time together. */
const run = async ({ store, login, killed }: Scene, isWrong = false) => {
  const { credentials, ...options } = mock.clientOptions.subscriptions
  const password = isWrong ? 'wrong' : credentials.password
  const statuses: number[] = []
  const served = new Set<number>()
  const failures = new Set<string>()
  let tokenRequests = 0
  const clients = Array.from({ length: SLOTS }, (_, slot) => {
    const send: Fetch = async (input, init) => {
      const { pathname } = new URL(String(input))
      if (!pathname.endsWith('/token')) return mock.fetch(input, init)
      tokenRequests += 1
      const response = await login(slot, mock.fetch)(input, init)
      statuses.push(response.status)
      return response
    }
    const own = { credentials: { ...credentials, password }, tokenStore: store(slot), fetch: send }
    return new SubscriptionsClient({ ...options, ...own, onUnexpected: () => undefined })
  })
  const busy = new Set<number>()
  const call = async (client: SubscriptionsClient, slot: number) => {
    if (busy.has(slot)) return
    busy.add(slot)
    const { code, phase } = await errorOf(client.details('nobody'))
    // The mock does not know the subscription, so a call with a token ends in an error response.
    if (phase === 'response') served.add(slot)
    else failures.add(code)
    if (slot !== killed) busy.delete(slot)
  }
  for (let second = 0; second < MINUTES * 60; second += 1) {
    if (second % 20 === 0) for (const [slot, client] of clients.entries()) void call(client, slot)
    await mock.clock.advance({ seconds: 1 })
    await vi.advanceTimersByTimeAsync(1_000)
    await settled()
    while (digests.size > 0) {
      await Promise.all(digests)
      await settled()
    }
  }
  const rejected = statuses.filter((status) => status === 400 || status === 401).length
  const accepted = statuses.filter((status) => status === 200).length
  return { tokenRequests, rejected, accepted, served: served.size, failures }
}

describe(`case 111: ${SLOTS} processes with one store and`, () => {
  it.each(Object.entries(scenes))('%s: one login serves every living process', async (_, scene) => {
    const made = scene()
    const { accepted, served, tokenRequests } = await run(made)
    expect({ accepted, served }).toEqual({ accepted: 1, served: SLOTS - (made.killed === undefined ? 0 : 1) })
    expect(tokenRequests).toBeLessThanOrEqual(8)
  })

  it.each(Object.entries(scenes))('%s: a wrong password is rejected once in 6 minutes', async (_, scene) => {
    const { rejected, failures } = await run(scene(), true)
    expect(rejected).toBe(1)
    expect(failures).toContain('authentication_failed')
    expect(failures).not.toContain('locked_out')
  })
})

it('without a working store, each process logs in once, also with a wrong password', async () => {
  expect(await run(deadStore)).toMatchObject({ tokenRequests: SLOTS, served: SLOTS })
  expect(await run(deadStore, true)).toMatchObject({ tokenRequests: SLOTS })
})

import { Keyv } from 'keyv'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createKeyvDedupeStore, createKeyvTokenStore } from '../../src/stores/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createMerchant } from '../support/merchant.ts'
import { TokenServer } from '../support/token-server.ts'
import { itKeepsTheRules, ownerOf, SHORT_LEASE } from './dedupe-rules.ts'

type Method = 'get' | 'set'

/** A Keyv with a backend whose methods can fail. */
const fragileKeyv = (withListener: boolean) => {
  const failing = new Set<Method>()
  const store = new Map<string, unknown>()
  for (const method of ['get', 'set'] as const) {
    const work = store[method].bind(store) as (...all: unknown[]) => never
    store[method] = (...all: unknown[]) => {
      if (failing.has(method)) throw new Error('the backend is down')
      return work(...all)
    }
  }
  const keyv = new Keyv({ store })
  if (withListener) keyv.on('error', () => undefined)
  return { keyv, failing }
}

describe('tokens in a Keyv', () => {
  it('are shared by the clients of a process, as are rejected logins', async () => {
    const api = await TokenServer.start()
    const clock = new ManualClock(Date.now())
    const tokenStore = createKeyvTokenStore(new Keyv())
    const clients = Array.from({ length: 5 }, () => createMerchant(api.url, clock, { tokenStore }))
    await Promise.all(clients.map(({ details }) => details()))
    expect(api.tokenRequests).toHaveLength(1)
    api.onToken = () => ({ status: 403, body: { errorCode: '17' } })
    clock.jump(3_600_000)
    for (const { details } of clients) await expect(details()).rejects.toMatchObject({ code: 'locked_out' })
    expect(api.tokenRequests).toHaveLength(2)
  })

  it.each([true, false])('that fails do not fail a call (with a listener: %s)', async (withListener) => {
    const api = await TokenServer.start()
    const clock = new ManualClock(Date.now())
    clock.skips = 10_000
    const { keyv, failing } = fragileKeyv(withListener)
    const reports: string[] = []
    const { details } = createMerchant(api.url, clock, {
      tokenStore: createKeyvTokenStore(keyv),
      onUnexpected: ({ message }) => reports.push(message),
    })
    for (const method of ['get', 'set'] as const) {
      failing.clear()
      failing.add(method)
      clock.jump(3_600_000)
      await details()
      await details()
      expect(reports.splice(0)).toEqual([expect.stringContaining('token store failed')])
    }
    expect(api.tokenRequests).toHaveLength(2)
  })
})

describe('dedupe in a Keyv', () => {
  const clock = new ManualClock(Date.now())

  // Keyv keeps committed ids on the machine's time.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: clock.now() })
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  itKeepsTheRules({
    create: async () => createKeyvDedupeStore(new Keyv({ store: new Map() }), { clock }),
    afterLease: async () => {
      clock.jump(SHORT_LEASE * 3)
      vi.setSystemTime(clock.now())
    },
  })

  it.each<Method>(['get', 'set'])('rejects a claim when %s fails', async (method) => {
    const { keyv, failing } = fragileKeyv(true)
    const store = createKeyvDedupeStore(keyv, { clock })
    await store.commit('n-1', ownerOf(await store.claim('n-1', 10_000)), 60_000)
    failing.add(method)
    if (method === 'get') await expect(store.claim('n-1', 10_000)).rejects.toThrow()
    await expect(store.claim('n-2', 10_000)).rejects.toThrow()
    failing.clear()
    expect(await store.claim('n-1', 10_000)).toEqual({ state: 'committed' })
  })

  it('rejects when another value is under the key', async () => {
    const keyv = new Keyv()
    await keyv.set('notification:n-1', 'garbage')
    await expect(createKeyvDedupeStore(keyv, { clock }).claim('n-1', 10_000)).rejects.toThrow()
  })
})

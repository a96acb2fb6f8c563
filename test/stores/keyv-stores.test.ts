import { Keyv } from 'keyv'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createKeyvDedupeStore, createKeyvTokenStore } from '../../src/stores/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createMerchant } from '../support/merchant.ts'
import { TokenServer } from '../support/token-server.ts'
import { itKeepsTheRules, ownerOf, SHORT_LEASE } from './dedupe-rules.ts'

type Method = 'get' | 'set' | 'delete'

/** A Keyv over a backend whose methods fail when told. */
const fragileKeyv = (withListener: boolean) => {
  const failing = new Set<Method>()
  const map = new Map<string, unknown>()
  const fail = (method: Method) => {
    if (failing.has(method)) throw new Error('the backend is down')
  }
  const store = {
    get: async (key: string) => {
      fail('get')
      return map.get(key)
    },
    set: async (key: string, value: unknown) => {
      fail('set')
      map.set(key, value)
      return true
    },
    delete: async (key: string) => {
      fail('delete')
      return map.delete(key)
    },
    clear: async () => map.clear(),
    has: async (key: string) => map.has(key),
  }
  const keyv = new Keyv({ store })
  if (withListener) keyv.on('error', () => undefined)
  return { keyv, failing }
}

describe('tokens in a Keyv', () => {
  it('are shared by clients of one process, as are refused logins', async () => {
    const api = await TokenServer.start()
    const clock = new ManualClock(Date.now())
    const tokenStore = createKeyvTokenStore(new Keyv())
    const clients = Array.from({ length: 5 }, () => createMerchant(api.url, clock, { tokenStore }))
    await Promise.all(clients.map(({ details }) => details()))
    expect(api.tokenRequests).toHaveLength(1)
    api.onToken = () => ({ status: 403 })
    clock.jump(3_600_000)
    for (const { details } of clients) await expect(details()).rejects.toMatchObject({ code: 'locked_out' })
    expect(api.tokenRequests).toHaveLength(2)
  })

  it.each([true, false])(
    'that fails stop no call (somebody listens to its errors: %s)',
    async (withListener) => {
      const api = await TokenServer.start()
      const clock = new ManualClock(Date.now())
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
    },
  )
})

describe('dedupe in a Keyv', () => {
  const clock = new ManualClock(Date.now())

  // Committed ids are kept by Keyv, on the machine's time.
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

  it.each<Method>(['get', 'set'])(
    'rejects a claim when %s fails, rather than process twice',
    async (method) => {
      const { keyv, failing } = fragileKeyv(true)
      const store = createKeyvDedupeStore(keyv, { clock })
      await store.commit('n-1', ownerOf(await store.claim('n-1', 10_000)), 60_000)
      failing.add(method)
      if (method === 'get') await expect(store.claim('n-1', 10_000)).rejects.toThrow()
      await expect(store.claim('n-2', 10_000)).rejects.toThrow()
      failing.clear()
      expect(await store.claim('n-1', 10_000)).toEqual({ state: 'committed' })
    },
  )

  it('rejects when something else stands under the key', async () => {
    const keyv = new Keyv()
    await keyv.set('notification:n-1', 'garbage')
    await expect(createKeyvDedupeStore(keyv, { clock }).claim('n-1', 10_000)).rejects.toThrow()
  })
})

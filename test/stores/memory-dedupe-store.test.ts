import { describe, expect, it } from 'vitest'
import { createMemoryDedupeStore } from '../../src/notifications/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { sized } from '../support/sizes.ts'
import { itKeepsTheRules, ownerOf, SHORT_LEASE } from './dedupe-rules.ts'

const IDS = sized(1_000_000, 20_000)

describe('dedupe in memory', () => {
  const clock = new ManualClock()

  itKeepsTheRules({
    create: async () => createMemoryDedupeStore({ clock }),
    afterLease: async () => clock.jump(SHORT_LEASE * 3),
  })

  it('refuses a claim beyond its limit while as many are in progress, until a lease ends', async () => {
    const store = createMemoryDedupeStore({ clock, limit: 2 })
    await store.claim('a', 1000)
    await store.claim('b', 2000)
    await expect(store.claim('c', 1000)).rejects.toThrow('2 notifications are in progress already')
    expect(await store.claim('a', 1000)).toEqual({ state: 'in-progress' })
    clock.jump(1000)
    ownerOf(await store.claim('c', 1000))
  })

  it('keeps no id after its time', async () => {
    const store = createMemoryDedupeStore({ clock })
    for (let index = 0; index < 1000; index += 1) {
      const id = `n-${index}`
      await store.commit(id, ownerOf(await store.claim(id, 1000)), 10_000)
      clock.jump(100)
    }
    expect(store.size).toBeLessThanOrEqual(101)
  })

  it(`keeps the newest of ${IDS} ids within its limit`, async () => {
    const store = createMemoryDedupeStore({ limit: 1000 })
    for (let index = 0; index < IDS; index += 1) {
      const id = `n-${index}`
      const claim = await store.claim(id, 1000)
      await store.commit(id, claim.state === 'claimed' ? claim.owner : '', 60_000)
    }
    expect(store.size).toBe(1000)
    expect(await store.claim(`n-${IDS - 1000}`, 1000)).toEqual({ state: 'committed' })
    ownerOf(await store.claim(`n-${IDS - 1001}`, 1000))
  })
})

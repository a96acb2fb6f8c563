import { expect, test } from 'vitest'
import { createMemoryDedupeStore } from '../../src/notifications/index.ts'
import { ManualClock } from '../support/manual-clock.ts'

const owned = async (
  store: ReturnType<typeof createMemoryDedupeStore>,
  id: string,
  lease = 1000,
): Promise<string> => {
  const claim = await store.claim(id, lease)
  if (claim.state !== 'claimed') throw new Error(`${id} is ${claim.state}`)
  return claim.owner
}

test('of many claims at once one succeeds', async () => {
  const store = createMemoryDedupeStore({ clock: new ManualClock() })
  const claims = await Promise.all(Array.from({ length: 50 }, () => store.claim('a', 1000)))
  expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1)
})

test('a former owner can neither extend nor release what someone else holds now', async () => {
  const clock = new ManualClock()
  const store = createMemoryDedupeStore({ clock })
  const former = await owned(store, 'a')
  await clock.advance(1000)
  await owned(store, 'a')
  expect(await store.extend('a', former, 9000)).toBe(false)
  await store.release('a', former)
  expect(await store.claim('a', 1000)).toEqual({ state: 'in-progress' })
})

test('a success is recorded even by a former owner, and the present one cannot undo it', async () => {
  const clock = new ManualClock()
  const store = createMemoryDedupeStore({ clock })
  const former = await owned(store, 'a')
  await clock.advance(1000)
  const present = await owned(store, 'a')
  expect(await store.commit('a', former, 60_000)).toBe(false)
  await store.release('a', present)
  expect(await store.claim('a', 1000)).toEqual({ state: 'committed' })
})

test('a released id can be claimed at once', async () => {
  const store = createMemoryDedupeStore({ clock: new ManualClock() })
  await store.release('a', await owned(store, 'a'))
  expect(await store.claim('a', 1000)).toMatchObject({ state: 'claimed' })
})

test('beyond its limit the oldest success is forgotten first', async () => {
  const store = createMemoryDedupeStore({ clock: new ManualClock(), limit: 3 })
  for (const id of ['a', 'b', 'c', 'd']) await store.commit(id, await owned(store, id), 60_000)
  expect(store.size).toBe(3)
  expect(await store.claim('d', 1000)).toEqual({ state: 'committed' })
  expect(await store.claim('a', 1000)).toMatchObject({ state: 'claimed' })
})

test('what is in progress is never forgotten: a claim beyond the limit is refused until a lease ends', async () => {
  const clock = new ManualClock()
  const store = createMemoryDedupeStore({ clock, limit: 2 })
  await owned(store, 'a', 1000)
  await owned(store, 'b', 2000)
  await expect(store.claim('c', 1000)).rejects.toThrow('2 notifications are in progress already')
  expect(await store.claim('a', 1000)).toEqual({ state: 'in-progress' })
  await clock.advance(1000)
  expect(await store.claim('c', 1000)).toMatchObject({ state: 'claimed' })
})

test('what has ended takes no room', async () => {
  const clock = new ManualClock()
  const store = createMemoryDedupeStore({ clock })
  for (let index = 0; index < 1000; index += 1) {
    const id = `n-${index}`
    await store.commit(id, await owned(store, id), 10_000)
    await clock.advance(100)
  }
  expect(store.size).toBeLessThanOrEqual(101)
})

test('a million ids are no more than its limit, and the newest are known', async () => {
  const store = createMemoryDedupeStore({ limit: 1000 })
  for (let index = 0; index < 1_000_000; index += 1) {
    const id = `n-${index}`
    await store.commit(id, await owned(store, id), 60_000)
  }
  expect(store.size).toBe(1000)
  expect(await store.claim('n-999000', 1000)).toEqual({ state: 'committed' })
  expect(await store.claim('n-998999', 1000)).toMatchObject({ state: 'claimed' })
}, 60_000)

import { expect, it } from 'vitest'
import type { Claim, DedupeStore } from '../../src/notifications/index.ts'

export const ownerOf = (claim: Claim): string => {
  expect(claim.state).toBe('claimed')
  return claim.state === 'claimed' ? claim.owner : ''
}

/** A lease in milliseconds that has ended after `afterLease`. */
export const SHORT_LEASE = 50

/** The tests of every dedupe store. */
export const itKeepsTheRules = ({
  create,
  afterLease,
}: {
  readonly create: () => Promise<DedupeStore>
  readonly afterLease: (id?: string) => Promise<void>
}) => {
  it('gives an id to one of a hundred parallel claims', async () => {
    const store = await create()
    const claims = await Promise.all(Array.from({ length: 100 }, () => store.claim('n-1', 10_000)))
    expect(claims.filter(({ state }) => state === 'claimed')).toHaveLength(1)
    expect(claims.filter(({ state }) => state === 'in-progress')).toHaveLength(99)
  })

  it('does not give out a committed id, and gives out others', async () => {
    const store = await create()
    const owner = ownerOf(await store.claim('n-1', 10_000))
    expect(await store.commit('n-1', owner, 60_000)).toBe(true)
    expect(await store.claim('n-1', 10_000)).toEqual({ state: 'committed' })
    ownerOf(await store.claim('n-2', 10_000))
  })

  it('has an id from its commit to the end of its time, and no claimed, released or unknown id', async () => {
    const store = await create()
    expect(await store.has?.('n-1')).toBe(false)
    const owner = ownerOf(await store.claim('n-1', 10_000))
    expect(await store.has?.('n-1')).toBe(false)
    await store.commit('n-1', owner, SHORT_LEASE)
    expect(await store.has?.('n-1')).toBe(true)
    await afterLease()
    expect(await store.has?.('n-1')).toBe(false)
    await store.release('n-2', ownerOf(await store.claim('n-2', 10_000)))
    expect(await store.has?.('n-2')).toBe(false)
  })

  it('forgets a committed id after its time', async () => {
    const store = await create()
    await store.commit('n-1', ownerOf(await store.claim('n-1', 10_000)), SHORT_LEASE)
    await afterLease()
    ownerOf(await store.claim('n-1', 10_000))
  })

  it('gives out a released id at once', async () => {
    const store = await create()
    await store.release('n-1', ownerOf(await store.claim('n-1', 10_000)))
    ownerOf(await store.claim('n-1', 10_000))
  })

  it('gives out an id after its lease, and the former owner can neither extend nor release it', async () => {
    const store = await create()
    const former = ownerOf(await store.claim('n-1', SHORT_LEASE))
    await afterLease()
    const next = ownerOf(await store.claim('n-1', 10_000))
    expect(next).not.toBe(former)
    await store.release('n-1', former)
    expect(await store.extend('n-1', former, 10_000)).toBe(false)
    expect(await store.claim('n-1', 10_000)).toEqual({ state: 'in-progress' })
    expect(await store.extend('n-1', next, 10_000)).toBe(true)
  })

  it('commits what a former owner processed, and returns that the lease was lost', async () => {
    const store = await create()
    const former = ownerOf(await store.claim('n-1', SHORT_LEASE))
    await afterLease()
    const next = ownerOf(await store.claim('n-1', 10_000))
    expect(await store.commit('n-1', former, 60_000)).toBe(false)
    expect(await store.claim('n-1', 10_000)).toEqual({ state: 'committed' })
    await store.release('n-1', next)
    expect(await store.claim('n-1', 10_000)).toEqual({ state: 'committed' })
  })

  it('keeps an extended lease', async () => {
    const store = await create()
    const owner = ownerOf(await store.claim('n-1', SHORT_LEASE))
    await store.claim('n-2', SHORT_LEASE)
    expect(await store.extend('n-1', owner, 60_000)).toBe(true)
    await afterLease('n-2')
    expect(await store.claim('n-1', 10_000)).toEqual({ state: 'in-progress' })
  })
}

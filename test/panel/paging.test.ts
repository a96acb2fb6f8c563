import { createMock } from 'mandatekit/mocks/core'
import type { MockServer } from 'mandatekit/mocks/server'
import { startMockServer } from 'mandatekit/mocks/server'
import { afterEach, describe, expect, test } from 'vitest'
import { stateOf } from './asking.ts'

let server: MockServer | undefined

afterEach(() => server?.close())

/** A server whose mock holds as many of everything as is asked for, and a few requests. */
const holding = async (count: number, logSize = 10_000) => {
  const seeds = Array.from({ length: count }, (_, index) => ({ id: `ch_${index}`, msisdn: `+999${index}` }))
  const mock = createMock({
    clock: '2027-01-01T06:00:00Z',
    logSize,
    gateway: {
      rateLimit: false,
      charges: seeds.map((seed) => ({ ...seed, amount: 1, currency: 'BDT', status: 'succeeded' as const })),
    },
  })
  const request = { start: '2027-01-01', end: '2027-12-31', cycle: 'DAILY', amount: '5.00' } as const
  mock.add({ subscriptions: Array.from({ length: count }, () => ({ request })) })
  server = await startMockServer({ mock })
  return { mock, url: server.url, charge: () => send(mock.clientOptions.gateway.apiKey) }
}

const send = async (apiKey: string) => {
  const answer = await fetch(`${server?.url}/api/v1/mfs/charges`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'idempotency-key': crypto.randomUUID() },
    body: JSON.stringify({ msisdn: '+1', amount: 1, currency: 'BDT', redirect_uri: 'https://shop.example/' }),
  })
  expect(answer.status).toBe(202)
}

describe('a program pages through the panel', () => {
  test.each([0, 1, 49, 50, 51, 100, 120])('and sees each of %i charges once', async (count) => {
    const { url } = await holding(count)
    const seen: string[] = []
    let query = ''
    for (;;) {
      const { charges } = await stateOf(url, query)
      expect(charges).toMatchObject({ total: count, skipped: seen.length })
      seen.push(...charges.items.map(({ id }: { id: string }) => id))
      if (charges.older === undefined) break
      query = `?charges=${charges.older}`
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => `ch_${count - 1 - index}`))
  })

  test('and a page stays the same while new charges come', async () => {
    const { url, charge } = await holding(60)
    const { charges } = await stateOf(url)
    const older = await stateOf(url, `?charges=${charges.older}`)
    await charge()
    const again = await stateOf(url, `?charges=${charges.older}`)
    expect(again.charges.items).toEqual(older.charges.items)
    expect([older.charges.skipped, again.charges.skipped]).toEqual([50, 51])
  })

  test('and the pages of the other lists are their own', async () => {
    const { url } = await holding(60)
    const { subscriptions, charges } = await stateOf(url, '?subscriptions=20&limit=10')
    expect(subscriptions).toMatchObject({ total: 60, skipped: 40, older: 10, newer: 30 })
    expect(charges).toMatchObject({ total: 60, skipped: 0, older: 50 })
  })

  test('and finds requests that the log has not dropped', async () => {
    const { url, charge } = await holding(0, 6)
    for (let count = 0; count < 9; count += 1) await charge()
    const newest = await stateOf(url, '?limit=4')
    const numbers = ({ requests }: { requests: { items: { number: number }[] } }) =>
      requests.items.map(({ number }) => number)
    expect(numbers(newest)).toEqual([9, 8, 7, 6])
    expect(newest.requests).toMatchObject({ total: 6, older: 5 })
    expect(numbers(await stateOf(url, '?limit=4&requests=5'))).toEqual([5, 4])
    // What stood before this place has been dropped: the oldest that is kept are shown.
    expect(numbers(await stateOf(url, '?limit=4&requests=2'))).toEqual([7, 6, 5, 4])
  })

  test.each(['x', '-1', '1.5', '9'.repeat(30), '1000000'])(
    'and gets the newest for the place %s',
    async (place) => {
      const { url } = await holding(60)
      expect((await stateOf(url, `?charges=${place}`)).charges).toMatchObject({ skipped: 0, older: 10 })
    },
  )
})

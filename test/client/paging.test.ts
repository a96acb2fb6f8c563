import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OK, payment } from '../support/bodies.ts'
import { errorOf, subscriptionsClient } from '../support/clients.ts'
import { startServer, withLogin } from '../support/scripted-server.ts'

const payments = (count: number) => Array.from({ length: count }, (_, index) => payment(index + 1))

type Pager = (page: number, perPage: number) => readonly unknown[]

const listing = async (pager: Pager) => {
  const server = await startServer(
    withLogin((request) => {
      const query = new URL(request.url, 'http://localhost').searchParams
      const records = pager(Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 10))
      return { body: { ...OK, subscriptionPayments: records } }
    }),
  )
  return { server, subscriptions: subscriptionsClient(server.url) }
}

const idsOf = async (list: AsyncIterable<{ paymentId: number | string }>) => {
  const ids: (number | string)[] = []
  for await (const { paymentId } of list) ids.push(paymentId)
  return ids
}

const sliced =
  (all: readonly unknown[]): Pager =>
  (page, perPage) =>
    all.slice((page - 1) * perPage, page * perPage)

describe('all payments', () => {
  it.each([0, 1, 10, 11, 20, 25])('%i payments are all given, once each', async (count) => {
    for (const perPage of [undefined, 10]) {
      const { subscriptions } = await listing(sliced(payments(count)))
      const ids = await idsOf(subscriptions.allPayments('sub-1', { perPage }))
      expect(ids).toEqual(payments(count).map(({ paymentId }) => paymentId))
    }
  })

  it('that look alike and have no identifier are all given, also when the server repeats its page', async () => {
    const { paymentId: _id, ...anonymous } = payment(0)
    const { subscriptions } = await listing(() => [anonymous, anonymous, payment(1), payment(1)])
    expect(await idsOf(subscriptions.allPayments('sub-1'))).toEqual([undefined, undefined, 1])
  })

  it.each(['NA', 'N/A', 'null', ' ', null])(
    'are all given when %j stands for their identifier',
    async (none) => {
      const { subscriptions } = await listing(() => [
        { ...payment(0, { dueDate: '2026-12-01' }), paymentId: none },
        { ...payment(0, { dueDate: '2026-12-02' }), paymentId: none },
        payment(1),
      ])
      expect(await idsOf(subscriptions.allPayments('sub-1'))).toEqual([undefined, undefined, 1])
    },
  )

  it('keep identifiers that a number would change, and are told apart by them', async () => {
    const { subscriptions } = await listing((page) =>
      page > 1
        ? []
        : ['7', '007', 'PAY-1', 'PAY-2', '12345678901234567890'].map((paymentId) =>
            payment(0, { paymentId }),
          ),
    )
    const ids = await idsOf(subscriptions.allPayments('sub-1'))
    expect(ids).toEqual([7, '007', 'PAY-1', 'PAY-2', '12345678901234567890'])
  })

  it('ends and loses nothing with servers that ignore parameters, repeat records or give short pages', async () => {
    const counts = fc.integer({ min: 0, max: 30 })
    const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 40 })
    const overlap = fc.integer({ min: 0, max: 3 })
    await fc.assert(
      fc.asyncProperty(counts, sizes, overlap, async (count, lengths, repeated) => {
        const all = payments(count)
        const starts: number[] = [0]
        while ((starts.at(-1) ?? 0) < count) {
          starts.push((starts.at(-1) ?? 0) + (lengths[starts.length % lengths.length] ?? 1))
        }
        const pager: Pager = (page) => {
          const [from, to] = [starts[page - 1], starts[page]]
          return from === undefined || to === undefined ? [] : all.slice(Math.max(0, from - repeated), to)
        }
        const { subscriptions } = await listing(pager)
        expect(await idsOf(subscriptions.allPayments('sub-1'))).toEqual(all.map(({ paymentId }) => paymentId))
      }),
      { numRuns: 40 },
    )
  })

  it('a server that ignores the page gives its records once', async () => {
    const { server, subscriptions } = await listing(() => payments(25))
    expect(await idsOf(subscriptions.allPayments('sub-1'))).toHaveLength(25)
    expect(server.requests).toHaveLength(3)
  })

  it('starting at page 99 of 3 ends', async () => {
    const { server, subscriptions } = await listing(sliced(payments(25)))
    expect(await idsOf(subscriptions.allPayments('sub-1', { page: 99 }))).toEqual([])
    expect(server.requests).toHaveLength(2)
  })

  it('leaving the loop reads no further page', async () => {
    const { server, subscriptions } = await listing(sliced(payments(25)))
    for await (const { paymentId } of subscriptions.allPayments('sub-1', { perPage: 10 })) {
      if (paymentId === 10) break
    }
    expect(server.requests.map(({ url }) => url)).toEqual([
      '/oauth/token',
      '/api/v1.0/subscription/sub-1/payments?page=1&per_page=10',
    ])
  })

  it('records without an identifier are given, and not twice', async () => {
    const { paymentId: _id, ...nameless } = payment(1)
    const records = [nameless, { ...nameless, transactionId: 't-9' }]
    const { subscriptions } = await listing(() => records)
    const given: unknown[] = []
    for await (const record of subscriptions.allPayments('sub-1')) given.push(record)
    expect(given).toEqual(records)
  })

  it('an error ends the loop with the error', async () => {
    const server = await startServer(withLogin([{ status: 404 }]))
    expect(await errorOf(idsOf(subscriptionsClient(server.url).allPayments('sub-1')))).toMatchObject({
      status: 404,
    })
  })
})

describe('one page', () => {
  it('is asked for by page and per_page, and by nothing when nothing is given', async () => {
    const { server, subscriptions } = await listing(() => [])
    await subscriptions.payments('sub-1')
    await subscriptions.payments('sub-1', { page: 3, perPage: 100 })
    expect(server.requests.slice(1).map(({ url }) => url.split('payments')[1])).toEqual([
      '',
      '?page=3&per_page=100',
    ])
  })

  it.each([{ page: 0 }, { page: 1.5 }, { perPage: 101 }, { perPage: 0 }, { page: '2' as unknown as number }])(
    '%j is refused',
    async (page) => {
      const { server, subscriptions } = await listing(() => [])
      expect(await errorOf(subscriptions.payments('sub-1', page))).toMatchObject({ code: 'invalid_request' })
      expect(server.requests).toEqual([])
    },
  )
})

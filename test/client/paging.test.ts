import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OK, payment } from '../support/bodies.ts'
import { errorOf } from '../support/clients.ts'
import { openClients } from '../support/open-clients.ts'
import type { Script } from '../support/scripted-server.ts'

const payments = (count: number) => Array.from({ length: count }, (_, index) => payment(index + 1))

type Pager = (page: number, perPage: number) => readonly unknown[]

const listing = (pager: Pager) =>
  openClients(({ url }) => {
    const query = new URL(url, 'http://localhost').searchParams
    const records = pager(Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 10))
    return { body: { ...OK, subscriptionPayments: records } }
  })

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
  it.each([0, 1, 10, 11, 20, 25])('case 28: %i payments are all given once', async (count) => {
    for (const perPage of [undefined, 10]) {
      const { subscriptions } = await listing(sliced(payments(count)))
      const ids = await idsOf(subscriptions.allPayments('sub-1', { perPage }))
      expect(ids).toEqual(payments(count).map(({ paymentId }) => paymentId))
    }
  })

  it.each(['NA', 'N/A', 'null', ' ', null, undefined])(
    'without an identifier (%j) are all given once, although the server repeats its page',
    async (none) => {
      const nameless = [
        { ...payment(0, { dueDate: '2026-12-01' }), paymentId: none },
        { ...payment(0, { dueDate: '2026-12-02' }), paymentId: none },
      ]
      const { subscriptions } = await listing(() => [...nameless, payment(1), payment(1)])
      expect(await idsOf(subscriptions.allPayments('sub-1'))).toEqual([undefined, undefined, 1])
    },
  )

  it('keep identifiers that a number would change, and differ by them', async () => {
    const ids = ['7', '007', 'PAY-1', 'PAY-2', '12345678901234567890']
    const { subscriptions } = await listing(sliced(ids.map((paymentId) => payment(0, { paymentId }))))
    expect(await idsOf(subscriptions.allPayments('sub-1'))).toEqual([7, ...ids.slice(1)])
  })

  it('are all given by servers that repeat records or have short pages', async () => {
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

  it.each<[string, Pager, page: number | undefined, given: number, requested: number]>([
    ['are given once by a server that ignores the page', () => payments(25), undefined, 25, 3],
    ['end when the first page is beyond the last one', sliced(payments(25)), 99, 0, 2],
  ])('%s', async (_, pager, page, given, requested) => {
    const { requests, subscriptions } = await listing(pager)
    expect(await idsOf(subscriptions.allPayments('sub-1', { page }))).toHaveLength(given)
    expect(requests).toHaveLength(requested)
  })

  it('are not read beyond the page at which the loop is left', async () => {
    const { requests, subscriptions } = await listing(sliced(payments(25)))
    for await (const { paymentId } of subscriptions.allPayments('sub-1', { perPage: 10 })) {
      if (paymentId === 10) break
    }
    expect(requests.slice(1).map(({ url }) => url.split('payments')[1])).toEqual(['?page=1&per_page=10'])
  })

  const notFound = { status: 404, body: { errorCode: '02', errorMessage: 'subscription not found.' } }
  const refusals = (errorCode: string, errorMessage: string) => ({ body: { errorCode, errorMessage } })
  const endingWith = (
    end: Script,
    first: readonly Script[] = [{ body: { ...OK, subscriptionPayments: payments(2) } }],
  ) => openClients([...first, end]).then(({ subscriptions }) => idsOf(subscriptions.allPayments('sub-1')))

  it('case 66: end when a page after the first is not found', async () => {
    expect(await endingWith(notFound)).toEqual([1, 2])
  })

  // Which refusals mean "not found" is tested in verdicts.test.ts.
  it.each<[string, Script, string]>([
    ['a bare 404', { status: 404 }, 'somebody-else'],
    ['200 with "not found"', refusals('02', 'not_found'), 'not-found'],
    [
      '422 for a suspended account',
      { status: 422, ...refusals('account_suspended', 'Suspended') },
      'refused',
    ],
    [
      '404 for a token',
      { status: 404, ...refusals('token_not_found', 'The access token is invalid') },
      'refused',
    ],
  ])('case 92: end with the error of a page after the first that is answered %s', async (_, end, verdict) => {
    expect(await errorOf(endingWith(end))).toMatchObject({ code: 'api_error', verdict })
  })

  it('end with the error of the first page, also when it is not found', async () => {
    expect(await errorOf(endingWith(notFound, []))).toMatchObject({ status: 404, errorCode: '02' })
  })
})

it('one page has page and per_page in its request when they are given', async () => {
  const { requests, subscriptions } = await listing(() => [])
  await subscriptions.payments('sub-1')
  await subscriptions.payments('sub-1', { page: 3, perPage: 100 })
  expect(requests.slice(1).map(({ url }) => url.split('payments')[1])).toEqual(['', '?page=3&per_page=100'])
})

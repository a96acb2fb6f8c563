import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { Payment } from '../../src/index.ts'
import type {
  Difference,
  Expected,
  ExpectedPayment,
  ReconcileOptions,
  SubscriptionsReader,
} from '../../src/notifications/index.ts'
import { reconcile } from '../../src/notifications/index.ts'
import { payment } from '../support/bodies.ts'
import { subscriptionsClient } from '../support/clients.ts'
import { ORDER, openMock } from '../support/mock-clients.ts'
import { openApi, refusal } from './books.ts'

const list = async (options: ReconcileOptions): Promise<Difference[]> => {
  const all: Difference[] = []
  for await (const difference of reconcile(options)) all.push(difference)
  return all
}

const succeeded = (paymentId: number | string) => ({ paymentId, status: 'SUCCEEDED_PAYMENT' })

/** Compares the payments of a subscription in the books with those of the API. */
const compare = (actual: readonly Payment[], payments: readonly ExpectedPayment[]) =>
  list({ subscriptions: openApi({ 'sub-1': actual }), expected: [{ subscriptionId: 'sub-1', payments }] })

describe('payments of a subscription', () => {
  test('equal books have no difference, whether ids are numbers or text', async () => {
    const failed = { paymentId: 2, status: 'FAILED_PAYMENT' }
    expect(await compare([payment(1), payment(2, failed)], [succeeded('1'), failed])).toEqual([])
  })

  test('a payment without an identifier is missing, with an empty one', async () => {
    const { paymentId: _, ...nameless } = payment(1)
    expect(await compare([nameless as Payment], [])).toEqual([
      { kind: 'payment-missing', subscriptionId: 'sub-1', paymentId: '', payment: nameless },
    ])
  })

  test('a payment that only the API has is missing, and one that only the books have is not found', async () => {
    expect(await compare([payment(1), payment(2)], [succeeded(1), succeeded(3)])).toEqual([
      { kind: 'payment-missing', subscriptionId: 'sub-1', paymentId: '2', payment: payment(2) },
      { kind: 'payment-not-found', subscriptionId: 'sub-1', paymentId: '3', expected: succeeded(3) },
    ])
  })

  test('a payment with another status or a reversal differs', async () => {
    const reversal = { reverseTransactionAmount: '5.00', reverseTransactionId: 'r-1' }
    const dated = { reverseTransactionDate: '2026-12-02 10:00:00' }
    const actual = [
      payment(1, { status: 'FAILED_PAYMENT' }),
      payment(2, reversal),
      payment(3, reversal),
      payment(4, dated),
      payment(5, { reverseTransactionId: 'r-5' }),
    ]
    const reversed = { ...succeeded(3), reversed: true }
    const payments = [succeeded(1), succeeded(2), reversed, succeeded(4), succeeded(5)]
    const differences = await compare(actual, payments)
    expect(differences.map((one) => [one.kind, 'paymentId' in one && one.paymentId])).toEqual([
      ['payment-differs', '1'],
      ['payment-differs', '2'],
      ['payment-differs', '4'],
      ['payment-differs', '5'],
    ])
  })

  test('a subscription that the API does not know is reported', async () => {
    const expected = [{ subscriptionId: 'sub-9', payments: [succeeded(1)] }]
    expect(await list({ subscriptions: openApi(), expected })).toEqual([
      { kind: 'subscription-not-found', subscriptionId: 'sub-9' },
    ])
  })

  test('a cancellation is compared only when the books have the field', async () => {
    const subscriptions = openApi({ a: [], b: [], c: [], d: [] }, {}, ['a', 'c'])
    const expected = [
      { subscriptionId: 'a', payments: [], cancelled: false },
      { subscriptionId: 'b', payments: [], cancelled: true },
      { subscriptionId: 'c', payments: [], cancelled: true },
      { subscriptionId: 'd', payments: [] },
    ]
    expect(await list({ subscriptions, expected })).toEqual([
      { kind: 'cancellation-missing', subscriptionId: 'a' },
      { kind: 'cancellation-not-found', subscriptionId: 'b' },
    ])
    expect(subscriptions.counts.lookUps).toBe(7)
  })
})

test.each<[status: string | undefined, known: string[], unknown: string[]]>([
  ['PROCESSED', [], ['cancellation-missing']],
  [' processed ', [], ['cancellation-missing']],
  [undefined, [], ['cancellation-missing']],
  // Soon the subscription will be canceled.
  ['PROCESSING', [], []],
  ['REJECTED', ['cancellation-not-found'], []],
])(
  'a cancellation with the status %j, if the books have it: %j, if not: %j',
  async (status, known, unknown) => {
    const cancellation = async () => ({ subscriptionID: 'a', ...(status !== undefined && { status }) })
    const details = async () => ({ enabled: 1, startDate: '2026-01-01', endDate: '2028-01-01' })
    const subscriptions = { ...openApi({ a: [] }), cancellation, details }
    const kinds = async (cancelled: boolean) => {
      const expected = [{ subscriptionId: 'a', payments: [], cancelled }]
      return (await list({ subscriptions, expected })).map(({ kind }) => kind)
    }
    expect(await kinds(true)).toEqual(known)
    expect(await kinds(false)).toEqual(unknown)
  },
)

describe('case 97: a subscription without a cancellation', () => {
  const day = (offset: number) => new Date(Date.UTC(2027, 0, 15 + offset)).toISOString().slice(0, 10)
  const clock = { now: () => Date.UTC(2027, 0, 15, 11), sleep: async () => undefined }
  /** The kinds of difference for a subscription with these details. */
  const kinds = async (details: object, cancelled: boolean | undefined) => {
    const subscriptions = {
      ...openApi({ 'sub-1': [] }),
      details: async () => ({ enabled: 0, startDate: day(-9), endDate: day(9), ...details }),
    }
    const expected = [{ subscriptionId: 'sub-1', payments: [], cancelled }]
    return (await list({ subscriptions, expected, clock })).map(({ kind }) => kind)
  }

  test('is inactive if the API says so between its first and its last day', async () => {
    expect(await kinds({}, false)).toEqual(['subscription-inactive'])
    expect(await kinds({ enabled: 1 }, false)).toEqual([])
    expect(await kinds({}, undefined)).toEqual([])
  })

  test.each([
    ['on the first day', { startDate: day(0) }],
    ['on the second day, which is the first in another zone', { startDate: day(-1) }],
    ['on the last day', { endDate: day(0) }],
    ['on the next day in another zone', { endDate: day(1) }],
    ['before its first day', { startDate: day(2) }],
    ['after its last day', { endDate: day(-3) }],
    ['without its days', { startDate: undefined, endDate: '' }],
  ])('is not compared %s', async (_, details) => {
    expect(await kinds(details, false)).toEqual([])
  })

  test('agrees with canceled books if it is inactive', async () => {
    expect(await kinds({}, true)).toEqual([])
    expect(await kinds({ enabled: 1 }, true)).toEqual(['cancellation-not-found'])
  })

  test('is unchecked if its details cannot be read', async () => {
    const error = refusal(503, 'no')
    const subscriptions = { ...openApi({ 'sub-1': [] }), details: () => Promise.reject(error) }
    const expected = { subscriptionId: 'sub-1', payments: [], cancelled: false }
    const unchecked = { kind: 'unchecked', expected, error }
    expect(await list({ subscriptions, expected: [expected] })).toEqual([unchecked])
  })
})

// Which refusals mean "not found" is tested in verdicts.test.ts.
test.each<[string, number, unknown, kinds: string[]]>([
  ['"not found"', 404, { errorCode: '02', errorMessage: 'Not found.' }, ['subscription-not-found']],
  ['a 404 for a token', 404, { errorCode: '401', errorMessage: 'The token is invalid' }, ['unchecked']],
  ['a page', 404, '<h1>Not Found</h1>', ['unchecked']],
])('case 92: a subscription whose lookup gets %s', async (_, status, body, kinds) => {
  const fetch = async (url: string) =>
    url.endsWith('/oauth/token')
      ? Response.json({ token_type: 'Bearer', expires_in: 3600, access_token: 'token-1' })
      : new Response(typeof body === 'string' ? body : JSON.stringify(body), { status })
  const subscriptions = subscriptionsClient('https://s.example', { fetch, retry: false })
  const expected = [{ subscriptionId: 'sub-1', payments: [succeeded(1)] }]
  expect((await list({ subscriptions, expected })).map(({ kind }) => kind)).toEqual(kinds)
})

test('charges are compared by their status', async () => {
  const gateway = openApi({}, { ch_1: 'succeeded', ch_2: 'failed' })
  const expected = ['ch_1', 'ch_2', 'ch_3'].map((chargeId) => ({ chargeId, status: 'succeeded' }))
  expect(await list({ gateway, expected })).toEqual([
    { kind: 'charge-differs', chargeId: 'ch_2', expected: expected[1], status: 'failed' },
    { kind: 'charge-not-found', chargeId: 'ch_3', expected: expected[2] },
  ])
})

test('an entry whose look-up fails is unchecked, and the others go on', async () => {
  const error = refusal(451, 'no')
  const subscriptions = openApi({ a: error, b: [payment(1)] })
  const gateway = { status: () => Promise.reject(error) }
  const expected = [
    { subscriptionId: 'a', payments: [succeeded(7)] },
    { subscriptionId: 'b', payments: [] },
    { chargeId: 'ch_1', status: 'succeeded' },
  ]
  const run = reconcile({ subscriptions, gateway, expected })
  const found: unknown[] = []
  for await (const { kind, ...one } of run) found.push([kind, 'error' in one && one.error])
  expect(found).toEqual([
    ['unchecked', error],
    ['payment-missing', false],
    ['unchecked', error],
  ])
  expect(run.progress).toEqual({ checked: 3, differences: 3, unchecked: 2 })
})

test('a later page that is not found leaves its subscription unchecked', async () => {
  const error = refusal(404)
  const subscriptions: SubscriptionsReader = {
    async *allPayments() {
      yield payment(1)
      throw error
    },
    cancellation: () => Promise.reject(error),
  }
  const expected = { subscriptionId: 'sub-1', payments: [succeeded(1), succeeded(2)] }
  const unchecked = { kind: 'unchecked', expected, error }
  expect(await list({ subscriptions, expected: [expected] })).toEqual([unchecked])
})

test('onProgress receives the counts after each entry, and may throw or reject', async () => {
  const gone = new Error('the terminal is gone')
  const onProgress = vi.fn().mockThrowOnce(gone).mockRejectedValueOnce(gone)
  const subscriptions = openApi({ a: [], b: [payment(1)], c: [] })
  const expected = ['a', 'b', 'c'].map((subscriptionId) => ({ subscriptionId, payments: [] }))
  expect(await list({ subscriptions, expected, onProgress })).toHaveLength(1)
  expect(onProgress.mock.calls.flat()).toEqual([
    { checked: 1, differences: 0, unchecked: 0 },
    { checked: 2, differences: 1, unchecked: 0 },
    { checked: 3, differences: 1, unchecked: 0 },
  ])
})

test('differences have the order of the books, and concurrency limits the look-ups', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(3), { maxLength: 20 }),
      fc.integer({ min: 1, max: 6 }),
      async (sizes, concurrency) => {
        const held = sizes.map(
          (size, index) => [`s-${index}`, Array.from({ length: size }, (_, id) => payment(id))] as const,
        )
        const subscriptions = openApi(Object.fromEntries(held))
        const expected = held.map(([subscriptionId]) => ({ subscriptionId, payments: [] }))
        const differences = await list({ subscriptions, expected, concurrency })
        expect(differences.map((one) => 'subscriptionId' in one && one.subscriptionId)).toEqual(
          held.flatMap(([id, payments]) => payments.map(() => id)),
        )
        expect(subscriptions.counts.mostOpen).toBeLessThanOrEqual(concurrency)
      },
    ),
  )
})

test('books are read only as fast as differences are consumed, and leaving the loop closes them', async () => {
  let taken = 0
  let isClosed = false
  async function* books(): AsyncGenerator<Expected> {
    try {
      for (;;) {
        taken += 1
        yield { chargeId: `ch_${taken}`, status: 'succeeded' }
      }
    } finally {
      isClosed = true
    }
  }
  for await (const difference of reconcile({ gateway: openApi(), expected: books(), concurrency: 3 })) {
    expect(difference.kind).toBe('charge-not-found')
    break
  }
  expect(taken).toBeLessThanOrEqual(4)
  expect(isClosed).toBe(true)
})

test('an aborted signal ends the loop with its reason', async () => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const expected = ['a', 'b', 'c'].map((chargeId) => ({ chargeId, status: 'succeeded' }))
  const seen: string[] = []
  const run = async () => {
    for await (const { kind } of reconcile({ gateway: openApi(), expected, signal: controller.signal })) {
      seen.push(kind)
      controller.abort(reason)
    }
  }
  await expect(run()).rejects.toBe(reason)
  expect(seen).toEqual(['charge-not-found'])
})

describe('with real clients of the mock', () => {
  test('charges are compared', async () => {
    const charge = { id: 'ch_1', msisdn: '+1', amount: 1, currency: 'BDT' }
    const { gateway } = openMock({ gateway: { charges: [charge] } })
    const expected = ['ch_1', 'ch_2'].map((chargeId) => ({ chargeId, status: 'succeeded' }))
    expect((await list({ gateway, expected })).map(({ kind }) => kind)).toEqual(['charge-not-found'])
  })

  test('payments and a cancellation whose notifications were lost are found', async () => {
    const { mock, subscriptions } = openMock()
    const { invoiceID } = await subscriptions.subscribe(ORDER)
    mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
    await mock.clock.advance({ days: 1 })
    const { subscriptionId = '' } = await subscriptions.status(invoiceID)
    const payments = mock.state.payments(subscriptionId ?? '')
    // Two payments and the cancellation are missing in the books.
    await mock.clock.advance({ days: 2 })
    await subscriptions.cancel(subscriptionId ?? '')
    const expected = [{ subscriptionId: subscriptionId ?? '', payments, cancelled: false }]
    const kinds = (await list({ subscriptions, expected })).map(({ kind }) => kind)
    expect(kinds).toEqual(['payment-missing', 'payment-missing', 'cancellation-missing'])
  })
})

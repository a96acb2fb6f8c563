import { describe, expect, test } from 'vitest'
import { defaultMerchant } from '../../mocks/domain/subscriptions/options.ts'
import { fixture, reason, subscribe, value } from './subscriptions-fixture.ts'

const other = {
  name: 'Other',
  clientId: 'other-client',
  clientSecret: 'other-secret',
  users: [{ username: 'other-user', password: 'other-password' }],
}

describe('payments', () => {
  const paid = async (options: Parameters<typeof fixture>[0] = {}, days = 25) => {
    const all = fixture(options)
    const ids = subscribe(all)
    value(all.domain.authorize(ids.invoiceId, { payments: ['succeed', 'fail'] }))
    await all.clock.advance({ days })
    return { ...all, ...ids }
  }

  test('have the fields of S6', async () => {
    const { domain, merchant, subscriptionId } = await paid()
    const [first, second] = domain.paymentsOf(subscriptionId)
    expect(first).toEqual({
      paymentId: expect.any(Number),
      cycle: 'DAILY',
      dueDate: '2026-11-28',
      reverseTransactionAmount: null,
      reverseTransactionDate: null,
      reverseTransactionId: null,
      status: 'SUCCEEDED_PAYMENT',
      subscriptionId,
      transactionDate: '2026-11-28 12:00:00',
      transactionId: expect.stringMatching(/^\w{12}$/),
      nextPaymentDate: '2026-11-29',
    })
    expect(second?.status).toBe('FAILED_PAYMENT')
    expect(value(domain.payment(merchant, String(first?.paymentId)))).toEqual(first)
    for (const id of ['0', '1', '-1', 'abc', '1e9', '', '9007199254740993']) {
      expect(reason(domain.payment(merchant, id))).toBe('not_found')
    }
  })

  test('are paged, oldest first: 10 by default, at most 100, and unreadable numbers count as not given', async () => {
    const { domain, merchant, subscriptionId } = await paid()
    const all = domain.paymentsOf(subscriptionId)
    const page = (query: { page?: string; perPage?: string }) =>
      value(domain.payments(merchant, subscriptionId, query)).subscriptionPayments
    expect(all).toHaveLength(25)
    expect(page({})).toEqual(all.slice(0, 10))
    expect(page({ page: '3' })).toEqual(all.slice(20))
    expect(page({ page: '4' })).toEqual([])
    expect(page({ page: '2', perPage: '7' })).toEqual(all.slice(7, 14))
    for (const bad of ['0', '-1', 'x', '1.5', '']) expect(page({ page: bad, perPage: bad })).toEqual(page({}))
    expect(page({ perPage: '1000' })).toEqual(all)
    expect(page({ perPage: '9'.repeat(30) })).toEqual(all)
    expect(page({ page: '9'.repeat(30) })).toEqual([])
    const deaf = await paid({ paging: { defaultSize: 3, maxSize: 100, ignore: ['per_page'] } })
    expect(
      value(deaf.domain.payments(deaf.merchant, deaf.subscriptionId, { page: '2', perPage: '9' }))
        .subscriptionPayments,
    ).toEqual(deaf.domain.paymentsOf().slice(3, 6))
  })

  test('a succeeded one can be reversed once; a failed one cannot', async () => {
    const { clock, domain } = await paid()
    const [first, second] = domain.paymentsOf()
    await clock.advance({ hours: 1 })
    const reversed = value(domain.reverse(String(first?.paymentId)))
    expect(reversed).toEqual({
      ...first,
      reverseTransactionAmount: '25.00',
      reverseTransactionDate: '2026-12-23 11:00:00',
      reverseTransactionId: expect.stringMatching(/^\w{12}$/),
    })
    expect(domain.paymentsOf()[0]).toEqual(reversed)
    expect(reason(domain.reverse(String(first?.paymentId)))).toBe('state')
    expect(reason(domain.reverse(String(second?.paymentId)))).toBe('state')
    expect(reason(domain.reverse('5'))).toBe('not_found')
  })

  test('nextPaymentDate after the end is the date that would have been next, or null by option', async () => {
    const last = async (nextPaymentDateAfterEnd: 'date' | 'null') => {
      const all = fixture({ nextPaymentDateAfterEnd })
      const ids = subscribe(all, { end: '2026-11-29' })
      value(all.domain.authorize(ids.invoiceId))
      await all.clock.advance({ days: 5 })
      return [
        ...all.domain.paymentsOf().map(({ nextPaymentDate }) => nextPaymentDate),
        value(all.domain.details(all.merchant, ids.subscriptionId)).nextPaymentDate,
      ]
    }
    expect(await last('date')).toEqual(['2026-11-29', '2026-11-30', '2026-11-30 12:00:00'])
    expect(await last('null')).toEqual(['2026-11-29', null, null])
  })
})

describe('merchants', () => {
  test('one sees its own requests, subscriptions and payments alone', async () => {
    const all = fixture({ merchants: [defaultMerchant, other] })
    const { clock, domain, merchant } = all
    const ids = subscribe(all, { clientID: 'other-client' })
    value(domain.authorize(ids.invoiceId))
    await clock.advance({ days: 1 })
    value(domain.cancel(merchant, ids.subscriptionId))
    const stranger = { clientId: 'other-client', username: 'other-user' }
    const paymentId = String(domain.paymentsOf()[0]?.paymentId)
    const answers = [
      domain.status(stranger, ids.invoiceId),
      domain.details(stranger, ids.subscriptionId),
      domain.cancel(stranger, ids.subscriptionId),
      domain.cancellation(stranger, ids.subscriptionId),
      domain.payments(stranger, ids.subscriptionId, {}),
      domain.payment(stranger, paymentId),
    ]
    expect(answers.map(reason)).toEqual(Array(6).fill('not_found'))
    const unknown = domain.details(stranger, 'unknown')
    expect(!unknown.ok && unknown.refusal.message).toBe(
      answers[1]?.ok === false && answers[1].refusal.message,
    )
  })
})

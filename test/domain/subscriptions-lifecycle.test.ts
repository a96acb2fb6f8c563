import { describe, expect, test } from 'vitest'
import {
  cancellationTransitions,
  requestTransitions,
  subscriptionTransitions,
} from '../../mocks/domain/subscriptions/transitions.ts'
import { body, fixture, reason, subscribe, value } from './subscriptions-fixture.ts'

describe('the tables', () => {
  test('every state can be reached, and every move leads to a state of its table', () => {
    for (const table of [requestTransitions, subscriptionTransitions, cancellationTransitions]) {
      const reached = new Set(['none', ...Object.values(table).flatMap((events) => Object.values(events))])
      expect([...reached].sort()).toEqual(Object.keys(table).sort())
    }
  })
})

describe('a subscription request', () => {
  test('is INITIALIZED, then SUCCEEDED when authorized; the notification tells', () => {
    const all = fixture()
    const { domain, merchant, notifications } = all
    const ids = subscribe(all)
    expect(value(domain.status(merchant, ids.invoiceId))).toEqual({
      invoiceId: ids.invoiceId,
      status: 'INITIALIZED',
      subscriptionId: ids.subscriptionId,
      createdAt: '2026-11-28 10:00:00',
    })
    expect(value(domain.details(merchant, ids.subscriptionId)).enabled).toBe(0)
    const view = value(domain.authorize(ids.invoiceId))
    expect(view).toEqual({
      invoiceId: ids.invoiceId,
      merchant: 'Example Shop',
      amount: '25.00',
      cycle: 'DAILY',
      start: '2026-11-28',
      end: '2027-11-28',
      nextPayments: ['2026-11-28', '2026-11-29', '2026-11-30', '2026-12-01', '2026-12-02'],
      status: 'SUCCEEDED',
      returnUrl: `https://shop.test/return?invoiceID=${ids.invoiceId}`,
    })
    expect(value(domain.details(merchant, ids.subscriptionId))).toEqual({
      id: ids.subscriptionId,
      amount: 25,
      cycle: 'DAILY',
      enabled: 1,
      createdDate: '2026-11-28T10:00:00.000000Z',
      startDate: '2026-11-28',
      endDate: '2027-11-28',
      nextPaymentDate: '2026-11-28 12:00:00',
      requestID: 'order-1',
    })
    expect(notifications).toEqual([
      {
        notificationId: expect.stringMatching(/^\w{20}$/),
        type: 'SUBSCRIPTION',
        status: 'SUCCEEDED',
        subscriptionId: ids.subscriptionId,
        paymentId: '',
        timestamp: '1795860000',
      },
    ])
  })

  test('expires unanswered after requestTtl, and then cannot be answered', async () => {
    const all = fixture()
    const { clock, domain, merchant } = all
    const ids = subscribe(all)
    await clock.advance({ hours: 24, milliseconds: -0 })
    expect(value(domain.status(merchant, ids.invoiceId)).status).toBe('EXPIRED')
    expect(reason(domain.authorize(ids.invoiceId))).toBe('state')
    const lasting = fixture({ requestTtl: false })
    const lastingIds = subscribe(lasting)
    await lasting.clock.advance({ days: 100 })
    expect(value(lasting.domain.authorize(lastingIds.invoiceId)).status).toBe('SUCCEEDED')
  })

  test('declined is FAILED, and nothing is ever paid', async () => {
    const all = fixture()
    const ids = subscribe(all)
    expect(value(all.domain.decline(ids.invoiceId)).status).toBe('FAILED')
    await all.clock.advance({ days: 30 })
    expect(all.domain.paymentsOf()).toEqual([])
    expect(all.notifications).toEqual([])
  })

  test('shows the subscriptionId before authorization as the option says', () => {
    const shown = (['issued', 'NA', '', 'omit'] as const).map((pendingSubscriptionId) => {
      const all = fixture({ pendingSubscriptionId })
      const { invoiceID } = value(all.domain.subscribe(all.merchant, body()))
      const before = value(all.domain.status(all.merchant, invoiceID)).subscriptionId
      value(all.domain.authorize(invoiceID))
      const after = value(all.domain.status(all.merchant, invoiceID)).subscriptionId
      return before === after ? 'same' : before
    })
    expect(shown).toEqual(['same', 'NA', '', undefined])
  })

  test('the page’s address lies under the base URL, and invoiceID joins the return address by URL rules', () => {
    const { domain, merchant } = fixture()
    const visit = (userReturnURL: string) => {
      const { url, invoiceID } = value(domain.subscribe(merchant, body({ userReturnURL })))
      expect(url).toMatch(/^https:\/\/subscriptions\.test\/prefix\/[^/]+\//)
      expect(url.endsWith(invoiceID)).toBe(true)
      return value(domain.authorization(invoiceID)).returnUrl.replace(invoiceID, '<id>')
    }
    expect(visit('https://shop.test')).toBe('https://shop.test?invoiceID=<id>')
    expect(visit('https://shop.test/r?a=1%202&b#top?x')).toBe(
      'https://shop.test/r?a=1%202&b&invoiceID=<id>#top?x',
    )
    expect(visit('https://shop.test/r?invoiceID=old&a=?b')).toBe('https://shop.test/r?a=?b&invoiceID=<id>')
    expect(visit('myshop://back')).toBe('myshop://back?invoiceID=<id>')
  })

  test('a field that is missing, of another type or against a rule is named, and nothing is kept', () => {
    const { domain, merchant } = fixture()
    const refusals: [string, unknown][] = [
      ['clientID', undefined],
      ['requestID', 7],
      ['requestID', ' '],
      ['start', '2026-02-30'],
      ['start', '28.11.2026'],
      ['end', '2026-11-27'],
      ['userReturnURL', 'shop.test/return'],
      ['userReturnURL', 'javascript://shop.test/%0aalert(1)'],
      ['cycle', 'MONTHLY'],
      ['cycle', 'toString'],
      ['amount', 25],
      ['amount', '0.00'],
      ['amount', '-1'],
      ['amount', '1e3'],
      ['amount', '9'.repeat(400)],
    ]
    for (const [field, bad] of refusals) {
      expect(domain.subscribe(merchant, body({ [field]: bad }))).toMatchObject({
        ok: false,
        refusal: { reason: 'invalid', field },
      })
    }
    expect(domain.subscriptions()).toEqual([])
  })

  test('strict rules refuse a past start, a third decimal, a used requestID, another clientID and unknown fields', () => {
    const asks = (rules: 'spec' | 'strict', fields: Record<string, unknown>) => {
      const { domain, merchant } = fixture({}, { rules })
      value(domain.subscribe(merchant, body({ requestID: 'first' })))
      return reason(domain.subscribe(merchant, body(fields)))
    }
    const cases: [Record<string, unknown>, string][] = [
      [{ start: '2026-11-27' }, 'invalid'],
      [{ amount: '1.005' }, 'invalid'],
      [{ requestID: 'first' }, 'duplicate_request'],
      [{ clientID: 'other-client' }, 'client_mismatch'],
      [{ note: 'x' }, 'invalid'],
    ]
    for (const [fields, refusal] of cases) {
      expect(asks('spec', fields)).toBe('accepted')
      expect(asks('strict', fields)).toBe(refusal)
    }
  })

  test('an option that is given wins over the strict rules, and one that makes no sense is refused', () => {
    const { domain, merchant } = fixture({ pastStart: 'accept' }, { rules: 'strict' })
    expect(reason(domain.subscribe(merchant, body({ start: '2026-11-27' })))).toBe('accepted')
    expect(() => fixture({ timeZone: 'Mars/Olympus' })).toThrow(/IANA/)
    expect(() => fixture({ debitTime: 'noon' })).toThrow(/debitTime/)
    expect(() => fixture({ dunning: { retries: 1, everyDays: 0 } })).toThrow(/dunning/)
  })
})

describe('cancelling', () => {
  test('is PROCESSED at once; the same record again; nothing is paid any more', async () => {
    const all = fixture()
    const { clock, domain, merchant, notifications } = all
    const ids = subscribe(all)
    expect(reason(domain.cancellation(merchant, ids.subscriptionId))).toBe('not_found')
    value(domain.authorize(ids.invoiceId))
    await clock.advance({ days: 2 })
    const record = value(domain.cancel(merchant, ids.subscriptionId))
    expect(record).toEqual({
      id: expect.any(Number),
      subscriptionID: ids.subscriptionId,
      requestID: expect.any(Number),
      status: 'PROCESSED',
    })
    expect(value(domain.cancel(merchant, ids.subscriptionId))).toEqual(record)
    for (const id of [ids.subscriptionId, String(record.id), String(record.requestID)]) {
      expect(value(domain.cancellation(merchant, id))).toEqual(record)
    }
    expect(clock.timeline.entries().filter(({ kind }) => kind === 'subscriptions.due')).toEqual([])
    await clock.advance({ days: 30 })
    expect(domain.paymentsOf()).toHaveLength(2)
    const details = value(domain.details(merchant, ids.subscriptionId))
    expect([details.enabled, details.nextPaymentDate]).toEqual([0, '2026-11-30 12:00:00'])
    expect(notifications.filter(({ status }) => status === 'CANCELLED')).toHaveLength(1)
  })

  test('before authorization: the request is CANCELLED and cannot be authorized', () => {
    const all = fixture()
    const { domain, merchant } = all
    const ids = subscribe(all)
    expect(value(domain.cancel(merchant, ids.subscriptionId)).status).toBe('PROCESSED')
    expect(value(domain.status(merchant, ids.invoiceId)).status).toBe('CANCELLED')
    expect(reason(domain.authorize(ids.invoiceId))).toBe('state')
  })

  test('with a delay it is PROCESSING first, and the subscription goes on until it is processed', async () => {
    const all = fixture({ cancelDelay: { hours: 36 } })
    const { clock, domain, merchant, notifications } = all
    const ids = subscribe(all)
    value(domain.authorize(ids.invoiceId))
    expect(value(domain.cancel(merchant, ids.subscriptionId)).status).toBe('PROCESSING')
    expect(value(domain.cancel(merchant, ids.subscriptionId)).status).toBe('PROCESSING')
    await clock.advance({ hours: 35 })
    expect(value(domain.details(merchant, ids.subscriptionId)).enabled).toBe(1)
    await clock.advance({ hours: 1 })
    expect(value(domain.cancellation(merchant, ids.subscriptionId)).status).toBe('PROCESSED')
    expect(value(domain.details(merchant, ids.subscriptionId)).enabled).toBe(0)
    await clock.advance({ days: 9 })
    expect(domain.paymentsOf()).toHaveLength(2)
    expect(notifications.at(-1)).toMatchObject({ status: 'CANCELLED', timestamp: '1795989600' })
  })

  test('after the end it yields a record, unless cancelTwice refuses', async () => {
    for (const cancelTwice of ['same', 'refuse'] as const) {
      const all = fixture({ cancelTwice })
      const ids = subscribe(all, { end: '2026-11-28' })
      value(all.domain.authorize(ids.invoiceId))
      await all.clock.advance({ days: 2 })
      expect(all.domain.subscriptions()[0]).toMatchObject({ active: false, cancelledAt: undefined })
      const cancelled = all.domain.cancel(all.merchant, ids.subscriptionId)
      expect(reason(cancelled)).toBe(cancelTwice === 'same' ? 'accepted' : 'state')
    }
  })
})

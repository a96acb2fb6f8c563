import { GatewayClient, renewalKey, SubscriptionsClient } from 'mandatekit'
import type { Mock } from 'mandatekit/mocks/core'
import { createMock } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'
import { expect, test } from 'vitest'

const open = (seed: string) => createMock({ clock: '2026-12-01T06:00:00Z', seed })

/** Two clients of one mock, and what a merchant does with them. Only what one merchant did decides what comes of it. */
const merchantOf = (mock: Mock, name: string, fetch?: typeof mock.fetch) => {
  const way = fetch === undefined ? {} : { fetch }
  const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...way })
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, ...way })

  const subscribe = async () => {
    for (const number of [1, 2, 3]) {
      const { invoiceID } = await subscriptions.subscribe({
        requestID: `${name}-${number}`,
        start: '2026-12-01',
        end: '2027-06-30',
        userReturnURL: 'https://shop.example/return',
        cycle: 'DAILY',
        amount: '25.00',
      })
      mock.payer.authorize(invoiceID, { payments: ['fail'] })
      const { subscriptionId } = await subscriptions.status(invoiceID)
      if (number === 2) await subscriptions.cancel(subscriptionId ?? '')
    }
  }
  const charge = async () => {
    for (const amount of [1, 2, 3]) {
      const request = {
        msisdn: '+99900000001',
        amount,
        currency: 'BDT',
        redirect_uri: 'https://shop.example/paid',
      }
      const { id, confirmation_id } = await gateway.charge(request, { idempotencyKey: `${amount}` })
      await gateway.charge(request, { idempotencyKey: `${amount}` })
      await gateway.confirm(confirmation_id, { otp: '123456' })
      await gateway.renew(id, { idempotencyKey: renewalKey(id, '2026-12-02') })
    }
  }
  return { subscribe, charge }
}

const history = (mock: Mock) => {
  const base = mock.clientOptions.gateway.baseUrl
  const text = JSON.stringify({
    subscriptions: mock.state.subscriptions(),
    payments: mock.state.payments(),
    charges: mock.state.charges(),
    events: mock.state.events(),
    notifications: mock.notifications.all(),
    requests: ['subscriptions', 'gateway'].map((area) =>
      mock.requests.all().flatMap((entry) => (entry.area === area ? [{ ...entry, number: 0 }] : [])),
    ),
    now: mock.clock.now(),
  })
  return text.replaceAll(base, 'https://base.example')
}

test.each(['mock.fetch', 'HTTP'])(
  'two mocks and four clients in one process, used in parallel through %s, share nothing',
  async (way) => {
    const [one, other, alone] = [open('one'), open('other'), open('one')]
    const servers =
      way === 'HTTP' ? [await startMockServer({ mock: one }), await startMockServer({ mock: other })] : []
    const lone = way === 'HTTP' ? await startMockServer({ mock: alone }) : undefined
    const merchants = [one, other].map((mock, index) =>
      merchantOf(mock, `shop-${index}`, way === 'HTTP' ? undefined : mock.fetch),
    )
    try {
      await Promise.all(merchants.flatMap(({ subscribe, charge }) => [subscribe(), charge()]))
      await one.clock.advance({ days: 3 })
      const { subscribe, charge } = merchantOf(alone, 'shop-0', way === 'HTTP' ? undefined : alone.fetch)
      await Promise.all([subscribe(), charge()])
      await alone.clock.advance({ days: 3 })
      expect(one.state.payments()).toHaveLength(6)
      expect(history(one)).toBe(history(alone))
      expect([other.state.payments(), other.clock.now()]).toEqual([[], Date.parse('2026-12-01T06:00:00Z')])
      const ids = (mock: Mock) => [
        ...mock.state.charges().map(({ id }) => id),
        ...mock.state.subscriptions().flatMap(({ invoiceId, subscriptionId }) => [invoiceId, subscriptionId]),
      ]
      expect(ids(one)).toHaveLength(12)
      expect(ids(other).filter((id) => ids(one).includes(id))).toEqual([])
    } finally {
      await Promise.all([...servers, lone].map((server) => server?.close()))
    }
  },
)

import { GatewayClient, SubscriptionsClient } from 'mandatekit'
import type { CoreMock } from 'mandatekit/mocks'
import { testNumbers } from 'mandatekit/mocks'

/** A subscription and a charge, through the platform's `fetch` or another; what became of them. */
export const liveThrough = async (mock: CoreMock, fetch?: typeof globalThis.fetch) => {
  const through = fetch === undefined ? {} : { fetch }
  const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, ...through })
  const { invoiceID } = await subscriptions.subscribe({
    requestID: 'order-1',
    start: '2030-01-02',
    end: '2030-12-31',
    cycle: 'DAILY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  })
  mock.payer.authorize(invoiceID)
  const { subscriptionId } = await subscriptions.status(invoiceID)

  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, ...through })
  const charge = await gateway.charge({
    msisdn: testNumbers.succeeds,
    amount: 250,
    currency: 'BDT',
    redirect_uri: 'https://shop.example/paid',
  })
  await gateway.confirm(charge.confirmation_id, { otp: '123456', chargeId: charge.id })
  const renewal = await gateway.renew(charge.id, { dueDate: '2030-02-01' })
  return {
    hasSubscription: typeof subscriptionId === 'string',
    createdAt: charge.created_at,
    renewal: renewal.status,
  }
}

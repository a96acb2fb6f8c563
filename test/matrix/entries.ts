import type { Charge, Outcome, RateLimit } from 'mandatekit'
import { GatewayClient, isMandateKitError, SubscriptionsClient } from 'mandatekit'
import { createMock, testNumbers } from 'mandatekit/mocks/core'
import { startMockServer } from 'mandatekit/mocks/server'
import type { NotificationHandler } from 'mandatekit/notifications'
import { createNotificationHandler, parseNotification } from 'mandatekit/notifications'
import { createRedisTokenStore, type TokenStore } from 'mandatekit/stores'

const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })
const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })

export async function subscribe(): Promise<string> {
  const { invoiceID } = await subscriptions.subscribe({
    requestID: 'order-1001',
    start: '2027-01-02',
    end: '2027-12-31',
    cycle: 'DAILY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  })
  return invoiceID
}

export async function charge(): Promise<[Charge, RateLimit | undefined]> {
  const { data, response } = await gateway
    .charge({
      msisdn: testNumbers.succeeds,
      amount: 250,
      currency: 'BDT',
      redirect_uri: 'https://shop.example/paid',
    })
    .withResponse()
  return [data, response.rateLimit]
}

export function outcomeOf(error: unknown): Outcome | undefined {
  return isMandateKitError(error) ? error.outcome : undefined
}

export async function mistakes(): Promise<void> {
  // @ts-expect-error: the amount of a subscription is text.
  await subscriptions.subscribe({ requestID: 'order-1002', amount: 25 })
  // @ts-expect-error: a renewal needs a cycle or a key, so that a restart cannot charge twice.
  await gateway.renew('ch_1', {})
}

export const receive: NotificationHandler = createNotificationHandler({
  verify: 'none',
  onSubscription: () => undefined,
  onPayment: () => undefined,
})

export const shared: TokenStore = createRedisTokenStore(async (command) => command.join(' '))

export async function served(): Promise<string | null> {
  const server = await startMockServer({ mock })
  await server.close()
  return parseNotification('{}').paymentId
}

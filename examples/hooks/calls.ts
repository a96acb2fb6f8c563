import { GatewayClient, type Hooks, isMandateKitError, SubscriptionsClient } from 'mandatekit'
import { createMock, testNumbers } from 'mandatekit/mocks/core'

/** Makes four calls with hooks. The client retries the second call. The last two calls fail. */
export const makeCalls = async (hooks: Hooks): Promise<void> => {
  const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
  const subscriptions = new SubscriptionsClient({
    ...mock.clientOptions.subscriptions,
    fetch: mock.fetch,
    hooks,
  })
  const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch, hooks })
  const request = {
    msisdn: testNumbers.succeeds,
    amount: 250,
    currency: 'BDT',
    redirect_uri: 'https://shop.example/paid',
  }

  await subscriptions.subscribe({
    requestID: 'order-1001',
    start: '2027-01-02',
    end: '2027-12-31',
    cycle: 'WEEKLY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  })
  mock.faults.add({ operation: 'gateway.charge', kind: 'status', status: 503 })
  await gateway.charge(request, { idempotencyKey: 'order-1001' })
  await watchFailing(gateway.status('ch_unknown'))
  mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response', times: 'always' })
  await watchFailing(gateway.charge(request, { idempotencyKey: 'order-1002' }))
}

/** Ignores the error of a failed call, because `onError` has received the error. */
const watchFailing = async (call: Promise<unknown>): Promise<void> => {
  await call.catch((error: unknown) => {
    if (!isMandateKitError(error)) throw error
  })
}

/** Shows that the client retries a charge after a lost response, but not a subscription request. */
import { GatewayClient, isMandateKitError, SubscriptionsClient } from 'mandatekit'
import { createMock, testNumbers } from 'mandatekit/mocks/core'

const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
const gateway = new GatewayClient({ ...mock.clientOptions.gateway, fetch: mock.fetch })
const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })

// The server executes the charge, but the connection closes before the response arrives.
mock.faults.add({ operation: 'gateway.charge', kind: 'lost-response' })
const { response } = await gateway
  .charge({
    msisdn: testNumbers.succeeds,
    amount: 250,
    currency: 'BDT',
    redirect_uri: 'https://shop.example/paid',
  })
  .withResponse()
console.log(`1. The client sent the charge ${response.attempts} times, with the same idempotency key.`)
console.log(`   Charges in the mock: ${mock.state.charges().length}. The payer pays once.`)

// A subscription request has no idempotency key, so the client does not retry it, but throws (outcome `unknown`).
mock.faults.add({ operation: 'subscriptions.subscribe', kind: 'lost-response' })
try {
  await subscriptions.subscribe({
    requestID: 'order-1001',
    start: '2027-01-02',
    end: '2027-12-31',
    cycle: 'DAILY',
    amount: '5.00',
    userReturnURL: 'https://shop.example/return',
  })
} catch (error) {
  if (!isMandateKitError(error)) throw error
  console.log(`2. The client sent the subscription request ${error.attempts} time, and threw an error:`)
  console.log(error.message.replace(/(.{1,96})( |$)/g, '   $1\n').trimEnd())
  console.log(
    `3. The outcome is ${error.outcome}. Requests in the mock: ${mock.state.subscriptions().length}.`,
  )
}

/** Creates a subscription on the mock, reads its first payments and cancels it. */
import { SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'

// In production, pass your own baseUrl and credentials. The mock's clock stands still until the program moves it.
const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })

const { url, invoiceID } = await subscriptions.subscribe({
  requestID: 'order-1001',
  start: '2027-01-01',
  end: '2027-12-31',
  cycle: 'WEEKLY',
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
})
console.log(`1. Send the payer to ${url}`)

mock.payer.authorize(invoiceID) // in production, the payer does this on the page
const { status, subscriptionId } = await subscriptions.waitForStatus(invoiceID, { timeout: 60_000 })
if (status !== 'SUCCEEDED' || subscriptionId === null) throw new Error(`The request is ${status}.`)
console.log(`2. The payer authorized the request. Its status is ${status}.`)

await mock.clock.advance({ days: 8 })
for await (const payment of subscriptions.allPayments(subscriptionId)) {
  console.log(`3. The payment of ${payment.dueDate} has the status ${payment.status}.`)
}

const cancellation = await subscriptions.cancel(subscriptionId)
console.log(`4. The status of the cancellation is ${cancellation.status}, so there are no more payments.`)

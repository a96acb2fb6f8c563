/** Receives each notification twice. The handler verifies both deliveries, but runs your code only once. */
import { SubscriptionsClient } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'
import { createNotificationHandler, lookupVerifier } from 'mandatekit/notifications'

const mock = createMock({ clock: new Date('2027-01-01T06:00:00Z') })
const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })

const handler = createNotificationHandler({
  // Asks the API about each notification, because notifications are not signed.
  verify: lookupVerifier(subscriptions, { clock: mock.clock }),
  onSubscription: ({ status }) => console.log(`1. The subscription is ${status}.`),
  onPayment: ({ paymentId, status }) => console.log(`2. Payment ${paymentId} has the status ${status}.`),
})
mock.notifications.connect(handler, { duplicate: true })

const { invoiceID } = await subscriptions.subscribe({
  requestID: 'order-1001',
  start: '2027-01-01',
  end: '2027-12-31',
  cycle: 'DAILY',
  amount: '5.00',
  userReturnURL: 'https://shop.example/return',
})
mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail'] })
await mock.clock.advance({ days: 2 })
const [messages, deliveries] = [mock.notifications.all(), mock.notifications.deliveries()]
console.log(
  `3. ${messages.length} notifications came in ${deliveries.length} deliveries. Your code ran once per notification.`,
)

// A forged notification: it reports the failed payment as successful.
const failed = mock.state.payments().find(({ status }) => status === 'FAILED_PAYMENT')
const forged = {
  notificationId: 'x',
  type: 'SUBSCRIPTION_PAYMENT',
  status: 'SUCCEEDED_PAYMENT',
  subscriptionId: failed?.subscriptionId,
  paymentId: String(failed?.paymentId),
}
const response = await handler(
  new Request('https://shop.example/notifications', {
    method: 'POST',
    body: JSON.stringify({ ...forged, timestamp: '1798783200' }),
  }),
)
console.log(`4. The handler refused a forged notification, and responded with ${response.status}.`)

/** Runs a year of billing on a virtual clock: cycles, a failed payment, a reversal and a time zone. */
import { SubscriptionsClient, toInstant } from 'mandatekit'
import { createMock } from 'mandatekit/mocks/core'

const mock = createMock({
  clock: new Date('2027-01-01T00:00:00Z'),
  subscriptions: { timeZone: 'Asia/Dhaka' },
})
const subscriptions = new SubscriptionsClient({ ...mock.clientOptions.subscriptions, fetch: mock.fetch })

const { invoiceID } = await subscriptions.subscribe({
  requestID: 'order-1001',
  start: '2027-01-02',
  end: '2027-12-31',
  cycle: 'FIFTEEN_DAYS',
  amount: '25.00',
  userReturnURL: 'https://shop.example/return',
})
mock.payer.authorize(invoiceID, { payments: ['succeed', 'fail'] })
const { status, subscriptionId } = await subscriptions.status(invoiceID)
if (status !== 'SUCCEEDED' || subscriptionId === null) throw new Error(`The request is ${status}.`)

await mock.clock.advance({ days: 365 })
const payments = []
for await (const payment of subscriptions.allPayments(subscriptionId)) payments.push(payment)
const failed = payments
  .filter((payment) => payment.status === 'FAILED_PAYMENT')
  .map((payment) => payment.dueDate)
console.log(`1. There is a payment every 15 days from 2 January: ${payments.length} payments in the year.`)
console.log(`2. One payment failed, on ${failed.join()}. The subscription continued.`)

const [first] = payments
if (first === undefined) throw new Error('There is no payment.')
mock.payer.reverse(first.paymentId)
const { reverseTransactionAmount } = await subscriptions.payment(first.paymentId)
console.log(`3. The first payment was reversed: the payer got ${reverseTransactionAmount} back.`)

// The API's times do not contain their time zone, so the program passes the zone to `toInstant`.
const instant = toInstant(first.transactionDate, 'Asia/Dhaka').toISOString()
console.log(`4. Times are in the provider's time zone: ${first.transactionDate} is ${instant}.`)

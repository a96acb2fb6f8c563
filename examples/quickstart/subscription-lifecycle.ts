import type { SubscriptionsClient } from 'mandatekit'
import { isMandateKitError } from 'mandatekit'
import type { Settings } from './settings.ts'
import type { Timeline } from './timeline.ts'

const DAY = 86_400_000
const day = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Logs in, subscribes, authorizes, runs three cycles (one payment fails), reads payments and cancels. */
export const subscriptionLifecycle = async (
  client: SubscriptionsClient,
  settings: Settings,
  { line }: Timeline,
): Promise<void> => {
  const { mock } = settings
  const token = await client.login()
  line(
    'S-a login',
    `a ${token.token_type} token for ${token.expires_in} s (other calls log in automatically)`,
  )

  const { url, invoiceID } = await client.subscribe({
    requestID: `order-${settings.now()}`,
    start: day(settings.now() + DAY),
    end: day(settings.now() + 180 * DAY),
    cycle: 'WEEKLY',
    amount: '25.00',
    userReturnURL: 'https://shop.example/return',
  })
  line('S-b subscribe', `invoice ${invoiceID}; send the payer to ${url}`)
  line('S-c status', (await client.status(invoiceID)).status)

  // On a real server, the payer authorizes the subscription. On the mock, this program authorizes it.
  // The second payment fails on the mock.
  mock?.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
  if (mock === undefined)
    line('waiting', `up to ${settings.waitMs / 1000} s for the payer to authorize on that page`)
  const { status, subscriptionId } = await client.waitForStatus(invoiceID, { timeout: settings.waitMs })
  line('S-c status', `${status}; subscription ${subscriptionId}`)
  if (subscriptionId === null) return

  const details = await client.details(subscriptionId)
  line('S-d details', `${details.amount} ${details.cycle}, next payment ${details.nextPaymentDate}`)

  for (let cycle = 1; mock !== undefined && cycle <= 3; cycle += 1) {
    await mock.clock.advance({ days: 7 })
    line(
      'clock',
      `one week later; payments so far: ${(await client.payments(subscriptionId)).subscriptionPayments.length}`,
    )
  }

  let last: number | string | undefined
  for await (const payment of client.allPayments(subscriptionId)) {
    line('S-g payments', `payment ${payment.paymentId}, due ${payment.dueDate}: ${payment.status}`)
    last = payment.paymentId
  }
  if (last !== undefined) {
    const payment = await client.payment(last)
    line('S-h payment', `payment ${payment.paymentId}: ${payment.status} at ${payment.transactionDate}`)
  }

  const cancellation = await client.cancel(subscriptionId)
  line('S-e cancel', `cancellation ${cancellation.id}: ${cancellation.status}`)
  try {
    line('S-f cancellation', `the same record: ${(await client.cancellation(subscriptionId)).status}`)
  } catch (error) {
    if (!isMandateKitError(error)) throw error
    line('S-f cancellation', error.message)
  }
}

import { isMandateKitError, type SubscriptionsClient } from 'mandatekit'
import type { Settings } from './settings.ts'
import type { Timeline } from './timeline.ts'

const DAY = 86_400_000
const day = (time: number): string => new Date(time).toISOString().slice(0, 10)

/**
 * Logs in, subscribes, authorizes, runs three cycles (one payment fails), reads payments and cancels.
 *
 * @returns the statuses of the payments, oldest first
 */
export const subscriptionLifecycle = async (
  client: SubscriptionsClient,
  settings: Settings,
  { call, note }: Timeline,
): Promise<readonly string[]> => {
  const { mock } = settings
  await call(
    'subscriptions.login',
    () => client.login(),
    ({ expires_in }) => `The client logged in. Its token is valid for ${expires_in} s.`,
  )

  const { invoiceID } = await call(
    'subscriptions.subscribe',
    () =>
      client.subscribe({
        requestID: `order-${settings.now()}`,
        start: day(settings.now() + DAY),
        end: day(settings.now() + 180 * DAY),
        cycle: 'WEEKLY',
        amount: '25.00',
        userReturnURL: 'https://shop.example/return',
      }),
    ({ url }) => `The shop requests a weekly subscription, and sends the payer to ${url}`,
  )
  await call(
    'subscriptions.status',
    () => client.status(invoiceID),
    ({ status }) => `The payer has not decided yet: ${status}.`,
  )

  // On the mock, the program acts as the payer: it authorizes the subscription, and lets the second payment fail.
  mock?.payer.authorize(invoiceID, { payments: ['succeed', 'fail', 'succeed'] })
  note(
    mock === undefined
      ? `Authorize the request on that page within ${settings.waitMs / 1000} s.`
      : 'The payer authorizes the request on that page.',
  )
  const { subscriptionId } = await call(
    'subscriptions.status',
    () => client.waitForStatus(invoiceID, { timeout: settings.waitMs }),
    (request) =>
      request.subscriptionId === null
        ? `There is no subscription: ${request.status}.`
        : `The status is ${request.status}: the subscription is active.`,
  )
  if (subscriptionId === null) return []

  await call(
    'subscriptions.details',
    () => client.details(subscriptionId),
    ({ amount, nextPaymentDate }) => `Price: ${amount} a week. Next payment: ${nextPaymentDate}.`,
  )

  for (let cycle = 1; mock !== undefined && cycle <= 3; cycle += 1) {
    await mock.clock.advance({ days: 7 })
    await call(
      'subscriptions.payments',
      () => client.payments(subscriptionId),
      ({ subscriptionPayments }) => `A week later. Payments so far: ${subscriptionPayments.length}.`,
    )
  }

  let last: number | string | undefined
  const statuses: string[] = []
  for await (const { paymentId, dueDate, status } of client.allPayments(subscriptionId)) {
    note(`Payment ${paymentId}, due ${dueDate}: ${status}.`)
    statuses.push(status)
    last = paymentId
  }
  if (last !== undefined) {
    const paymentId = last
    await call(
      'subscriptions.payment',
      () => client.payment(paymentId),
      ({ transactionDate }) => `The last payment was made at ${transactionDate}.`,
    )
  }

  await call(
    'subscriptions.cancel',
    () => client.cancel(subscriptionId),
    ({ status }) => `The shop cancels the subscription: ${status}.`,
  )
  try {
    await call(
      'subscriptions.cancellation',
      () => client.cancellation(subscriptionId),
      ({ status }) => `The status of the cancellation: ${status}.`,
    )
  } catch (error) {
    if (!isMandateKitError(error)) throw error
    note(error.message)
  }
  return statuses
}

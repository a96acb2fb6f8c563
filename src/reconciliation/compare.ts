import type { Payment } from '../contract/subscriptions.ts'
import { isNotFound } from '../notifications/not-found.ts'
import type { Believed, BelievedCharge, BelievedPayment, BelievedSubscription } from './belief.ts'
import type { Difference } from './difference.ts'

interface ReadOptions {
  readonly signal: AbortSignal
}

/** The reads of area S that reconciliation makes; a `SubscriptionsClient` has them. */
export interface SubscriptionsReader {
  /** Every payment of a subscription (S-g). */
  allPayments(subscriptionId: string, page: undefined, options: ReadOptions): AsyncIterable<Payment>
  /** The record of a cancellation (S-f). */
  cancellation(subscriptionId: string, options: ReadOptions): PromiseLike<unknown>
}

/** The read of area G that reconciliation makes; a `GatewayClient` has it. */
export interface GatewayReader {
  /** The charge's status (G rule 6). */
  status(chargeId: string, options: ReadOptions): PromiseLike<{ readonly status: string }>
}

/** Where entries are looked up. */
export interface Readers {
  readonly subscriptions: SubscriptionsReader | undefined
  readonly gateway: GatewayReader | undefined
}

/** The value, or `undefined` when the API said that there is no such thing. */
const found = async <Value>(read: () => PromiseLike<Value>): Promise<Value | undefined> => {
  try {
    return await read()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Every payment, or `undefined` when the API does not know the subscription. */
const collect = async (payments: AsyncIterable<Payment>): Promise<Payment[] | undefined> => {
  const all: Payment[] = []
  try {
    for await (const payment of payments) all.push(payment)
  } catch (error) {
    // After the first payment it is a page that was not found: what is known of the list is not the whole.
    if (all.length > 0 || !isNotFound(error)) throw error
    return undefined
  }
  return all
}

// A reversed amount of nothing was read as null already.
const isReversed = ({
  reverseTransactionAmount,
  reverseTransactionId,
  reverseTransactionDate,
}: Payment): boolean =>
  [reverseTransactionAmount, reverseTransactionId, reverseTransactionDate].some(
    (told) => (told ?? null) !== null,
  )

const differs = (believed: BelievedPayment, payment: Payment): boolean =>
  believed.status !== payment.status || (believed.reversed ?? false) !== isReversed(payment)

const comparePayments = async (
  { subscriptionId, payments }: BelievedSubscription,
  actual: readonly Payment[],
): Promise<Difference[]> => {
  const unseen = new Map<string, BelievedPayment>()
  for await (const believed of payments) unseen.set(String(believed.paymentId), believed)
  const differences: Difference[] = []
  for (const payment of actual) {
    // A server may leave it out.
    const paymentId = String(payment.paymentId ?? '')
    const believed = unseen.get(paymentId)
    unseen.delete(paymentId)
    if (believed === undefined) {
      differences.push({ kind: 'payment-missing', subscriptionId, paymentId, payment })
    } else if (differs(believed, payment)) {
      differences.push({ kind: 'payment-differs', subscriptionId, paymentId, believed, payment })
    }
  }
  for (const [paymentId, believed] of unseen) {
    differences.push({ kind: 'payment-not-found', subscriptionId, paymentId, believed })
  }
  return differences
}

const compareSubscription = async (
  reader: SubscriptionsReader,
  believed: BelievedSubscription,
  options: ReadOptions,
): Promise<Difference[]> => {
  const { subscriptionId, cancelled } = believed
  const actual = await collect(reader.allPayments(subscriptionId, undefined, options))
  if (actual === undefined) return [{ kind: 'subscription-not-found', subscriptionId }]
  const differences = await comparePayments(believed, actual)
  if (cancelled === undefined) return differences
  const isCancelled = (await found(() => reader.cancellation(subscriptionId, options))) !== undefined
  if (isCancelled === cancelled) return differences
  return [
    ...differences,
    { kind: isCancelled ? 'cancellation-missing' : 'cancellation-not-found', subscriptionId },
  ]
}

const compareCharge = async (
  reader: GatewayReader,
  believed: BelievedCharge,
  options: ReadOptions,
): Promise<Difference[]> => {
  const { chargeId } = believed
  const charge = await found(() => reader.status(chargeId, options))
  if (charge === undefined) return [{ kind: 'charge-not-found', chargeId, believed }]
  const { status } = charge
  return status === believed.status ? [] : [{ kind: 'charge-differs', chargeId, believed, status }]
}

/** The differences of one entry; a failed look-up is one of them, so that the others are still compared. */
export const compare = async (
  { subscriptions, gateway }: Readers,
  believed: Believed,
  options: ReadOptions,
): Promise<readonly Difference[]> => {
  try {
    if ('chargeId' in believed) {
      return gateway === undefined ? [] : await compareCharge(gateway, believed, options)
    }
    return subscriptions === undefined ? [] : await compareSubscription(subscriptions, believed, options)
  } catch (error) {
    return [{ kind: 'unchecked', believed, error }]
  }
}

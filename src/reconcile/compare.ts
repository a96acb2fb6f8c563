import { dayNumber } from '../contract/formats.ts'
import type { Payment, SubscriptionDetails } from '../contract/subscriptions.ts'
import { isMandateKitError } from '../errors.ts'

/** A payment as the merchant's books record it. */
export interface ExpectedPayment {
  /** Identifier of the payment. (S6) */
  readonly paymentId: string | number
  /** Status of the payment in the books: `SUCCEEDED_PAYMENT` or `FAILED_PAYMENT`, as in notifications. */
  readonly status: string
  /** Whether the books contain a reversal of the payment; `false` by default. */
  readonly reversed?: boolean | undefined
}

/** A subscription as the merchant's books record it. */
export interface ExpectedSubscription {
  /** Identifier of the subscription. (S4) */
  readonly subscriptionId: string
  /** Every payment of this subscription in the books. If a payment is listed twice, the last entry counts. */
  readonly payments: Iterable<ExpectedPayment> | AsyncIterable<ExpectedPayment>
  /** Whether the subscription was canceled. Without this field, `reconcile` does not read the cancellation. */
  readonly cancelled?: boolean | undefined
}

/** A charge as the merchant's books record it. */
export interface ExpectedCharge {
  /** Identifier of the charge. (G1) */
  readonly chargeId: string
  /** Status of the charge in the books, such as `succeeded`. (G1) */
  readonly status: string
}

/** One entry of the merchant's books. */
export type Expected = ExpectedSubscription | ExpectedCharge

/**
 * A difference between the books and the API.
 *
 * - `payment-missing`: the API has a payment that the books lack, because a notification was lost or is late.
 *   The `paymentId` is empty if the API sent no identifier.
 * - `payment-differs`: the books and the API disagree about the status or about a reversal.
 * - `payment-not-found`: the books have a payment that the API does not list.
 * - `cancellation-missing`: only the API has the cancellation.
 * - `cancellation-not-found`: only the books have the cancellation.
 * - `subscription-inactive`: the books have no cancellation, but the API says `enabled: 0` before the last day.
 * - `subscription-not-found`, `charge-not-found`: the API does not know the record.
 * - `charge-differs`: the API returned another `status` of the charge.
 * - `unchecked`: the lookup of the entry failed. Reconcile the entry again later.
 */
export type Difference =
  | ({ readonly subscriptionId: string; readonly paymentId: string } & (
      | { readonly kind: 'payment-missing'; readonly payment: Payment }
      | { readonly kind: 'payment-differs'; readonly expected: ExpectedPayment; readonly payment: Payment }
      | { readonly kind: 'payment-not-found'; readonly expected: ExpectedPayment }
    ))
  | {
      readonly kind: `cancellation-${'missing' | 'not-found'}` | `subscription-${'inactive' | 'not-found'}`
      readonly subscriptionId: string
    }
  | ({ readonly chargeId: string; readonly expected: ExpectedCharge } & (
      | { readonly kind: 'charge-differs'; readonly status: string }
      | { readonly kind: 'charge-not-found' }
    ))
  | { readonly kind: 'unchecked'; readonly expected: Expected; readonly error: unknown }

/** Options for a call of the client. */
export type ReadOptions = { readonly signal: AbortSignal }

/** The fields of a subscription that `reconcile` compares. (S4) */
export type SubscriptionState = Pick<SubscriptionDetails, 'enabled' | 'startDate' | 'endDate'>

/** The methods of area S that `reconcile` calls. A `SubscriptionsClient` has these methods. */
export interface SubscriptionsReader {
  /** Reads every payment of a subscription. (S-g) */
  allPayments(subscriptionId: string, page: undefined, options: ReadOptions): AsyncIterable<Payment>
  /** Reads the record of a cancellation. (S-f) */
  cancellation(subscriptionId: string, options: ReadOptions): PromiseLike<unknown>
  /** Reads a subscription. Without this method, `reconcile` does not compare `enabled`. (S-d) */
  details?(subscriptionId: string, options: ReadOptions): PromiseLike<SubscriptionState>
}

/** The method of area G that `reconcile` calls. A `GatewayClient` has this method. */
export interface GatewayReader {
  /** Reads the status of a charge. (G rule 6) */
  status(chargeId: string, options: ReadOptions): PromiseLike<{ readonly status: string }>
}

/** Whether an error says that the API does not know a record. No record has an identifier that the client refuses. */
const isNotFound = (error: unknown): boolean =>
  isMandateKitError(error) &&
  (error.code === 'invalid_request'
    ? error.phase !== 'login'
    : 'verdict' in error && error.verdict === 'not-found')

/** Reads a record. Returns undefined if the API does not know the record. */
const find = async <Value>(read: () => PromiseLike<Value>): Promise<Value | undefined> => {
  try {
    return await read()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Reads every payment. Returns undefined if the API does not know the subscription. */
const collect = async (payments: AsyncIterable<Payment>): Promise<Payment[] | undefined> => {
  const all: Payment[] = []
  try {
    for await (const payment of payments) all.push(payment)
  } catch (error) {
    // If the API returned a payment, the subscription exists, so a later "not found" is a failed lookup.
    if (all.length > 0 || !isNotFound(error)) throw error
    return undefined
  }
  return all
}

const differs = ({ status, reversed = false }: ExpectedPayment, payment: Payment): boolean => {
  // If the API sends the reversal amount zero, the client returns null.
  const reversal =
    payment.reverseTransactionAmount ?? payment.reverseTransactionId ?? payment.reverseTransactionDate ?? null
  return status !== payment.status || reversed !== (reversal !== null)
}

const comparePayments = async (
  { subscriptionId, payments }: ExpectedSubscription,
  actual: readonly Payment[],
): Promise<Difference[]> => {
  const unseen = new Map<string, ExpectedPayment>()
  for await (const expected of payments) unseen.set(String(expected.paymentId), expected)
  const differences: Difference[] = []
  for (const payment of actual) {
    const paymentId = String(payment.paymentId ?? '')
    const expected = unseen.get(paymentId)
    unseen.delete(paymentId)
    if (expected === undefined) {
      differences.push({ kind: 'payment-missing', subscriptionId, paymentId, payment })
    } else if (differs(expected, payment)) {
      differences.push({ kind: 'payment-differs', subscriptionId, paymentId, expected, payment })
    }
  }
  for (const [paymentId, expected] of unseen) {
    differences.push({ kind: 'payment-not-found', subscriptionId, paymentId, expected })
  }
  return differences
}

/** Whether today is after the first and before the last day of a subscription in every zone, UTC-12 to UTC+14. */
const isRunning = ({ startDate, endDate }: SubscriptionState, now: number): boolean => {
  const dayAt = (hours: number) => Math.floor((now / 3_600_000 + hours) / 24)
  return dayAt(-12) > (dayNumber(startDate) ?? Infinity) && dayAt(14) < (dayNumber(endDate) ?? -Infinity)
}

/** Compares the payments and the cancellation of a subscription. */
export const compareSubscription = async (
  reader: SubscriptionsReader,
  expected: ExpectedSubscription,
  options: ReadOptions,
  now: number,
): Promise<Difference[]> => {
  const { subscriptionId, cancelled } = expected
  const actual = await collect(reader.allPayments(subscriptionId, undefined, options))
  if (actual === undefined) return [{ kind: 'subscription-not-found', subscriptionId }]
  const differences = await comparePayments(expected, actual)
  if (cancelled === undefined) return differences
  const isCancelled = (await find(() => reader.cancellation(subscriptionId, options))) !== undefined
  const report = <const Kind extends string>(kind: Kind) => [...differences, { kind, subscriptionId }]
  if (isCancelled) return cancelled ? differences : report('cancellation-missing')
  const details = await find(async () => reader.details?.(subscriptionId, options))
  const isDisabled = details?.enabled === 0
  if (cancelled) return isDisabled ? differences : report('cancellation-not-found')
  return isDisabled && isRunning(details, now) ? report('subscription-inactive') : differences
}

/** Compares the status of a charge. */
export const compareCharge = async (
  reader: GatewayReader,
  expected: ExpectedCharge,
  options: ReadOptions,
): Promise<Difference[]> => {
  const { chargeId } = expected
  const charge = await find(() => reader.status(chargeId, options))
  if (charge === undefined) return [{ kind: 'charge-not-found', chargeId, expected }]
  const { status } = charge
  return status === expected.status ? [] : [{ kind: 'charge-differs', chargeId, expected, status }]
}

import { check, clockOption, functionOption, inputError, objectWith, signalOption } from '../check.ts'
import { systemClock } from '../clock.ts'
import { guarded, type Input, optional, strict, wholeNumber, withDefault } from '../contract/fields.ts'
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
  /** Whether the books contain a cancellation. If you omit this field, `reconcile` does not compare cancellations. */
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
 * - `payment-missing`: the API has a payment that the books lack, for example because a notification was lost.
 *   The `paymentId` is empty if the API sent no identifier.
 * - `payment-differs`: the books and the API disagree about the status or about a reversal.
 * - `payment-not-found`: the books have a payment that the API does not list.
 * - `cancellation-missing`: only the API has the cancellation.
 * - `cancellation-not-found`: only the books have the cancellation.
 * - `subscription-inactive`: the books have no cancellation, but the API returns `enabled: 0` although today is
 *   between the subscription's first and last day.
 * - `subscription-not-found`, `charge-not-found`: only the books have the record.
 * - `charge-differs`: the books and the API disagree about the status.
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

type ReadOptions = { readonly signal: AbortSignal }

/** The fields of a subscription that `reconcile` reads. (S4) */
export type SubscriptionState = Pick<SubscriptionDetails, 'enabled' | 'startDate' | 'endDate'>

/** The methods of area S that `reconcile` calls. A `SubscriptionsClient` has these methods. */
export interface SubscriptionsReader {
  /** Reads every payment of a subscription. (S-g) */
  allPayments(subscriptionId: string, page: undefined, options: ReadOptions): AsyncIterable<Payment>
  /** Reads the cancellation of a subscription. (S-f) */
  cancellation(subscriptionId: string, options: ReadOptions): PromiseLike<{ readonly status?: string }>
  /** Reads a subscription. Without this method, `reconcile` does not compare `enabled`. (S-d) */
  details?(subscriptionId: string, options: ReadOptions): PromiseLike<SubscriptionState>
}

/** The method of area G that `reconcile` calls. A `GatewayClient` has this method. */
export interface GatewayReader {
  /** Reads the status of a charge. (G rule 6) */
  status(chargeId: string, options: ReadOptions): PromiseLike<{ readonly status: string }>
}

/** The progress of a reconciliation. */
export interface ReconciliationProgress {
  /** Number of entries that were looked up, even if the lookup failed. */
  readonly checked: number
  /** Number of differences found, including those of kind `unchecked`. */
  readonly differences: number
  /** Number of entries whose lookup failed. */
  readonly unchecked: number
}

type Books = Iterable<Expected> | AsyncIterable<Expected>
const isIterable = (value: unknown): value is Books =>
  typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)

const reconcileOptions = {
  /** The entries of the merchant's books: an array, a generator, or a cursor over a table of any length. */
  expected: guarded('entries to iterate over, such as an array', isIterable),
  /** The client that reads subscriptions. Required for entries with a subscriptionId. */
  subscriptions: optional(
    objectWith<SubscriptionsReader>('a SubscriptionsClient', 'allPayments', 'cancellation'),
  ),
  /** The client that reads charges. Required for entries with a chargeId. */
  gateway: optional(objectWith<GatewayReader>('a GatewayClient', 'status')),
  /** How many entries are looked up in parallel; 4 by default. The clients also obey the rate limit. */
  concurrency: withDefault(wholeNumber(1), 4),
  /** The clock that determines today's date, for example the mock's clock. Default: the system's clock. */
  clock: withDefault(clockOption, systemClock),
  /** Aborts the reconciliation and all lookups in progress. */
  signal: optional(signalOption),
  /** Called after each entry, even if it has no difference. Errors that `onProgress` throws are ignored. */
  onProgress: optional(functionOption<(progress: ReconciliationProgress) => unknown>()),
}
/** Options of `reconcile`. */
export interface ReconcileOptions extends Input<typeof reconcileOptions> {}

/** Yields the differences in the order of the entries in `expected`. */
export interface Reconciliation extends AsyncIterable<Difference> {
  /** The progress so far. */
  readonly progress: ReconciliationProgress
}

/** Returns whether an error shows that the API lacks the record, or that the client refuses its identifier. */
const isNotFound = (error: unknown): boolean =>
  isMandateKitError(error) &&
  (error.code === 'invalid_request'
    ? error.phase !== 'login'
    : 'verdict' in error && error.verdict === 'not-found')

const find = async <Value>(read: () => PromiseLike<Value>): Promise<Value | undefined> => {
  try {
    return await read()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

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

/** Returns whether today is after a subscription's first day and before its last day, whatever the time zone. */
const isRunning = ({ startDate, endDate }: SubscriptionState, now: number): boolean => {
  const dayAt = (hours: number) => Math.floor((now / 3_600_000 + hours) / 24)
  return dayAt(-12) > (dayNumber(startDate) ?? Infinity) && dayAt(14) < (dayNumber(endDate) ?? -Infinity)
}

const compareCancellation = async (
  reader: SubscriptionsReader,
  { subscriptionId, cancelled = false }: ExpectedSubscription,
  options: ReadOptions,
  now: number,
) => {
  const record = await find(() => reader.cancellation(subscriptionId, options))
  const { status = 'PROCESSED' } = record ?? {}
  // A pending or rejected cancellation does not end the subscription.
  if (record && /^\s*processed\s*$/i.test(status)) return cancelled ? undefined : 'cancellation-missing'
  if (record && cancelled && /^\s*(?:pending|processing|in.?progress)\s*$/i.test(status)) return undefined
  const details = await find(async () => reader.details?.(subscriptionId, options))
  if (details?.enabled !== 0) return cancelled ? 'cancellation-not-found' : undefined
  return !cancelled && isRunning(details, now) ? 'subscription-inactive' : undefined
}

const compareSubscription = async (
  reader: SubscriptionsReader,
  expected: ExpectedSubscription,
  options: ReadOptions,
  now: number,
): Promise<Difference[]> => {
  const { subscriptionId, cancelled } = expected
  const actual = await collect(reader.allPayments(subscriptionId, undefined, options))
  if (actual === undefined) return [{ kind: 'subscription-not-found', subscriptionId }]
  const differences = await comparePayments(expected, actual)
  const kind = cancelled === undefined ? cancelled : await compareCancellation(reader, expected, options, now)
  return kind === undefined ? differences : [...differences, { kind, subscriptionId }]
}

const compareCharge = async (
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

/**
 * Compares the merchant's books (your records) with the API and yields the differences, such as payments that the books
 * lack. `reconcile` changes nothing. It loads only a few entries at a time, so that long lists need little memory. If
 * your `for await` loop ends early, `reconcile` aborts the lookups in progress.
 *
 * If a lookup fails, the loop receives a difference of kind `unchecked` and continues. The loop throws an
 * `InvalidRequestError` if the client for an entry is missing. If `signal` is aborted, the loop throws `signal.reason`.
 * Data that changes during a run can look like a difference. Act only on a difference that two runs find.
 *
 * @example
 * const run = reconcile({ subscriptions, expected: books.subscriptions() })
 * for await (const difference of run) {
 *   if (difference.kind === 'payment-missing') await book(difference.payment)
 * }
 * console.log(run.progress) // { checked: 1200, differences: 1, unchecked: 0 }
 */
export const reconcile = (options: ReconcileOptions): Reconciliation => {
  const settings = check('reconcile', strict(reconcileOptions, 'option'), options)
  const { expected, subscriptions, gateway, concurrency, clock, signal, onProgress } = settings
  let progress: ReconciliationProgress = { checked: 0, differences: 0, unchecked: 0 }

  const missing = (client: 'subscriptions' | 'gateway') =>
    inputError('reconcile', client, 'the client that reads the entry', undefined)

  const lookUp = (entry: Expected, options: ReadOptions): Promise<readonly Difference[]> => {
    const unchecked = (error: unknown) => [{ kind: 'unchecked', expected: entry, error }] as const
    if ('chargeId' in entry) {
      if (gateway === undefined) throw missing('gateway')
      return compareCharge(gateway, entry, options).catch(unchecked)
    }
    if (subscriptions === undefined) throw missing('subscriptions')
    return compareSubscription(subscriptions, entry, options, clock.now()).catch(unchecked)
  }

  async function* differences(): AsyncGenerator<Difference, void, undefined> {
    const left = new AbortController()
    const ended = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal])
    const lookups: Promise<readonly Difference[]>[] = []
    const takeFirst = async (): Promise<readonly Difference[]> => {
      const found = (await lookups.shift()) ?? []
      signal?.throwIfAborted()
      progress = {
        checked: progress.checked + 1,
        differences: progress.differences + found.length,
        unchecked: progress.unchecked + (found.some(({ kind }) => kind === 'unchecked') ? 1 : 0),
      }
      const notify = async () => onProgress?.(progress)
      notify().catch(() => undefined)
      return found
    }
    try {
      signal?.throwIfAborted()
      for await (const entry of expected) {
        signal?.throwIfAborted()
        lookups.push(lookUp(entry, { signal: ended }))
        if (lookups.length === concurrency) yield* await takeFirst()
      }
      while (lookups.length > 0) yield* await takeFirst()
    } finally {
      left.abort()
    }
  }

  return {
    get progress() {
      return progress
    },
    [Symbol.asyncIterator]: differences,
  }
}

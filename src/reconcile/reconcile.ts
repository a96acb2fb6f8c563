import { check, clockOption, functionOption, inputIssue, objectWith, signalOption } from '../check.ts'
import { type Clock, systemClock } from '../clock.ts'
import { field, type Input, optional, strict, wholeNumber, withDefault } from '../contract/fields.ts'
import { InvalidRequestError } from '../errors.ts'
import type { Difference, Expected, GatewayReader, ReadOptions, SubscriptionsReader } from './compare.ts'
import { compareCharge, compareSubscription } from './compare.ts'

/** The progress of a reconciliation. */
export interface ReconciliationProgress {
  /** Number of entries that were looked up, including failed lookups. */
  readonly checked: number
  /** Number of differences found, including those of kind `unchecked`. */
  readonly differences: number
  /** Number of entries whose lookup failed. */
  readonly unchecked: number
}

type Books = Iterable<Expected> | AsyncIterable<Expected>

const books = field<Books, Books>('entries to iterate over, such as an array', (value) =>
  typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)
    ? (value as Books)
    : undefined,
)
const reconcileOptions = {
  /** The entries of the merchant's books: an array, a generator, or a cursor over a table of any length. */
  expected: books,
  /** The client that reads subscriptions. Required for entries with a subscriptionId. */
  subscriptions: optional(
    objectWith<SubscriptionsReader>('a SubscriptionsClient', 'allPayments', 'cancellation'),
  ),
  /** The client that reads charges. Required for entries with a chargeId. */
  gateway: optional(objectWith<GatewayReader>('a GatewayClient', 'status')),
  /** How many entries are looked up at once; 4 by default. The rate limits of the clients also apply. */
  concurrency: withDefault(wholeNumber(1), 4),
  /** The clock that tells whether a subscription should run today, such as the mock's. Default: the system's time. */
  clock: withDefault(clockOption, systemClock as Clock),
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

const invalid = (name: string, rule: string, value: unknown): InvalidRequestError =>
  new InvalidRequestError('reconcile', [inputIssue(name, rule, value)])

/**
 * Compares the merchant's books with the API and yields the differences, for example after lost notifications.
 * `reconcile` changes nothing. Entries are read only when needed, so that long lists need little memory. If the loop
 * ends early, the lookups in progress are aborted.
 *
 * If a lookup fails, the loop receives a difference of kind `unchecked` and continues. The loop throws an
 * `InvalidRequestError` if the client for an entry is missing. If `signal` is aborted, the loop throws its `reason`.
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

  const lookUp = (entry: Expected, options: ReadOptions): Promise<readonly Difference[]> => {
    const unchecked = (error: unknown) => [{ kind: 'unchecked', expected: entry, error }] as const
    if ('chargeId' in entry) {
      if (gateway !== undefined) return compareCharge(gateway, entry, options).catch(unchecked)
      throw invalid('gateway', 'a client that looks up charges', gateway)
    }
    if ('subscriptionId' in entry) {
      if (subscriptions !== undefined)
        return compareSubscription(subscriptions, entry, options, clock.now()).catch(unchecked)
      throw invalid('subscriptions', 'a client that looks up subscriptions', subscriptions)
    }
    throw invalid('expected', 'entries with a subscriptionId or a chargeId', entry)
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

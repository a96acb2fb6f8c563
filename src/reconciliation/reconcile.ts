import type { InputIssue } from '../errors.ts'
import { safeListener } from '../notifications/report.ts'
import {
  countIssues,
  functionIssues,
  isFields,
  methodIssues,
  refuse,
  unknownNames,
  unless,
  whileReading,
} from '../transport/input-issues.ts'
import type { Believed } from './belief.ts'
import type { GatewayReader, Readers, SubscriptionsReader } from './compare.ts'
import { compare } from './compare.ts'
import type { Difference } from './difference.ts'

/** How far a reconciliation is. */
export interface ReconciliationProgress {
  /** Entries that were compared, or that could not be. */
  readonly checked: number
  /** Differences found, those `unchecked` included. */
  readonly differences: number
  /** Entries about which no answer could be had. */
  readonly unchecked: number
}

/** Options of `reconcile`. */
export interface ReconcileOptions {
  /** What the merchant's books say: an array, a generator, or a cursor over a table of any length. */
  readonly believed: Iterable<Believed> | AsyncIterable<Believed>
  /** Needed for entries with a subscriptionId. */
  readonly subscriptions?: SubscriptionsReader | undefined
  /** Needed for entries with a chargeId. */
  readonly gateway?: GatewayReader | undefined
  /** How many entries are looked up at once; 4 by default. The clients' own rate limits hold besides. */
  readonly concurrency?: number | undefined
  /** Ends the reconciliation, and the look-ups under way. */
  readonly signal?: AbortSignal | undefined
  /** Called after each entry, also when it has no difference. What it throws or rejects with is dropped. */
  readonly onProgress?: ((progress: ReconciliationProgress) => unknown) | undefined
}

/** Differences as they are found, in the order of the books, with how far it is. */
export interface Reconciliation extends AsyncIterable<Difference> {
  /** How far it is now. */
  readonly progress: ReconciliationProgress
}

const MOST_AT_ONCE = 4

const OPERATION = 'reconcile'
const NAMES = Object.keys({
  believed: true,
  subscriptions: true,
  gateway: true,
  concurrency: true,
  signal: true,
  onProgress: true,
} satisfies Record<keyof ReconcileOptions, true>)

const readerIssues = (field: string, what: string, methods: readonly string[], reader: unknown) =>
  reader === undefined ? [] : methodIssues(field, what, methods, reader)

const isIterable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value)

const isSignal = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'throwIfAborted' in value

const issuesOf = (options: unknown): InputIssue[] => {
  if (!isFields(options)) {
    return unless(false, 'options', 'an object such as { believed, gateway }', options)
  }
  const { believed, subscriptions, gateway, concurrency = MOST_AT_ONCE, signal, onProgress } = options
  return [
    ...unknownNames(options, NAMES, 'option of reconcile'),
    ...unless(isIterable(believed), 'believed', 'entries to iterate over, such as a list', believed),
    ...readerIssues('subscriptions', 'a SubscriptionsClient', ['allPayments', 'cancellation'], subscriptions),
    ...readerIssues('gateway', 'a GatewayClient', ['status'], gateway),
    ...countIssues('concurrency', concurrency, 1),
    ...unless(signal === undefined || isSignal(signal), 'signal', 'an AbortSignal', signal),
    ...functionIssues('onProgress', onProgress),
  ]
}

const checkReader = ({ subscriptions, gateway }: Readers, believed: unknown): void => {
  const entries = 'entries with a subscriptionId or a chargeId'
  refuse(OPERATION, unless(isFields(believed), 'believed', entries, believed))
  const isCharge = isFields(believed) && 'chargeId' in believed
  const isSubscription = isFields(believed) && 'subscriptionId' in believed
  if (!isCharge && !isSubscription) {
    refuse(OPERATION, [{ field: 'believed', rule: entries, received: 'an entry with neither' }])
  }
  if (isCharge)
    refuse(OPERATION, unless(gateway !== undefined, 'gateway', 'a client, to look charges up', gateway))
  else {
    const rule = 'a client, to look subscriptions up'
    refuse(OPERATION, unless(subscriptions !== undefined, 'subscriptions', rule, subscriptions))
  }
}

const iteratorOf = (believed: ReconcileOptions['believed']): Iterator<Believed> | AsyncIterator<Believed> =>
  Symbol.asyncIterator in believed ? believed[Symbol.asyncIterator]() : believed[Symbol.iterator]()

/**
 * Compares what the merchant believes with what the API says, and lists the differences: the answer to notifications
 * that were lost. Only reads are made. Entries are taken as fast as the differences are consumed, so books of any
 * length pass in little memory; leaving the loop ends the look-ups under way.
 *
 * An entry whose look-up fails is a difference of kind `unchecked`, and the others go on. The loop throws
 * `InvalidRequestError` for an entry without a client to look it up, and the reason of `signal` when that is aborted.
 *
 * What happens while it runs can show as a difference: act on those that a second run finds again.
 *
 * @example
 * const run = reconcile({ subscriptions, believed: books.subscriptions() })
 * for await (const difference of run) {
 *   if (difference.kind === 'payment-missing') await book(difference.payment)
 * }
 * console.log(run.progress) // { checked: 1200, differences: 1, unchecked: 0 }
 */
export const reconcile = (options: ReconcileOptions): Reconciliation => {
  const given = whileReading(OPERATION, 'options', () => {
    refuse(OPERATION, issuesOf(options))
    return { ...options }
  })
  const { believed, subscriptions, gateway, concurrency = MOST_AT_ONCE, signal, onProgress } = given
  const readers = { subscriptions, gateway }
  let progress: ReconciliationProgress = { checked: 0, differences: 0, unchecked: 0 }

  const tellProgress = safeListener(onProgress)

  const count = (found: readonly Difference[]): void => {
    progress = {
      checked: progress.checked + 1,
      differences: progress.differences + found.length,
      unchecked: progress.unchecked + (found.some(({ kind }) => kind === 'unchecked') ? 1 : 0),
    }
    tellProgress(progress)
  }

  async function* differences(): AsyncGenerator<Difference, void, undefined> {
    const left = new AbortController()
    const ended = signal === undefined ? left.signal : AbortSignal.any([left.signal, signal])
    const entries = iteratorOf(believed)
    const underWay: Promise<readonly Difference[]>[] = []
    let isDrained = false
    try {
      for (;;) {
        while (!isDrained && underWay.length < concurrency) {
          signal?.throwIfAborted()
          const next = await entries.next()
          isDrained = next.done === true
          if (next.done === true) break
          checkReader(readers, next.value)
          underWay.push(compare(readers, next.value, { signal: ended }))
        }
        const first = underWay.shift()
        if (first === undefined) return
        const found = await first
        signal?.throwIfAborted()
        count(found)
        yield* found
      }
    } finally {
      left.abort()
      if (!isDrained) await entries.return?.()
    }
  }

  return {
    get progress() {
      return progress
    },
    [Symbol.asyncIterator]: differences,
  }
}

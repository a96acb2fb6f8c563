import type { KnownRequestStatus, SubscriptionRequestBody } from '../../../src/contract/subscriptions.ts'
import type { Day } from '../calendar.ts'
import type { PaymentScript } from './options.ts'
import type { Terms } from './schedule.ts'
import type { SubscriptionPhase } from './transitions.ts'

interface Reversal {
  readonly at: number
  readonly transactionId: string
}

/** A payment. */
export interface PaymentRecord {
  readonly index: number
  /** Index of the payment's subscription. */
  readonly subscription: number
  readonly dueDay: Day
  readonly at: number
  readonly succeeded: boolean
  readonly reversal: Reversal | undefined
}

/** A subscription request and its subscription. */
export interface SubscriptionRecord {
  readonly index: number
  readonly invoiceId: string
  readonly subscriptionId: string
  /** Client id of the merchant that created the request; `request.clientID` may name another merchant. */
  readonly owner: string
  readonly request: SubscriptionRequestBody
  readonly terms: Terms
  readonly createdAt: number
  requestStatus: KnownRequestStatus
  phase: Exclude<SubscriptionPhase, 'none'>
  authorizedAt: number | undefined
  cancelledAt: number | undefined
  /** The time at which `phase` became ENDED, CANCELLED or VOID. */
  closedAt: number | undefined
  /** Index of the next due date; 0 until the payer authorizes the request. */
  nextSlot: number
  /** Outcomes that a test has set for the next payments, in order. */
  script: PaymentScript[]
  /** Planned retries of failed payments. The first retry for a due day has `number` 1, the second 2. */
  retries: { readonly dueDay: Day; readonly at: number; readonly number: number }[]
  /** Indexes of the subscription's payments, oldest first. */
  readonly payments: number[]
  /** Index of the subscription's cancellation. */
  cancellation: number | undefined
}

/** A cancellation. */
export interface CancellationRecord {
  readonly index: number
  /** Index of the canceled subscription. */
  readonly subscription: number
  status: 'PROCESSING' | 'PROCESSED'
}

interface PaymentsSnapshot {
  readonly subscriptions: Int32Array
  readonly dueDays: Int32Array
  readonly times: Float64Array
  readonly outcomes: Uint8Array
  readonly reversals: readonly (readonly [number, Reversal])[]
}

/** A snapshot of the state. */
export interface StateSnapshot {
  readonly subscriptions: readonly SubscriptionRecord[]
  readonly cancellations: readonly CancellationRecord[]
  readonly payments: PaymentsSnapshot
}

const FIRST_CAPACITY = 256

const emptyColumns = (capacity: number) => ({
  subscriptions: new Int32Array(capacity),
  dueDays: new Int32Array(capacity),
  times: new Float64Array(capacity),
  outcomes: new Uint8Array(capacity),
})

/** Stores payments in typed arrays (17 bytes each), because a long test can create millions of payments. */
const createPaymentStore = () => {
  let columns = emptyColumns(FIRST_CAPACITY)
  let count = 0
  let reversals = new Map<number, Reversal>()

  const load = (from: Omit<PaymentsSnapshot, 'reversals'>, capacity: number): void => {
    columns = emptyColumns(capacity)
    columns.subscriptions.set(from.subscriptions)
    columns.dueDays.set(from.dueDays)
    columns.times.set(from.times)
    columns.outcomes.set(from.outcomes)
  }

  const get = (index: number): PaymentRecord | undefined => {
    const subscription = columns.subscriptions[index]
    const dueDay = columns.dueDays[index]
    const at = columns.times[index]
    if (index >= count || subscription === undefined || dueDay === undefined || at === undefined) {
      return undefined
    }
    const succeeded = columns.outcomes[index] === 1
    return { index, subscription, dueDay, at, succeeded, reversal: reversals.get(index) }
  }

  return {
    count: () => count,
    /** Stores a payment and returns its index. */
    add(subscription: number, dueDay: Day, at: number, succeeded: boolean): number {
      if (count === columns.times.length) load(columns, count * 2)
      columns.subscriptions[count] = subscription
      columns.dueDays[count] = dueDay
      columns.times[count] = at
      columns.outcomes[count] = succeeded ? 1 : 0
      count += 1
      return count - 1
    },
    get,
    /** Returns the payments from index `from` up to, but not including, `to`. */
    read(from: number, to: number): readonly PaymentRecord[] {
      const length = Math.max(0, Math.min(to, count) - from)
      return Array.from({ length }, (_, offset) => get(from + offset)).filter((one) => one !== undefined)
    },
    reverse: (index: number, reversal: Reversal) => void reversals.set(index, reversal),
    reset(): void {
      columns = emptyColumns(FIRST_CAPACITY)
      count = 0
      reversals = new Map()
    },
    snapshot: (): PaymentsSnapshot => ({
      subscriptions: columns.subscriptions.slice(0, count),
      dueDays: columns.dueDays.slice(0, count),
      times: columns.times.slice(0, count),
      outcomes: columns.outcomes.slice(0, count),
      reversals: [...reversals],
    }),
    restore(snapshot: PaymentsSnapshot): void {
      count = snapshot.times.length
      load(snapshot, Math.max(FIRST_CAPACITY, count))
      reversals = new Map(snapshot.reversals)
    },
  }
}

/** All data that area S stores, except tokens. */
export type State = ReturnType<typeof createState>

/** Creates an empty state. */
export const createState = () => {
  const subscriptions: SubscriptionRecord[] = []
  const cancellations: CancellationRecord[] = []
  const payments = createPaymentStore()
  const byInvoice = new Map<string, SubscriptionRecord>()
  const bySubscription = new Map<string, SubscriptionRecord>()
  const requests = new Set<string>()
  const requestKey = (owner: string, requestId: string): string => JSON.stringify([owner, requestId])

  const addSubscription = (record: SubscriptionRecord): void => {
    subscriptions.push(record)
    byInvoice.set(record.invoiceId, record)
    bySubscription.set(record.subscriptionId, record)
    requests.add(requestKey(record.owner, record.request.requestID))
  }

  const reset = (): void => {
    subscriptions.length = 0
    cancellations.length = 0
    payments.reset()
    byInvoice.clear()
    bySubscription.clear()
    requests.clear()
  }

  return {
    subscriptions: subscriptions as readonly SubscriptionRecord[],
    cancellations: cancellations as readonly CancellationRecord[],
    payments,
    addSubscription,
    addCancellation: (record: CancellationRecord) => void cancellations.push(record),
    byInvoice: (invoiceId: string) => byInvoice.get(invoiceId),
    bySubscription: (subscriptionId: string) => bySubscription.get(subscriptionId),
    /** Returns whether a merchant has used a requestID. */
    hasRequest: (owner: string, requestId: string) => requests.has(requestKey(owner, requestId)),
    reset,
    snapshot: (): StateSnapshot => ({ subscriptions, cancellations, payments: payments.snapshot() }),
    restore(snapshot: StateSnapshot): void {
      reset()
      for (const record of snapshot.subscriptions) addSubscription(record)
      cancellations.push(...snapshot.cancellations)
      payments.restore(snapshot.payments)
    },
  }
}

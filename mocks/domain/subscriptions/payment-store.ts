import type { Day } from '../calendar.ts'

/** Money that went back. */
export interface Reversal {
  readonly at: number
  readonly transactionId: string
}

/** A payment as it is kept. */
export interface PaymentRecord {
  readonly index: number
  /** Index of its subscription. */
  readonly subscription: number
  readonly dueDay: Day
  readonly at: number
  readonly succeeded: boolean
  readonly reversal: Reversal | undefined
}

/** What a snapshot holds of the payments. */
export interface PaymentsSnapshot {
  readonly subscriptions: Int32Array
  readonly dueDays: Int32Array
  readonly times: Float64Array
  readonly outcomes: Uint8Array
  readonly reversals: readonly (readonly [number, Reversal])[]
}

/** The payments of a mock in the order in which they were made. */
export interface PaymentStore {
  count(): number
  /** Keeps a payment; its index. */
  add(subscription: number, dueDay: Day, at: number, succeeded: boolean): number
  get(index: number): PaymentRecord | undefined
  /** The payments from one index up to before another. */
  read(from: number, to: number): readonly PaymentRecord[]
  reverse(index: number, reversal: Reversal): void
  reset(): void
  snapshot(): PaymentsSnapshot
  restore(snapshot: PaymentsSnapshot): void
}

const FIRST_CAPACITY = 256

const emptyColumns = (capacity: number) => ({
  subscriptions: new Int32Array(capacity),
  dueDays: new Int32Array(capacity),
  times: new Float64Array(capacity),
  outcomes: new Uint8Array(capacity),
})

/** Makes the store. It keeps columns instead of objects: a year of ten thousand daily payments takes 17 bytes each. */
export const createPaymentStore = (): PaymentStore => {
  let columns = emptyColumns(FIRST_CAPACITY)
  let count = 0
  let reversals = new Map<number, Reversal>()

  const load = (from: Omit<PaymentsSnapshot, 'reversals'>, capacity: number): void => {
    const larger = emptyColumns(capacity)
    larger.subscriptions.set(from.subscriptions)
    larger.dueDays.set(from.dueDays)
    larger.times.set(from.times)
    larger.outcomes.set(from.outcomes)
    columns = larger
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
    add(subscription, dueDay, at, succeeded) {
      if (count === columns.times.length) load(columns, count * 2)
      columns.subscriptions[count] = subscription
      columns.dueDays[count] = dueDay
      columns.times[count] = at
      columns.outcomes[count] = succeeded ? 1 : 0
      count += 1
      return count - 1
    },
    get,
    read(from, to) {
      const length = Math.max(0, Math.min(to, count) - from)
      return Array.from({ length }, (_, offset) => get(from + offset)).filter((one) => one !== undefined)
    },
    reverse: (index, reversal) => void reversals.set(index, reversal),
    reset() {
      columns = emptyColumns(FIRST_CAPACITY)
      count = 0
      reversals = new Map()
    },
    snapshot: () => ({
      subscriptions: columns.subscriptions.slice(0, count),
      dueDays: columns.dueDays.slice(0, count),
      times: columns.times.slice(0, count),
      outcomes: columns.outcomes.slice(0, count),
      reversals: [...reversals],
    }),
    restore(snapshot) {
      count = snapshot.times.length
      load(snapshot, Math.max(FIRST_CAPACITY, count))
      reversals = new Map(snapshot.reversals)
    },
  }
}

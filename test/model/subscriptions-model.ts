/*
 * Area S in the fewest words: nothing happens in it, everything follows from what was done when. A state is a question
 * asked at a time, so that an error in the mock's course of events has no twin here.
 */

const DAY = 86_400_000
const NOON = DAY / 2
const STEP = { DAILY: 1, WEEKLY: 7, FIFTEEN_DAYS: 15 } as const

export type Cycle = keyof typeof STEP

/** A subscription and what was done to it. Days count from 1970-01-01, times are milliseconds. */
export interface ModelSubscription {
  readonly owner: string
  readonly invoiceId: string
  readonly subscriptionId: string
  readonly requestID: string
  readonly cycle: Cycle
  readonly amount: string
  readonly startDay: number
  readonly endDay: number
  readonly createdAt: number
  authorizedAt?: number
  declinedAt?: number
  cancellation?: { readonly id: number; readonly requestID: number; readonly at: number }
  script: readonly ('succeed' | 'fail')[]
  /** Number of the payment, from 0 → time of its reversal. */
  readonly reversed: Map<number, number>
}

export interface ModelPayment {
  readonly day: number
  readonly at: number
  readonly succeeded: boolean
  readonly reversedAt: number | undefined
}

export const dayOf = (time: number): number => Math.floor(time / DAY)
export const dateText = (day: number): string => new Date(day * DAY).toISOString().slice(0, 10)
export const timeText = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ')

const expiresAt = (one: ModelSubscription): number => one.createdAt + DAY
const endsAt = (one: ModelSubscription): number => (one.endDay + 1) * DAY

/** Whether a payer could still answer the request. */
export const isOpen = (one: ModelSubscription, now: number): boolean => statusOf(one, now) === 'INITIALIZED'

/** Status of the request (row 10). */
export const statusOf = (one: ModelSubscription, now: number): string => {
  if (one.authorizedAt !== undefined) return 'SUCCEEDED'
  if (one.declinedAt !== undefined) return 'FAILED'
  const cancelledAt = one.cancellation?.at ?? Number.POSITIVE_INFINITY
  if (cancelledAt < expiresAt(one)) return 'CANCELLED'
  return now >= expiresAt(one) ? 'EXPIRED' : 'INITIALIZED'
}

/** Whether the cancellation ended something, or came to what was over already. */
export const wasCancelled = (one: ModelSubscription): boolean => {
  const at = one.cancellation?.at
  if (at === undefined) return false
  if (one.authorizedAt === undefined) return one.declinedAt === undefined && at < expiresAt(one)
  return at < Math.max(endsAt(one), one.authorizedAt)
}

/** Until when payments can arise. */
const closesAt = (one: ModelSubscription): number =>
  wasCancelled(one) ? Math.min(one.cancellation?.at ?? 0, endsAt(one)) : endsAt(one)

/** Whether payments are to be expected: enabled 1 (row 12). */
export const isActive = (one: ModelSubscription, now: number): boolean =>
  one.authorizedAt !== undefined && now < closesAt(one) && !wasCancelled(one)

const dueAt = (one: ModelSubscription, slot: number): number =>
  (one.startDay + slot * STEP[one.cycle]) * DAY + NOON

const firstSlot = (one: ModelSubscription, from: number): number => {
  const slot = Math.ceil((from - dueAt(one, 0)) / (STEP[one.cycle] * DAY))
  return Math.max(0, slot)
}

/** Every payment made by now: one a due date, from authorization to cancellation or end (row 23). */
export const paymentsOf = (one: ModelSubscription, now: number): readonly ModelPayment[] => {
  const { authorizedAt } = one
  if (authorizedAt === undefined) return []
  const until = Math.min(now, closesAt(one))
  const payments: ModelPayment[] = []
  for (let slot = firstSlot(one, authorizedAt); dueAt(one, slot) <= until; slot += 1) {
    const number = payments.length
    payments.push({
      day: one.startDay + slot * STEP[one.cycle],
      at: dueAt(one, slot),
      succeeded: (one.script[number] ?? 'succeed') === 'succeed',
      reversedAt: one.reversed.get(number),
    })
  }
  return payments
}

/** Day of the payment that is next, or would have been (row 25). */
const nextDay = (one: ModelSubscription, now: number): number => {
  if (one.authorizedAt !== undefined) {
    const made = paymentsOf(one, now).length
    return one.startDay + (firstSlot(one, one.authorizedAt) + made) * STEP[one.cycle]
  }
  const over = [one.declinedAt, wasCancelled(one) ? one.cancellation?.at : undefined, expiresAt(one), now]
  const from = Math.min(...over.filter((time) => time !== undefined))
  return one.startDay + firstSlot(one, from) * STEP[one.cycle]
}

/** Whether the request would be taken: the rules of S1 and the Limits. */
export const isTaken = (input: { startDay: number; endDay: number; now: number }): boolean => {
  const { startDay, endDay, now } = input
  const secondOfDay = Math.floor((now % DAY) / 1_000)
  const tooLateToday = startDay === dayOf(now) && secondOfDay > (23 * 60 + 30) * 60
  return endDay >= startDay && endDay <= startDay + 730 && !tooLateToday
}

/** The answer of the details operation. */
export const detailsOf = (one: ModelSubscription, now: number) => ({
  id: one.subscriptionId,
  amount: Number(one.amount),
  cycle: one.cycle,
  enabled: isActive(one, now) ? 1 : 0,
  createdDate: new Date(one.createdAt).toISOString().replace('Z', '000Z'),
  startDate: dateText(one.startDay),
  endDate: dateText(one.endDay),
  nextPaymentDate: timeText(nextDay(one, now) * DAY + NOON),
  requestID: one.requestID,
})

/** What a payment shows, but for its identifiers. */
export const paymentView = (one: ModelSubscription, payment: ModelPayment) => ({
  cycle: one.cycle,
  dueDate: dateText(payment.day),
  reverseTransactionAmount: payment.reversedAt === undefined ? null : one.amount,
  reverseTransactionDate: payment.reversedAt === undefined ? null : timeText(payment.reversedAt),
  status: payment.succeeded ? 'SUCCEEDED_PAYMENT' : 'FAILED_PAYMENT',
  subscriptionId: one.subscriptionId,
  transactionDate: timeText(payment.at),
  nextPaymentDate: dateText(payment.day + STEP[one.cycle]),
})

/** Everything the merchant is to be told (row 48), without identifiers of messages and payments. */
export const messagesOf = (one: ModelSubscription, now: number): readonly (readonly string[])[] => {
  const message = (type: string, status: string, at: number) => [
    type,
    status,
    one.subscriptionId,
    String(Math.floor(at / 1_000)),
  ]
  const { authorizedAt, cancellation } = one
  return [
    ...(authorizedAt === undefined ? [] : [message('SUBSCRIPTION', 'SUCCEEDED', authorizedAt)]),
    ...(cancellation !== undefined && wasCancelled(one)
      ? [message('SUBSCRIPTION', 'CANCELLED', cancellation.at)]
      : []),
    ...paymentsOf(one, now).map(({ at, succeeded }) =>
      message('SUBSCRIPTION_PAYMENT', succeeded ? 'SUCCEEDED_PAYMENT' : 'FAILED_PAYMENT', at),
    ),
  ]
}

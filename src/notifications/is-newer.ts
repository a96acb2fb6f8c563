import { isFields, refuse, unless, whileReading } from '../transport/input-issues.ts'
import { kindOfValue } from '../transport/kind-of-value.ts'
import type { Notification } from './notification.ts'

/** What ordering needs of a notification; keep these two fields beside the state that the newest message gave. */
export type Ordered = Pick<Notification, 'occurredAt' | 'status'>

const OPERATION = 'isNewer'
const DATE_RULE = 'a Date, as notifications have it'
const RULE = 'a notification, or its occurredAt (a Date) and status'

/** The second of a message; the date may be one of another realm. */
const secondsOf = (field: string, message: Ordered): number =>
  whileReading(OPERATION, field, () => {
    const time = isFields(message) ? message.occurredAt : undefined
    const isDate = kindOfValue(time) === 'a Date'
    refuse(OPERATION, unless(isFields(message), field, RULE, message))
    refuse(OPERATION, unless(isDate, `${field}.occurredAt`, DATE_RULE, time))
    const second = Math.floor(Number(time) / 1000)
    // Nothing is newer than it, nor older: a cancellation would be dropped without a word.
    if (Number.isNaN(second)) {
      refuse(OPERATION, [{ field: `${field}.occurredAt`, rule: DATE_RULE, received: 'an invalid Date' }])
    }
    return second
  })

/**
 * Whether message `a` tells a later state than message `b` of the same subscription: deliveries arrive in any order.
 * At equal seconds CANCELLED wins, since a subscription is authorised before it is cancelled; otherwise equal is not
 * newer. Anything is newer than nothing.
 *
 * @throws {InvalidRequestError} for what is no message, such as one whose date became text in a store
 * @example
 * if (isNewer(notification, stored)) await save(notification)
 */
export const isNewer = (a: Ordered, b: Ordered | null | undefined): boolean => {
  const later = secondsOf('a', a)
  if (b === null || b === undefined) return true
  const difference = later - secondsOf('b', b)
  if (difference !== 0) return difference > 0
  return a.status === 'CANCELLED' && b.status !== 'CANCELLED'
}

import type { Notification } from './notification.ts'

/** What ordering needs of a notification; keep these two fields beside the state that the newest message gave. */
export type Ordered = Pick<Notification, 'occurredAt' | 'status'>

const seconds = ({ occurredAt }: Ordered): number => Math.floor(occurredAt.getTime() / 1000)

/**
 * Whether message `a` tells a later state than message `b` of the same subscription: deliveries arrive in any order.
 * At equal seconds CANCELLED wins, since a subscription is authorised before it is cancelled; otherwise equal is not
 * newer. Anything is newer than nothing.
 *
 * @example
 * if (isNewer(notification, stored)) await save(notification)
 */
export const isNewer = (a: Ordered, b: Ordered | null | undefined): boolean => {
  if (b === null || b === undefined) return true
  const difference = seconds(a) - seconds(b)
  if (difference !== 0) return difference > 0
  return a.status === 'CANCELLED' && b.status !== 'CANCELLED'
}

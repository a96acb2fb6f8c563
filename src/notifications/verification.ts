import { isFields, methodIssues, refuse, unless, whileReading } from '../transport/input-issues.ts'
import type { Notification } from './notification.ts'

/** What a verifier sees of a delivery. */
export interface Delivery {
  /** The message, read and normalised; nothing in it is proven yet. */
  readonly notification: Notification
  /** The headers of the delivery, where a signature would stand. */
  readonly headers: Headers
  /** The body exactly as it was received; `undefined` when a framework's body parser had consumed it. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined
}

/**
 * Decides whether a delivery comes from the platform. Only `true` lets it pass; any other answer refuses it (401).
 * One that throws could not find out: the delivery is answered 503, so that the sender comes again.
 */
export type Verifier = (delivery: Delivery) => boolean | Promise<boolean>

const RULE = 'what a notification handler gives a verifier, with notification, headers and bytes'

/** Refuses what is no delivery, such as a whole request that a verifier of one's own passed on. */
export const checkDelivery = (delivery: unknown): void =>
  whileReading('notifications.verify', 'delivery', () => {
    if (!isFields(delivery)) return refuse('notifications.verify', unless(false, 'delivery', RULE, delivery))
    const { notification, headers } = delivery
    refuse('notifications.verify', [
      ...unless(isFields(notification), 'delivery.notification', 'a notification', notification),
      ...methodIssues('delivery.headers', 'the headers', ['get'], headers),
    ])
  })

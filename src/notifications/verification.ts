import type { Notification } from './notification.ts'

/** What a verifier sees of a delivery. */
export interface Delivery {
  readonly notification: Notification
  readonly headers: Headers
  /** The body exactly as it was received; `undefined` when a framework's body parser had consumed it. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined
}

/**
 * Decides whether a delivery comes from the platform. Only `true` lets it pass; any other answer refuses it (401).
 * One that throws could not find out: the delivery is answered 503, so that the sender comes again.
 */
export type Verifier = (delivery: Delivery) => boolean | Promise<boolean>

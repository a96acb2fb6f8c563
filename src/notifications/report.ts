import type { InvalidRequestError } from '../errors.ts'
import type { Notification, UnknownNotification } from './notification.ts'

/**
 * What a notification handler tells its owner, and never its caller.
 *
 * - `invalid-message`: the body is no notification (answered 400; 408 and 413 when it came too slowly or is too large).
 * - `refused`: the verifier said no (answered 401).
 * - `verification-failed`: the verifier threw, or took longer than `timeouts.verify`: who sent the message could not be found out (answered 503).
 * - `unknown-kind`: a type or status that this version does not know, and no `onUnknown` (answered 200).
 * - `handler-failed`: your code threw; the id was given back (answered 500).
 * - `handler-too-slow`: your code ran longer than `lease.limit`; its signal was aborted (answered 503).
 * - `lease-lost`: your code ran on after another process could take over; it may have been run twice.
 * - `store-failed`: a method of the dedupe store rejected, or took longer than `timeouts.store`. A failed `claim` is answered 503; after a failed `commit`
 *   the message is answered 200 and remembered in this process, which tells the store with its next success.
 */
export type NotificationReport =
  | { readonly kind: 'invalid-message'; readonly error: InvalidRequestError }
  | { readonly kind: 'refused'; readonly notification: Notification }
  | { readonly kind: 'verification-failed'; readonly notification: Notification; readonly error: unknown }
  | { readonly kind: 'unknown-kind'; readonly notification: UnknownNotification }
  | { readonly kind: 'handler-failed'; readonly notification: Notification; readonly error: unknown }
  | { readonly kind: 'handler-too-slow'; readonly notification: Notification }
  | { readonly kind: 'lease-lost'; readonly notification: Notification }
  | {
      readonly kind: 'store-failed'
      readonly notification: Notification
      readonly method: 'claim' | 'extend' | 'commit' | 'release'
      readonly error: unknown
    }

/** Hears reports; what it throws or rejects with is dropped. */
export type Report = (report: NotificationReport) => void

const ignore = (): void => undefined

/** A listener that never breaks what it is told of. */
export const safeListener =
  <Fact>(listener: ((fact: Fact) => unknown) | undefined): ((fact: Fact) => void) =>
  (fact) => {
    if (listener === undefined) return
    // The executor runs at once, and turns what the listener throws into a rejection like any other.
    new Promise((resolve) => resolve(listener(fact))).catch(ignore)
  }

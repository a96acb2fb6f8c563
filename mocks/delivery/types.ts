import type { Input, Open } from '../../src/contract/fields.ts'
import { anyText, oneOf, optional, urlText, wholeNumber } from '../../src/contract/fields.ts'
import type { KnownNotificationType } from '../../src/contract/notifications.ts'
import {
  also,
  either,
  filled,
  flag,
  headers,
  listOf,
  probability,
  type Rule,
  rule,
  strict,
} from '../base/fields.ts'
import type { NotificationBody } from '../subscriptions/billing.ts'
import { type Duration, duration, toMilliseconds } from '../time/duration.ts'

/** A function in this process that receives notifications. */
export type NotificationReceiver = (request: Request) => Promise<Response> | Response

/** Where notifications are delivered: a receiver in this process, or a URL. */
export type NotificationTarget = NotificationReceiver | string | URL

/**
 * Accepts a receiver in this process, or an http(s) URL without credentials. `fetch` refuses a URL with credentials,
 * and its error message would show the credentials.
 */
export const target = rule<NotificationTarget>(
  'a handler or an http(s) URL without user name and password; pass credentials as headers',
  (value) => {
    const address = urlText(value)
    if (typeof address !== 'string') return typeof value === 'function'
    if (!/^https?:/i.test(address) || !URL.canParse(address)) return false
    const { username, password } = new URL(address)
    return username === '' && password === ''
  },
)

const signing = {
  /** The key that you share with the receiver, as text. The UTF-8 bytes of the text are the HMAC key. */
  secret: filled,
  /** The header that carries the signature. Default: `x-signature`. */
  header: optional(filled),
  /** Encoding of the signature. Default: `hex`. */
  encoding: optional(oneOf(['hex', 'base64', 'base64url'])),
  /** Text before the signature, for example `sha256=`. Default: none. */
  prefix: optional(anyText),
}
/** How the mock signs bodies: HMAC-SHA256 over the raw bytes (row 46). */
export interface Signing extends Input<typeof signing> {}

const retries = {
  /** Number of attempts, including the first: a whole number from 1. */
  attempts: wholeNumber(1),
  /** Pauses between attempts, in the mock's time. The last pause repeats. Default: 1, 5, 30, 120 and 360 minutes. */
  delays: optional(listOf(duration, 1)),
}

const range = also(
  listOf(duration, 2) as Rule<readonly [Duration, Duration]>,
  'the shortest and the longest duration',
  ([shortest, longest, ...more]) => more.length === 0 && toMilliseconds(shortest) <= toMilliseconds(longest),
  { maxItems: 2 },
)

/** The options of a delivery. */
export const deliveryOptions = {
  /** `true` delivers every notification twice; a number is the probability of a second delivery. Default: never. */
  duplicate: optional(either(flag, probability)),
  /**
   * Delivers in random order, when `flush()` is called or the mock's clock moves. If a server runs and the clock is
   * not frozen, delivers after at most one second. Delayed deliveries and retries are not shuffled. Default: in order.
   */
  shuffle: optional(flag),
  /** Spelling of a cancellation (Events, note 1): `CANCELLED` (default), `CANCELED`, or both at random. */
  spelling: optional(oneOf(['CANCELLED', 'CANCELED', 'both'])),
  /** Retries a failed delivery: `true` (6 attempts), a number of attempts, or `{ attempts, delays }`. Default: never. */
  retries: optional(either(flag, either(wholeNumber(1), strict(retries, 'option')))),
  /** Delay of a delivery, in the mock's time: a duration, or `[shortest, longest]`. Default: 0. */
  delay: optional(either(duration, range)),
  /** Signs the body. Default: no signature, because the specification shows none. */
  signing: optional(strict(signing, 'option')),
  /** HTTP method of the delivery request. Default: `POST`. */
  method: optional(oneOf(['POST', 'PUT'])),
  /** Format of the body: JSON, or form fields. Default: `json`. */
  format: optional(oneOf(['json', 'form'])),
  /** How many deliveries may be in progress at once. Default: 1. */
  concurrency: optional(wholeNumber(1)),
  /** Additional headers. Default: none. */
  headers: optional(headers),
}
/** How notifications are delivered. Default: immediately, once, in order, and unsigned. */
export interface DeliveryOptions extends Input<typeof deliveryOptions> {}
/** Checks the options of a delivery. */
export const deliverySchema = strict(deliveryOptions, 'option')

/** One attempt to deliver a notification. */
export interface DeliveryRecord {
  /** Identifier of the notification (S8). */
  readonly notificationId: string
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** When the attempt was recorded, in the mock's time. */
  readonly at: Date
  /** Whether the receiver responded with a status from 200 to 299. */
  readonly delivered: boolean
  /** Status of the response; absent if there is no response. */
  readonly status?: number
  /** The error that the receiver threw, or the reason that there is no response. */
  readonly error?: string
  /** The receiver's URL without the query; absent for a function. */
  readonly to?: string | undefined
  /** Headers of the delivery's request. Values that may be secret are replaced. */
  readonly headers: Readonly<Record<string, string>>
  /** Body of the delivery's request. */
  readonly body: string
}

/** A delivery attempt that has ended. */
export interface EndedDelivery extends DeliveryRecord {
  readonly message: NotificationBody
  /** Real time of the attempt, in milliseconds. */
  readonly durationMs: number
}

/** A notification with its delivery attempts. */
export interface ListedNotification extends NotificationBody {
  readonly attempts: readonly DeliveryRecord[]
}

const anyType: Rule<Open<KnownNotificationType>> = filled
const anyStatus: Rule<Open<NotificationBody['status']>> = filled

/** The fields of a notification. */
export const notificationFields = {
  /** Type of the message, such as `SUBSCRIPTION_PAYMENT`, or a type that your code does not know. */
  type: anyType,
  /** Status, such as `FAILED_PAYMENT`, or a status that your code does not know. */
  status: anyStatus,
  /** Identifier of the subscription. Default: an identifier that no subscription has. */
  subscriptionId: optional(anyText),
  /** Identifier of the payment, as text. Default: empty. */
  paymentId: optional(anyText),
  /** Identifier of the notification. Default: a new identifier. */
  notificationId: optional(anyText),
  /** Time of the event: UNIX time in seconds, as text. Default: the mock's time. */
  timestamp: optional(anyText),
}
/** The fields of a notification that you send by hand (S8). */
export interface SentNotification extends Input<typeof notificationFields> {}
/** Checks the argument of `send`. */
export const sentSchema = strict(notificationFields)

/** The notifications of a mock and their deliveries. */
export interface Notifications {
  /** Returns copies of the notifications in the format that receivers get (S8), oldest first. */
  all(): readonly NotificationBody[]
  /** Returns the delivery attempts, oldest first. */
  deliveries(): readonly DeliveryRecord[]
  /** How many old notifications and attempts were dropped because a list was full. */
  readonly dropped: number
  /** Deletes the recorded notifications and attempts. Receivers stay connected. */
  clear(): void
  /**
   * Delivers new notifications to a handler or a URL, until the returned function or `mock.reset()` is called. The
   * mock records a failed delivery and, with the option `retries`, retries it. A failed delivery never makes the mock
   * fail.
   *
   * A handler has 4 s of real time to respond, and a URL has 10 s. A later response counts as a failure. Before
   * a receiver responds, the receiver must not move the mock's clock or call `flush()`: both wait for the response.
   * A receiver may call `mock.clock.sleep()`: during this sleep, the clock does not wait for responses.
   *
   * Throws a TypeError that names a wrong option.
   */
  connect(target: NotificationTarget, options?: DeliveryOptions): () => void
  /**
   * Delivers a notification again, to every receiver, with the same `notificationId`. Throws a `MockRefusedError` if
   * the outbox does not contain the notification.
   *
   * @param notificationId `notificationId` of a message in `all()`
   * @example mock.notifications.resend(mock.notifications.all()[0].notificationId)
   */
  resend(notificationId: string): NotificationBody
  /**
   * Sends a notification of your own to every receiver, for example a forged, early or unknown message.
   * Throws a TypeError that names a wrong field.
   *
   * @example mock.notifications.send({ type: 'SUBSCRIPTION', status: 'CANCELLED', subscriptionId })
   */
  send(notification: SentNotification): NotificationBody
  /** Delivers every notification that is due, and waits for the responses. */
  flush(): Promise<void>
}

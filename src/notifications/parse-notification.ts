import { refuse, unless, whileReading } from '../transport/input-issues.ts'
import { kindOfValue } from '../transport/kind-of-value.ts'
import { bytesOf } from './bytes.ts'
import { interpret } from './interpret.ts'
import type { Notification } from './notification.ts'
import type { ReadMessage } from './read-message.ts'
import { BODY_RULE, readBody, readBytes, readForm, readParsed, readText } from './read-message.ts'

/** A message whose body is at hand: text (JSON or URL-encoded), bytes, form fields, or what a body parser made of it. */
export type NotificationInput = string | Uint8Array | ArrayBuffer | URLSearchParams | FormData | object

// Values of another realm (a vm context, as test runners use) are not `instanceof` this one's classes.
const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice('[object '.length, -1)

const isBuffer = (input: object): input is ArrayBuffer =>
  tagOf(input) === 'ArrayBuffer' || tagOf(input) === 'SharedArrayBuffer'

const isForm = (input: object): input is URLSearchParams | FormData =>
  tagOf(input) === 'URLSearchParams' || tagOf(input) === 'FormData'

const readInput = (input: NotificationInput): ReadMessage => {
  if (typeof input === 'string') return readText(input)
  const bytes = bytesOf(input)
  if (bytes !== undefined) return readBytes(bytes, undefined)
  if (typeof input !== 'object' || input === null) return readParsed(input)
  if (isBuffer(input)) return readBytes(new Uint8Array(input), undefined)
  return isForm(input) ? readForm(input) : readParsed(input)
}

// A request may come from another implementation of fetch, where `instanceof Request` fails.
const isRequest = (input: NotificationInput): input is Request =>
  typeof input === 'object' &&
  input !== null &&
  'arrayBuffer' in input &&
  typeof input.arrayBuffer === 'function' &&
  'headers' in input

const isPromise = (input: unknown): boolean => /promise/.test(kindOfValue(input))

const parseRequest = async (request: Request): Promise<Notification> => {
  const bytes = new Uint8Array(await request.arrayBuffer())
  return interpret(await readBody(bytes, request.headers.get('content-type')))
}

/**
 * Reads a notification message (S8) in whatever form it arrived: JSON or URL-encoded text, bytes, an object from
 * `express.json()` or a form parser, `URLSearchParams`, `FormData`, or a whole `Request` (then the answer is a promise).
 *
 * The answer is told apart by `type`: `SUBSCRIPTION`, `SUBSCRIPTION_PAYMENT`, or `UNKNOWN` for a type or status that
 * this version does not know, with `receivedType` and `status` as received. `CANCELED` is read as `CANCELLED`
 * (Events, note 1), type and status whatever their case, `timestamp` as the Date `occurredAt`, an empty paymentId as null; `raw` keeps the message.
 *
 * It does not verify who sent the message: see `createNotificationHandler`.
 *
 * @throws {InvalidRequestError} (or rejects with it) naming each field, its rule and the kind of value received.
 * @example
 * const notification = parseNotification(request.body)
 * if (notification.type === 'SUBSCRIPTION_PAYMENT') await book(notification.paymentId, notification.status)
 */
export function parseNotification(input: Request): Promise<Notification>
/**
 * Reads a notification message (S8) in whatever form it arrived: JSON or URL-encoded text, bytes, an object from
 * `express.json()` or a form parser, `URLSearchParams` or `FormData`.
 *
 * The answer is told apart by `type`: `SUBSCRIPTION`, `SUBSCRIPTION_PAYMENT`, or `UNKNOWN` for a type or status that
 * this version does not know. It does not verify who sent the message: see `createNotificationHandler`.
 *
 * @throws {InvalidRequestError} naming each field, its rule and the kind of value received.
 * @example
 * const notification = parseNotification(request.body)
 * if (notification.type === 'SUBSCRIPTION_PAYMENT') await book(notification.paymentId, notification.status)
 */
export function parseNotification(input: NotificationInput): Notification
export function parseNotification(input: NotificationInput): Notification | Promise<Notification> {
  return whileReading('notifications.parse', 'body', () => {
    refuse('notifications.parse', unless(!isPromise(input), 'body', BODY_RULE, input))
    return isRequest(input) ? parseRequest(input) : interpret(readInput(input))
  })
}

import { check, inputIssue } from '../check.ts'
import { field, isObject, received, response } from '../contract/fields.ts'
import type {
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../contract/notifications.ts'
import { InvalidRequestError } from '../errors.ts'
import { readJson } from '../json.ts'

interface NotificationFields {
  /** Unique identifier of the notification. A redelivery has the same one. (S8) */
  readonly notificationId: string
  /** The subscription concerned. (S8) */
  readonly subscriptionId: string
  /** When the change happened, in whole seconds: the sender's `timestamp`. (S8) */
  readonly occurredAt: Date
  /** The message as it was received, with fields that this version does not know. (S8) */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A subscription was authorized (`SUCCEEDED`) or has ended (`CANCELLED`, also received as `CANCELED`). */
export interface SubscriptionNotification extends NotificationFields {
  /** Tells the kinds apart. (S8) */
  readonly type: 'SUBSCRIPTION'
  /** `SUCCEEDED`: authorized. `CANCELLED`: ended; a server may also send `CANCELED`. (Events, note 1) */
  readonly status: KnownSubscriptionNotificationStatus
  /** Always null: the message has no payment. (S8) */
  readonly paymentId: null
}

/** A payment of a subscription succeeded or failed. */
export interface PaymentNotification extends NotificationFields {
  /** Tells the kinds apart. (S8) */
  readonly type: 'SUBSCRIPTION_PAYMENT'
  /** `SUCCEEDED_PAYMENT`: paid. `FAILED_PAYMENT`: not paid. (Events) */
  readonly status: KnownPaymentNotificationStatus
  /** Identifier of the payment, for `payment`. (S8) */
  readonly paymentId: string
}

/** A message with a type, or a status of a known type, that this version does not know. */
export interface UnknownNotification extends NotificationFields {
  /** Tells the kinds of notifications apart. `receivedType` has the type of the message. (S8) */
  readonly type: 'UNKNOWN'
  /** `type` as received. (S8) */
  readonly receivedType: string
  /** `status` as received. (S8) */
  readonly status: string
  /** `paymentId` as received. Null when it is empty, null or missing. (S8) */
  readonly paymentId: string | null
}

/** A notification of the payment provider. `type` distinguishes the kinds. (S8) */
export type MerchantNotification = SubscriptionNotification | PaymentNotification | UnknownNotification

/** What `isNewer` needs of a notification. Store these two fields beside the state of the newest notification. */
export type OrderedNotification = Pick<MerchantNotification, 'occurredAt' | 'status'>

/** A message at hand: text or bytes (JSON or URL-encoded), form fields, or the object that a body parser made. */
export type NotificationInput = string | Uint8Array | ArrayBuffer | URLSearchParams | FormData | object

const OPERATION = 'notifications.parse'

// Above this number, a timestamp counts milliseconds. As seconds, it would be a time after the year 5138.
const FIRST_MILLISECONDS = 1e11
const DIGITS = /^\s*\d+(?:\.\d+)?\s*$/
const ISO = /^\s*\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})\s*$/i

/** Reads UNIX seconds, milliseconds, or ISO 8601 with a zone. Without a zone, the instant would be a guess. */
const readTimestamp = (value: unknown): Date | undefined => {
  const text = typeof value === 'object' ? '' : String(value)
  const isDigits = DIGITS.test(text)
  if (!isDigits && !ISO.test(text)) return undefined
  const time = isDigits ? Number(text) : Date.parse(text.trim())
  const seconds = Math.floor(isDigits && time < FIRST_MILLISECONDS ? time : time / 1000)
  return Math.abs(seconds) < FIRST_MILLISECONDS ? new Date(seconds * 1000) : undefined
}

const filledText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  // JSON.parse rounds larger integers: two identifiers become one, and the second message seems to be a duplicate.
  return Number.isSafeInteger(value) ? String(value) : undefined
}
const SAFE = 'or a safe integer (JSON parsers round larger ones: pass the raw body)'
const messageSchema = response({
  notificationId: field(`text that is not empty, ${SAFE}`, filledText),
  type: field('text that is not empty', filledText),
  status: field('text that is not empty', filledText),
  subscriptionId: field(`text that is not empty, ${SAFE}`, filledText),
  paymentId: field<string | null>(`text, ${SAFE}`, (value = '') =>
    value === null || (typeof value === 'string' && value.trim() === '') ? null : filledText(value),
  ),
  timestamp: field('UNIX time in seconds', readTimestamp),
})

const canonical = (text: string): string => text.trim().toUpperCase()

const toNotification = (raw: MerchantNotification['raw']): MerchantNotification => {
  const message = check(OPERATION, messageSchema, { ...raw })
  const { notificationId, subscriptionId, paymentId, timestamp: occurredAt } = message
  const fields = { notificationId, subscriptionId, occurredAt, raw }
  const type = canonical(message.type)
  const status = canonical(message.status).replace(/^CANCELED$/, 'CANCELLED')
  if (type === 'SUBSCRIPTION' && (status === 'SUCCEEDED' || status === 'CANCELLED')) {
    return { type, status, paymentId: null, ...fields }
  }
  if (type === 'SUBSCRIPTION_PAYMENT' && (status === 'SUCCEEDED_PAYMENT' || status === 'FAILED_PAYMENT')) {
    if (paymentId !== null) return { type, status, paymentId, ...fields }
    const issue = inputIssue('paymentId', 'the identifier of the payment', received(raw, 'paymentId'))
    throw new InvalidRequestError(OPERATION, [issue])
  }
  return { type: 'UNKNOWN', receivedType: message.type, status: message.status, paymentId, ...fields }
}

const BODY_RULE = 'a JSON object or form fields'

/** An error about a body as a whole. `found` describes it, and quotes nothing of it. */
export const bodyError = (found: string, rule = BODY_RULE): InvalidRequestError => {
  const message = `body must be ${rule}, received ${found}`
  return new InvalidRequestError(OPERATION, [{ field: 'body', rule, received: found, message }])
}

/** Reads a message that a body parser has parsed. */
export const parseObject = (value: unknown): MerchantNotification => {
  if (isObject(value)) return toNotification(value)
  throw new InvalidRequestError(OPERATION, [inputIssue('body', BODY_RULE, value)])
}

const parseForm = (form: Iterable<readonly [string, unknown]>): MerchantNotification => {
  const fields = new Map<string, unknown>()
  // A field given twice becomes an array, which no field of a notification may be.
  for (const [name, value] of form) fields.set(name, fields.has(name) ? [fields.get(name), value] : value)
  // Object.fromEntries defines properties: a field named __proto__ stays a plain field.
  return toNotification(Object.fromEntries(fields))
}

const parseText = (text: string): MerchantNotification => {
  const trimmed = text.trim() // removes a byte order mark too
  const json = readJson(trimmed)
  // Senders label JSON and forms with any content type, so the text decides.
  if (json.ok) return parseObject(json.value)
  if (/^[{[]/.test(trimmed)) throw bodyError('text that is not complete JSON')
  if (trimmed.includes('=')) return parseForm(new URLSearchParams(trimmed))
  throw bodyError(trimmed === '' ? 'an empty body' : 'other text')
}

const parseBytes = (bytes: ArrayBuffer | ArrayBufferView): MerchantNotification => {
  let text: string | undefined
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // Not UTF-8.
  }
  if (text === undefined) throw bodyError('bytes that are not UTF-8')
  return parseText(text)
}

/** Copies text or bytes to bytes; `undefined` for anything else. */
export const toBytes = (value: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (typeof value === 'string') return new TextEncoder().encode(value)
  if (!ArrayBuffer.isView(value)) return undefined
  return Uint8Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
}

/** Reads the body of a request: a multipart form, or UTF-8 text whatever its content type says. */
export const parseBody = async (
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string | null,
): Promise<MerchantNotification> => {
  if (contentType === null || !/^\s*multipart\/form-data/i.test(contentType)) return parseBytes(bytes)
  const body = new Response(bytes, { headers: { 'content-type': contentType } })
  const form = await body.formData().catch(() => undefined)
  if (form === undefined) throw bodyError('a multipart form that cannot be read')
  return parseForm(form)
}

/** Whether a value is a web-standard request. Another implementation of fetch has another class. */
export const isRequest = (value: unknown): value is Request =>
  isObject(value) && isObject(value.headers) && typeof value.arrayBuffer === 'function'

// By tag, because test runners use values of another realm, which are not `instanceof` the classes of this one.
const tagOf = (value: unknown): string => Object.prototype.toString.call(value)
const isBuffer = (value: unknown): value is ArrayBuffer => tagOf(value) === '[object ArrayBuffer]'
const isForm = (value: unknown): value is URLSearchParams | FormData =>
  /URLSearchParams|FormData/.test(tagOf(value))

/**
 * Reads a notification in whatever form it arrived: JSON or URL-encoded text, bytes, the object of a body parser,
 * `URLSearchParams`, `FormData`, or a whole `Request`, for which it returns a promise. It does not verify the sender.
 *
 * `type` of the result tells the kinds apart: `SUBSCRIPTION`, `SUBSCRIPTION_PAYMENT`, or `UNKNOWN` for a type or status
 * that this version does not know. `CANCELED` is read as `CANCELLED`, and an empty paymentId as null. (S8; Events)
 *
 * @throws {InvalidRequestError} (or rejects with it) naming each field, its rule and the type received.
 * @example
 * const notification = parseNotification(request.body)
 * if (notification.type === 'SUBSCRIPTION_PAYMENT') await book(notification.paymentId, notification.status)
 */
export function parseNotification(input: Request): Promise<MerchantNotification>
/** Reads a notification of any form but a `Request`, and returns it at once. It does not verify the sender. (S8) */
export function parseNotification(input: NotificationInput): MerchantNotification
export function parseNotification(
  input: NotificationInput,
): MerchantNotification | Promise<MerchantNotification> {
  if (typeof input === 'string') return parseText(input)
  if (ArrayBuffer.isView(input) || isBuffer(input)) return parseBytes(input)
  if (isForm(input)) return parseForm(input)
  if (!isRequest(input)) return parseObject(input)
  const contentType = input.headers.get('content-type')
  return input.arrayBuffer().then((buffer) => parseBody(new Uint8Array(buffer), contentType))
}

const secondsOf = (name: string, { occurredAt }: OrderedNotification): number => {
  const seconds = tagOf(occurredAt) === '[object Date]' ? Math.floor(Number(occurredAt) / 1000) : Number.NaN
  if (!Number.isNaN(seconds)) return seconds
  // No notification is newer than NaN: without the error, a cancellation would be dropped in silence.
  throw new InvalidRequestError('isNewer', [inputIssue(`${name}.occurredAt`, 'a valid Date', occurredAt)])
}

/**
 * Whether notification `a` reports a later state than notification `b` of the same subscription. Deliveries arrive in any
 * order. At equal seconds `CANCELLED` wins; otherwise equal is not newer. Anything is newer than null.
 *
 * @throws {InvalidRequestError} when `occurredAt` is not a valid Date, for example text from a database.
 * @example if (isNewer(notification, stored)) await save(notification)
 */
export const isNewer = (a: OrderedNotification, b: OrderedNotification | null | undefined): boolean => {
  const later = secondsOf('a', a)
  if (b === null || b === undefined) return true
  const difference = later - secondsOf('b', b)
  if (difference !== 0) return difference > 0
  return a.status === 'CANCELLED' && b.status !== 'CANCELLED'
}

import { check, inputError, typeOf } from '../check.ts'
import { field, isObject, received, response } from '../contract/fields.ts'
import type {
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../contract/notifications.ts'
import { InvalidRequestError } from '../errors.ts'
import { readJson } from '../json.ts'

interface NotificationFields {
  /** Unique identifier of the notification. A redelivery has the same identifier. (S8) */
  readonly notificationId: string
  /** Identifier of the subscription. (S8) */
  readonly subscriptionId: string
  /** Time of the reported change: the sender's `timestamp`, rounded down to whole seconds. (S8) */
  readonly occurredAt: Date
  /** The message as received, including fields that this version does not know. (S8) */
  readonly raw: Readonly<Record<string, unknown>>
}

/** A notification that a subscription was authorized (`SUCCEEDED`) or canceled (`CANCELLED`). */
export interface SubscriptionNotification extends NotificationFields {
  /** The type of the notification. (S8) */
  readonly type: 'SUBSCRIPTION'
  /** `SUCCEEDED` (authorized) or `CANCELLED` (canceled). `CANCELED` is read as `CANCELLED`. (Events, note 1) */
  readonly status: KnownSubscriptionNotificationStatus
  /** Always null: the message is not about a payment. (S8) */
  readonly paymentId: null
}

/** A notification that a payment of a subscription succeeded or failed. */
export interface PaymentNotification extends NotificationFields {
  /** The type of the notification. (S8) */
  readonly type: 'SUBSCRIPTION_PAYMENT'
  /** `SUCCEEDED_PAYMENT`: the payer paid. `FAILED_PAYMENT`: the payment failed. (Events) */
  readonly status: KnownPaymentNotificationStatus
  /** Identifier of the payment. The client's method `payment` accepts it. (S8) */
  readonly paymentId: string
}

/** A notification whose type or status this version does not know. */
export interface UnknownNotification extends NotificationFields {
  /** Always `UNKNOWN`: the message's type or status is unknown. (S8) */
  readonly type: 'UNKNOWN'
  /** The message's `type`, unchanged. (S8) */
  readonly receivedType: string
  /** The message's `status`, unchanged. (S8) */
  readonly status: string
  /** The message's `paymentId`, or null if it is empty or missing. (S8) */
  readonly paymentId: string | null
}

/** A notification from the payment provider. The field `type` determines the other fields. (S8) */
export type MerchantNotification = SubscriptionNotification | PaymentNotification | UnknownNotification

/** The two fields that `isNewer` compares. Store both fields of the newest notification for later comparisons. */
export type OrderedNotification = Pick<MerchantNotification, 'occurredAt' | 'status'>

/** A received message: text or bytes (JSON or URL-encoded), form fields, or the object from a body parser. */
export type NotificationInput = string | Uint8Array | ArrayBuffer | URLSearchParams | FormData | object

const OPERATION = 'notifications.parse'

// A timestamp of at least this number is in milliseconds, because in seconds it would be in the year 5138.
const FIRST_MILLISECONDS = 1e11
const DIGITS = /^\s*\d+(?:\.\d+)?\s*$/
const ISO = /^\s*\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})\s*$/i

/** Reads UNIX seconds, UNIX milliseconds, or ISO 8601 with a time zone. Returns undefined for any other value. */
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
  // JSON.parse rounds unsafe integers. Two ids could become equal, and a new message would look like a duplicate.
  return Number.isSafeInteger(value) ? String(value) : undefined
}
const SAFE = 'or a safe integer (parsers round larger ids, so pass the raw body)'
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

export const canonical = (text: string): string => text.trim().toUpperCase()

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
    throw inputError(OPERATION, 'paymentId', 'the identifier of the payment', received(raw, 'paymentId'))
  }
  return { type: 'UNKNOWN', receivedType: message.type, status: message.status, paymentId, ...fields }
}

/** Creates an error about a body. `found` describes the body without quoting it, because errors may be logged. */
export const bodyError = (found: string, rule = 'a JSON object or form fields'): InvalidRequestError => {
  const message = `body must be ${rule}, received ${found}`
  return new InvalidRequestError(OPERATION, [{ field: 'body', rule, received: found, message }])
}

export const parseObject = (value: unknown): MerchantNotification => {
  if (isObject(value)) return toNotification(value)
  throw bodyError(typeOf(value))
}

const parseForm = (form: Iterable<readonly [string, unknown]>): MerchantNotification => {
  const fields = new Map<string, unknown>()
  // A repeated field becomes an array, which is invalid for every field.
  for (const [name, value] of form) fields.set(name, fields.has(name) ? [fields.get(name), value] : value)
  // Object.fromEntries defines own properties, so a field named __proto__ does not set the prototype.
  return toNotification(Object.fromEntries(fields))
}

const parseText = (text: string): MerchantNotification => {
  const trimmed = text.trim() // removes a byte order mark too
  const json = readJson(trimmed)
  // Senders may set a wrong content type, so the text determines whether it is JSON or a form.
  if (json.ok) return parseObject(json.value)
  if (/^[{[]/.test(trimmed)) throw bodyError('text that is not complete JSON')
  if (trimmed.includes('=')) return parseForm(new URLSearchParams(trimmed))
  throw bodyError(trimmed === '' ? 'an empty body' : 'other text')
}

export const decodeUtf8 = (bytes: ArrayBuffer | ArrayBufferView): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const parseBytes = (bytes: ArrayBuffer | ArrayBufferView): MerchantNotification => {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw bodyError('bytes that are not UTF-8')
  return parseText(text)
}

export const toBytes = (value: unknown): Uint8Array<ArrayBuffer> | undefined => {
  if (typeof value === 'string') return new TextEncoder().encode(value)
  if (!ArrayBuffer.isView(value)) return undefined
  return Uint8Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
}

export const parseBody = async (
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<MerchantNotification> => {
  if (!/^\s*multipart\/form-data/i.test(contentType)) return parseBytes(bytes)
  const body = new Response(bytes, { headers: { 'content-type': contentType } })
  const form = await body.formData().catch(() => undefined)
  if (form === undefined) throw bodyError('a multipart form that cannot be read')
  return parseForm(form)
}

// Not `instanceof`, which is false for values of another realm or another implementation of fetch.
const isRequest = (value: object): value is Request => 'arrayBuffer' in value && 'headers' in value
const isBytes = (value: object): value is ArrayBuffer | ArrayBufferView => 'byteLength' in value
const isForm = (value: object): value is URLSearchParams | FormData => Symbol.iterator in value

/**
 * Reads a notification from JSON or URL-encoded text, bytes, the object of a body parser, `URLSearchParams` or
 * `FormData`. Returns a promise if the input is a `Request`. Does not verify the sender.
 *
 * The result's `type` is `SUBSCRIPTION`, `SUBSCRIPTION_PAYMENT`, or `UNKNOWN` for a type or status that this version
 * does not know. `CANCELED` is read as `CANCELLED`, and an empty paymentId as null. (S8; Events)
 *
 * @throws {InvalidRequestError} for an invalid message. The error names each invalid field, its rule and received type.
 * @example
 * const notification = parseNotification(request.body)
 * if (notification.type === 'SUBSCRIPTION_PAYMENT') await book(notification.paymentId, notification.status)
 */
export function parseNotification(input: Request): Promise<MerchantNotification>
/** Reads a notification synchronously, from any input except a `Request`. Does not verify the sender. (S8) */
export function parseNotification(input: NotificationInput): MerchantNotification
export function parseNotification(
  input: NotificationInput,
): MerchantNotification | Promise<MerchantNotification> {
  if (typeof input === 'string') return parseText(input)
  if (!isObject(input)) return parseObject(input)
  if (isBytes(input)) return parseBytes(input)
  if (isForm(input)) return parseForm(input)
  if (!isRequest(input)) return parseObject(input)
  const contentType = input.headers.get('content-type') ?? ''
  return input.arrayBuffer().then((buffer) => parseBody(new Uint8Array(buffer), contentType))
}

const secondsOf = (name: string, { occurredAt }: OrderedNotification): number => {
  const seconds = Math.floor(occurredAt.getTime() / 1000)
  if (!Number.isNaN(seconds)) return seconds
  // Without this error, an invalid date would never be newer, and the caller would ignore a new cancellation.
  throw inputError('isNewer', `${name}.occurredAt`, 'a valid Date', occurredAt)
}

/**
 * Returns whether notification `a` is newer than notification `b` of the same subscription. Check this before you store
 * a status, because deliveries may arrive in any order. If both are from the same second, a cancellation counts as
 * newer. If `b` is null or undefined, the result is true.
 *
 * @throws {InvalidRequestError} when `occurredAt` is an invalid Date
 * @example if (isNewer(notification, stored)) await save(notification)
 */
export const isNewer = (a: OrderedNotification, b: OrderedNotification | null | undefined): boolean => {
  const later = secondsOf('a', a)
  if (b === null || b === undefined) return true
  const difference = later - secondsOf('b', b)
  if (difference !== 0) return difference > 0
  return a.status === 'CANCELLED' && b.status !== 'CANCELLED'
}

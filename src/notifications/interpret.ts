import * as z from 'zod/mini'
import type {
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../contract/notifications.ts'
import { notificationSchema } from '../contract/notifications.ts'
import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import type { Notification } from './notification.ts'
import type { ReadMessage } from './read-message.ts'
import { kindOf } from './read-message.ts'

const LATEST_DATE = 8.64e15
// Up to the year 5138 in seconds, from 1973 in milliseconds: a sender that counts milliseconds is understood.
const MILLISECONDS_FROM = 1e11

const FILLED = 'text that is not empty'
const RULES = {
  notificationId: FILLED,
  type: FILLED,
  status: FILLED,
  subscriptionId: FILLED,
  paymentId: 'the identifier of the payment',
  timestamp: 'UNIX time in seconds',
} as const
const ALWAYS_FILLED = ['notificationId', 'type', 'status', 'subscriptionId'] as const

const SUBSCRIPTION_STATUSES: ReadonlyMap<string, KnownSubscriptionNotificationStatus> = new Map([
  ['SUCCEEDED', 'SUCCEEDED'],
  ['CANCELLED', 'CANCELLED'],
  ['CANCELED', 'CANCELLED'],
])

const PAYMENT_STATUSES: ReadonlyMap<string, KnownPaymentNotificationStatus> = new Map([
  ['SUCCEEDED_PAYMENT', 'SUCCEEDED_PAYMENT'],
  ['FAILED_PAYMENT', 'FAILED_PAYMENT'],
])

const invalid = (issues: readonly InputIssue[]): InvalidRequestError =>
  new InvalidRequestError('notifications.parse', issues)

/** Whole seconds since 1970 as a Date; fractions, milliseconds and ISO 8601 text with a zone are read too. */
const readTimestamp = (text: string): Date | undefined => {
  const digits = /^\s*(\d+)(?:\.\d+)?\s*$/.exec(text)?.[1]
  const iso = /^\s*(\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2}))\s*$/i.exec(text)?.[1]
  if (digits === undefined && iso === undefined) return undefined
  const number = digits === undefined ? Date.parse(iso ?? '') : Number(digits)
  const isSeconds = digits !== undefined && number < MILLISECONDS_FROM
  const seconds = isSeconds ? number : Math.floor(number / 1000)
  return Math.abs(seconds) * 1000 <= LATEST_DATE ? new Date(seconds * 1000) : undefined
}

const received = (fields: Readonly<Record<string, unknown>>, name: string): unknown => {
  const other = name.replace(/Id$/, 'ID')
  if (Object.hasOwn(fields, name)) return fields[name]
  return Object.hasOwn(fields, other) ? fields[other] : undefined
}

/**
 * The fields of a message as a notification (S8).
 *
 * @throws {InvalidRequestError} naming every field that breaks its rule.
 */
export const interpret = (message: ReadMessage): Notification => {
  if ('rule' in message) throw invalid([{ field: 'body', rule: message.rule, received: message.received }])
  const raw = message.fields
  const issueOf = (field: keyof typeof RULES): InputIssue => ({
    field,
    rule: RULES[field],
    received: kindOf(received(raw, field)),
  })
  // Only a payment's message has a paymentId: an absent or null one is the empty text of S8.
  const parsed = z.safeParse(notificationSchema, { ...raw, paymentId: received(raw, 'paymentId') ?? '' })
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map(({ path }) => path[0]))
    throw invalid(
      (Object.keys(RULES) as (keyof typeof RULES)[]).filter((name) => names.has(name)).map(issueOf),
    )
  }
  const { notificationId, type, status, subscriptionId, paymentId, timestamp } = parsed.data
  const occurredAt = readTimestamp(timestamp)
  const issues = ALWAYS_FILLED.filter((name) => parsed.data[name].trim() === '').map(issueOf)
  const paymentStatus = type === 'SUBSCRIPTION_PAYMENT' ? PAYMENT_STATUSES.get(status) : undefined
  if (paymentStatus !== undefined && paymentId.trim() === '') issues.push(issueOf('paymentId'))
  if (issues.length > 0 || occurredAt === undefined) {
    throw invalid(occurredAt === undefined ? [...issues, issueOf('timestamp')] : issues)
  }

  const facts = { notificationId, subscriptionId, occurredAt, raw }
  if (paymentStatus !== undefined) {
    return { type: 'SUBSCRIPTION_PAYMENT', status: paymentStatus, paymentId, ...facts }
  }
  const subscriptionStatus = type === 'SUBSCRIPTION' ? SUBSCRIPTION_STATUSES.get(status) : undefined
  if (subscriptionStatus !== undefined) {
    return { type: 'SUBSCRIPTION', status: subscriptionStatus, paymentId: null, ...facts }
  }
  return {
    type: 'UNKNOWN',
    receivedType: type,
    status,
    paymentId: paymentId === '' ? null : paymentId,
    ...facts,
  }
}

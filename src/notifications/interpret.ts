import * as z from 'zod/mini'
import type {
  KnownPaymentNotificationStatus,
  KnownSubscriptionNotificationStatus,
} from '../contract/notifications.ts'
import { notificationSchema } from '../contract/notifications.ts'
import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import { kindOfValue } from '../transport/kind-of-value.ts'
import type { Notification } from './notification.ts'
import type { ReadMessage } from './read-message.ts'
import { readTimestamp } from './timestamp.ts'

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
const IDENTIFIERS = ['notificationId', 'subscriptionId', 'paymentId'] as const
const EXACT = 'text, or a number that was not rounded (give the handler the raw body, not the parsed one)'

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

/** Values are told apart without regard to case and outer spaces: no two of the specification differ in those alone. */
const canonical = (text: string): string => text.trim().toUpperCase()

const received = (fields: Readonly<Record<string, unknown>>, name: string): unknown => {
  const other = name.replace(/Id$/, 'ID')
  if (Object.hasOwn(fields, name)) return fields[name]
  return Object.hasOwn(fields, other) ? fields[other] : undefined
}

// JSON.parse rounds large integers: two identifiers become one, and the second message would pass for a duplicate.
const isRounded = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)

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
    received: kindOfValue(received(raw, field), 'text'),
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
  const kind = canonical(type)
  const paymentStatus = kind === 'SUBSCRIPTION_PAYMENT' ? PAYMENT_STATUSES.get(canonical(status)) : undefined
  if (paymentStatus !== undefined && paymentId.trim() === '') issues.push(issueOf('paymentId'))
  for (const field of IDENTIFIERS) {
    if (isRounded(received(raw, field))) issues.push({ field, rule: EXACT, received: 'a rounded number' })
  }
  if (issues.length > 0 || occurredAt === undefined) {
    throw invalid(occurredAt === undefined ? [...issues, issueOf('timestamp')] : issues)
  }

  const facts = { notificationId, subscriptionId, occurredAt, raw }
  if (paymentStatus !== undefined) {
    return { type: 'SUBSCRIPTION_PAYMENT', status: paymentStatus, paymentId, ...facts }
  }
  const subscriptionStatus =
    kind === 'SUBSCRIPTION' ? SUBSCRIPTION_STATUSES.get(canonical(status)) : undefined
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

import type { Clock } from '../clock.ts'
import { LONGEST_DELAY } from '../clock.ts'
import type { InputIssue } from '../errors.ts'
import { systemClock } from '../system-clock.ts'
import {
  clockIssues,
  functionIssues,
  isFields,
  methodIssues,
  refuse,
  unknownNames,
  unless,
  whileReading,
} from '../transport/input-issues.ts'
import type { DedupeStore } from './dedupe-store.ts'
import type { Lease } from './lease.ts'
import type {
  Notification,
  PaymentNotification,
  SubscriptionNotification,
  UnknownNotification,
} from './notification.ts'
import type { NotificationReport } from './report.ts'
import type { Verifier } from './verification.ts'

/** What your code is given besides the notification. */
export interface NotificationContext {
  /** Aborted when your code should stop: its time is over, or another process may have taken the message over. */
  readonly signal: AbortSignal
}

/** Your code for one kind of notification. It succeeds by returning, and asks for another delivery by throwing. */
export type NotificationListener<Kind extends Notification> = (
  notification: Kind,
  context: NotificationContext,
) => unknown

/** The longest a delivery waits for others, in milliseconds of real time. */
export interface NotificationTimeouts {
  /** For the sender to send its whole body; 30 s by default, then answered 408. */
  readonly read: number
  /** For `verify`; 30 s by default, then answered 503. */
  readonly verify: number
  /** For each call of the dedupe store; 5 s by default, then treated as a failed one. */
  readonly store: number
}

/** Options of `createNotificationHandler`. Times in milliseconds. */
export interface NotificationHandlerOptions {
  /**
   * How to know that a message comes from the platform: `hmacVerifier`, `lookupVerifier`, a function of yours, or the
   * word `'none'`. Required, since the specification shows no signing and anyone can post.
   */
  readonly verify: Verifier | 'none'
  /** A subscription was authorised or cancelled. */
  readonly onSubscription: NotificationListener<SubscriptionNotification>
  /** A payment succeeded or failed. */
  readonly onPayment: NotificationListener<PaymentNotification>
  /** A type or status that this version does not know; without it such messages are reported and answered 200. */
  readonly onUnknown?: NotificationListener<UnknownNotification> | undefined
  /** Where processed ids are remembered; this process's memory by default. */
  readonly dedupe?: DedupeStore | undefined
  /** Hears everything that did not go as it should, with the errors that answers never show. */
  readonly onUnexpected?: ((report: NotificationReport) => unknown) | undefined
  /** The largest body read; 65 536 bytes by default, many times a message. */
  readonly maxBytes?: number | undefined
  /**
   * How long a claim holds without a sign of life (`duration`, 60 s by default: what a crashed process delays a message
   * by), and how long your code may run in all (`limit`, 10 minutes by default).
   */
  readonly lease?: Partial<Lease> | undefined
  /** How long processed ids are remembered; 7 days by default. */
  readonly remember?: number | undefined
  /** How long a duplicate waits for the delivery in progress before it is answered 503; 10 s by default. */
  readonly patience?: number | undefined
  /** How long a delivery waits for its sender, the verifier and the store. */
  readonly timeouts?: Partial<NotificationTimeouts> | undefined
  /**
   * What the ages of remembered ids are told by when no `dedupe` is given; the machine's time by default. Leases and
   * waits always run on real time, so that a test may give the mock's clock here and move it.
   */
  readonly clock?: Clock | undefined
}

/** Options with every default in its place. */
export interface HandlerSettings extends NotificationHandlerOptions {
  readonly maxBytes: number
  readonly lease: Lease
  readonly remember: number
  readonly patience: number
  readonly timeouts: NotificationTimeouts
  readonly clock: Clock
}

const OPERATION = 'createNotificationHandler'
const DAY = 86_400_000
const DEFAULTS = {
  maxBytes: 65_536,
  lease: { duration: 60_000, limit: 600_000 },
  remember: 7 * DAY,
  patience: 10_000,
  timeouts: { read: 30_000, verify: 30_000, store: 5_000 },
} as const satisfies Partial<NotificationHandlerOptions>

const TIMER_RULE = `milliseconds, more than 0 and at most ${LONGEST_DELAY}`

const NAMES: readonly string[] = Object.keys({
  verify: true,
  onSubscription: true,
  onPayment: true,
  onUnknown: true,
  dedupe: true,
  onUnexpected: true,
  maxBytes: true,
  lease: true,
  remember: true,
  patience: true,
  timeouts: true,
  clock: true,
} satisfies { readonly [Name in keyof NotificationHandlerOptions]-?: true })

const STORE_METHODS = ['claim', 'extend', 'commit', 'release'] as const

/** What a number may be: `from` or `above` something, `to` something. */
interface Range {
  readonly above?: number
  readonly from?: number
  readonly to?: number
}

const TIMER_RANGE = { above: 0, to: LONGEST_DELAY }
const FINITE = { above: 0, to: Number.MAX_VALUE }

/** Numbers that a mistake in the set-up would turn into a handler that refuses, forgets or hurries. */
const numberRules = ({ maxBytes, lease, remember, patience, timeouts }: HandlerSettings) =>
  [
    ['maxBytes', maxBytes, { from: 1 }, 'bytes, 1 or more'],
    ['lease.duration', lease.duration, TIMER_RANGE, TIMER_RULE],
    ['lease.limit', lease.limit, { above: 0 }, 'milliseconds, more than 0'],
    ['remember', remember, FINITE, 'milliseconds, more than 0'],
    ['patience', patience, { from: 0 }, 'milliseconds, 0 or more'],
    ['timeouts.read', timeouts.read, TIMER_RANGE, TIMER_RULE],
    ['timeouts.verify', timeouts.verify, TIMER_RANGE, TIMER_RULE],
    ['timeouts.store', timeouts.store, TIMER_RANGE, TIMER_RULE],
  ] as const

const isWithin = (
  value: unknown,
  { above = Number.NEGATIVE_INFINITY, from = above, to = Number.POSITIVE_INFINITY }: Range,
) => typeof value === 'number' && value > above && value >= from && value <= to

/** The issues of an option that holds further options. */
const groupIssues = (field: string, names: readonly string[], group: unknown): InputIssue[] => {
  if (group === undefined) return []
  const example = `an object such as { ${names[0]}: 60_000 }`
  return [...unless(isFields(group), field, example, group), ...unknownNames(group, names, 'option', field)]
}

const issuesOf = (given: NotificationHandlerOptions, settings: HandlerSettings): InputIssue[] => {
  const { verify, onSubscription, onPayment, onUnknown, onUnexpected, dedupe, clock } = settings
  const verifyHolds = typeof verify === 'function' || verify === 'none'
  return [
    ...unknownNames(given, NAMES),
    ...groupIssues('lease', Object.keys(DEFAULTS.lease), given.lease),
    ...groupIssues('timeouts', Object.keys(DEFAULTS.timeouts), given.timeouts),
    ...unless(verifyHolds, 'verify', "a verifier, or the word 'none'", verify, ['none']),
    ...unless(typeof onSubscription === 'function', 'onSubscription', 'a function', onSubscription),
    ...unless(typeof onPayment === 'function', 'onPayment', 'a function', onPayment),
    ...functionIssues('onUnknown', onUnknown),
    ...functionIssues('onUnexpected', onUnexpected),
    ...(dedupe === undefined ? [] : methodIssues('dedupe', 'a dedupe store', STORE_METHODS, dedupe)),
    ...clockIssues(clock),
    ...numberRules(settings).flatMap(([field, value, range, rule]) =>
      unless(isWithin(value, range), field, rule, value, range),
    ),
  ]
}

const withDefaults = (options: NotificationHandlerOptions): HandlerSettings => ({
  ...options,
  maxBytes: options.maxBytes ?? DEFAULTS.maxBytes,
  lease: {
    duration: options.lease?.duration ?? DEFAULTS.lease.duration,
    limit: options.lease?.limit ?? DEFAULTS.lease.limit,
  },
  remember: options.remember ?? DEFAULTS.remember,
  patience: options.patience ?? DEFAULTS.patience,
  timeouts: {
    read: options.timeouts?.read ?? DEFAULTS.timeouts.read,
    verify: options.timeouts?.verify ?? DEFAULTS.timeouts.verify,
    store: options.timeouts?.store ?? DEFAULTS.timeouts.store,
  },
  clock: options.clock ?? systemClock,
})

/**
 * The options, checked and with their defaults.
 *
 * @throws {InvalidRequestError} naming every option that breaks its rule or does not exist.
 */
export const settingsOf = (options: NotificationHandlerOptions): HandlerSettings =>
  whileReading(OPERATION, 'options', () => {
    const rule = 'an object with verify, onSubscription and onPayment'
    refuse(OPERATION, unless(isFields(options), 'options', rule, options))
    const settings = withDefaults(options)
    refuse(OPERATION, issuesOf(options, settings))
    return settings
  })

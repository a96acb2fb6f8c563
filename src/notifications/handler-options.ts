import type { Clock } from '../clock.ts'
import type { InputIssue } from '../errors.ts'
import { InvalidRequestError } from '../errors.ts'
import { systemClock } from '../system-clock.ts'
import type { DedupeStore } from './dedupe-store.ts'
import type { Lease } from './lease.ts'
import type {
  Notification,
  PaymentNotification,
  SubscriptionNotification,
  UnknownNotification,
} from './notification.ts'
import { kindOf } from './read-message.ts'
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

const DAY = 86_400_000
const DEFAULTS = {
  maxBytes: 65_536,
  lease: { duration: 60_000, limit: 600_000 },
  remember: 7 * DAY,
  patience: 10_000,
  timeouts: { read: 30_000, verify: 30_000, store: 5_000 },
} as const satisfies Partial<NotificationHandlerOptions>

// A longer delay overflows the platform's timer, which would then fire at once.
const LONGEST_TIMER = 2_147_483_647
const TIMER = `milliseconds, more than 0 and at most ${LONGEST_TIMER}`

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

const isPositive = (value: number): boolean => value > 0
const isTimer = (value: number): boolean => value > 0 && value <= LONGEST_TIMER

/** Numbers that a mistake in the set-up would turn into a handler that refuses, forgets or hurries. */
const numberRules = ({ maxBytes, lease, remember, patience, timeouts }: HandlerSettings) =>
  [
    ['maxBytes', maxBytes, (value: number) => value >= 1, 'bytes, 1 or more'],
    ['lease.duration', lease.duration, isTimer, TIMER],
    ['lease.limit', lease.limit, isPositive, 'milliseconds, more than 0'],
    [
      'remember',
      remember,
      (value: number) => value > 0 && Number.isFinite(value),
      'milliseconds, more than 0',
    ],
    ['patience', patience, (value: number) => value >= 0, 'milliseconds, 0 or more'],
    ['timeouts.read', timeouts.read, isTimer, TIMER],
    ['timeouts.verify', timeouts.verify, isTimer, TIMER],
    ['timeouts.store', timeouts.store, isTimer, TIMER],
  ] as const

const isStore = (store: object): boolean =>
  STORE_METHODS.every((method) => method in store && typeof Reflect.get(store, method) === 'function')

/** Names that do not exist: what they were meant to say would go unheard. */
const unknownNames = (prefix: string, given: object | undefined, names: readonly string[]): InputIssue[] =>
  Object.keys(given ?? {})
    .filter((name) => !names.includes(name))
    .map((name) => ({
      field: `${prefix}${name}`,
      rule: `one of the options ${names.join(', ')}`,
      received: 'an unknown option',
    }))

const issuesOf = (given: NotificationHandlerOptions, settings: HandlerSettings): InputIssue[] => {
  const { verify, onSubscription, onPayment, onUnknown, onUnexpected, dedupe } = settings
  const issues: InputIssue[] = [
    ...unknownNames('', settings, NAMES),
    ...unknownNames('lease.', given.lease, Object.keys(DEFAULTS.lease)),
    ...unknownNames('timeouts.', given.timeouts, Object.keys(DEFAULTS.timeouts)),
  ]
  if (typeof verify !== 'function' && verify !== 'none') {
    issues.push({ field: 'verify', rule: "a verifier, or the word 'none'", received: kindOf(verify) })
  }
  for (const [field, listener] of Object.entries({ onSubscription, onPayment })) {
    if (typeof listener !== 'function') issues.push({ field, rule: 'a function', received: kindOf(listener) })
  }
  for (const [field, listener] of Object.entries({ onUnknown, onUnexpected })) {
    if (listener === undefined || typeof listener === 'function') continue
    issues.push({ field, rule: 'a function', received: kindOf(listener) })
  }
  if (dedupe !== undefined && !(typeof dedupe === 'object' && dedupe !== null && isStore(dedupe))) {
    issues.push({
      field: 'dedupe',
      rule: `a store with the methods ${STORE_METHODS.join(', ')}`,
      received: kindOf(dedupe),
    })
  }
  for (const [field, value, obeys, rule] of numberRules(settings)) {
    if (typeof value === 'number' && obeys(value)) continue
    issues.push({ field, rule, received: typeof value === 'number' ? 'another number' : kindOf(value) })
  }
  return issues
}

/**
 * The options, checked and with their defaults.
 *
 * @throws {InvalidRequestError} naming every option that breaks its rule or does not exist.
 */
export const settingsOf = (options: NotificationHandlerOptions): HandlerSettings => {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidRequestError('notifications.handler', [
      {
        field: 'options',
        rule: 'an object with verify, onSubscription and onPayment',
        received: kindOf(options),
      },
    ])
  }
  const settings: HandlerSettings = {
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
  }
  const issues = issuesOf(options, settings)
  if (issues.length > 0) throw new InvalidRequestError('notifications.handler', issues)
  return settings
}

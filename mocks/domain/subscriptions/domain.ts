import { createCalendar, parseTimeOfDay } from '../calendar.ts'
import { check } from '../fields.ts'
import type { Ids } from '../ids.ts'
import type { Sequence } from '../recent-list.ts'
import type { Timeline } from '../timeline.ts'
import { createLifecycle } from './lifecycle.ts'
import { createOperations } from './operations.ts'
import { type Seeds, type SubscriptionsOptions, seedsSchema } from './options.ts'
import { createSchedule } from './schedule.ts'
import { createSeeding } from './seeds.ts'
import { createState, type StateSnapshot } from './state.ts'
import { createTokens, type TokensSnapshot } from './tokens.ts'
import type { NotificationBody, SubscriptionState } from './types.ts'
import { createViews } from './views.ts'

interface SubscriptionsSnapshot {
  readonly state: StateSnapshot
  readonly tokens: TokensSnapshot
}

/** The subscriptions API (area S) of a mock. */
export type SubscriptionsDomain = ReturnType<typeof createSubscriptionsDomain>

/** Creates the subscriptions API (area S) of a mock: tokens, subscriptions, payments and cancellations. */
export const createSubscriptionsDomain = (parts: {
  readonly timeline: Timeline
  readonly ids: Ids
  readonly options: SubscriptionsOptions
  /** Returns the base URL of the payer's pages: the start of the `url` that `subscribe` returns (S-b). */
  readonly baseUrl: () => string
  /** Stores a new notification and delivers it to all receivers (row 48). */
  readonly notify: (body: NotificationBody) => void
}) => {
  const { timeline, ids, options, baseUrl, notify } = parts
  const { now } = timeline
  const calendar = createCalendar(options.timeZone)
  const schedule = createSchedule(calendar, parseTimeOfDay(options.debitTime) ?? 0)
  const state = createState()
  const tokens = createTokens({ options, ids, now })
  const lifecycle = createLifecycle({ timeline, ids, options, schedule, state, notify })
  const views = createViews({ options, calendar, schedule, state, ids, now })
  const seeding = createSeeding({ options, ids, state, lifecycle, tokens, now })

  const add = (seeds: Seeds): readonly SubscriptionState[] => {
    seeding.check(seeds)
    const records = (seeds.subscriptions ?? []).map(seeding.subscription)
    for (const token of seeds.tokens ?? []) seeding.token(token)
    timeline.settle()
    return records.map(views.state)
  }
  const seed = (): void => void add({ subscriptions: options.existing, tokens: options.tokens })
  const sequence = <Item>(count: () => number, read: Sequence<Item>['read']): Sequence<Item> => ({
    bounds() {
      timeline.settle()
      return { first: 0, end: count() }
    },
    read,
  })
  seed()

  return {
    ...createOperations({ timeline, ids, options, calendar, state, tokens, lifecycle, views, baseUrl }),
    subscriptionList: sequence(
      () => state.subscriptions.length,
      (from, to) => state.subscriptions.slice(from, to).map(views.listed),
    ),
    paymentList: sequence(state.payments.count, (from, to) =>
      state.payments.read(from, to).map(views.payment),
    ),
    /** Returns whether the text is an access token or a refresh token of this mock. */
    isToken: tokens.has,
    expireTokens: tokens.expire,
    revokeTokens: tokens.revoke,
    tokensSurviveMove: tokens.surviveMove,
    /** Adds subscriptions and tokens without API calls. If `add` throws, nothing is added. */
    add: (seeds: Seeds) => add(check(seedsSchema, seeds, 'add: ')),
    /** Restores the initial state, with the subscriptions and tokens from the mock's options. */
    reset() {
      lifecycle.forget()
      state.reset()
      tokens.reset()
      seed()
    },
    /** Returns every subscription, oldest first. */
    subscriptions(): readonly SubscriptionState[] {
      timeline.settle()
      return state.subscriptions.map(views.state)
    },
    snapshot(): unknown {
      timeline.settle()
      return { state: state.snapshot(), tokens: tokens.snapshot() } satisfies SubscriptionsSnapshot
    },
    restore(snapshot: unknown): void {
      const taken = snapshot as SubscriptionsSnapshot
      state.restore(taken.state)
      tokens.restore(taken.tokens)
    },
  }
}

import { createCalendar, parseTimeOfDay } from '../calendar.ts'
import type { Rules } from '../check-options.ts'
import type { Ids } from '../ids.ts'
import type { Sequence } from '../paged-list.ts'
import type { Timeline } from '../timeline.ts'
import { createLifecycle } from './lifecycle.ts'
import { createOperations } from './operations.ts'
import type { SubscriptionsOptions } from './options.ts'
import { subscriptionsOptions } from './options.ts'
import { createSchedule } from './schedule.ts'
import type { Seeds } from './seeds.ts'
import { createSeeding } from './seeds.ts'
import type { State, StateSnapshot } from './state.ts'
import { createState } from './state.ts'
import type { TokensSnapshot } from './tokens.ts'
import { createLockout, createTokens } from './tokens.ts'
import type { NotificationBody, SubscriptionsDomain } from './types.ts'
import type { Views } from './views.ts'
import { createViews } from './views.ts'

/** What area S holds, to be read in stretches. */
export type Lists = Pick<SubscriptionsDomain, 'subscriptionList' | 'paymentList'>

/** Makes the lists of a state. */
export const createLists = (timeline: Timeline, state: State, views: Views): Lists => {
  const sequence = <Item>(count: () => number, read: Sequence<Item>['read']): Sequence<Item> => ({
    bounds() {
      timeline.settle()
      return { first: 0, end: count() }
    },
    read,
  })
  return {
    subscriptionList: sequence(
      () => state.subscriptions.length,
      (from, to) => state.subscriptions.slice(from, to).map(views.state),
    ),
    paymentList: sequence(state.payments.count, (from, to) =>
      state.payments.read(from, to).map(views.payment),
    ),
  }
}

/** What area S needs of its mock. */
export interface SubscriptionsParts {
  readonly timeline: Timeline
  /** The time as those know it who hold tokens. Default: the timeline's. */
  readonly callersNow?: () => number
  readonly ids: Ids
  readonly options?: Partial<SubscriptionsOptions> | undefined
  readonly rules: Rules
  /** Where the pages of area S answer; S-b's `url` begins with it. */
  readonly baseUrl: () => string
  /** Is given every notification when it arises (row 48), to be delivered later. */
  readonly notify: (body: NotificationBody) => void
}

/** What a snapshot of area S holds; the timeline and the identifiers have their own. */
export interface SubscriptionsSnapshot {
  readonly state: StateSnapshot
  readonly tokens: TokensSnapshot
}

/**
 * Makes area S: merchants, tokens, requests, subscriptions, payments, cancellations.
 *
 * @throws RangeError or TypeError when an option makes no sense; the message names it.
 */
export const createSubscriptionsDomain = (parts: SubscriptionsParts): SubscriptionsDomain => {
  const { timeline, ids, baseUrl, notify } = parts
  const options = subscriptionsOptions(parts.rules, parts.options)
  const { now } = timeline
  const { callersNow = now } = parts
  const calendar = createCalendar(options.timeZone)
  const schedule = createSchedule(calendar, parseTimeOfDay(options.debitTime) ?? 0)
  const state: State = createState()
  const tokens = createTokens({ options, ids, lockout: createLockout(options.lockout, now), now, callersNow })
  const lifecycle = createLifecycle({ timeline, ids, options, schedule, state, notify })
  const views = createViews({ options, calendar, schedule, state, ids, now })
  const seeding = createSeeding({ options, ids, state, lifecycle, tokens, now })

  const add = (seeds: Seeds) => {
    seeding.check(seeds)
    const records = (seeds.subscriptions ?? []).map(seeding.subscription)
    for (const token of seeds.tokens ?? []) seeding.token(token)
    timeline.settle()
    return records.map(views.state)
  }
  const seed = (): void => void add({ subscriptions: options.existing, tokens: options.tokens })
  seed()

  return {
    ...createOperations({ timeline, ids, options, calendar, state, tokens, lifecycle, views, baseUrl }),
    ...createLists(timeline, state, views),
    isToken: tokens.has,
    expireTokens: tokens.expire,
    revokeTokens: tokens.revoke,
    add,
    reset() {
      lifecycle.forget()
      state.reset()
      tokens.reset()
      seed()
    },
    subscriptions() {
      timeline.settle()
      return state.subscriptions.map(views.state)
    },
    snapshot(): SubscriptionsSnapshot {
      timeline.settle()
      return { state: state.snapshot(), tokens: tokens.snapshot() }
    },
    restore(snapshot) {
      const taken = snapshot as SubscriptionsSnapshot
      state.restore(taken.state)
      tokens.restore(taken.tokens)
      lifecycle.restored()
    },
  }
}

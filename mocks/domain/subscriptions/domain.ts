import type { NotificationBody, SubscriptionsDomain, Timeline } from '../api.ts'
import { createCalendar, parseTimeOfDay } from '../calendar.ts'
import type { Ids } from '../ids.ts'
import type { Rules } from '../rules.ts'
import { createLifecycle } from './lifecycle.ts'
import { createLists } from './lists.ts'
import { createLockout } from './lockout.ts'
import { createOperations } from './operations.ts'
import type { SubscriptionsOptions } from './options.ts'
import { subscriptionsOptions } from './options.ts'
import { createSchedule } from './schedule.ts'
import type { Seeds } from './seeding.ts'
import { createSeeding } from './seeding.ts'
import type { State, StateSnapshot } from './state.ts'
import { createState } from './state.ts'
import type { TokensSnapshot } from './tokens.ts'
import { createTokens } from './tokens.ts'
import { createViews } from './views.ts'

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

import type { SubscriptionsDomain, Timeline } from '../api.ts'
import type { Sequence } from '../sequence.ts'
import type { State } from './state.ts'
import type { Views } from './views.ts'

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

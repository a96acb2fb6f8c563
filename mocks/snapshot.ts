import type { MockParts } from './assemble.ts'
import type { OutboxSnapshot } from './delivery/deliveries.ts'
import type { ClockSnapshot } from './domain/clock.ts'
import type { IdsSnapshot } from './domain/ids.ts'
import type { SubscriptionsState } from './subscriptions/state.ts'
import type { MockSnapshot } from './types.ts'

const FORMAT = 3

/** Returns the state of a mock. The caller must copy the result at once, because it shares objects with the mock. */
export const stateOf = (parts: MockParts): MockSnapshot => ({
  format: FORMAT,
  // `domain.snapshot` runs due entries of the clock, so `clock.snapshot` must be called later.
  gateway: parts.gateway.domain.snapshot(),
  subscriptions: parts.state.subscriptions,
  clock: parts.clock.snapshot(),
  ids: parts.ids.snapshot(),
  limiters: parts.limiters.map((limiter) => limiter.snapshot()),
  notifications: parts.deliveries.snapshot(),
  outages: [...parts.outages],
})

const isA = (tag: string, value: unknown): boolean =>
  Object.prototype.toString.call(value) === `[object ${tag}]`

const field = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (inner, name) => (Object(inner) === inner ? Reflect.get(Object(inner), name) : undefined),
    value,
  )

/** Returns whether a value is a complete snapshot. Restoring an incomplete snapshot would break the mock. */
const isSnapshot = (value: unknown): value is MockSnapshot =>
  field(value, 'format') === FORMAT &&
  isA('Map', field(value, 'subscriptions', 'accessTokens')) &&
  isA('Map', field(value, 'gateway', 'transactions', 'charges')) &&
  Array.isArray(field(value, 'clock', 'entries')) &&
  Array.isArray(field(value, 'notifications', 'messages')) &&
  Array.isArray(field(value, 'limiters')) &&
  isA('Object', field(value, 'ids'))

/** Restores a snapshot. If the value is not a snapshot for this mock, throws a TypeError and changes nothing. */
export const restoreAll = (parts: MockParts, given: MockSnapshot): void => {
  const format = field(given, 'format')
  if (typeof format === 'number' && format !== FORMAT) {
    throw new TypeError(
      `This snapshot has format ${format}, from another version of mandatekit. This version restores format ${FORMAT}.`,
    )
  }
  if (!isSnapshot(given)) {
    throw new TypeError(
      'restore takes the object that snapshot() returned, or its structuredClone. JSON loses data.',
    )
  }
  // With one call of `structuredClone`, objects that two parts share stay shared in the copy.
  const snapshot = structuredClone(given)
  const clock = snapshot.clock as ClockSnapshot
  if (snapshot.limiters.length !== parts.limiters.length || clock.frozen !== parts.clock.standsStill) {
    throw new TypeError(
      'restore takes a snapshot of a mock with the same options. This one has other rate limits or another clock.',
    )
  }
  parts.state.subscriptions = snapshot.subscriptions as SubscriptionsState
  parts.gateway.domain.restore(snapshot.gateway)
  parts.deliveries.restore(snapshot.notifications as OutboxSnapshot)
  parts.ids.restore(snapshot.ids as IdsSnapshot)
  // This call replaces all entries of the clock, so it must follow the calls above, which may add entries.
  parts.clock.restore(clock)
  for (const [index, limiter] of parts.limiters.entries()) limiter.restore(snapshot.limiters[index])
  parts.outages.clear()
  for (const area of snapshot.outages) parts.outages.add(area)
}

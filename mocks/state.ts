import type { Area } from '../src/contract/endpoint.ts'
import type { IdsState } from './base/ids.ts'
import { newOutbox, type OutboxState } from './delivery/outbox.ts'
import { type GatewayState, newGatewayState } from './gateway/state.ts'
import type { LimitsState } from './http/area.ts'
import { newSubscriptionsState, type SubscriptionsState } from './subscriptions/state.ts'
import { type ClockState, newClockState } from './time/clock.ts'
import type { MockSnapshot } from './types.ts'

/** The whole state of a mock, except its request log, faults and receivers: plain data. A snapshot is a copy of it. */
export interface State {
  readonly clock: ClockState
  readonly ids: IdsState
  readonly gateway: GatewayState
  readonly subscriptions: SubscriptionsState
  readonly outbox: OutboxState
  /** The calls that count against the rate limits. */
  readonly limits: LimitsState
  /** The areas that are down. */
  readonly outages: Set<Area>
}

/** Returns the state of a new mock without seeds. */
export const newState = (clock: Parameters<typeof newClockState>[0]): State => ({
  clock: newClockState(clock),
  ids: new Map(),
  gateway: newGatewayState(),
  subscriptions: newSubscriptionsState(),
  outbox: newOutbox(),
  limits: { subscriptions: new Map(), gateway: [] },
  outages: new Set(),
})

const FORMAT = 4
/** Returns a snapshot that shares its data with the mock. Copy it at once. */
export const snapshotOf = (state: State): MockSnapshot => ({ format: FORMAT, state })

const kindOf = (value: unknown): string => Object.prototype.toString.call(value)

/** Returns whether plain data has the form of other plain data, two levels deep. */
const isLike = (given: unknown, like: unknown, depth = 2): boolean =>
  kindOf(given) === kindOf(like) &&
  (depth === 0 ||
    kindOf(like) !== '[object Object]' ||
    Object.entries(Object(like)).every(([name, part]) =>
      isLike(Reflect.get(Object(given), name), part, depth - 1),
    ))

const isState = (value: unknown, current: State, depth?: number): value is State =>
  isLike(value, current, depth)

/**
 * Reads a snapshot: returns a copy of its state.
 *
 * @throws TypeError if the value is not a snapshot of a mock with the same kind of clock
 */
export const stateOf = (snapshot: MockSnapshot, current: State): State => {
  const { format, state } = Object(snapshot)
  if (Number.isSafeInteger(format) && format !== FORMAT) {
    throw new TypeError(
      `The snapshot has format ${format}, and this version of mandatekit reads format ${FORMAT}. Make a new snapshot.`,
    )
  }
  if (isState(state, current, 1) && state.clock.frozen !== current.clock.frozen) {
    const advice = state.clock.frozen
      ? 'frozen: set the option clock (--clock) to a time'
      : 'running: omit --clock'
    throw new TypeError(`The clock of the snapshot's mock was ${advice}.`)
  }
  if (!isState(state, current)) {
    throw new TypeError(
      'restore takes the object that snapshot() returned, or its structuredClone. JSON loses data.',
    )
  }
  return structuredClone(state)
}

import { optional } from '../src/contract/fields.ts'
import type { MockInternals } from './assemble.ts'
import { also, check, strict } from './base/fields.ts'
import { MockRefusedError } from './base/result.ts'
import { duration, pointInTime, toInstantMilliseconds, toMilliseconds } from './time/duration.ts'
import type { Mock, MockControl, MockSnapshot } from './types.ts'

const moveSchema = also(
  strict({ by: optional(duration), to: optional(pointInTime) }, 'option'),
  'either { by } or { to }',
  ({ by, to }) => (by === undefined) !== (to === undefined),
)

const notFound = (action: string, message: string): MockRefusedError =>
  new MockRefusedError(`control.${action}`, { reason: 'not_found', message })

/** Creates the `control` of a mock. */
export const controlOf = (
  { time, subscriptions, faults, outbox }: MockInternals,
  { snapshot, restore }: Pick<Mock, 'snapshot' | 'restore'>,
): MockControl => {
  const saved = new Map<string, { readonly snapshot: MockSnapshot; readonly at: number }>()

  return {
    async moveClock(move) {
      const { by = 0, to } = check(moveSchema, move, 'control.moveClock: ')
      const length = to === undefined ? toMilliseconds(by) : toInstantMilliseconds(to) - time.now()
      const { shiftTokenExpiry } = subscriptions.domain
      shiftTokenExpiry(length)
      try {
        await (to === undefined ? time.advance(length) : time.set(to))
      } catch (error) {
        shiftTokenExpiry(-length)
        throw error
      }
    },
    faults: {
      list: () =>
        faults.active.map(({ number, fault, left }) => ({
          number,
          fault,
          left: Number.isFinite(left) ? left : 'always',
        })),
      remove(number) {
        const fault = faults.active.find((one) => one.number === number)
        if (fault === undefined) {
          throw notFound('faults.remove', 'This fault has no uses left, or it was removed.')
        }
        fault.remove()
      },
    },
    receivers: {
      list: () =>
        outbox
          .receivers()
          .map(({ number, to, options: { headers: _headers, signing: _signing, ...options } }) => ({
            number,
            ...(to === undefined ? {} : { to }),
            ...options,
          })),
      disconnect(number) {
        if (!outbox.disconnect(number)) throw notFound('receivers.disconnect', 'There is no such receiver.')
      },
    },
    snapshots: {
      list: () => [...saved].map(([name, { at }]) => ({ name, at: new Date(at) })),
      save: (name) => void saved.set(name, { snapshot: snapshot(), at: time.now() }),
      restore(name) {
        const found = saved.get(name)
        if (found === undefined) throw notFound('snapshots.restore', `There is no snapshot ${name}.`)
        restore(found.snapshot)
      },
      delete(name) {
        if (!saved.delete(name)) throw notFound('snapshots.delete', `There is no snapshot ${name}.`)
      },
    },
  }
}

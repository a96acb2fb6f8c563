import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createClock as createClockOf, type MockClockOptions, newClockState } from '../../mocks/time/clock.ts'
import { DAY, HOUR, SECOND } from '../../mocks/time/duration.ts'

const START = Date.UTC(2026, 10, 28, 10)

type Options = Pick<MockClockOptions, 'clock'> & NonNullable<Parameters<typeof createClockOf>[1]>

const createClock = ({ clock: given, ...options }: Options = {}) => {
  const state = { clock: newClockState(given) }
  const clock = createClockOf(state, options)
  const reset = () => {
    state.clock = newClockState(given)
    clock.startOver()
  }
  return { ...clock, reset }
}
const frozen = (options: Options = {}) => createClock({ clock: START, ...options })

describe('a frozen clock', () => {
  test('takes a Date, milliseconds and text with its zone, and refuses text without one', () => {
    for (const clock of [new Date(START), START, '2026-11-28T16:00:00+06:00', '2026-11-28T10:00Z']) {
      expect(createClock({ clock }).now()).toBe(START)
    }
    expect(createClock({ clock: '2026-11-28' }).now()).toBe(Date.UTC(2026, 10, 28))
    expect(() => createClock({ clock: '2026-11-28T10:00:00' })).toThrow(/with its zone/)
  })

  test('moves that overlap add up, also from within a delivery', async () => {
    const clock = frozen()
    await Promise.all([clock.advance({ days: 1 }), clock.advance({ days: 1 })])
    expect(clock.now()).toBe(START + 2 * DAY)

    let nested = false
    const other = frozen({
      afterStep: () => {
        if (nested) return undefined
        nested = true
        return other.advance({ hours: 1 })
      },
    })
    await other.advance({ days: 1 })
    expect(other.now()).toBe(START + DAY + HOUR)
  })

  test('cannot be moved by code that runs during a move', async () => {
    const clock = frozen()
    const moves: Promise<void>[] = []
    clock.agenda.on('test', () => moves.push(clock.advance(1)))
    clock.agenda.schedule(START, 'test', 'a')
    clock.agenda.runDue()
    await expect(moves[0]).rejects.toThrow(/cannot move the clock/)
  })

  test('a reset ends the moves that are under way', async () => {
    let release: () => void = () => undefined
    const clock = frozen({
      afterStep: () =>
        clock.now() === START + 5 ? new Promise<void>((resolve) => (release = resolve)) : undefined,
    })
    clock.agenda.on('test', () => undefined)
    clock.agenda.schedule(START + 5, 'test', 'a')
    const moving = clock.advance({ days: 1 })
    clock.reset()
    release()
    await moving
    expect(clock.now()).toBe(START)
    await expect(clock.advance(Number.POSITIVE_INFINITY)).rejects.toThrow(RangeError)
  })
})

describe('sleeping on a frozen clock', () => {
  test('moves the clock to the time of waking, and runs what is due before', async () => {
    const clock = frozen()
    const times: number[] = []
    clock.agenda.on('test', (_id, at) => times.push(at))
    clock.agenda.schedule(START + 5, 'test', 'a')
    await clock.sleep(7)
    expect(clock.now()).toBe(START + 7)
    expect(times).toEqual([START + 5])
  })

  test('lets two sleepers wake in time order, each at its own time', async () => {
    const clock = frozen()
    const woke: number[] = []
    const sleep = async (length: number) => {
      await clock.sleep(length)
      woke.push(clock.now() - START)
    }
    await Promise.all([sleep(5_000), sleep(1_000), sleep(0)])
    expect(woke).toEqual([0, 1_000, 5_000])
  })

  test("'wait' sleeps until the clock is moved", async () => {
    const clock = frozen({ sleep: 'wait' })
    const woke: number[] = []
    const sleeping = clock.sleep(1_000).then(() => woke.push(clock.now()))
    await clock.advance(999)
    expect(woke).toEqual([])
    await clock.advance({ days: 1 })
    await sleeping
    expect(woke).toEqual([START + 1_000])
    const other = clock.sleep(SECOND)
    await clock.set(clock.now() + SECOND)
    await other
  })

  test('an abort ends it with the reason and leaves no listener', async () => {
    const clock = frozen({ sleep: 'wait' })
    const controller = new AbortController()
    const remove = vi.spyOn(controller.signal, 'removeEventListener')
    const add = vi.spyOn(controller.signal, 'addEventListener')
    const reason = new Error('enough')
    const sleeping = clock.sleep(1_000, controller.signal)
    controller.abort(reason)
    await expect(sleeping).rejects.toBe(reason)
    await expect(clock.sleep(1_000, controller.signal)).rejects.toBe(reason)
    const other = new AbortController()
    vi.spyOn(other.signal, 'removeEventListener')
    const awake = clock.sleep(5, other.signal)
    await clock.advance(5)
    await awake
    expect(other.signal.removeEventListener).toHaveBeenCalledTimes(1)
    expect(remove.mock.calls.length).toBeGreaterThanOrEqual(add.mock.calls.length)
  })

  test.each(['jump', 'wait'] as const)(
    'a reset ends it with an error, and the clock does not move: %s',
    async (sleep) => {
      const clock = frozen({ sleep })
      await clock.advance({ days: 30 })
      const outcome = expect(clock.sleep(5_000)).rejects.toThrow(/mock was reset or restored/)
      clock.reset()
      await outcome
      expect(clock.now()).toBe(START)
      await clock.sleep(0, AbortSignal.abort()).catch(() => undefined)
    },
  )

  test('an endless sleep ends by an abort alone', async () => {
    const clock = frozen()
    const controller = new AbortController()
    const sleeping = clock.sleep(Number.POSITIVE_INFINITY, controller.signal)
    await clock.advance({ days: 10_000 })
    controller.abort()
    await expect(sleeping).rejects.toThrow(/abort/)
    expect(clock.now()).toBe(START + 10_000 * DAY)
  })
})

describe('a clock that follows the machine', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: START })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('follows faked time, plus what it was moved by', async () => {
    const clock = createClock()
    vi.setSystemTime(START + 10)
    expect(clock.now()).toBe(START + 10)
    await clock.advance({ hours: 1 })
    expect(clock.now()).toBe(START + 10 + HOUR)
    vi.advanceTimersByTime(5)
    expect(clock.now()).toBe(START + 15 + HOUR)
    await clock.set(START)
    vi.advanceTimersByTime(5)
    expect(clock.now()).toBe(START + 5)
    clock.reset()
    expect(clock.now()).toBe(START + 20)
  })

  test('sleeps on a timer and wakes early when the clock is moved past', async () => {
    const clock = createClock()
    const woke = vi.fn()
    const sleeping = clock.sleep(1_000).then(woke)
    await vi.advanceTimersByTimeAsync(999)
    expect(woke).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await sleeping
    const early = clock.sleep(HOUR)
    await clock.advance({ hours: 1 })
    await early
    expect(vi.getTimerCount()).toBe(0)
  })

  test('an abort leaves no timer, and a sleep longer than a timer can be is not cut short', async () => {
    const clock = createClock()
    const controller = new AbortController()
    const sleeping = clock.sleep(60 * DAY, controller.signal)
    const outcome = expect(sleeping).rejects.toThrow(/abort/)
    await vi.advanceTimersByTimeAsync(59 * DAY)
    expect(vi.getTimerCount()).toBe(1)
    controller.abort()
    await outcome
    expect(vi.getTimerCount()).toBe(0)
  })
})

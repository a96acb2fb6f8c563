import type { Duration } from './duration.ts'
import { toInstantMilliseconds, toMilliseconds } from './duration.ts'
import { machineNow, macrotask, startTimer } from './machine-time.ts'
import type { PlannedEntry } from './timeline.ts'
import { createTimeline } from './timeline.ts'

/** The options of a mock's clock. */
export interface ClockOptions {
  /**
   * `'system'` (default) follows the machine's time, or fake timers, plus the time by which the clock was moved. A
   * point in time freezes the clock at that time until it is moved.
   */
  readonly clock?: 'system' | Date | number | string
  /**
   * How `sleep` ends on a frozen clock. With `'jump'` (default), the clock moves to the end of the sleep once all
   * ready callbacks have run. Otherwise a client would wait forever for its next attempt. With `'wait'`, the sleep
   * lasts until a test moves the clock.
   */
  readonly sleep?: 'jump' | 'wait'
  /**
   * Called while the clock moves: after each time at which entries were due, and once at the end. The move waits for
   * the returned promise, so that deliveries happen at their own time. Returns `undefined` if there are no deliveries
   * to wait for.
   */
  readonly afterStep?: () => Promise<void> | undefined
}

/** A snapshot of a clock. */
export interface ClockSnapshot {
  /** The time of a frozen clock, or how many milliseconds the clock is ahead of the machine. */
  readonly position: number
  readonly entries: readonly PlannedEntry[]
}

/** The clock of one mock. Times are milliseconds since 1970-01-01T00:00:00Z. */
export interface MockClock {
  /** Returns the current time. While a due event such as a payment runs, this is the due time of the event. */
  now(): number
  /**
   * Sets the clock, and runs all events due by the new time before the call returns. The promise resolves when the
   * notifications of these events are delivered. Setting the clock back undoes nothing: past events keep their time,
   * and planned events stay planned.
   *
   * Rejects with a TypeError if the time is invalid or is text without a time zone.
   */
  set(time: Date | number | string): Promise<void>
  /** Moves the clock forward. All due events run in order, each at its due time. Overlapping moves add up. */
  advance(duration: Duration): Promise<void>
  /** Resolves after `milliseconds` of this clock. Rejects with the signal's reason when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

interface Sleeper {
  readonly wakeAt: number
  wake(): void
  fail(reason: unknown): void
}

/** The clock inside a mock, with its timeline and its snapshots. */
export type ManagedClock = ReturnType<typeof createClock>

/** Creates a clock and its timeline. */
export const createClock = ({
  clock = 'system',
  sleep: sleepMode = 'jump',
  afterStep,
}: ClockOptions = {}) => {
  const frozen = clock !== 'system'
  const start = frozen ? toInstantMilliseconds(clock) : 0
  /** The time of a frozen clock, or how many milliseconds the clock is ahead of the machine. */
  let position = start
  /** The clock's time during a move. The machine's time does not affect it. */
  let cursor = 0
  let moves = 0
  /** The time at which the moves in progress end. */
  let goal = 0
  /** Counts resets and restores, so that a move detects the interruption by a reset or restore, and stops. */
  let era = 0
  const sleepers = new Set<Sleeper>()

  const machineTime = (): number => (frozen ? 0 : machineNow())
  const clockTime = (): number => (moves > 0 ? cursor : machineTime() + position)
  const timeline = createTimeline(clockTime)

  const place = (time: number): void => {
    if (moves > 0) cursor = time
    else position = time - machineTime()
  }

  const begin = (time: number, entries: readonly PlannedEntry[]): void => {
    era += 1
    moves = 0
    place(time)
    timeline.replace(entries)
  }

  const refuseWhileRunning = (): void => {
    if (timeline.running()) throw new Error('Code that runs while the clock moves cannot move it.')
  }

  const wakeSleepers = (time: number): boolean => {
    const due = [...sleepers].filter(({ wakeAt }) => wakeAt <= time)
    for (const sleeper of due.sort((left, right) => left.wakeAt - right.wakeAt)) sleeper.wake()
    return due.length > 0
  }

  const nextStepAt = (): number => {
    let at = timeline.nextAt() ?? Number.POSITIVE_INFINITY
    for (const { wakeAt } of sleepers) at = Math.min(at, wakeAt)
    return at
  }

  const moveTo = async (target: number): Promise<void> => {
    refuseWhileRunning()
    cursor = clockTime()
    goal = moves > 0 ? Math.max(goal, target) : target
    moves += 1
    const ownEra = era
    try {
      for (let at = nextStepAt(); at <= target; at = nextStepAt()) {
        cursor = Math.max(cursor, at)
        timeline.runStep(cursor)
        const deliveries = afterStep?.()
        // Without deliveries there is no await: over the many steps of a year, it would take longer than the steps.
        if (deliveries !== undefined) await deliveries
        if (ownEra === era && wakeSleepers(cursor)) await macrotask()
        if (ownEra !== era) return
      }
      cursor = Math.max(cursor, target)
      await afterStep?.()
    } finally {
      if (ownEra === era) {
        moves -= 1
        if (moves === 0) place(cursor)
      }
    }
  }

  const jumpTo = async (sleeper: Sleeper): Promise<void> => {
    await macrotask()
    if (sleepers.has(sleeper)) await moveTo(sleeper.wakeAt)
  }

  return {
    /** The timeline of this clock. */
    timeline,
    /** Whether the clock is frozen, so that only `set`, `advance` and `sleep` move it. */
    standsStill: frozen,
    now: timeline.now,
    async set(time: Date | number | string) {
      refuseWhileRunning()
      place(toInstantMilliseconds(time))
      timeline.settle()
      wakeSleepers(timeline.now())
      await afterStep?.()
    },
    async advance(duration: Duration) {
      const length = toMilliseconds(duration)
      const target = (moves > 0 ? goal : clockTime()) + length
      if (Number.isNaN(new Date(target).getTime())) {
        throw new RangeError('The clock cannot be moved beyond the last Date, in the year 275760.')
      }
      await moveTo(target)
    },
    async sleep(milliseconds: number, signal?: AbortSignal) {
      const length = toMilliseconds(Math.max(0, milliseconds))
      signal?.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        let stopTimer: (() => void) | undefined
        const end = (settle: () => void): void => {
          if (!sleepers.delete(sleeper)) return
          signal?.removeEventListener('abort', onAbort)
          stopTimer?.()
          settle()
        }
        const onAbort = (): void => sleeper.fail(signal?.reason)
        const sleeper: Sleeper = {
          wakeAt: timeline.now() + length,
          wake: () => end(resolve),
          fail: (reason) => end(() => reject(reason)),
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', onAbort)
        if (!frozen) stopTimer = startTimer(length, sleeper.wake)
        else if (sleepMode === 'jump' && length !== Number.POSITIVE_INFINITY) {
          void jumpTo(sleeper).catch(sleeper.fail)
        }
      })
    },
    /** Returns the clock to its start time and removes all planned entries. Moves in progress stop. */
    reset: () => begin(frozen ? start : machineTime(), []),
    snapshot: (): ClockSnapshot => ({ position: clockTime() - machineTime(), entries: timeline.entries() }),
    restore: (snapshot: ClockSnapshot) => begin(snapshot.position + machineTime(), snapshot.entries),
  }
}

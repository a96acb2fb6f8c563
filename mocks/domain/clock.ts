import type { Duration } from './duration.ts'
import { toInstantMilliseconds, toMilliseconds } from './duration.ts'
import { machineNow, macrotask, startTimer } from './machine-time.ts'
import type { PlannedEntry } from './timeline.ts'
import { createTimeline } from './timeline.ts'

/** How a mock's clock runs. */
export interface ClockOptions {
  /**
   * `'system'` (default) follows the machine's time, or fake timers, plus what the clock was moved by. A point in time
   * freezes the clock: it moves only when it is moved.
   */
  readonly clock?: 'system' | Date | number | string
  /**
   * What `sleep` does on a frozen clock. `'jump'` (default): once everything ready has run, the clock moves to the end
   * of the sleep, so a client that waits for its next attempt does not wait forever. `'wait'`: the sleep lasts until the
   * clock is moved.
   */
  readonly sleep?: 'jump' | 'wait'
  /**
   * Called during a move of the clock after each point in time at which something was due, and once at the end. The
   * move continues when the promise resolves, so that deliveries are made at their own time. Returns `undefined` when
   * there is nothing to wait for.
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
  /** Returns the current time. While a due entry runs, such as a payment, this is its due time. */
  now(): number
  /**
   * Sets the clock. Everything due by then has happened when the call returns; the promise resolves when its
   * notifications are delivered. Setting the clock back undoes nothing: what happened keeps its time, and what is
   * planned stays planned.
   *
   * Rejects with a RangeError for an invalid time, or text without a time zone.
   */
  set(time: Date | number | string): Promise<void>
  /** Moves the clock forward. Everything that is due runs in order, each at its due time. Overlapping moves add up. */
  advance(duration: Duration): Promise<void>
  /** Resolves after `milliseconds` of this clock. Rejects with the signal's reason when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

interface Sleeper {
  readonly wakeAt: number
  wake(): void
  fail(reason: unknown): void
}

/** The clock as its mock holds it. */
export type ManagedClock = ReturnType<typeof createClock>

/** Makes a clock and the timeline on it. */
export const createClock = ({
  clock = 'system',
  sleep: sleepMode = 'jump',
  afterStep,
}: ClockOptions = {}) => {
  const frozen = clock !== 'system'
  const start = frozen ? toInstantMilliseconds(clock) : 0
  /** The time of a frozen clock, or how many milliseconds the clock is ahead of the machine. */
  let position = start
  /** The time while the clock is moved, which the machine's time does not change. */
  let cursor = 0
  let moves = 0
  /** Where the moves in progress end. */
  let goal = 0
  /** Counts resets and restores: a move that one of them interrupted ends where it is. */
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
    if (timeline.running()) throw new Error('Code that runs in a move of the clock cannot move it.')
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
        // Awaiting nothing at each of a year's steps would cost more than the steps.
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
    /** The planned entries on this clock. */
    timeline,
    /** Whether the clock moves only when it is moved. */
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
    /** Returns to the time of the start, with nothing planned. Moves in progress end where they are. */
    reset: () => begin(frozen ? start : machineTime(), []),
    snapshot: (): ClockSnapshot => ({ position: clockTime() - machineTime(), entries: timeline.entries() }),
    restore: (snapshot: ClockSnapshot) => begin(snapshot.position + machineTime(), snapshot.entries),
  }
}

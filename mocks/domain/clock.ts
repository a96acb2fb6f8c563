import type { Duration } from './duration.ts'
import { toInstantMilliseconds, toMilliseconds } from './duration.ts'
import type { PlannedEntry, RunnableTimeline } from './timeline.ts'
import { createTimeline } from './timeline.ts'

/** Those who sleep on a clock, and what wakes them. */
export interface Sleepers {
  /** Resolves when `wake` is called with a time from `wakeAt` on; rejects with the signal's reason when aborted. */
  add(wakeAt: number, signal: AbortSignal | undefined, attend: Attend): Promise<void>
  /** When the next one wakes. */
  nextAt(): number | undefined
  /** Wakes all whose time has come; whether there were any. */
  wake(now: number): boolean
}

/** What is done for a sleeper while it sleeps; the function given back is called when it no longer does. */
export type Attend = (sleeper: Sleeper) => (() => void) | undefined

/** One who sleeps. `wake` and `fail` have no effect once it no longer sleeps. */
export interface Sleeper {
  readonly wakeAt: number
  asleep(): boolean
  wake(): void
  fail(reason: unknown): void
}

/** Keeps who sleeps on a clock. Nothing is left behind by one who woke or was aborted. */
export const createSleepers = (): Sleepers => {
  const asleep = new Set<Sleeper>()

  const add = (wakeAt: number, signal: AbortSignal | undefined, attend: Attend): Promise<void> =>
    new Promise((resolve, reject) => {
      let leave: (() => void) | undefined
      const end = (settle: () => void): void => {
        if (!asleep.delete(sleeper)) return
        signal?.removeEventListener('abort', onAbort)
        leave?.()
        settle()
      }
      const sleeper: Sleeper = {
        wakeAt,
        asleep: () => asleep.has(sleeper),
        wake: () => end(resolve),
        fail: (reason) => end(() => reject(reason)),
      }
      const onAbort = (): void => sleeper.fail(signal?.reason)
      asleep.add(sleeper)
      if (signal?.aborted === true) {
        onAbort()
        return
      }
      signal?.addEventListener('abort', onAbort)
      leave = attend(sleeper)
    })

  return {
    add,
    nextAt() {
      let earliest: number | undefined
      for (const { wakeAt } of asleep) if (earliest === undefined || wakeAt < earliest) earliest = wakeAt
      return earliest
    },
    wake(now) {
      const due = [...asleep].filter(({ wakeAt }) => wakeAt <= now)
      for (const sleeper of due.sort((left, right) => left.wakeAt - right.wakeAt)) sleeper.wake()
      return due.length > 0
    },
  }
}

// A longer timer fires at once.
const LONGEST_TIMER = 2_147_483_647

/** Wakes the sleeper after `milliseconds` of the machine's time, or of fake timers' time. */
export const attendByTimer =
  (milliseconds: number): Attend =>
  (sleeper) => {
    let timer: ReturnType<typeof setTimeout>
    const start = (rest: number): void => {
      const part = Math.min(rest, LONGEST_TIMER)
      timer = setTimeout(() => (rest > part ? start(rest - part) : sleeper.wake()), part)
    }
    start(milliseconds)
    return () => clearTimeout(timer)
  }

// Taken when the module loads: fake timers installed later leave it alone.
const realSetTimeout = globalThis.setTimeout

/** Lets everything that is ready run first. Fake timers do not stop it: they leave message channels alone. */
export const macrotask = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof MessageChannel !== 'function') {
      realSetTimeout(resolve, 0)
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })

/** How a mock's clock runs. */
export interface ClockOptions {
  /**
   * `'system'` (default) follows the machine's time, faked or not, plus what the clock was moved by. A point in time
   * freezes the clock there: it moves only when it is moved.
   */
  readonly clock?: 'system' | Date | number | string
  /**
   * What `sleep` does on a frozen clock. `'jump'` (default): once everything ready has run, the clock moves itself to
   * the time of waking, so that a client that waits for its next attempt does not wait for ever. `'wait'`: it sleeps
   * until the clock is moved.
   */
  readonly sleep?: 'jump' | 'wait'
  /**
   * Called after each point in time at which something fell due while the clock moves, and once at the end. The clock
   * goes on when the promise resolves: deliveries are made at their own time. Nothing returned: nothing to wait for.
   */
  readonly afterStep?: () => Promise<void> | undefined
}

/** What a clock's snapshot holds. */
export interface ClockSnapshot {
  /** Milliseconds that a clock on the machine's time is ahead, or the time of a frozen clock. */
  readonly position: number
  /** Milliseconds that the clock was moved from outside; snapshots of 0.1.0 do not tell. */
  readonly movedFromOutside?: number | undefined
  readonly entries: readonly PlannedEntry[]
}

/** The clock of one mock. Times are milliseconds since 1970-01-01T00:00:00Z. */
export interface MockClock {
  /** The time now; while something that fell due is being run, its time. */
  now(): number
  /**
   * Sets the clock. Everything due by then has happened when the call returns; the promise resolves when its
   * deliveries are made. Going back undoes nothing: what happened keeps its time, what is planned stays planned.
   *
   * Rejects with a RangeError for text without a zone, or what is no point in time.
   */
  set(time: Date | number | string): Promise<void>
  /**
   * Moves the clock forward. Everything that falls due happens in time order, each at its own time, and so do the
   * deliveries and the sleepers' awakenings in between. Moves that overlap add up.
   */
  advance(duration: Duration): Promise<void>
  /** Resolves after `milliseconds` of this clock; rejects with the signal's reason when it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

/** The clock as its mock holds it. */
export interface ManagedClock extends MockClock {
  /** What falls due on this clock. */
  readonly timeline: RunnableTimeline
  /** Whether it moves only when it is moved. */
  readonly standsStill: boolean
  /** The machine's time, or fake timers' time. */
  machineNow(): number
  /** The time less what `fromOutside` moved it by: callers in another process have lived through no more. */
  callersNow(): number
  /** Makes a move that callers do not take part in: for them no time passes, not even while it is under way. */
  fromOutside(move: () => Promise<void>): Promise<void>
  /** As new: the time of the start, nothing planned. Moves that are under way end where they are. */
  reset(): void
  snapshot(): ClockSnapshot
  restore(snapshot: ClockSnapshot): void
}

const refuseWhileRunning = (timeline: RunnableTimeline): void => {
  if (timeline.running()) throw new Error('The clock cannot be moved by something that is just falling due.')
}

/** Makes a clock and the timeline on it. */
export const createClock = ({
  clock = 'system',
  sleep: sleepMode = 'jump',
  afterStep,
}: ClockOptions = {}): ManagedClock => {
  const frozen = clock !== 'system'
  const start = frozen ? toInstantMilliseconds(clock) : 0
  /** Frozen: the time. Following the machine: milliseconds ahead of it. */
  let position = start
  /** The time while moves are under way, which the machine's time does not touch. */
  let cursor = 0
  let moves = 0
  let goal = 0
  /** Counts resets and restores: a move that was under way at one has nothing left to move. */
  let era = 0

  /** Moves from outside that are under way, and what they and those before them come to. */
  let outsideMoves = 0
  let callersTime = 0
  let movedFromOutside = 0

  const machineNow = (): number => Date.now()
  const machineTime = (): number => (frozen ? 0 : machineNow())
  const outsideNow = (): number => (moves > 0 ? cursor : machineTime() + position)
  const timeline = createTimeline(outsideNow)
  const sleepers = createSleepers()

  const place = (time: number): void => {
    if (moves > 0) cursor = time
    else position = time - machineTime()
  }

  const callersNow = (): number => (outsideMoves > 0 ? callersTime : timeline.now() - movedFromOutside)

  const begin = (time: number, entries: readonly PlannedEntry[], moved: number): void => {
    era += 1
    moves = 0
    outsideMoves = 0
    movedFromOutside = moved
    place(time)
    timeline.replace(entries)
  }

  const nextStepAt = (): number =>
    Math.min(timeline.nextAt() ?? Number.POSITIVE_INFINITY, sleepers.nextAt() ?? Number.POSITIVE_INFINITY)

  const moveTo = async (target: number): Promise<void> => {
    refuseWhileRunning(timeline)
    cursor = outsideNow()
    goal = moves > 0 ? Math.max(goal, target) : target
    moves += 1
    const ownEra = era
    try {
      for (let at = nextStepAt(); at <= target; at = nextStepAt()) {
        cursor = Math.max(cursor, at)
        timeline.runStep(cursor)
        const deliveries = afterStep?.()
        // Years of steps without a receiver are not to wait for a promise each.
        if (deliveries !== undefined) await deliveries
        if (ownEra === era && sleepers.wake(cursor)) await macrotask()
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

  const attendByJump = (sleeper: Sleeper): undefined => {
    if (sleeper.wakeAt === Number.POSITIVE_INFINITY) return
    void macrotask()
      .then(() => (sleeper.asleep() ? moveTo(sleeper.wakeAt) : undefined))
      .catch((error: unknown) => sleeper.fail(error))
  }

  const fromOutside = async (move: () => Promise<void>): Promise<void> => {
    callersTime = callersNow()
    outsideMoves += 1
    const ownEra = era
    try {
      await move()
    } finally {
      if (ownEra === era) {
        outsideMoves -= 1
        movedFromOutside = timeline.now() - callersTime
      }
    }
  }

  return {
    timeline,
    standsStill: frozen,
    now: timeline.now,
    machineNow,
    callersNow,
    fromOutside,
    async set(time) {
      refuseWhileRunning(timeline)
      place(toInstantMilliseconds(time))
      timeline.settle()
      sleepers.wake(timeline.now())
      await afterStep?.()
    },
    async advance(duration) {
      const length = toMilliseconds(duration)
      const target = (moves > 0 ? goal : outsideNow()) + length
      if (Number.isNaN(new Date(target).getTime())) {
        throw new RangeError('The clock cannot be moved beyond the last Date, in the year 275760.')
      }
      await moveTo(target)
    },
    async sleep(milliseconds, signal) {
      const length = toMilliseconds(Math.max(0, milliseconds))
      const attendByClock = sleepMode === 'jump' ? attendByJump : () => undefined
      await sleepers.add(timeline.now() + length, signal, frozen ? attendByClock : attendByTimer(length))
    },
    reset: () => begin(frozen ? start : machineTime(), [], 0),
    snapshot: () => ({
      position: outsideNow() - machineTime(),
      movedFromOutside: outsideNow() - callersNow(),
      entries: timeline.entries(),
    }),
    restore: (snapshot) =>
      begin(snapshot.position + machineTime(), snapshot.entries, snapshot.movedFromOutside ?? 0),
  }
}

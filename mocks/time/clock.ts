import { type Duration, toInstantMilliseconds, toMilliseconds } from './duration.ts'
import { machineNow, macrotask, startTimer } from './machine.ts'

/** A planned event, such as a payment: plain data, which a snapshot contains. */
interface Planned {
  readonly at: number
  readonly kind: string
  readonly id: string
  readonly data: unknown
}

/** An agenda as plain data. */
interface AgendaState {
  /** The planned events, by kind and id. */
  readonly planned: Map<string, Planned>
  /** For each instant, its planned events in the order in which they were planned; none if all were canceled. */
  readonly slots: Map<number, Set<Planned>>
  /** The instants of the slots, earliest first. */
  readonly times: number[]
}

/** Returns an empty agenda. */
export const newAgenda = (): AgendaState => ({ planned: new Map(), slots: new Map(), times: [] })

/** Runs a due event of its kind. */
type Handler = (id: string, at: number, data: unknown) => void

const keyOf = (kind: string, id: string): string => `${kind}\n${id}`

/** The agenda of one mock: the planned events, and the functions that run them. */
export type Agenda = ReturnType<typeof createAgenda>

/**
 * Creates an agenda. Events do not run by themselves: `runDue` runs the due events.
 *
 * @param state a reset or `restore` replaces its `clock`
 * @param outsideNow returns the time that applies while nothing runs
 * @param onEarlier called when a planned event is due before all others
 */
export const createAgenda = (
  state: { readonly clock: { readonly agenda: AgendaState } },
  outsideNow: () => number,
  onEarlier?: () => void,
) => {
  const handlers = new Map<string, Handler>()
  let runningAt: number | undefined

  const now = (): number => runningAt ?? outsideNow()

  const cancel = (kind: string, id: string): void => {
    const { planned, slots } = state.clock.agenda
    const item = planned.get(keyOf(kind, id))
    if (item === undefined) return
    planned.delete(keyOf(kind, id))
    slots.get(item.at)?.delete(item)
  }

  const dropSlot = (at: number): void => {
    const { slots, times } = state.clock.agenda
    slots.delete(at)
    if (times[0] === at) times.shift()
  }

  const nextAt = (): number | undefined => {
    const { slots, times } = state.clock.agenda
    for (let at = times[0]; at !== undefined; at = times[0]) {
      if (slots.get(at)?.size) return at
      dropSlot(at)
    }
    return undefined
  }

  const run = (item: Planned): void => {
    const handler = handlers.get(item.kind)
    if (handler === undefined) throw new Error(`"${item.kind}" has no handler.`)
    cancel(item.kind, item.id)
    handler(item.id, item.at, item.data)
  }

  /** Runs all events with the earliest due time, and returns this time. Runs none if the time is after `limit`. */
  const runStep = (limit: number): number | undefined => {
    const at = runningAt === undefined ? nextAt() : undefined
    if (at === undefined || at > limit) return undefined
    runningAt = at
    try {
      // A handler may plan more for the same instant: the loop reaches it too.
      for (const item of state.clock.agenda.slots.get(at) ?? []) run(item)
    } finally {
      runningAt = undefined
    }
    dropSlot(at)
    return at
  }

  return {
    /** Returns the due time of the running event, or the current time if no event runs. */
    now,
    /** Returns the event that is due next. */
    next(): Planned | undefined {
      const [first] = state.clock.agenda.slots.get(nextAt() ?? Number.NaN) ?? []
      return first
    },
    runStep,
    /** Returns whether something runs. */
    isRunning: () => runningAt !== undefined,
    /** Plans an event for `planAt`, or for now if `planAt` has passed. Replaces the event with the same kind and id. */
    schedule(planAt: number, kind: string, id: string, data?: unknown): void {
      if (Number.isNaN(planAt)) throw new RangeError(`"${kind}" cannot be planned at NaN.`)
      const { planned, slots, times } = state.clock.agenda
      const item: Planned = { at: Math.max(planAt, now()), kind, id, data }
      cancel(kind, id)
      planned.set(keyOf(kind, id), item)
      const slot = slots.get(item.at)
      if (slot === undefined) {
        slots.set(item.at, new Set([item]))
        let index = 0
        for (let end = times.length; index < end; ) {
          const middle = (index + end) >> 1
          if ((times[middle] ?? 0) < item.at) index = middle + 1
          else end = middle
        }
        times.splice(index, 0, item.at)
      } else slot.add(item)
      if (times[0] === item.at) onEarlier?.()
    },
    /** Cancels the planned event with this kind and id, if there is one. */
    cancel,
    /** Cancels the planned events of a kind for whose data `matches` returns true. */
    cancelAll(kind: string, matches: (data: unknown) => boolean): void {
      for (const item of state.clock.agenda.planned.values())
        if (item.kind === kind && matches(item.data)) cancel(kind, item.id)
    },
    /** Sets the function that runs the due events of a kind. */
    on(kind: string, handler: Handler): void {
      if (handlers.has(kind)) throw new Error(`"${kind}" already has a handler.`)
      handlers.set(kind, handler)
    },
    /**
     * Runs all events that are due by now, in time order. Meanwhile, `now` returns the due time of the running event.
     */
    runDue(): void {
      const limit = now()
      let step: number | undefined
      do step = runStep(limit)
      while (step !== undefined)
    },
  }
}

/** The options of a mock's clock. */
export interface MockClockOptions {
  /**
   * `'system'` (default): the clock follows the machine's time or fake timers; `set` and `advance` shift the clock.
   * If `clock` is a time, the clock is frozen: it starts at this time, and only `set`, `advance` and `sleep` move it.
   */
  readonly clock?: 'system' | Date | number | string
  /**
   * How `sleep` ends on a frozen clock. `'jump'` (default): after all ready callbacks have run, the clock moves itself
   * to the end of the sleep. Tests of a client's retries therefore need no call of `set` or `advance`.
   * `'wait'`: the sleep lasts until a test moves the clock.
   */
  readonly sleep?: 'jump' | 'wait'
}

/** A clock as plain data. */
export interface ClockState {
  /** The time of a frozen clock, or how far a system clock is ahead of the machine's time, in milliseconds. */
  position: number
  readonly frozen: boolean
  readonly agenda: AgendaState
}

/** Returns the clock of a new mock: at its start time if it is frozen, else at the machine's time. */
export const newClockState = (clock: NonNullable<MockClockOptions['clock']> = 'system'): ClockState => ({
  position: clock === 'system' ? 0 : toInstantMilliseconds(clock),
  frozen: clock !== 'system',
  agenda: newAgenda(),
})

/** The clock of one mock. Times are milliseconds since 1970-01-01T00:00:00Z. */
export interface MockClock {
  /** Returns the current time. While a planned event runs, the current time is the due time of the event. */
  now(): number
  /**
   * Sets the clock. If `time` is later than now, due events run in order, each at its due time, and each notification
   * is delivered before the clock moves on, as with `advance`. If `time` is earlier than now, past events are not
   * undone, and planned events stay planned.
   *
   * Rejects with a TypeError if the time is invalid, or is text with a time of day but no zone.
   */
  set(time: Date | number | string): Promise<void>
  /** Moves the clock forward. Due events run in order, each at its due time. Overlapping calls add up. */
  advance(duration: Duration): Promise<void>
  /** Waits until this clock has moved by `milliseconds`. Rejects if `signal` is aborted or the mock is reset. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
}

interface Sleeper {
  readonly wakeAt: number
  wake(): void
  fail(reason: unknown): void
}

/** The clock that a mock uses internally: a `MockClock` with its agenda. */
export type ManagedClock = ReturnType<typeof createClock>

/**
 * Creates a clock and its agenda.
 *
 * @param state a reset or `restore` replaces its `clock`
 */
export const createClock = (
  state: { readonly clock: ClockState },
  options: {
    readonly sleep?: MockClockOptions['sleep']
    /**
     * Delivers notifications while the clock moves. The clock calls `afterStep` after the events of each due time and
     * at the end of the move. The clock moves on when the returned promise resolves. If no delivery is in progress,
     * `afterStep` returns `undefined`.
     */
    readonly afterStep?: () => Promise<void> | undefined
    /** Called before the clock goes back, to keep the events that have already happened. */
    readonly beforeSetBack?: () => void
    /** Called when the time until the next planned event may have become shorter. */
    readonly onEarlier?: () => void
  } = {},
) => {
  const { sleep: sleepMode = 'jump', afterStep, beforeSetBack, onEarlier } = options
  /** While the clock moves, `cursor` is the clock's time, even if the machine's time changes. */
  let cursor = 0
  let moves = 0
  /** The target time of the running move that goes furthest into the future. */
  let goal = 0
  /** The number of resets and restores. Each of them stops the moves that are running. */
  let era = 0
  const sleepers = new Set<Sleeper>()

  const machineTime = (): number => (state.clock.frozen ? 0 : machineNow())
  /** The latest time that the clock has shown since it was set. */
  let shown = Number.NEGATIVE_INFINITY
  const clockTime = (): number => {
    if (moves > 0) return cursor
    const time = machineTime() + state.clock.position
    const latest = shown
    shown = time
    if (time >= latest) return time
    // The machine's own time went back, as fake timers do. Events that have happened are kept.
    moves += 1
    cursor = latest
    beforeSetBack?.()
    moves -= 1
    return time
  }
  const agenda = createAgenda(state, clockTime, onEarlier)

  const place = (time: number): void => {
    cursor = time
    shown = time
    state.clock.position = time - machineTime()
  }

  const refuseWhileRunning = (): void => {
    if (agenda.isRunning()) throw new Error('A planned event cannot move the clock while it runs.')
  }

  const wakeSleepers = (time: number): boolean => {
    const due = [...sleepers].filter(({ wakeAt }) => wakeAt <= time)
    for (const sleeper of due.sort((left, right) => left.wakeAt - right.wakeAt)) sleeper.wake()
    return due.length > 0
  }

  const nextStepAt = (): number => {
    let at = agenda.next()?.at ?? Number.POSITIVE_INFINITY
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
        place(Math.max(cursor, at))
        agenda.runStep(cursor)
        const deliveries = afterStep?.()
        // Each `await` takes longer than `runStep`, so the loop awaits only if deliveries are in progress.
        if (deliveries !== undefined) await deliveries
        if (ownEra === era && wakeSleepers(cursor)) await macrotask()
        if (ownEra !== era) return
      }
      place(Math.max(cursor, target))
      await afterStep?.()
    } finally {
      if (ownEra === era) {
        moves -= 1
        if (moves === 0) {
          place(cursor)
          onEarlier?.()
        }
      }
    }
  }

  const jumpTo = async (sleeper: Sleeper): Promise<void> => {
    await macrotask()
    if (sleepers.has(sleeper)) await moveTo(sleeper.wakeAt)
  }

  return {
    agenda,
    /** True for a frozen clock. Only `set`, `advance` and `sleep` move a frozen clock. */
    isFrozen: (): boolean => state.clock.frozen,
    now: agenda.now,
    /** Returns the milliseconds until the next planned event, or `undefined` if there is none. */
    untilNext(): number | undefined {
      const next = agenda.next()
      return next && next.at - clockTime()
    },
    async set(time: Date | number | string) {
      refuseWhileRunning()
      const target = toInstantMilliseconds(time)
      if (target >= clockTime()) {
        await moveTo(target)
        return
      }
      agenda.runDue()
      beforeSetBack?.()
      place(target)
      agenda.runDue()
      onEarlier?.()
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
          wakeAt: agenda.now() + length,
          wake: () => end(resolve),
          fail: (reason) => end(() => reject(reason)),
        }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', onAbort)
        if (!state.clock.frozen) stopTimer = startTimer(length, sleeper.wake)
        else if (sleepMode === 'jump' && length !== Number.POSITIVE_INFINITY) {
          void jumpTo(sleeper).catch(sleeper.fail)
        }
      })
    },
    /** Stops the running moves and the sleeps, because the clock's data was replaced. */
    startOver(): void {
      era += 1
      moves = 0
      const error = new Error('The mock was reset or restored during this sleep.')
      for (const sleeper of sleepers) sleeper.fail(Object.assign(error, { code: 'aborted' }))
      shown = Number.NEGATIVE_INFINITY
      onEarlier?.()
    },
  }
}

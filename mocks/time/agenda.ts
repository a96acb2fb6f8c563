/** What happens at a known time, such as a payment: plain data, which a snapshot contains. */
export interface Planned {
  readonly at: number
  readonly kind: string
  readonly id: string
  readonly data: unknown
}

/** An agenda as plain data. */
export interface AgendaState {
  /** What is planned, by kind and id. */
  readonly planned: Map<string, Planned>
  /** For each instant, what was planned for it, in that order. What was canceled or replaced since is skipped. */
  readonly slots: Map<number, Planned[]>
  /** The instants of the slots, earliest first. */
  readonly times: number[]
}

/** Returns an empty agenda. */
export const newAgenda = (): AgendaState => ({ planned: new Map(), slots: new Map(), times: [] })

/** Runs when something of its kind is due. */
type Handler = (id: string, at: number, data: unknown) => void

const keyOf = (kind: string, id: string): string => `${kind}\n${id}`

/** Adds a time to the sorted times. Most times are later than all others. */
const insert = (times: number[], at: number): void => {
  let low = (times.at(-1) ?? at) <= at ? times.length : 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] ?? at) <= at) low = middle + 1
    else high = middle
  }
  times.splice(low, 0, at)
}

/** The agenda of one mock: what is planned, and what runs it. */
export type Agenda = ReturnType<typeof createAgenda>

/**
 * Creates an agenda. Nothing runs by itself: `runDue` runs what is due.
 *
 * @param state returns the current data, which a reset or `restore` replaces
 * @param outsideNow returns the time that applies while nothing runs
 * @param onEarlier called when something is planned that is due before all else
 */
export const createAgenda = (state: () => AgendaState, outsideNow: () => number, onEarlier?: () => void) => {
  const handlers = new Map<string, Handler>()
  let runningAt: number | undefined

  const now = (): number => runningAt ?? outsideNow()

  const isPlanned = (item: Planned): boolean => state().planned.get(keyOf(item.kind, item.id)) === item

  const dropSlot = (at: number): void => {
    const { slots, times } = state()
    slots.delete(at)
    if (times[0] === at) times.shift()
  }

  const nextAt = (): number | undefined => {
    const { slots, times } = state()
    for (let at = times[0]; at !== undefined; at = times[0]) {
      if (slots.get(at)?.some(isPlanned) === true) return at
      dropSlot(at)
    }
    return undefined
  }

  const run = (item: Planned): void => {
    const handler = handlers.get(item.kind)
    if (handler === undefined) throw new Error(`"${item.kind}" has no handler.`)
    state().planned.delete(keyOf(item.kind, item.id))
    handler(item.id, item.at, item.data)
  }

  /** Runs everything of the earliest due time and returns this time. Runs nothing if this time is after `limit`. */
  const runStep = (limit: number): number | undefined => {
    const at = runningAt === undefined ? nextAt() : undefined
    if (at === undefined || at > limit) return undefined
    runningAt = at
    try {
      // A handler may plan more for the same instant: the loop reaches it too.
      for (const item of state().slots.get(at) ?? []) if (isPlanned(item)) run(item)
    } finally {
      runningAt = undefined
    }
    dropSlot(at)
    return at
  }

  return {
    /** Returns the due time of what runs, or the current time if nothing runs. */
    now,
    nextAt,
    runStep,
    /** Returns whether something runs. */
    isRunning: () => runningAt !== undefined,
    /** Plans something for `planAt`, or for now if `planAt` has passed. Replaces what has the same kind and id. */
    schedule(planAt: number, kind: string, id: string, data?: unknown): void {
      if (Number.isNaN(planAt)) throw new RangeError(`"${kind}" cannot be planned at NaN.`)
      const { planned, slots, times } = state()
      const item: Planned = { at: Math.max(planAt, now()), kind, id, data }
      planned.set(keyOf(kind, id), item)
      const slot = slots.get(item.at)
      if (slot === undefined) {
        slots.set(item.at, [item])
        insert(times, item.at)
      } else slot.push(item)
      if (times[0] === item.at) onEarlier?.()
    },
    /** Cancels what is planned with this kind and id, if there is anything. */
    cancel: (kind: string, id: string): void => void state().planned.delete(keyOf(kind, id)),
    /** Sets the function that runs what is due of a kind. */
    on(kind: string, handler: Handler): void {
      if (handlers.has(kind)) throw new Error(`"${kind}" already has a handler.`)
      handlers.set(kind, handler)
    },
    /** Runs everything that is due by now, in time order. Meanwhile `now` returns the due time of what runs. */
    runDue(): void {
      const limit = now()
      let step: number | undefined
      do step = runStep(limit)
      while (step !== undefined)
    },
  }
}

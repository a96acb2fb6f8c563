/** The timeline of one mock, which stores planned events, such as payments, as entries. */
export type Timeline = ReturnType<typeof createTimeline>

/** A planned event, such as a payment, as plain data that a snapshot can contain. */
export interface PlannedEntry {
  readonly at: number
  readonly kind: string
  readonly id: string
}

interface Entry extends PlannedEntry {
  at: number
  /** Entries with the same time run in the order of this number, which grows with each new entry. */
  sequence: number
  canceled: boolean
}

const before = (left: Entry, right: Entry): boolean =>
  left.at < right.at || (left.at === right.at && left.sequence < right.sequence)

// A binary heap: `heap[0]` is the next entry, the children of `i` are `2i + 1` and `2i + 2`.
const push = (heap: Entry[], entry: Entry): void => {
  let index = heap.push(entry) - 1
  while (index > 0) {
    const parentIndex = (index - 1) >> 1
    const parent = heap[parentIndex]
    if (parent === undefined || !before(entry, parent)) break
    heap[index] = parent
    index = parentIndex
  }
  heap[index] = entry
}

const pop = (heap: Entry[]): Entry | undefined => {
  const first = heap[0]
  const last = heap.pop()
  if (first === undefined || last === undefined || first === last) return first
  let index = 0
  for (;;) {
    let childIndex = 2 * index + 1
    let child = heap[childIndex]
    if (child === undefined) break
    const right = heap[childIndex + 1]
    if (right !== undefined && before(right, child)) {
      child = right
      childIndex += 1
    }
    if (!before(child, last)) break
    heap[index] = child
    index = childIndex
  }
  heap[index] = last
  return first
}

// A heap of at most this size drops a canceled entry only when the entry reaches the top.
const SMALL = 64

/**
 * Creates a timeline, which keeps planned entries in a heap. A canceled entry is only marked: it leaves the heap when
 * it reaches the top. When more than half of a large heap's entries are canceled, all canceled entries leave at once.
 *
 * @param outsideNow returns the time that applies while no entry runs
 * @param onEarlier called when a new entry is due before all other entries
 */
export const createTimeline = (outsideNow: () => number, onEarlier?: () => void) => {
  const handlers = new Map<string, (id: string, at: number) => void>()
  /** The planned entries: for each kind, a map from id to entry. */
  const planned = new Map<string, Map<string, Entry>>()
  let heap: Entry[] = []
  let sequence = 0
  let canceledCount = 0
  let runningAt: number | undefined

  const now = (): number => runningAt ?? outsideNow()

  const peek = (): Entry | undefined => {
    while (heap[0]?.canceled === true) {
      pop(heap)
      canceledCount -= 1
    }
    return heap[0]
  }

  const living = (): Entry[] =>
    heap.filter((entry) => !entry.canceled).sort((left, right) => (before(left, right) ? -1 : 1))

  const remove = (entry: Entry): void => {
    entry.canceled = true
    canceledCount += 1
    if (heap.length > SMALL && canceledCount * 2 > heap.length) {
      heap = living()
      canceledCount = 0
    }
  }

  const entriesOf = (kind: string): Map<string, Entry> => {
    let entries = planned.get(kind)
    if (entries === undefined) {
      entries = new Map()
      planned.set(kind, entries)
    }
    return entries
  }

  const keep = ({ at, kind, id }: PlannedEntry): Entry => {
    const entry = { at, kind, id, sequence, canceled: false }
    sequence += 1
    entriesOf(kind).set(id, entry)
    return entry
  }

  /** Cancels the planned entry of this kind and id, if there is one. */
  const cancel = (kind: string, id: string): void => {
    const entry = planned.get(kind)?.get(id)
    if (entry === undefined || entry.canceled) return
    planned.get(kind)?.delete(id)
    remove(entry)
  }

  /** Plans an entry for `planAt`, or for now if `planAt` has passed. Replaces the entry of the same kind and id. */
  const schedule = (planAt: number, kind: string, id: string): void => {
    if (Number.isNaN(planAt)) throw new RangeError(`"${kind}" cannot be planned at NaN.`)
    const at = Math.max(planAt, now())
    let entry = entriesOf(kind).get(id)
    if (entry?.canceled === true) {
      // This entry is running and not in the heap. Reusing the entry is twice as fast as creating a new one.
      entry.at = at
      entry.sequence = sequence
      entry.canceled = false
      sequence += 1
    } else {
      if (entry !== undefined) remove(entry)
      entry = keep({ at, kind, id })
    }
    push(heap, entry)
    if (heap[0] === entry) onEarlier?.()
  }

  /** Runs all entries of the earliest due time and returns this time. Runs nothing if this time is after `limit`. */
  const runStep = (limit: number): number | undefined => {
    const first = peek()
    if (runningAt !== undefined || first === undefined || first.at > limit) return undefined
    const { at } = first
    runningAt = at
    try {
      for (let entry = peek(); entry?.at === at; entry = peek()) {
        pop(heap)
        entry.canceled = true
        const handler = handlers.get(entry.kind)
        if (handler === undefined) throw new Error(`"${entry.kind}" has no handler.`)
        handler(entry.id, at)
        if (entry.canceled) planned.get(entry.kind)?.delete(entry.id)
      }
    } finally {
      runningAt = undefined
    }
    return at
  }

  /** Runs all entries that are due by now, in time order. While an entry runs, `now` returns the entry's due time. */
  const settle = (): void => {
    const limit = now()
    let step: number | undefined
    do step = runStep(limit)
    while (step !== undefined)
  }

  return {
    /** Returns the due time of the running entry, or the current time if no entry runs. */
    now,
    schedule,
    cancel,
    /** Cancels all planned entries of a kind. */
    cancelAll(kind: string): void {
      for (const id of planned.get(kind)?.keys() ?? []) cancel(kind, id)
    },
    /** Sets the handler that runs when an entry of this kind is due. */
    on(kind: string, handler: (id: string, at: number) => void): void {
      if (handlers.has(kind)) throw new Error(`"${kind}" already has a handler.`)
      handlers.set(kind, handler)
    },
    settle,
    /** Returns whether an entry is running. */
    running: () => runningAt !== undefined,
    nextAt: () => peek()?.at,
    runStep,
    /** Returns the planned entries in the order in which they will run. */
    entries: () => living().map(({ at, kind, id }) => ({ at, kind, id })),
    /** Replaces all planned entries with the given entries, which must be sorted by time. */
    replace(entries: readonly PlannedEntry[]): void {
      planned.clear()
      sequence = 0
      canceledCount = 0
      // The entries are sorted, and a sorted array is a valid heap.
      heap = entries.map(keep)
    },
  }
}

import type { Timeline } from './api.ts'

/** A planned entry as data. */
export interface PlannedEntry {
  readonly at: number
  readonly kind: string
  readonly id: string
}

/** The timeline as the clock sees it: it can be run a step at a time. */
export interface RunnableTimeline extends Timeline {
  /** Whether an entry is being run. */
  running(): boolean
  /** The time of the next entry. */
  nextAt(): number | undefined
  /** Runs every entry of the earliest time that is not after `limit`; the time, or `undefined` when there is none. */
  runStep(limit: number): number | undefined
  /** The entries still planned, in the order in which they will run. */
  entries(): readonly PlannedEntry[]
  /** Replaces what is planned. */
  replace(entries: readonly PlannedEntry[]): void
}

interface Entry extends PlannedEntry {
  /** Order of planning: it decides among entries of one time. */
  readonly sequence: number
  cancelled: boolean
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

// Below this size dead entries are cheaper to keep than to look for.
const SMALL = 64

/**
 * What falls due in a mock, kept in a heap. An entry planned for the past counts as planned for now. A cancelled entry
 * is skipped when its turn comes, and dead entries are cleared away before they outnumber the living.
 *
 * @param outsideNow the time while no entry is being run
 */
export const createTimeline = (outsideNow: () => number): RunnableTimeline => {
  const handlers = new Map<string, (id: string, at: number) => void>()
  let heap: Entry[] = []
  let sequence = 0
  let cancelledCount = 0
  let runningAt: number | undefined

  const now = (): number => runningAt ?? outsideNow()

  const peek = (): Entry | undefined => {
    while (heap[0]?.cancelled === true) {
      pop(heap)
      cancelledCount -= 1
    }
    return heap[0]
  }

  const living = (): Entry[] =>
    heap.filter((entry) => !entry.cancelled).sort((left, right) => (before(left, right) ? -1 : 1))

  // A sorted array is a heap, too.
  const load = (entries: readonly PlannedEntry[]): void => {
    // Those who planned the old entries may still unplan them: that must not count.
    for (const entry of heap) entry.cancelled = true
    heap = entries.map(({ at, kind, id }, index) => ({ at, kind, id, sequence: index, cancelled: false }))
    sequence = heap.length
    cancelledCount = 0
  }

  const cancel = (entry: Entry): void => {
    if (entry.cancelled) return
    entry.cancelled = true
    cancelledCount += 1
    if (heap.length > SMALL && cancelledCount * 2 > heap.length) {
      heap = living()
      cancelledCount = 0
    }
  }

  const schedule = (at: number, kind: string, id: string): (() => void) => {
    if (Number.isNaN(at)) throw new RangeError(`"${kind}" cannot be planned at a time that is not a number.`)
    const entry: Entry = { at: Math.max(at, now()), kind, id, sequence, cancelled: false }
    sequence += 1
    push(heap, entry)
    return () => cancel(entry)
  }

  const runStep = (limit: number): number | undefined => {
    const first = peek()
    if (runningAt !== undefined || first === undefined || first.at > limit) return undefined
    const { at } = first
    runningAt = at
    try {
      for (let entry = peek(); entry?.at === at; entry = peek()) {
        pop(heap)
        // From here on unplanning it must not count it among the dead that are still in the heap.
        entry.cancelled = true
        const handler = handlers.get(entry.kind)
        if (handler === undefined) throw new Error(`Nothing says what to do when "${entry.kind}" falls due.`)
        handler(entry.id, at)
      }
    } finally {
      runningAt = undefined
    }
    return at
  }

  const settle = (): void => {
    const limit = now()
    while (runStep(limit) !== undefined) {
      // Each turn runs the entries of one time.
    }
  }

  return {
    now,
    schedule,
    on(kind, handler) {
      if (handlers.has(kind)) throw new Error(`"${kind}" has a handler already.`)
      handlers.set(kind, handler)
    },
    settle,
    planned: (kind) =>
      heap
        .filter((entry) => entry.kind === kind && !entry.cancelled)
        .map((entry) => ({ id: entry.id, unplan: () => cancel(entry) })),
    running: () => runningAt !== undefined,
    nextAt: () => peek()?.at,
    runStep,
    entries: () => living().map(({ at, kind, id }) => ({ at, kind, id })),
    replace: load,
  }
}

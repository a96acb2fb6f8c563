/** Time of one mock, and what falls due in it. Entries are data, so that a snapshot can hold them. */
export interface Timeline {
  /** Time of the entry being run, else the time now. */
  now(): number
  /** Plans `kind` for `id` at `at`; the function given back unplans it. Entries of one time run in the order planned. */
  schedule(at: number, kind: string, id: string): () => void
  /** Says what runs when an entry of this kind falls due. One handler a kind. */
  on(kind: string, handler: (id: string, at: number) => void): void
  /** Runs everything that is due by now, in time order, each at its own time. */
  settle(): void
  /** What is planned of a kind, in no order: after a restore its planner finds there how to unplan it. */
  planned(kind: string): readonly { readonly id: string; readonly unplan: () => void }[]
}

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

/**
 * Things that fall due after one and the same delay, and so mostly in the order they were added.
 * The timeline holds one entry for the whole queue, not one for each thing.
 */
export interface DueQueue<Item> {
  add(item: Item): void
  /** What is still to come, in order. */
  all(): readonly Item[]
  /** Forgets everything and takes these instead. */
  replace(items: readonly Item[]): void
}

/** What a queue must know of its things. */
export interface DueQueueRules<Item> {
  /** The kind of the queue's entry on the timeline. */
  readonly kind: string
  readonly dueAt: (item: Item) => number
  /** Whether the thing is still worth waking up for. */
  readonly isLive: (item: Item) => boolean
  readonly run: (item: Item, at: number) => void
}

const COMPACT_FROM = 1024

/** A due queue on the timeline. */
export const createDueQueue = <Item>(
  timeline: Timeline,
  { kind, dueAt, isLive, run }: DueQueueRules<Item>,
): DueQueue<Item> => {
  let items: Item[] = []
  let head = 0
  let planned: { readonly at: number; readonly cancel: () => void } | undefined

  const dueAtIndex = (index: number): number => {
    const item = items[index]
    return item === undefined ? Number.POSITIVE_INFINITY : dueAt(item)
  }

  const plan = (): void => {
    for (let next = items[head]; next !== undefined && !isLive(next); next = items[head]) head += 1
    if (head >= COMPACT_FROM && head * 2 >= items.length) {
      items = items.slice(head)
      head = 0
    }
    const at = dueAtIndex(head)
    if (planned?.at === at) return
    planned?.cancel()
    planned = at === Number.POSITIVE_INFINITY ? undefined : { at, cancel: timeline.schedule(at, kind, '') }
  }

  timeline.on(kind, (_, at) => {
    // Not always the entry that was planned last: a restored timeline may hold an older one. One is left in the end.
    planned?.cancel()
    planned = undefined
    for (let next = items[head]; next !== undefined && dueAt(next) <= at; next = items[head]) {
      head += 1
      if (isLive(next)) run(next, at)
    }
    plan()
  })

  /** Where a thing belongs that a clock moved backwards made earlier than the last. */
  const place = (at: number): number => {
    let low = head
    let high = items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (dueAtIndex(middle) <= at) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add(item) {
      const at = dueAt(item)
      if (head === items.length || dueAtIndex(items.length - 1) <= at) items.push(item)
      else items.splice(place(at), 0, item)
      if (planned === undefined || at < planned.at) plan()
    },
    all: () => items.slice(head),
    replace(next) {
      planned?.cancel()
      planned = undefined
      items = [...next]
      head = 0
      plan()
    },
  }
}

import type { Timeline } from './timeline.ts'

// The queue removes finished items from memory only when there are this many.
const COMPACT_FROM = 1024

/**
 * Creates a queue of items, such as charges that will expire. Items are usually added in the order of due times. The
 * queue plans a timeline entry only for its next item, because millions of entries would need much memory.
 */
export const createDueQueue = <Item>(
  timeline: Timeline,
  rules: {
    /** The `kind` of the timeline entry that runs the queue. */
    readonly kind: string
    readonly dueAt: (item: Item) => number
    /** Returns whether the queue must still run the item. */
    readonly isLive: (item: Item) => boolean
    readonly run: (item: Item, at: number) => void
  },
) => {
  const { kind, dueAt, isLive, run } = rules
  let items: Item[] = []
  let head = 0
  let plannedAt = Number.POSITIVE_INFINITY

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
    if (at === plannedAt) return
    plannedAt = at
    if (at === Number.POSITIVE_INFINITY) timeline.cancel(kind, '')
    else timeline.schedule(at, kind, '')
  }

  timeline.on(kind, (_, at) => {
    plannedAt = Number.POSITIVE_INFINITY
    for (let next = items[head]; next !== undefined && dueAt(next) <= at; next = items[head]) {
      head += 1
      if (isLive(next)) run(next, at)
    }
    plan()
  })

  /** Returns the index for an item that is due before items added earlier, for example after the clock was set back. */
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
    add(item: Item): void {
      const at = dueAt(item)
      if (head === items.length || dueAtIndex(items.length - 1) <= at) items.push(item)
      else items.splice(place(at), 0, item)
      if (at < plannedAt) plan()
    },
    all: (): readonly Item[] => items.slice(head),
    replace(next: readonly Item[]): void {
      items = [...next]
      head = 0
      // `plan` updates the timeline only if the due time differs from `plannedAt`. NaN differs from every due time.
      plannedAt = Number.NaN
      plan()
    },
  }
}

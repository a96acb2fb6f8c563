import type { Timeline } from '../api.ts'

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

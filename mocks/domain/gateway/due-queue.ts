import type { Timeline } from '../api.ts'

/** What falls due, and when. */
export interface Due<Item> {
  readonly at: number
  readonly item: Item
}

/**
 * Things that fall due after one and the same delay, and so mostly in the order they were added.
 * The timeline holds one entry for the whole queue, not one for each thing.
 */
export interface DueQueue<Item> {
  add(at: number, item: Item): void
  /** What is still to come, in order. */
  all(): readonly Due<Item>[]
  /** Forgets everything and takes these instead. */
  replace(entries: readonly Due<Item>[]): void
}

const COMPACT_FROM = 1024

/** A due queue on the timeline, under a kind of its own. `isLive` says whether a thing is still worth waking up for. */
export const createDueQueue = <Item>(
  timeline: Timeline,
  kind: string,
  isLive: (item: Item) => boolean,
  run: (item: Item, at: number) => void,
): DueQueue<Item> => {
  let entries: Due<Item>[] = []
  let head = 0
  let planned: { readonly at: number; readonly cancel: () => void } | undefined

  const plan = (): void => {
    for (let next = entries[head]; next !== undefined && !isLive(next.item); next = entries[head]) head++
    if (head >= COMPACT_FROM && head * 2 >= entries.length) {
      entries = entries.slice(head)
      head = 0
    }
    const next = entries[head]
    if (planned?.at === next?.at) return
    planned?.cancel()
    planned = next && { at: next.at, cancel: timeline.schedule(next.at, kind, '') }
  }

  timeline.on(kind, (_, at) => {
    planned = undefined
    for (let next = entries[head]; next !== undefined && next.at <= at; next = entries[head]) {
      head++
      if (isLive(next.item)) run(next.item, at)
    }
    plan()
  })

  /** Where an entry belongs that a clock moved backwards made earlier than the last. */
  const place = (at: number): number => {
    let low = head
    let high = entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((entries[middle]?.at ?? 0) <= at) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    add(at, item) {
      const last = entries.at(-1)
      if (last === undefined || last.at <= at || head === entries.length) entries.push({ at, item })
      else entries.splice(place(at), 0, { at, item })
      if (planned === undefined || at < planned.at) plan()
    },
    all: () => entries.slice(head),
    replace(next) {
      planned?.cancel()
      planned = undefined
      entries = [...next]
      head = 0
      plan()
    },
  }
}

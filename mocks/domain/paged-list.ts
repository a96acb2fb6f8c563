/** The places of a sequence: the first that is kept, and the one after the last. */
export interface Bounds {
  readonly first: number
  readonly end: number
}

/**
 * A list of which a stretch can be read without the rest, however long it is. Places count up from 0 as items come:
 * an item keeps its place when newer ones come and older ones are dropped.
 */
export interface Sequence<Item> {
  /** What is due has happened before they are told. */
  bounds(): Bounds
  /** Copies of the items from one place up to before another, oldest first. */
  read(from: number, to: number): readonly Item[]
}

/** A list that keeps the newest items. */
export interface BoundedList<Item> extends Sequence<Item> {
  push(item: Item): void
  /** Oldest first; a new array. */
  all(): Item[]
  clear(): void
  replace(items: readonly Item[], dropped: number): void
  /** How many items are no longer kept. */
  readonly dropped: number
}

/** Keeps at most `size` items. */
export const createBoundedList = <Item>(size: number): BoundedList<Item> => {
  let items: Item[] = []
  let dropped = 0
  /** Where the oldest stands once the list is full. */
  let head = 0

  const read = (from: number, to: number): Item[] => {
    const wrapped = items.length - head
    const [start, end] = [Math.max(0, from - dropped), Math.max(0, to - dropped)]
    return [
      ...items.slice(head + start, head + end),
      ...items.slice(Math.max(0, start - wrapped), Math.max(0, Math.min(head, end - wrapped))),
    ]
  }
  const end = (): number => dropped + items.length

  return {
    push(item) {
      if (items.length < size) {
        items.push(item)
        return
      }
      items[head] = item
      head = (head + 1) % size
      dropped += 1
    },
    bounds: () => ({ first: dropped, end: end() }),
    read,
    all: () => read(dropped, end()),
    clear() {
      items = []
      dropped = 0
      head = 0
    },
    replace(replacement, droppedBefore) {
      items = replacement.slice(-size)
      dropped = droppedBefore + replacement.length - items.length
      head = 0
    },
    get dropped() {
      return dropped
    },
  }
}

/** The places of the items in a list: `first` is the oldest item, and `end` is one place after the newest item. */
export interface Bounds {
  readonly first: number
  readonly end: number
}

/** A list that is read page by page. Places count from 0. An item keeps its place when older items are dropped. */
export interface Sequence<Item> {
  /** Runs the due entries of the timeline, then returns `first` and `end`. */
  bounds(): Bounds
  /**
   * Returns copies of the items from place `from` to place `to - 1`. The oldest item is first. A list may omit items
   * for which `isWanted` returns false.
   */
  read(from: number, to: number, isWanted?: (item: Item) => boolean): readonly Item[]
}

/** Creates a list that keeps only the newest `size` items. */
export const createBoundedList = <Item>(size: number) => {
  let items: Item[] = []
  let dropped = 0
  /** When the list is full: the index in `items` of the oldest item. */
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
    push(item: Item): void {
      if (items.length < size) {
        items.push(item)
        return
      }
      items[head] = item
      head = (head + 1) % size
      dropped += 1
    },
    bounds: (): Bounds => ({ first: dropped, end: end() }),
    read,
    /** Returns the kept items in a new array, oldest first. */
    all: (): Item[] => read(dropped, end()),
    clear(): void {
      items = []
      dropped = 0
      head = 0
    },
    replace(replacement: readonly Item[], droppedBefore: number): void {
      items = replacement.slice(-size)
      dropped = droppedBefore + replacement.length - items.length
      head = 0
    },
    /** The number of items that the list has dropped. */
    get dropped(): number {
      return dropped
    },
  }
}

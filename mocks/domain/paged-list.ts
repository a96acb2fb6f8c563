/** The range of positions in a list: `first` is the oldest item's position; `end` is the newest item's position + 1. */
export interface Bounds {
  readonly first: number
  readonly end: number
}

/** A list that is read page by page. Positions start at 0. An item keeps its position when older items are dropped. */
export interface Sequence<Item> {
  /** Returns the range of positions. For charges, subscriptions and payments, first runs all due events. */
  bounds(): Bounds
  /**
   * Returns copies of the items from position `from` to position `to - 1`, oldest first. To save work, a list
   * may skip items for which `isWanted` returns false. The caller must still filter the result.
   */
  read(from: number, to: number, isWanted?: (item: Item) => boolean): readonly Item[]
}

/** Creates a list that keeps only the newest `size` items. */
export const createBoundedList = <Item>(size: number) => {
  let items: Item[] = []
  let dropped = 0
  /** Index of the oldest item in `items`: 0 until the list is full. */
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

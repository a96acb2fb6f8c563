/** The range of positions in a list: `first` is the oldest item's position; `end` is the newest item's position + 1. */
export interface Bounds {
  readonly first: number
  readonly end: number
}

/** A list that is read page by page. Positions start at 0. An item keeps its position when older items are dropped. */
export interface Sequence<Item> {
  /** Returns the range of positions. For subscriptions and payments, first runs all due events. */
  bounds(): Bounds
  /** Returns copies of the items from position `from` to position `to - 1`, oldest first. */
  read(from: number, to: number): readonly Item[]
}

/** The newest items of a list, as plain data. */
export interface Recent<Item> {
  /** The kept items, oldest first, after `head` items that are no longer kept. */
  items: Item[]
  head: number
  /** How many items were dropped. */
  dropped: number
}

/** Returns an empty list. */
export const newRecent = <Item>(): Recent<Item> => ({ items: [], head: 0, dropped: 0 })

/** Creates the functions of a list that keeps only the newest `size` items. `list` returns the list's data. */
export const recentList = <Item>(size: number, list: () => Recent<Item>) => {
  const bounds = (): Bounds => {
    const { items, head, dropped } = list()
    return { first: dropped, end: dropped + items.length - head }
  }
  const read = (from: number, to: number): Item[] => {
    const { items, head, dropped } = list()
    const offset = head - dropped
    return items.slice(Math.max(head, from + offset), Math.max(head, to + offset))
  }
  /** Drops the oldest item and returns it. */
  const drop = (): Item | undefined => {
    const data = list()
    const item = data.items[data.head]
    data.head += 1
    data.dropped += 1
    // Removing the first item of a long array for each new item would be slow.
    if (data.head > size) {
      data.items = data.items.slice(data.head)
      data.head = 0
    }
    return item
  }
  return {
    bounds,
    read,
    drop,
    /** Adds an item. Returns the oldest item if it had to be dropped. */
    push(item: Item): Item | undefined {
      const data = list()
      data.items.push(item)
      return data.items.length - data.head > size ? drop() : undefined
    },
    /** Returns the kept items in a new array, oldest first. */
    all: (): Item[] => read(0, Number.POSITIVE_INFINITY),
    clear: (): void => void Object.assign(list(), newRecent()),
    /** The number of items that the list has dropped. */
    get dropped(): number {
      return list().dropped
    },
  }
}

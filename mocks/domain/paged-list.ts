/** The places of a list: the first that is kept, and the one after the last. */
export interface Bounds {
  readonly first: number
  readonly end: number
}

/** A list that is read page by page. An item keeps its place, counted from 0, when older items are dropped. */
export interface Sequence<Item> {
  /** Returns the places, after settling what is due. */
  bounds(): Bounds
  /** Returns copies of the items from place `from` up to, but not including, `to`, oldest first. */
  read(from: number, to: number): readonly Item[]
}

/** Makes a list that keeps only the newest items, at most `size`. */
export const createBoundedList = <Item>(size: number) => {
  let items: Item[] = []
  let dropped = 0
  /** Index of the oldest item once the list is full. */
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
    /** Returns a new array, oldest first. */
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
    /** How many items were dropped. */
    get dropped(): number {
      return dropped
    },
  }
}

/** A list that keeps the newest items. */
export interface BoundedList<Item> {
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
    all: () => [...items.slice(head), ...items.slice(0, head)],
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

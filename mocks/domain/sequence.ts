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

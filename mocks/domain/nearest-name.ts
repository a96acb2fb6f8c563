/**
 * Returns the lowest cost of turning one list into the other.
 * It costs 1 to add or remove an item; `replacing` returns the cost of replacing one.
 */
export const editDistance = <Item>(
  left: Iterable<Item>,
  right: readonly Item[],
  replacing: (one: Item, other: Item) => number,
): number => {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const item of left) {
    const next = [(row[0] ?? 0) + 1]
    for (const [column, other] of right.entries()) {
      next.push(
        Math.min(
          (row[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
          (row[column] ?? 0) + replacing(item, other),
        ),
      )
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** Known names are much shorter than this. A longer name gets no suggestion, which bounds the work. */
const LONGEST_NAME = 64
/** The largest share of a name's characters that may differ from the suggested name. */
const MOST_DIFFERENT = 0.4

/** Reduces a name to its letters and digits in lower case, so that `per_page` and `perPage` compare as equal. */
const plain = (name: string): string => name.replace(/[^a-z\d]/gi, '').toLowerCase()

/** Returns the known name that is most similar to an unknown one, or `undefined` if none is similar enough. */
export const nearestName = (name: string, names: readonly string[]): string | undefined => {
  if (name.length > LONGEST_NAME) return undefined
  const meant = [...plain(name)]
  let nearest: string | undefined
  let least = Math.ceil(meant.length * MOST_DIFFERENT) + 1
  for (const other of names) {
    const distance = editDistance(meant, [...plain(other)], (one, another) => (one === another ? 0 : 1))
    if (distance >= least) continue
    nearest = other
    least = distance
  }
  return nearest
}

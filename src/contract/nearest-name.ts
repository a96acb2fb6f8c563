/** How many changes turn one list into the other: leave one out, add one, or replace one at its own cost. */
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

/** No name of ours is nearly as long: longer ones are like none of them. */
const LONGEST_NAME = 64
/** As much of a name as may differ for it to be meant. */
const MOST_DIFFERENT = 0.4

/** A name without what is easily written otherwise: `per_page` and `perPage` are one. */
const plain = (name: string): string => name.replace(/[^a-z\d]/gi, '').toLowerCase()

/** The one of `names` that is most like a name that does not exist, or `undefined` when none is like it. */
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

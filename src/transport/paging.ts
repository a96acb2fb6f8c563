/** What makes a record one of its kind; a record without an identifier is known by its content. */
const identityOf = (record: object, identifier: string): string => {
  const id: unknown = Reflect.get(record, identifier)
  return id === undefined || id === null ? `content ${JSON.stringify(record)}` : `id ${String(id)}`
}

/**
 * Every record of a paged list, once each. Ends at the first page that brings nothing new, which also ends lists of
 * servers that ignore the page, repeat records, or give short or empty pages. A page is read when its first record is
 * asked for; nothing is read ahead.
 */
export async function* eachRecord<Item extends object>(
  firstPage: () => number,
  identifier: string,
  read: (page: number) => Promise<readonly Item[]>,
): AsyncGenerator<Item, void, undefined> {
  const seen = new Set<string>()
  for (let page = firstPage(); ; page += 1) {
    const records = await read(page)
    const fresh = records.filter((record) => {
      const identity = identityOf(record, identifier)
      if (seen.has(identity)) return false
      seen.add(identity)
      return true
    })
    if (fresh.length === 0) return
    yield* fresh
  }
}

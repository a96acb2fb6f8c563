/**
 * What makes each record of a page one of its kind. One without an identifier is known by its content, and by how often
 * the page had it before: two payments may look alike, and the same page again has as many of them.
 */
const identitiesOn = (records: readonly object[], identifier: string): string[] => {
  const alike = new Map<string, number>()
  return records.map((record) => {
    const id: unknown = Reflect.get(record, identifier)
    if (id !== undefined && id !== null) return `id ${String(id)}`
    const content = JSON.stringify(record)
    const before = alike.get(content) ?? 0
    alike.set(content, before + 1)
    return `content ${before} ${content}`
  })
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
    const identities = identitiesOn(records, identifier)
    const fresh = records.filter((_, index) => {
      const identity = identities[index] ?? ''
      if (seen.has(identity)) return false
      seen.add(identity)
      return true
    })
    if (fresh.length === 0) return
    yield* fresh
  }
}

/** Whether the address is allowed by an entry: same scheme and host, and a path equal to the entry's or below it. */
const allows = (entry: URL, address: URL): boolean => {
  if (address.protocol !== entry.protocol || address.host !== entry.host) return false
  const folder = entry.pathname.endsWith('/') ? entry.pathname : `${entry.pathname}/`
  return address.pathname === entry.pathname || address.pathname.startsWith(folder)
}

/** The check of a redirect address (row 69). An empty list allows every address. */
export const createAllowlist = (entries: readonly string[]): ((address: string) => boolean) => {
  const urls = entries.map((entry) => new URL(entry))
  return (address) => {
    if (urls.length === 0) return true
    const target = new URL(address)
    return urls.some((entry) => allows(entry, target))
  }
}

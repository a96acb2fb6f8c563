/** The names of the panel's lists, as they appear in the page's URL. */
export const listNames = ['subscriptions', 'payments', 'charges', 'requests', 'notifications'] as const

/** The name of a list of the panel. */
export type ListName = (typeof listNames)[number]

/** The place where the shown page of each list ends. A list without a place shows its newest items. */
export type Places = Readonly<Partial<Record<ListName, number>>>

/** Reads places from a URL. Ignores invalid places. */
export const readPlaces = (query: URLSearchParams): Places =>
  Object.fromEntries(
    listNames.flatMap((name) => {
      const place = query.get(name) ?? ''
      return /^\d{1,15}$/.test(place) ? [[name, Number(place)]] : []
    }),
  )

/** Writes places to a URL. */
export const queryOf = (places: Places): URLSearchParams =>
  new URLSearchParams(Object.entries(places).map(([name, place]) => [name, String(place)]))

/** Returns the relative URL of a list's page that ends at `place`. Without `place`, this is the newest page. */
export const pageUrl = (places: Places, list: ListName, place: number | undefined): string => {
  const { [list]: _current, ...others } = places
  const query = queryOf(place === undefined ? others : { ...others, [list]: place })
  return `?${query}#${list}-title`
}

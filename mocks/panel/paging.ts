/** The names of the panel's lists, as they appear in the page's URL. */
export const listNames = ['subscriptions', 'payments', 'charges', 'requests', 'notifications'] as const

/** The name of a list of the panel. */
export type ListName = (typeof listNames)[number]

/** The place at which the page of each list ends. For a list without a place, the panel shows the newest items. */
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

/** Returns the relative URL of the page that ends at `place`, or of the newest page if `place` is undefined. */
export const pageUrl = (places: Places, list: ListName, place: number | undefined): string => {
  const { [list]: _current, ...others } = places
  const query = queryOf(place === undefined ? others : { ...others, [list]: place })
  return `?${query}#${list}-title`
}

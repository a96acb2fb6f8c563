/** The lists of the panel, under their names in the page's URL. */
export const listNames = ['subscriptions', 'payments', 'charges', 'requests', 'notifications'] as const

/** A list of the panel. */
export type ListName = (typeof listNames)[number]

/** The page of each list: the items before this place. A list without a place shows its newest items. */
export type Places = Readonly<Partial<Record<ListName, number>>>

/** Reads places from a URL. Ignores invalid ones. */
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

/** Returns the relative URL of another page of a list; without a place, of its newest items. */
export const pageUrl = (places: Places, list: ListName, place: number | undefined): string => {
  const { [list]: _current, ...others } = places
  const query = queryOf(place === undefined ? others : { ...others, [list]: place })
  return `?${query}#${list}-title`
}

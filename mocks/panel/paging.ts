/** The lists of the panel, as an address names them. */
export const listNames = ['subscriptions', 'payments', 'charges', 'requests', 'notifications'] as const

/** A list of the panel. */
export type ListName = (typeof listNames)[number]

/**
 * Which page of each list is looked at: the one whose items stand before this place. A list that is not named is looked
 * at where its newest items are.
 */
export type Places = Readonly<Partial<Record<ListName, number>>>

/** Reads the places in an address; what is no place is not there. */
export const readPlaces = (query: URLSearchParams): Places =>
  Object.fromEntries(
    listNames.flatMap((name) => {
      const place = query.get(name) ?? ''
      return /^\d{1,15}$/.test(place) ? [[name, Number(place)]] : []
    }),
  )

/** Places as they stand in an address. */
export const queryOf = (places: Places): URLSearchParams =>
  new URLSearchParams(Object.entries(places).map(([name, place]) => [name, String(place)]))

/** The address, from the panel's own on, that shows another page of a list; without a place its newest. */
export const turnedTo = (places: Places, list: ListName, place: number | undefined): string => {
  const { [list]: _left, ...others } = places
  const query = queryOf(place === undefined ? others : { ...others, [list]: place })
  return `?${query}#${list}-title`
}

/** The names of the panel's lists, as they appear in the page's URL. */
export const listNames = ['subscriptions', 'payments', 'charges', 'requests', 'notifications'] as const

/** The name of a list of the panel. */
export type ListName = (typeof listNames)[number]

/**
 * The query of the page's URL. `charges` is the place at which the page of the charges ends; without a place, the panel
 * shows the newest items. `charges.q` is a text that each listed charge contains, and `charges.is` is its state. `show`
 * names the subscription or the charge whose states are marked.
 */
export type PanelQuery = URLSearchParams

const names = new Set(['show', ...listNames.flatMap((name) => [name, `${name}.q`, `${name}.is`])])

const isKept = (name: string, value: string): boolean =>
  names.has(name) &&
  value !== '' &&
  (!(listNames as readonly string[]).includes(name) || /^\d{1,15}$/.test(value))

/** Reads the query of a URL. Ignores invalid places and other parameters. */
export const readQuery = (given: URLSearchParams): PanelQuery =>
  new URLSearchParams([...given].filter(([name, value]) => isKept(name, value)))

/** Returns the place at which the page of a list ends. */
export const placeOf = (query: PanelQuery, list: ListName): number | undefined => {
  const place = query.get(list)
  return place === null ? undefined : Number(place)
}

/** Returns the relative URL of a page whose query has one other value. The URL leads to the section `section`. */
export const urlWith = (
  query: PanelQuery,
  name: string,
  value: string | number | undefined,
  section: string,
): string => {
  const changed = new URLSearchParams(query)
  changed.delete(name)
  if (value !== undefined) changed.set(name, String(value))
  return `?${changed}#${section}-title`
}

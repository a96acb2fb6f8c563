/** The names of the panel's lists, as they appear in the page's URL. */
export const listNames = ['subscriptions', 'payments', 'charges', 'requests', 'notifications'] as const

/** The name of a list of the panel. */
export type ListName = (typeof listNames)[number]

/**
 * The query of the panel's URL. Each list has three parameters, which start with the list's name. `charges` is the end
 * position of the shown page of charges; without it, the panel shows the newest page. `charges.q` and `charges.is`
 * select charges by text and by state. `show` is the id of the subscription or charge whose states the panel marks.
 */
export type PanelQuery = URLSearchParams

const names = new Set(['show', ...listNames.flatMap((name) => [name, `${name}.q`, `${name}.is`])])

const isKept = (name: string, value: string): boolean =>
  names.has(name) && value !== '' && (!listNames.some((known) => known === name) || /^\d{1,15}$/.test(value))

/** Reads the query of a URL. Ignores unknown parameters and invalid positions. */
export const readQuery = (given: URLSearchParams): PanelQuery =>
  new URLSearchParams([...given].filter(([name, value]) => isKept(name, value)))

/** Returns the position at which the shown page of a list ends; `undefined` for the newest page. */
export const placeOf = (query: PanelQuery, list: ListName): number | undefined => {
  const place = query.get(list)
  return place === null ? undefined : Number(place)
}

/** Returns the relative URL of a section of the panel, with one changed parameter of the query. */
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

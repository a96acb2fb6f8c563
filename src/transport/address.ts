/** The prefix that an endpoint's path starts with, and what stands in its place. */
export interface PathPrefix {
  readonly from: string
  readonly to: string
}

/** The path of a template: parameters become one encoded segment each. */
export const pathOf = (template: string, parameters: Readonly<Record<string, string>>): string =>
  // Most paths have none.
  !template.includes(':')
    ? template
    : template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ''))

/** The query of a URL, or nothing. */
export const queryOf = (query: unknown): string => {
  if (typeof query !== 'object' || query === null) return ''
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
}

/** A path whose version prefix was replaced. */
export const withPrefix = (path: string, prefix: PathPrefix | undefined): string =>
  prefix !== undefined && path.startsWith(`${prefix.from}/`)
    ? `${prefix.to}${path.slice(prefix.from.length)}`
    : path

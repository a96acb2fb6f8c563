import type { AreaRuntime, OperationTarget } from './area.ts'
import type { Match, Route } from './router.ts'

/** A base URL of an area, without a trailing slash. */
export interface Base {
  readonly url: string
  readonly area: AreaRuntime
}

/** Returns whether a URL can be a base URL: http or https, without credentials, query and fragment. */
export const isBase = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}

/** Normalizes a base URL for comparison with the start of a request URL. Removes slashes at the end. */
export const normalizedBase = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`.replace(/\/+$/, '')
}

/** An area whose base URL matches a request. `path` is the path below the base URL; `match` is the router's result. */
export interface Located {
  readonly area: AreaRuntime
  readonly path: string
  readonly query: string
  readonly match: Match<OperationTarget>
}

// The search for a similar route compares only this many characters of a path, because every route is shorter.
const LONGEST_COMPARED = 256

const pairsOf = (text: string): readonly string[] =>
  Array.from({ length: text.length - 1 }, (_, index) => text.slice(index, index + 2))

/** Returns the similarity of two texts, from 0 to 1: the share of character pairs that both texts contain. */
const similarity = (one: string, other: string): number => {
  const pairs = new Set(pairsOf(one))
  const shared = pairsOf(other).filter((pair) => pairs.has(pair)).length
  return (2 * shared) / Math.max(1, one.length + other.length - 2)
}

/** A route, such as `POST /api/v1/mfs/charges`, and its similarity to a path. */
export interface NearestRoute {
  readonly route: string
  readonly similarity: number
}

/** Returns the route whose template is most similar to a path. A parameter in the template matches any value. */
export const nearestRoute = (
  path: string,
  method: string,
  routes: readonly Route<unknown>[],
): NearestRoute => {
  const segments = path.slice(0, LONGEST_COMPARED).split('/')
  let nearest: NearestRoute = { route: 'none', similarity: -1 }
  for (const { methods, path: template } of routes) {
    const words = template.split('/').map((word) => (word.startsWith(':') ? ':' : word))
    const compared = segments.map((segment, index) => (words[index] === ':' ? ':' : segment))
    const bonus = methods.includes(method) ? 0.01 : 0
    const similar = similarity(compared.join('/'), words.join('/')) + bonus
    if (similar > nearest.similarity) {
      nearest = { route: `${methods[0] ?? method} ${template}`, similarity: similar }
    }
  }
  return nearest
}

const split = (rest: string): { path: string; query: string } => {
  const [withoutHash = ''] = rest.split('#', 1)
  const mark = withoutHash.indexOf('?')
  if (mark === -1) return { path: withoutHash || '/', query: '' }
  return { path: withoutHash.slice(0, mark) || '/', query: withoutHash.slice(mark + 1) }
}

const RANK = { route: 0, 'other-method': 1, none: 2 } as const

/**
 * Returns the areas whose base URL matches. If an area has the route, returns only that area. If no area has the route,
 * sorts the areas by three criteria, the most important first: the path exists with another method, the base URL is
 * longer, the path is more similar to a route of the area.
 */
export const locate = (url: string, method: string, bases: readonly Base[]): readonly Located[] => {
  const candidates: (Located & { readonly base: string })[] = []
  for (const { url: base, area } of bases) {
    if (!url.startsWith(base) || !['/', '?', '#', ''].includes(url.charAt(base.length))) continue
    const { path, query } = split(url.slice(base.length))
    const match = area.router.search(path, method)
    const found = { area, path, query, match, base }
    if (match.kind === 'route') return [found]
    candidates.push(found)
  }
  if (candidates.length < 2) return candidates
  const similarityOf = ({ area, path }: Located) => nearestRoute(path, method, area.router.routes).similarity
  return candidates.sort(
    (one, other) =>
      RANK[one.match.kind] - RANK[other.match.kind] ||
      other.base.length - one.base.length ||
      similarityOf(other) - similarityOf(one),
  )
}

import { editDistance } from '../domain/nearest-name.ts'
import type { AreaRuntime, OperationTarget } from './area.ts'
import type { Match, Route } from './router.ts'

// No route is nearly as long: what comes after that only makes a path more different.
const LONGEST_COMPARED = 64
const MOST_SEGMENTS = 16

const wordDistance = (word: string, other: string): number => {
  if (word === other) return 0
  const left = [...word.slice(0, LONGEST_COMPARED)]
  const right = [...other.slice(0, LONGEST_COMPARED)]
  return (
    editDistance(left, right, (one, another) => (one === another ? 0 : 1)) /
    Math.max(left.length, right.length, 1)
  )
}

// A parameter takes any word, but a template that names the word is nearer.
const PARAMETER_COST = 0.25

const segmentDistance = (segment: string, template: string): number =>
  template.startsWith(':') ? (segment === '' ? 1 : PARAMETER_COST) : wordDistance(segment, template)

/** A route that was not asked for, and how far it is from what was asked. */
export interface NearestRoute {
  /** For example `POST /api/v1/mfs/charges`. */
  readonly route: string
  readonly distance: number
}

/** The route whose template is most like a path that no route has. */
export const nearestRoute = (
  path: string,
  method: string,
  routes: readonly Route<unknown>[],
): NearestRoute | undefined => {
  const segments = path.split('/', MOST_SEGMENTS + 1).slice(1)
  let nearest: NearestRoute | undefined
  for (const { methods, path: template } of routes) {
    const far =
      editDistance(segments, template.split('/').slice(1), segmentDistance) +
      (methods.includes(method) ? 0 : 0.1)
    if (nearest === undefined || far < nearest.distance) {
      nearest = { route: `${methods[0] ?? method} ${template}`, distance: far }
    }
  }
  return nearest
}

/** A base URL under which an area answers, without a trailing slash. */
export interface Base {
  readonly url: string
  readonly area: AreaRuntime
}

/** Where a request stands: its area, its path below the base, and what that path leads to. */
export interface Located {
  readonly area: AreaRuntime
  readonly path: string
  readonly query: string
  readonly match: Match<OperationTarget>
}

const BOUNDARY = new Set(['/', '?', '#', ''])

/** A base URL in the form in which request URLs begin with it. Throws a TypeError when it is none. */
export const normalizedBase = (option: string, url: string): string => {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  if (
    parsed === undefined ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username !== '' ||
    parsed.password !== '' ||
    parsed.search !== '' ||
    parsed.hash !== ''
  ) {
    throw new TypeError(
      `Option ${option} must be an absolute http or https URL without query or credentials, such as https://api.example/base.`,
    )
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '')
}

/** Whether an absolute URL lies at or below a base. */
const isBelow = (url: string, base: string): boolean =>
  url.startsWith(base) && BOUNDARY.has(url.charAt(base.length))

const split = (rest: string): { path: string; query: string } => {
  const [withoutHash = ''] = rest.split('#', 1)
  const mark = withoutHash.indexOf('?')
  if (mark === -1) return { path: withoutHash || '/', query: '' }
  return { path: withoutHash.slice(0, mark) || '/', query: withoutHash.slice(mark + 1) }
}

const RANK = { route: 0, 'other-method': 1, none: 2 } as const

interface Candidate extends Located {
  readonly base: string
}

const distance = ({ area, path }: Located, method: string): number =>
  nearestRoute(path, method, area.router.routes)?.distance ?? Number.POSITIVE_INFINITY

/** A path under another method before none, the longer base before the shorter, the more like route before the less. */
const better = (one: Candidate, other: Candidate, method: string): boolean => {
  const ranks = RANK[one.match.kind] - RANK[other.match.kind]
  if (ranks !== 0) return ranks < 0
  if (one.base.length !== other.base.length) return one.base.length > other.base.length
  return distance(one, method) < distance(other, method)
}

/**
 * Finds where a URL may stand, the best first; nothing when no base holds it. A path that has a route stands there
 * alone. Where areas share a base, the one that has the route most like the path is the best.
 */
export const locate = (url: string, method: string, bases: readonly Base[]): readonly Located[] => {
  const candidates: Candidate[] = []
  for (const { url: base, area } of bases) {
    if (!isBelow(url, base)) continue
    const { path, query } = split(url.slice(base.length))
    const match = area.router.search(path, method)
    const found: Candidate = { area, path, query, match, base }
    if (match.kind === 'route') return [found]
    candidates.push(found)
  }
  return candidates.length < 2
    ? candidates
    : candidates.sort((one, other) => (better(one, other, method) ? -1 : 1))
}

import type { AreaRuntime, OperationTarget } from './area.ts'
import { nearestRoute } from './nearest.ts'
import type { Match } from './router.ts'

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
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (
    parsed === undefined ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.search !== '' ||
    parsed.hash !== ''
  ) {
    throw new TypeError(
      `Option ${option} must be an absolute http or https URL without query, such as https://api.example/base.`,
    )
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '')
}

/** Whether an absolute URL lies at or below a base. */
export const isBelow = (url: string, base: string): boolean =>
  url.startsWith(base) && BOUNDARY.has(url.charAt(base.length))

const split = (rest: string): { path: string; query: string } => {
  const [withoutHash = ''] = rest.split('#', 1)
  const mark = withoutHash.indexOf('?')
  if (mark === -1) return { path: withoutHash || '/', query: '' }
  return { path: withoutHash.slice(0, mark) || '/', query: withoutHash.slice(mark + 1) }
}

const RANK = { route: 0, 'other-method': 1, none: 2 } as const

/**
 * Finds the area and the route of a URL; `undefined` when no base holds it. Where areas share a base, the one that has
 * the route answers, else the one that has the route most like it.
 */
export const locate = (url: string, method: string, bases: readonly Base[]): Located | undefined => {
  let best: (Located & { readonly base: string }) | undefined
  for (const { url: base, area } of bases) {
    if (!isBelow(url, base)) continue
    const { path, query } = split(url.slice(base.length))
    const match = area.router.search(path, method)
    const found = { area, path, query, match, base }
    if (match.kind === 'route') return found
    if (best === undefined || RANK[match.kind] < RANK[best.match.kind]) {
      best = found
      continue
    }
    if (match.kind !== 'none' || best.match.kind !== 'none' || base.length < best.base.length) continue
    const far = ({ area: one, path: below }: Located): number =>
      nearestRoute(below, method, one.router.routes)?.distance ?? Number.POSITIVE_INFINITY
    if (base.length > best.base.length || far(found) < far(best)) best = found
  }
  return best
}

import type { Area, EndpointDefinition } from '../../src/contract/endpoint.ts'
import type { ServerAddress } from './message.ts'

/** A route: a path template below the base URL, and its target. */
export interface Route<Target> {
  readonly methods: readonly string[]
  /** Template such as `/api/v1/mfs/charges/:id`. */
  readonly path: string
  readonly target: Target
}

/** The result of a route search. */
export type Match<Target> =
  | {
      readonly kind: 'route'
      /** The path. For a route without parameters, this is the route's own text: the log keeps no copy of the URL. */
      readonly path: string
      readonly target: Target
      readonly parameters: Readonly<Record<string, string>>
    }
  /** The path exists, but not with this method. `allow` is the value of the Allow header. */
  | { readonly kind: 'other-method'; readonly allow: string }
  | { readonly kind: 'none' }

/** Decodes a segment of a path. A malformed segment remains unchanged. */
export const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

const NO_PARAMETERS: Readonly<Record<string, string>> = {}

/** Returns the parameters of a path that fits a template, or `undefined` if it does not fit. */
const parametersOf = (template: readonly string[], path: string): Record<string, string> | undefined => {
  const segments = path.split('/')
  if (template.length !== segments.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, word] of template.entries()) {
    const segment = segments[index] ?? ''
    if (!word.startsWith(':')) {
      if (word !== segment) return undefined
    } else if (segment === '') return undefined
    else parameters[word.slice(1)] = decoded(segment)
  }
  return parameters
}

/** Creates a router. Literal segments take precedence over parameters, and HEAD uses the route of GET. */
export const createRouter = <Target>(routes: readonly Route<Target>[]) => {
  const literals = new Map<string, Route<Target>[]>()
  const hasParameters = ({ path }: Route<Target>): boolean => path.includes('/:')
  for (const route of routes) {
    if (!hasParameters(route)) literals.set(route.path, [...(literals.get(route.path) ?? []), route])
  }
  const templates = routes
    .filter(hasParameters)
    .map((route) => ({
      route,
      // Most paths do not start with the text before the first parameter, and are then not split.
      head: route.path.slice(0, route.path.indexOf(':')),
      words: route.path.split('/'),
      // A parameter is replaced by the last character of all, so that literal segments come first.
      order: route.path.replace(/:[^/]+/g, '\uffff'),
    }))
    .sort((one, other) => (one.order < other.order ? -1 : 1))

  const accepts = ({ methods }: Route<Target>, method: string): boolean =>
    methods.includes(method) || (method === 'HEAD' && methods.includes('GET'))

  const search = (path: string, method: string): Match<Target> => {
    const allowed: string[] = []
    for (const route of literals.get(path) ?? []) {
      if (accepts(route, method)) {
        return { kind: 'route', path: route.path, target: route.target, parameters: NO_PARAMETERS }
      }
      allowed.push(...route.methods)
    }
    for (const { head, words, route } of templates) {
      const parameters = path.startsWith(head) ? parametersOf(words, path) : undefined
      if (parameters === undefined) continue
      if (accepts(route, method)) return { kind: 'route', path, target: route.target, parameters }
      allowed.push(...route.methods)
    }
    if (allowed.length === 0) return { kind: 'none' }
    if (allowed.includes('GET')) allowed.push('HEAD')
    return { kind: 'other-method', allow: [...new Set(allowed)].sort().join(', ') }
  }

  return { search, routes }
}

/** A router made by `createRouter`. */
export type Router<Target> = ReturnType<typeof createRouter<Target>>

/** The operation that a route calls. */
export interface OperationTarget {
  /** Name of the operation in the contract. The operation's resolver has the same name. */
  readonly name: string
  readonly definition: EndpointDefinition
}

/**
 * Creates a function that returns the contract's router for a path prefix (row 49). Mocks with the same prefix
 * share a router, because a new router would make `createMock` much slower.
 *
 * @param moreMethods additional HTTP methods of operations, by the operation's name
 */
export const createRoutes = (
  contract: Readonly<Record<string, EndpointDefinition>>,
  standardPrefix: string,
  moreMethods: Readonly<Record<string, readonly string[]>> = {},
): ((prefix: string) => Router<OperationTarget>) => {
  const routers = new Map<string, Router<OperationTarget>>()
  const make = (prefix: string): Router<OperationTarget> =>
    createRouter(
      Object.entries(contract).map(([name, definition]) => {
        const { method, path } = definition
        return {
          methods: [method, ...(moreMethods[name] ?? [])],
          path: path.startsWith(`${standardPrefix}/`) ? prefix + path.slice(standardPrefix.length) : path,
          target: { name, definition },
        }
      }),
    )
  return (prefix) => {
    const router = routers.get(prefix) ?? make(prefix)
    routers.set(prefix, router)
    return router
  }
}

/** An area, as far as its routes are concerned. */
export interface Routed {
  readonly name: Area
  /** `apiPrefix` is the version prefix of the area's paths. */
  readonly options: { readonly apiPrefix: string }
  readonly router: Router<OperationTarget>
}

/** A base URL of an area, without a trailing slash. */
export interface Base {
  readonly url: string
  readonly area: Area
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

/** The base URLs of a mock. */
export type Addresses = ReturnType<typeof createAddresses>

/**
 * Keeps the base URLs from the options and the URLs of the running servers.
 *
 * @param own the base URL of each area in this process
 * @param given the options of the caller: a base URL among them is the one for payers, too
 */
export const createAddresses = (
  own: Readonly<Record<Area, string>>,
  given: { readonly [Name in Area]?: { readonly baseUrl?: string } },
) => {
  let servers: readonly ServerAddress[] = []

  const basesOf = (area: Area): Base[] =>
    [own[area], ...servers.flatMap(({ url, publicUrl = url }) => [url, publicUrl])].map((url) => ({
      url,
      area,
    }))
  const bases = (): readonly Base[] => [...basesOf('subscriptions'), ...basesOf('gateway')]

  const serve = (next: typeof servers): void => {
    servers = next
    addresses.bases = bases()
  }

  const addresses = {
    /** The base URLs of both areas. */
    bases: bases(),
    /** The address to which the client sent the request that is decided now. */
    requested: undefined as ServerAddress | undefined,
    /** Returns the base URL at which clients in this process reach an area. */
    current: (area: Area): string => servers.at(-1)?.url ?? own[area],
    /** Returns the base URL that an area uses in the links of its responses, such as the link to the payer's page. */
    forPayers(area: Area): string {
      const { publicUrl, url } = addresses.requested ?? servers.at(-1) ?? {}
      return publicUrl ?? (given[area]?.baseUrl === undefined ? url : own[area]) ?? own[area]
    },
    isServed: (): boolean => servers.length > 0,
    /** Adds a server. Returns a function that removes the server. */
    attach(server: ServerAddress): () => void {
      serve([...servers, server])
      return () => serve(servers.filter((other) => other !== server))
    },
  }
  return addresses
}

/** An area whose base URL matches a request. `path` is the path below the base URL; `match` is the router's result. */
export interface Located<AnyArea extends Routed> {
  readonly area: AnyArea
  readonly path: string
  readonly query: string
  readonly match: Match<OperationTarget>
}

// The search for a similar route compares only this many characters of a path, because every route is shorter.
const MAX_COMPARED_CHARACTERS = 256

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
  const segments = path.slice(0, MAX_COMPARED_CHARACTERS).split('/')
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
  const hash = rest.indexOf('#')
  const target = hash === -1 ? rest : rest.slice(0, hash)
  const mark = target.indexOf('?')
  if (mark === -1) return { path: target || '/', query: '' }
  return { path: target.slice(0, mark) || '/', query: target.slice(mark + 1) }
}

const RANK = { route: 0, 'other-method': 1, none: 2 } as const

/**
 * Returns the areas whose base URL matches. If an area has the route, returns only that area. If no area has the route,
 * sorts the areas by four criteria, the most important first: the path exists with another method, the base URL is
 * longer, the path begins with the area's version prefix, the path is more similar to a route of the area.
 */
export const locate = <AnyArea extends Routed>(
  url: string,
  method: string,
  bases: readonly Base[],
  areas: Readonly<Record<Area, AnyArea>>,
): readonly Located<AnyArea>[] => {
  const candidates: (Located<AnyArea> & { readonly base: string })[] = []
  for (const { url: base, area: name } of bases) {
    if (!url.startsWith(base) || !'/?#'.includes(url.charAt(base.length))) continue
    const area = areas[name]
    const { path, query } = split(url.slice(base.length))
    const match = area.router.search(path, method)
    if (match.kind === 'route') return [{ area, path: match.path, query, match }]
    candidates.push({ area, path, query, match, base })
  }
  if (candidates.length < 2) return candidates
  const similarityOf = ({ area, path }: Located<AnyArea>) =>
    nearestRoute(path, method, area.router.routes).similarity
  const hasPrefix = ({ area, path }: Located<AnyArea>) =>
    Number(path.startsWith(`${area.options.apiPrefix}/`))
  return candidates.sort(
    (one, other) =>
      RANK[one.match.kind] - RANK[other.match.kind] ||
      other.base.length - one.base.length ||
      hasPrefix(other) - hasPrefix(one) ||
      similarityOf(other) - similarityOf(one),
  )
}

import type { Area, EndpointDefinition } from '../../src/contract/endpoint.ts'
import type { ServerAddress } from './message.ts'

/** A route: the path of an operation below the base URL, with its HTTP methods. */
export interface Route {
  /** Name of the operation in the contract. The operation's resolver has the same name. */
  readonly name: string
  readonly definition: EndpointDefinition
  readonly methods: readonly string[]
  /** Template such as `/api/v1/mfs/charges/:id`. */
  readonly path: string
}

/** The result of a route search. */
export type Match = {
  /** The path. For a route without parameters, this is the route's own text: the log keeps no copy of the URL. */
  readonly path: string
  readonly parameters: Readonly<Record<string, string>>
} & (
  | { readonly route: Route; readonly allow: undefined }
  /** No operation has this path and method. `allow` is the value of the Allow header, if another method exists. */
  | { readonly route: undefined; readonly allow: string | undefined }
)

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

/** A router made by `createRouter`. */
export type Router = ReturnType<typeof createRouter>

/** Creates a router. Literal segments take precedence over parameters, and HEAD uses the route of GET. */
const createRouter = (routes: readonly Route[]) => {
  const literals = new Map<string, Route[]>()
  const hasParameters = ({ path }: Route): boolean => path.includes('/:')
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

  const accepts = ({ methods }: Route, method: string): boolean =>
    methods.includes(method) || (method === 'HEAD' && methods.includes('GET'))

  const search = (path: string, method: string): Match => {
    const allowed: string[] = []
    for (const route of literals.get(path) ?? []) {
      if (accepts(route, method)) {
        return { path: route.path, route, allow: undefined, parameters: NO_PARAMETERS }
      }
      allowed.push(...route.methods)
    }
    for (const { head, words, route } of templates) {
      const parameters = path.startsWith(head) ? parametersOf(words, path) : undefined
      if (parameters === undefined) continue
      if (accepts(route, method)) return { path, route, allow: undefined, parameters }
      allowed.push(...route.methods)
    }
    if (allowed.includes('GET')) allowed.push('HEAD')
    const allow = allowed.length === 0 ? undefined : [...new Set(allowed)].sort().join(', ')
    return { path, route: undefined, allow, parameters: NO_PARAMETERS }
  }

  return { search, routes }
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
): ((prefix: string) => Router) => {
  const routers = new Map<string, Router>()
  return (prefix) => {
    let router = routers.get(prefix)
    if (router === undefined) {
      const routes = Object.entries(contract).map(([name, definition]) => {
        const { method, path } = definition
        return {
          name,
          definition,
          methods: [method, ...(moreMethods[name] ?? [])],
          path: path.startsWith(`${standardPrefix}/`) ? prefix + path.slice(standardPrefix.length) : path,
        }
      })
      router = createRouter(routes)
      routers.set(prefix, router)
    }
    return router
  }
}

/** An area, as far as its routes are concerned. */
export interface Routed {
  readonly name: Area
  /** `apiPrefix` is the version prefix of the area's paths. */
  readonly options: { readonly apiPrefix: string }
  readonly router: Router
}

/** A base URL of an area, without a trailing slash. */
export interface Base {
  readonly url: string
  readonly area: Area
}

/** Returns whether a URL can be a base URL: http or https, without credentials, a query or a fragment. */
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

/** An area whose base URL matches a request, and what its router found for the path below the base URL. */
export type Located<AnyArea extends Routed> = Match & {
  readonly area: AnyArea
  readonly query: string
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

/**
 * Returns the route, such as `POST /api/v1/mfs/charges`, whose template is most similar to a path. A parameter in the
 * template matches any value. The similarity is 1 for equal texts.
 */
export const nearestRoute = (path: string, method: string, routes: readonly Route[]) => {
  const segments = path.slice(0, MAX_COMPARED_CHARACTERS).split('/')
  let nearest = { route: 'none', similarity: -1 }
  for (const { methods, path: template } of routes) {
    const words = template.split('/').map((word) => (word.startsWith(':') ? ':' : word))
    const compared = segments.map((segment, index) => (words[index] === ':' ? ':' : segment))
    const bonus = methods.includes(method) ? 0.05 : 0
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
    const found = { ...area.router.search(path, method), area, query }
    if (found.route !== undefined) return [found]
    candidates.push({ ...found, base })
  }
  if (candidates.length < 2) return candidates
  const similarityOf = ({ area, path }: Located<AnyArea>) =>
    nearestRoute(path, method, area.router.routes).similarity
  const hasPrefix = ({ area, path }: Located<AnyArea>) =>
    Number(path.startsWith(`${area.options.apiPrefix}/`))
  return candidates.sort(
    (one, other) =>
      Number(one.allow === undefined) - Number(other.allow === undefined) ||
      other.base.length - one.base.length ||
      hasPrefix(other) - hasPrefix(one) ||
      similarityOf(other) - similarityOf(one),
  )
}

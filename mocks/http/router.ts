/** A route: a path template below the base URL, and its target. */
export interface Route<Target> {
  readonly methods: readonly string[]
  /** Template such as `/api/v1/mfs/charges/:id`. */
  readonly path: string
  readonly target: Target
}

/** The result of a route search. */
export type Match<Target> =
  | { readonly kind: 'route'; readonly target: Target; readonly parameters: Readonly<Record<string, string>> }
  /** The path exists, but not with this method. `allow` is the value of the Allow header. */
  | { readonly kind: 'other-method'; readonly allow: string }
  | { readonly kind: 'none' }

interface Node<Target> {
  readonly literals: Map<string, Node<Target>>
  parameter: Node<Target> | undefined
  readonly leaves: Map<string, { readonly names: readonly string[]; readonly target: Target }>
}

const newNode = <Target>(): Node<Target> => ({ literals: new Map(), parameter: undefined, leaves: new Map() })

const childFor = <Target>(node: Node<Target>, segment: string): Node<Target> => {
  if (segment.startsWith(':')) {
    node.parameter ??= newNode()
    return node.parameter
  }
  const child = node.literals.get(segment) ?? newNode()
  node.literals.set(segment, child)
  return child
}

/** Decodes a segment of a path. A malformed segment remains unchanged. */
const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Creates a router. Literal segments take precedence over parameters, and HEAD uses the route of GET. */
export const createRouter = <Target>(routes: readonly Route<Target>[]) => {
  const root = newNode<Target>()
  for (const { methods, path, target } of routes) {
    const segments = path.split('/').slice(1)
    const names = segments.filter((segment) => segment.startsWith(':')).map((segment) => segment.slice(1))
    const leaf = segments.reduce(childFor<Target>, root)
    for (const method of methods) leaf.leaves.set(method, { names, target })
  }

  const search = (path: string, method: string): Match<Target> => {
    const segments = path.split('/')
    const values: string[] = []
    const allowed = new Set<string>()

    const walk = (node: Node<Target>, index: number): Match<Target> | undefined => {
      const segment = segments[index]
      if (segment === undefined) {
        for (const name of node.leaves.keys()) allowed.add(name)
        const leaf = node.leaves.get(method) ?? (method === 'HEAD' ? node.leaves.get('GET') : undefined)
        if (leaf === undefined) return undefined
        const parameters: Record<string, string> = {}
        for (const [position, name] of leaf.names.entries()) parameters[name] = values[position] ?? ''
        return { kind: 'route', target: leaf.target, parameters }
      }
      const literal = node.literals.get(segment)
      const found = literal === undefined ? undefined : walk(literal, index + 1)
      if (found !== undefined || node.parameter === undefined || segment === '') return found
      values.push(decoded(segment))
      const below = walk(node.parameter, index + 1)
      if (below === undefined) values.pop()
      return below
    }

    const found = walk(root, 1)
    if (found !== undefined) return found
    if (allowed.size === 0) return { kind: 'none' }
    if (allowed.has('GET')) allowed.add('HEAD')
    return { kind: 'other-method', allow: [...allowed].sort().join(', ') }
  }

  return { search, routes }
}

/** A router made by `createRouter`. */
export type Router<Target> = ReturnType<typeof createRouter<Target>>

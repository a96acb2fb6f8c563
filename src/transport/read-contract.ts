import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { UnexpectedReport } from './hooks.ts'
import { kindOfValue } from './kind-of-value.ts'

/** An answer read by its contract. */
export interface ContractReading {
  readonly data: unknown
  /** Fields the caller cannot do without that are missing or unreadable. */
  readonly missing: readonly string[]
  readonly reports: readonly UnexpectedReport[]
}

type Path = readonly PropertyKey[]

interface Issue {
  readonly path?: Path | undefined
  readonly message?: string | undefined
  readonly expected?: unknown
  readonly input?: unknown
}

const isContainer = (value: unknown): value is Record<PropertyKey, unknown> =>
  typeof value === 'object' && value !== null

const fieldName = (path: Path): string =>
  path
    .map((part, index) => (typeof part === 'number' ? '[]' : `${index > 0 ? '.' : ''}${String(part)}`))
    .join('')

/** Takes what could not be read out of the data. Entries of lists leave from the end, so that indices hold. */
const remove = (data: unknown, path: Path): void => {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((at, part) => (isContainer(at) ? at[part] : undefined), data)
  const last = path.at(-1)
  if (!isContainer(parent) || last === undefined) return
  if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else delete parent[last]
}

const ruleOf = (issue: Issue): string => issue.message ?? `${issue.expected ?? 'as specified'}`

const isUseless = (data: unknown, name: string): boolean => {
  if (!isContainer(data)) return true
  const value = data[name]
  return value === undefined || value === null || value === ''
}

const reportOf = (operation: string, issue: Issue): UnexpectedReport => {
  const field = fieldName(issue.path ?? [])
  const rule = ruleOf(issue)
  const received = kindOfValue(issue.input)
  return {
    operation,
    field,
    rule,
    received,
    message: `${field || 'the answer'} is not ${rule} but ${received}`,
  }
}

const withoutDoubles = (reports: readonly UnexpectedReport[]): UnexpectedReport[] => [
  ...new Map(reports.map((report) => [report.message, report])).values(),
]

/**
 * Reads a success by its endpoint's schema, softly: a field that is not as specified is left out and reported, and
 * only the fields that the caller needs can spoil the answer.
 */
export const readContract = (endpoint: EndpointDefinition, body: unknown): ContractReading => {
  // Zod's safeParse gives either data or issues; both together come from the parse step that it stands on.
  const payload = endpoint.response._zod.run({ value: body, issues: [] }, {})
  if (payload instanceof Promise)
    throw new TypeError(`${endpoint.operation}: a response schema must be synchronous`)
  const issues: readonly Issue[] = payload.issues
  // A partial answer may be anything: what is no object at all has none of the fields.
  const isOdd = !isContainer(payload.value) || Array.isArray(payload.value)
  const data: unknown = endpoint.partial && isOdd ? {} : payload.value
  if (issues.length > 0) {
    const paths = issues.map(({ path }) => path ?? []).filter((path) => path.length > 0)
    for (const path of paths.toReversed()) remove(data, path)
  }
  const missing = endpoint.needs.filter((name) => isUseless(data, name))
  if (missing.length > 0 || issues.length === 0) return { data, missing, reports: [] }
  const odd = endpoint.partial ? issues.filter(({ input }) => input !== undefined) : issues
  return { data, missing, reports: withoutDoubles(odd.map((issue) => reportOf(endpoint.operation, issue))) }
}

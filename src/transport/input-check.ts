import type { EndpointDefinition } from '../contract/endpoint.ts'
import type { Wanted } from '../contract/fields.ts'
import { isHeaderText, isPathSegment } from '../contract/formats.ts'
import type { InputIssue } from '../errors.ts'
import { isFields, unknownName, unless } from './input-issues.ts'
import { kindOfValue } from './kind-of-value.ts'

/** A schema that checks what a caller gives. */
type InputSchema = NonNullable<EndpointDefinition['request']>

/** Input that obeys its schema, as it is sent; or what is wrong with it. */
export type CheckedInput = { readonly value: unknown } | { readonly issues: InputIssue[] }

/** How a body or a query is called in the words for what is wrong with it. */
export interface InputNames {
  /** The argument that holds it. */
  readonly argument: string
  /** What its fields are fields of, for example `subscribe`. */
  readonly of: string
  /** The caller's names of fields that have another one on the wire. */
  readonly aliases?: Readonly<Record<string, string>> | undefined
}

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, part) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, part) : undefined),
    value,
  )

const fieldsOf = (schema: InputSchema): string[] =>
  'shape' in schema && isFields(schema.shape) ? Object.keys(schema.shape) : []

/** What a schema's field says of itself. */
interface FieldWords {
  readonly received?: string
  readonly wanted?: Wanted
}

/** The issue of an argument that is no object; `like` shows one: `such as { cycle: '2026-12-01' }`. */
export const objectIssues = (argument: string, like: string, value: unknown): InputIssue[] =>
  unless(isFields(value), argument, `an object ${like}`, value)

/** Checks a body or a query. */
export const checkInput = (schema: InputSchema, input: unknown, names: InputNames): CheckedInput => {
  const result = isFields(input) ? schema.safeParse(input) : undefined
  if (result?.success) return { value: result.data }
  const { argument, of, aliases = {} } = names
  const fields = fieldsOf(schema)
  if (result === undefined) return { issues: objectIssues(argument, `with ${fields.join(', ')}`, input) }
  // A misspelt name comes first: it is why the other one is missing.
  const isName = ({ code }: { readonly code: string }) => Number(code === 'unrecognized_keys')
  const found = result.error.issues.toSorted((one, other) => isName(other) - isName(one))
  const issues = found.flatMap((issue): InputIssue[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => unknownName(key, fields, `field of ${of}`))
    }
    const { received, wanted }: FieldWords = ('params' in issue && issue.params) || {}
    const name = issue.path.map(String).join('.')
    return [
      {
        field: aliases[name] ?? name,
        rule: issue.message,
        received: received ?? kindOfValue(at(input, issue.path), wanted),
      },
    ]
  })
  return { issues }
}

const IDENTIFIER = 'an identifier as text that is not empty'

/** The issues of path parameters, each of which becomes one segment. `aliases`: the caller's names of them. */
export const parameterIssues = (
  parameters: Readonly<Record<string, unknown>>,
  aliases: Readonly<Record<string, string>> = {},
): InputIssue[] =>
  Object.entries(parameters).flatMap(([name, value]) => {
    if (typeof value === 'string' && isPathSegment(value)) return []
    const received = value === '.' || value === '..' ? 'a step in the path' : kindOfValue(value, 'text')
    return [{ field: aliases[name] ?? name, rule: IDENTIFIER, received }]
  })

/** The issues of an idempotency key that a caller gave. */
export const idempotencyKeyIssues = (key: unknown): InputIssue[] => {
  if (key === undefined || (typeof key === 'string' && isHeaderText(key))) return []
  return unless(false, 'idempotencyKey', 'text of visible ASCII characters', key, 'text')
}

import type { EndpointDefinition } from '../contract/endpoint.ts'
import { isHeaderText, isPathSegment } from '../contract/formats.ts'
import type { InputIssue } from '../errors.ts'
import { kindOfValue } from './kind-of-value.ts'

/** A schema that checks what a caller gives. */
type InputSchema = NonNullable<EndpointDefinition['request']>

/** Input that obeys its schema, as it is sent; or what is wrong with it. */
export type CheckedInput = { readonly value: unknown } | { readonly issues: InputIssue[] }

const at = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, part) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, part) : undefined),
    value,
  )

/** Checks a body or a query. `spec` says which part of the specification defines its fields. */
export const checkInput = (schema: InputSchema, input: unknown, spec: string): CheckedInput => {
  const result = schema.safeParse(input)
  if (result.success) return { value: result.data }
  const issues = result.error.issues.flatMap((issue): InputIssue[] => {
    const name = issue.path.map(String).join('.')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        field: key,
        rule: `a field of ${spec}`,
        received: 'an unknown field',
      }))
    }
    const received = kindOfValue(at(input, issue.path))
    return name === ''
      ? [{ field: 'the input', rule: 'an object', received }]
      : [{ field: name, rule: issue.message, received }]
  })
  return { issues }
}

/** The issues of path parameters, each of which becomes one segment. */
export const parameterIssues = (parameters: Readonly<Record<string, unknown>>): InputIssue[] =>
  Object.entries(parameters).flatMap(([field, value]) => {
    const holds = typeof value === 'string' && isPathSegment(value)
    const received = value === '.' || value === '..' ? 'a step in the path' : kindOfValue(value)
    return holds ? [] : [{ field, rule: 'an identifier as text that is not empty', received }]
  })

/** The issues of an idempotency key that a caller gave. */
export const idempotencyKeyIssues = (key: unknown): InputIssue[] => {
  if (key === undefined || (typeof key === 'string' && isHeaderText(key))) return []
  const received =
    typeof key === 'string' && key.trim() !== '' ? 'text with other characters' : kindOfValue(key)
  return [{ field: 'idempotencyKey', rule: 'text of visible ASCII characters', received }]
}

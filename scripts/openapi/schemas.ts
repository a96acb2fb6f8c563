import { isDeepStrictEqual } from 'node:util'
import { type $ZodType, toJSONSchema } from 'zod/v4/core'
import type { Docstrings } from './docstrings.ts'

/** A part of a document. */
export type Json = Readonly<Record<string, unknown>>

/**
 * Returns the JSON Schema of a schema of the contract, in the form that the specification shows. The specification
 * gives no number a lower bound.
 */
export const plainSchema = (schema: $ZodType): Json => {
  const { $schema: _dialect, ...rest } = toJSONSchema(schema)
  return normalized(rest)
}

/** Omits lower bounds, and writes an enumeration that the server may extend as `anyOf` of its values and any string. */
const normalized = (schema: Json): Json => {
  const { anyOf, type, properties, items, minimum: _, ...rest } = schema
  if (Array.isArray(anyOf)) {
    return { ...rest, anyOf: [{ type: 'string', ...Object(anyOf[0]) }, { type: 'string' }] }
  }
  return {
    ...(type === undefined ? {} : { type }),
    ...rest,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries<Json>(Object(properties)).map(([name, field]) => [name, normalized(field)]),
          ),
        }),
    ...(items === undefined ? {} : { items: normalized(Object(items)) }),
  }
}

/** The schema of a component, and the exported type with its docstrings. */
export interface Component {
  readonly name: string
  readonly type: string
  readonly schema: Json
}

/** Adds the docstrings, and replaces each schema inside that equals another component by a reference. */
export const documentComponents = (
  components: readonly Component[],
  docstrings: Docstrings,
): Readonly<Record<string, Json>> => {
  const referenceTo = (schema: Json): string | undefined =>
    components.find((component) => isDeepStrictEqual(component.schema, schema))?.name

  const fieldOf = (schema: Json, description: string): Json => {
    const name = referenceTo(schema)
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
    const { items } = schema
    const item = items === undefined ? undefined : referenceTo(Object(items))
    return {
      description,
      ...schema,
      ...(item === undefined ? {} : { items: { $ref: `#/components/schemas/${item}` } }),
    }
  }

  return Object.fromEntries(
    components.map(({ name, type, schema }) => {
      // The response of a login may contain the fields of the envelope too.
      const texts = {
        ...(name === 'Token' ? docstrings.fieldsOf('Envelope') : {}),
        ...docstrings.fieldsOf(type),
      }
      const fields = Object.entries<Json>(Object(schema.properties)).map(([field, inner]) => [
        field,
        fieldOf(inner, texts[field] ?? ''),
      ])
      const isPartial =
        Object.keys(Object(schema.properties)).length > Object(schema.required).length && type !== name
      const description = `${docstrings.of(type)}${isPartial ? ' A server may omit the fields that are not required.' : ''}`
      return [name, { description, ...schema, properties: Object.fromEntries(fields) }]
    }),
  )
}

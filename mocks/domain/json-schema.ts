import type { core } from 'zod/mini'
import { safeParse } from 'zod/mini'
import type { Shape } from '../../src/contract/fields.ts'

/** JSON, such as a JSON schema. */
export type Json = Readonly<Record<string, unknown>>

// If the mock used zod's `toJSONSchema`, each client would grow by 200 bytes, because both share one copy of zod.
const typeOf = (rule: core.$ZodType): Json => {
  const { def } = (rule as core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
      return typeOf(def.innerType)
    case 'pipe':
      return typeOf(def.in)
    case 'literal':
      return { type: typeof def.values[0], enum: def.values }
    case 'union':
      return { anyOf: def.options.map(typeOf) }
    case 'array':
      return { type: 'array', items: typeOf(def.element) }
    case 'record':
      return { type: 'object', additionalProperties: typeOf(def.valueType) }
    default: {
      // A JSON schema cannot express every rule. The error message for `undefined` describes the rule in words.
      const [issue] = safeParse(rule, undefined).error?.issues ?? []
      const type = def.type === 'string' || def.type === 'number' ? { type: def.type } : {}
      return { ...type, description: issue?.message }
    }
  }
}

/** Returns the JSON schema of an object with these fields and no other. */
export const schemaOf = (fields: Shape): Json => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(fields).map(([name, rule]) => [name, typeOf(rule)])),
  required: Object.keys(fields).filter((name) => fields[name]?._zod.optin !== 'optional'),
  additionalProperties: false,
})

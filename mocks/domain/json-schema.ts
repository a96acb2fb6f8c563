import type { core } from 'zod/mini'
import type { Shape } from '../../src/contract/fields.ts'

/** JSON, such as a JSON schema. */
export type Json = Readonly<Record<string, unknown>>

// zod's own `toJSONSchema` would add 200 bytes to each client: `dist` shares zod, and its registry is not tree-shaken.
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
      // The rule's error message describes what the schema cannot express.
      const [issue] = (rule as Shape[string]).safeParse(undefined).error?.issues ?? []
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

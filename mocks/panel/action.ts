import type { Json, Output, Shape } from '../../src/contract/fields.ts'
import { asText, field, isObject, jsonOf, object, STRING, schema } from '../../src/contract/fields.ts'
import { check } from '../base/fields.ts'
import { attempt } from '../base/result.ts'
import type { Mock } from '../types.ts'

/** The fields of an action, as a program or a form sent them. */
export type SentFields = Readonly<Record<string, unknown>>

/** Converts what a form sent, which is text, to what a schema checks. An empty text means that the field is missing. */
const convert = (json: Json, given: unknown): unknown => {
  const value = typeof given === 'string' ? given.trim() : given
  if (value === '' || value === null) return undefined
  if (/^string(,number)?$/.test(String(json.type))) return typeof value === 'number' ? String(value) : value
  if (json.type === 'number' || json.type === 'integer') {
    return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
  }
  const read = typeof value === 'string' ? attempt<unknown>(() => JSON.parse(value), value) : value
  if (json.type === 'array' && typeof read === 'string') return read.split(/[\s,]+/).filter(Boolean)
  if (json.type !== 'object' || !isObject(read)) return read
  const schemaOf = (name: string): Json => Object(Object(json.properties)[name] ?? json.additionalProperties)
  return Object.fromEntries(
    Object.entries(read).map(([name, inner]) => [name, convert(schemaOf(name), inner)]),
  )
}

/** Reads a request body: a JSON object, or a form. A field name of a form may have a dot, such as `when.msisdn`. */
export const readFields = (body: string, isJson: boolean): SentFields => {
  if (isJson) return Object(JSON.parse(body))
  const fields = new Map<string, unknown>()
  for (const [name, value] of new URLSearchParams(body)) {
    const [outer = '', inner] = name.split('.', 2)
    if (inner === undefined) fields.set(outer, value)
    else if (value !== '') fields.set(outer, { ...Object(fields.get(outer)), [inner]: value })
  }
  return Object.fromEntries(fields)
}

/** The message of an action, and the page of what it created. */
interface Done {
  readonly message: string
  readonly page?: string
}

/** An identifier. The API returns some as numbers, so a number counts as its text. */
export const id = field<string, string | number>('a string', asText, { type: ['string', 'number'] })

/** Accepts the field `action`, and removes it from the checked fields. */
const nameOfAction = schema(
  () => STRING,
  () => undefined,
)

/** An action of the panel: the schemas of its fields, and the function that executes it and returns a message. */
interface Action {
  readonly description: string
  readonly fields: Shape
  /** Whether the panel asks for a confirmation, because the action cannot be undone. */
  readonly isDestructive?: boolean
  /** `isForm` tells whether a form sent the fields: text, which is converted. */
  run(mock: Mock, sent: SentFields, isForm: boolean): Promise<Done>
}

export const action = <const Of extends Shape>(
  description: string,
  fields: Of,
  run: (mock: Mock, given: Output<Of>) => string | Done | Promise<string | Done>,
): Action => {
  const checked = object<Output<Of>>({ ...fields, action: nameOfAction }, 'fields', 'field')
  return {
    description,
    fields,
    async run(mock, sent, isForm) {
      const converted = Object.entries(sent).map(([name, value]) => {
        const one = isForm && Object.hasOwn(fields, name) ? fields[name] : undefined
        return [name, one === undefined ? value : convert(jsonOf(one), value)]
      })
      const result = await run(mock, check(checked, Object.fromEntries(converted)))
      return typeof result === 'string' ? { message: result } : result
    },
  }
}

/** An action that cannot be undone. */
export const destructive: typeof action = (...given) => ({ ...action(...given), isDestructive: true })

import { isObject, type Json } from '../../src/contract/fields.ts'

/** The fields of an action, as a program or a form sent them. */
export type SentFields = Readonly<Record<string, unknown>>

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Converts what a form sent, which is text, to what a schema checks. An empty text means that the field is missing. */
export const convert = (json: Json, given: unknown): unknown => {
  const value = typeof given === 'string' ? given.trim() : given
  if (value === '' || value === null) return undefined
  if (json.type === 'string') return typeof value === 'number' ? String(value) : value
  if (json.type === 'number' || json.type === 'integer') {
    return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
  }
  const read = typeof value === 'string' ? parsed(value) : value
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

import type { Shape } from '../../src/contract/fields.ts'
import { isObject } from '../../src/contract/fields.ts'
import { anyString, number as numberFrom, optional, tableOf } from '../domain/check-options.ts'
import { paymentScripts } from '../domain/subscriptions/options.ts'

/** The fields of an action, as a program or a form sent them. */
export type SentFields = Readonly<Record<string, unknown>>

/** Reads one field of an action. Forms send text, and an empty text means that the field is missing. */
export interface Reader<Value> {
  (given: unknown, name: string): Value
  /** Describes the field in a JSON body, for the OpenAPI document. The reader itself does not use the schema. */
  readonly schema: Shape[string]
}

/** Creates a reader that calls `read` and has `schema`. If `read` is a reader too, its own schema does not change. */
export const reader = <Value>(
  schema: Shape[string],
  read: (given: unknown, name: string) => Value,
): Reader<Value> => Object.assign((given: unknown, name: string) => read(given, name), { schema })

const required = <Value>(schema: Shape[string], read: Reader<Value | undefined>): Reader<Value> =>
  reader(schema, (given, name) => {
    const value = read(given, name)
    if (value === undefined) throw new TypeError(`Missing field ${name}.`)
    return value
  })

const plain = (given: unknown): unknown => {
  const value = typeof given === 'string' ? given.trim() : given
  return value === '' || value === null ? undefined : value
}

/** Reads a field that contains text or a number. Returns a number as text. */
export const optionalText = reader(optional(anyString), (given, name) => {
  const value = plain(given)
  if (value === undefined || typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw new TypeError(`Field ${name} must be text.`)
})

/** Reads a required text. */
export const text = required(anyString, optionalText)

const fromZero = numberFrom('a number from 0', 0)

/** Reads a number that is not negative. */
export const count = reader(optional(fromZero), (given, name) => {
  const value = optionalText(given, name)
  if (value === undefined) return undefined
  if (!/^\d+(\.\d+)?$/.test(value)) throw new TypeError(`Field ${name} must be a number from 0, such as 3.`)
  return Number(value)
})

/** Reads a required number that is not negative. */
export const number = required(fromZero, count)

const parsed = (given: unknown): unknown => {
  const value = plain(given)
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Creates a reader for each option in a table. The readers parse text as JSON; text that is not JSON stays text. */
export const jsonFields = <Name extends string>(table: Readonly<Record<Name, Shape[string]>>) =>
  Object.fromEntries(
    Object.entries<Shape[string]>(table).map(([name, schema]) => [name, reader(schema, parsed)]),
  ) as Record<Name, Reader<unknown>>

/** Reads an object of texts, which a form sends as fields `name.<key>`. As a number, `017` would lose its 0. */
export const texts = reader<Readonly<Record<string, string>> | undefined>(
  optional(tableOf(anyString)),
  (given, name) => {
    const value = parsed(given)
    if (value === undefined) return undefined
    if (!isObject(value)) throw new TypeError(`Field ${name} must be an object of texts.`)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, text(inner, `${name}.${key}`)]),
    )
  },
)

/** Reads the outcomes of payments: a list, or text such as `succeed, fail`. */
export const scripts = reader(optional(paymentScripts), (given, name) => {
  const value = parsed(given)
  const words = Array.isArray(value) ? value : (optionalText(value, name) ?? '').split(/[\s,]+/)
  return words
    .filter((word) => word !== '')
    .map((word) => {
      if (word === 'succeed' || word === 'fail') return word
      throw new TypeError(`Field ${name} must be a list of succeed and fail, got "${word}".`)
    })
})

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

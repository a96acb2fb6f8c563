import type { Field, Output, Shape } from '../../src/contract/fields.ts'
import { anyText, isObject, optional } from '../../src/contract/fields.ts'
import { number as numberFrom, tableOf } from '../base/fields.ts'
import { paymentScripts } from '../subscriptions/options.ts'

/** The fields of an action, as a program or a form sent them. */
export type SentFields = Readonly<Record<string, unknown>>

/** A field of an action. Forms send text, and an empty text means that the field is missing. */
export interface ActionField<Value> {
  /** Checks the field. */
  readonly schema: Field<Value>
  /** Converts what a form sent to the value that the schema checks, such as a number. */
  prepare(given: unknown): unknown
}

/** Creates a field of an action. */
export const fieldOf = <Value>(
  schema: Field<Value>,
  prepare: (given: unknown) => unknown,
): ActionField<Value> => ({ schema, prepare })

const plain = (given: unknown): unknown => {
  const value = typeof given === 'string' ? given.trim() : given
  return value === '' || value === null ? undefined : value
}

/** Reads text. Converts a number to text. */
export const asText = (given: unknown): unknown => {
  const value = plain(given)
  return typeof value === 'number' ? String(value) : value
}

const asNumber = (given: unknown): unknown => {
  const value = plain(given)
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

const asJson = (given: unknown): unknown => {
  const value = plain(given)
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Reads an object of texts, which a form sends as fields `name.<key>`. As a number, `017` would lose its 0. */
export const asTexts = (given: unknown): unknown => {
  const value = asJson(given)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asText(inner)]))
}

const asList = (given: unknown): unknown => {
  const value = asJson(given)
  return typeof value === 'string' ? value.split(/[\s,]+/).filter((word) => word !== '') : value
}

/** A required text. */
export const text = fieldOf(anyText, asText)
/** A text that may be omitted. */
export const optionalText = fieldOf(optional(anyText), asText)

const fromZero = numberFrom('a number from 0', 0)

/** A required number that is not negative. */
export const number = fieldOf(fromZero, asNumber)
/** A number that is not negative and may be omitted. */
export const count = fieldOf(optional(fromZero), asNumber)
/** A field that a form sends as a number. */
export const numeric = <Value>(schema: Field<Value>) => fieldOf(schema, asNumber)
/** Texts by name. */
export const texts = fieldOf(optional(tableOf(anyText)), asTexts)
/** The outcomes of payments: a list, or text such as `succeed, fail`. */
export const scripts = fieldOf(optional(paymentScripts), asList)

/** Creates a field for each option in a table. Text is parsed as JSON; text that is not JSON stays text. */
export const jsonFields = <const Table extends Shape>(table: Table) =>
  Object.fromEntries(Object.entries(table).map(([name, schema]) => [name, fieldOf(schema, asJson)])) as {
    readonly [Name in keyof Table]: ActionField<Output<Table>[Name]>
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

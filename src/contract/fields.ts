import * as z from 'zod/mini'
import type { ResponseSchema } from './endpoint.ts'
import { isCalendarDate } from './formats.ts'

/** An enumeration that the server may extend: the known values complete in an editor, any string compiles. */
export type Open<Known extends string> = Known | (string & {})

/** A JSON object, before it is read. */
type JsonObject = Record<string, unknown>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * What the rule of a request's field takes, as far as the words for another value depend on it: text of a form, a day
 * of the calendar, one of a few words, or a number in a range.
 */
export type Wanted =
  | 'text'
  | 'day'
  | readonly string[]
  | { readonly above?: number; readonly from?: number; readonly to?: number }

/** How a field differs from one that must be there. */
interface FieldTraits {
  /** The field may be missing. */
  readonly optional?: boolean
  readonly wanted?: Wanted
}

/** A field that yields exactly `Value`: one of a narrower or a wider type does not stand for it. */
export interface Field<in out Value> extends ResponseSchema<Value> {}

/** Every field of a body and no other, each of exactly its type: ties a schema to the type of its name. */
export type FieldsOf<Body> = { readonly [Name in keyof Body]-?: Field<Body[Name]> }

/** A field: `read` turns any received form into the specification's, or says `undefined`: unreadable. */
const field = <Value>(
  rule: string,
  read: (value: unknown) => Value | undefined,
  { optional = false, wanted }: FieldTraits = {},
): Field<Value> =>
  z.transform((value, payload): Value => {
    const result = read(value)
    if (result !== undefined || (optional && value === undefined)) return result as Value
    payload.issues.push({ code: 'custom', message: rule, input: value, params: { wanted } })
    return z.NEVER
  })

const asText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined
}

const ABSENT = new Set<unknown>([undefined, null, '', 'NA', 'N/A', 'null'])
const INTEGER = /^-?\d+$/
const DECIMAL = /^\s*[+-]?\d+(?:\.\d+)?\s*$/
const ZERO = /^[+-]?0*(?:\.0*)?$/

/** Text; a number is read as its digits. */
export const text = field('text', asText)

/** Text with known values that the server may extend. */
export const openText = <const Known extends string>(): Field<Open<Known>> =>
  field<Open<Known>>('text', asText)

/** Text that a server may leave out: `""`, `"NA"`, null and a missing field are read as null. */
export const absentableText = field<string | null>('text or null', (value) =>
  ABSENT.has(value) ? null : asText(value),
)

/**
 * Integer identifier: a number, or the text of one that a number would change: more digits than it holds, zeros in
 * front, letters. Without its identifier a record could neither be told from others nor be asked for.
 */
export const integerId = field<number | string>('an integer', (value) => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
  const id = typeof value === 'string' ? value.trim() : ''
  // What says that there is none would be one identifier for all that have none.
  if (ABSENT.has(id)) return undefined
  const number = Number(id)
  return Number.isSafeInteger(number) && String(number) === id ? number : id
})

/** Number; decimal text is read too. An integer that a number cannot hold exactly is not read: it would be another. */
export const decimal = field('a number', (value) => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !DECIMAL.test(value)) return undefined
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
})

const FLAGS = new Map<unknown, number>([
  [true, 1],
  ['true', 1],
  [false, 0],
  ['false', 0],
])

/** Numeric flag; booleans and their texts are read as 1 and 0. */
export const flag = field('a numeric flag', (value) => {
  const known = FLAGS.get(typeof value === 'string' ? value.toLowerCase() : value)
  if (known !== undefined) return known
  const digits = asText(value)
  return digits !== undefined && INTEGER.test(digits) ? Number(digits) : undefined
})

/** Amount of a reversal as text; null, `""`, zero and a missing field are read as null: no reversal. */
export const reversedAmount = field<string | null>('an amount or null', (value) => {
  if (ABSENT.has(value)) return null
  const amount = asText(value)
  return amount !== undefined && ZERO.test(amount) ? null : amount
})

/** Anything a JSON text can hold. */
export const anyJson: ResponseSchema<unknown> = z.unknown()

/** The other casing of a name that ends in ID or Id, or `undefined`. */
const otherCasing = (name: string): string | undefined => {
  if (name.endsWith('ID')) return `${name.slice(0, -2)}Id`
  return name.endsWith('Id') ? `${name.slice(0, -2)}ID` : undefined
}

/**
 * An answer's object, tied to the type that it is given, without which it does not compile: names are read in both casings of ID, unknown fields are kept at
 * run time (they stay out of the type, so that a misspelt name does not compile).
 */
export const answer = <Body extends object = never>(
  fields: FieldsOf<NoInfer<Body>>,
): ResponseSchema<Body> => {
  const casings = Object.keys(fields).flatMap((name) => {
    const other = otherCasing(name)
    return other === undefined || other in fields ? [] : [[name, other] as const]
  })
  const renamed = z.transform((value: unknown): unknown => {
    if (!isObject(value)) return value
    const found = casings.filter(
      ([name, other]) => !Object.hasOwn(value, name) && Object.hasOwn(value, other),
    )
    if (found.length === 0) return value
    const copy = { ...value }
    for (const [name, other] of found) {
      copy[name] = copy[other]
      delete copy[other]
    }
    return copy
  })
  return z.pipe(renamed, z.looseObject(fields)) as ResponseSchema<Body>
}

/** A list; null is read as the empty one. */
export const listOf = <Item>(item: ResponseSchema<Item>): ResponseSchema<Item[]> =>
  z.pipe(
    z.transform((value: unknown) => (value === null ? [] : value)),
    z.array(item),
  ) as ResponseSchema<Item[]>

/** A field of a request: text that obeys a rule. The rule's words become the error's words. */
export const input = (
  rule: string,
  obeys: (value: string) => boolean,
  wanted: Wanted = 'text',
): ResponseSchema<string> =>
  field(rule, (value) => (typeof value === 'string' && obeys(value) ? value : undefined), { wanted })

/** A field of a request: a day of the calendar. */
export const inputDay = input('a day of the calendar as YYYY-MM-DD text', isCalendarDate, 'day')

/** A field of a request: one of a few words. */
export const oneOf = <const Choice extends string>(
  rule: string,
  choices: readonly Choice[],
): ResponseSchema<Choice> =>
  field(rule, (value) => choices.find((choice) => choice === value), { wanted: choices })

const isWholeNumber = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

/** A field of a request: a whole number from 0 that a JavaScript number holds exactly. */
export const wholeNumber = (rule: string): ResponseSchema<number> =>
  field(rule, (value) => (isWholeNumber(value, 0, Number.MAX_SAFE_INTEGER) ? value : undefined), {
    wanted: { from: 0 },
  })

/** A parameter of a query that may be left out: a whole number from 1. */
export const optionalCount = (
  rule: string,
  most = Number.MAX_SAFE_INTEGER,
): ResponseSchema<number | undefined> =>
  field<number | undefined>(rule, (value) => (isWholeNumber(value, 1, most) ? value : undefined), {
    optional: true,
    wanted: { from: 1, to: most },
  })

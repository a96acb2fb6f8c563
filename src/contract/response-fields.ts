import { asText, type Field, field, INT64, type Json, jsonOf, type Open, STRING } from './fields.ts'

// These schemas read responses, so they accept several forms of a value. With the annotations, such as `@__PURE__`,
// bundlers can omit the schemas that only the other area uses.

const ABSENT: readonly unknown[] = [undefined, null, '', 'NA', 'N/A', 'null']
export const isAbsent = (value: unknown): boolean => ABSENT.includes(value)
const DECIMAL = /^\s*[+-]?\d+(?:\.\d+)?\s*$/
const ZERO = /^[+-]?0*(?:\.0*)?$/

const NULLABLE = { type: ['string', 'null'] } as const

export const text = field('text', asText, STRING)

/** Creates a schema for text such as a date. The schema accepts any format, because a server may use its own. */
const textOf = /* @__NO_SIDE_EFFECTS__ */ (form: Json) => field('text', asText, { ...STRING, ...form })
export const dateText = textOf({ format: 'date' })
export const timeText = textOf({ pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' })
export const instantText = textOf({ format: 'date-time' })
export const urlOnWire = textOf({ format: 'uri' })
export const mobileNumber = textOf({})
export const idText = (prefix: string) => textOf({ pattern: `^${prefix}` })

/** Creates a schema for text. The schema also accepts values outside `known`, because a server may send them. */
export const openText = <Known extends string>(...known: readonly Known[]): Field<Open<Known>> =>
  field<Open<Known>>('text', asText, { ...STRING, anyOf: [{ enum: known }, {}] })

const textOrNull = /* @__NO_SIDE_EFFECTS__ */ (json: Json) =>
  field<string | null>('text or null', (value) => (isAbsent(value) ? null : asText(value)), json)
/** Text that a server may omit: `""`, `"NA"`, null and a missing field are read as null. */
export const absentable = (one: Field<unknown>): Field<string | null> => textOrNull(jsonOf(one))
/** Text that the specification shows as null if the payment was not reversed. */
export const nullableText = textOrNull(NULLABLE)

/** Integer identifier. Converts text to a number, but keeps text that a number cannot represent, such as `007`. */
export const integerId = /* @__PURE__ */ field<number | string>(
  'an integer',
  (value) => {
    if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
    const id = typeof value === 'string' ? value.trim() : ''
    // `NA` is not an identifier, because several records may have the text `NA`.
    if (isAbsent(id)) return undefined
    const number = Number(id)
    return Number.isSafeInteger(number) && String(number) === id ? number : id
  },
  INT64,
)

const readDecimal = (value: unknown): number | undefined => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !DECIMAL.test(value)) return undefined
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
}

/** Reads a number or decimal text. Refuses text with an unsafe integer, because JavaScript would round the number. */
export const decimal = /* @__PURE__ */ field('a number', readDecimal, { type: 'number' })
/** A number that is an integer in the specification. A server may send a fraction, so the schema accepts fractions. */
export const integer = field('a number', readDecimal, INT64)

/** Numeric flag. `true` and `false`, even as text, are read as 1 and 0. */
export const flag = /* @__PURE__ */ field(
  'a numeric flag',
  (value) => {
    const word = typeof value === 'boolean' ? String(value) : (asText(value)?.toLowerCase() ?? '')
    if (word === 'true' || word === 'false') return Number(word === 'true')
    return /^-?\d+$/.test(word) ? Number(word) : undefined
  },
  INT64,
)

/** Reversed amount, as text. Reads null, `""`, zero and a missing field as null. */
export const reversedAmount = /* @__PURE__ */ field<string | null>(
  'an amount or null',
  (value) => {
    if (isAbsent(value)) return null
    const amount = asText(value)
    return amount !== undefined && ZERO.test(amount) ? null : amount
  },
  NULLABLE,
)

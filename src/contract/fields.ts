import * as z from 'zod/mini'
import { isAbsoluteUrl, isCalendarDate } from './formats.ts'

/** An enumeration that the server may extend. Editors suggest the known values, and any other string compiles. */
export type Open<Known extends string> = Known | (string & {})

/** A schema that converts a `Given` to a `Value`. For responses, `Given` is `unknown`. */
export type Field<Value, Given = unknown> = z.ZodMiniType<Value, Given>

/** The fields of an object, by name. */
export type Shape = Readonly<Record<string, z.ZodMiniType>>

/** The type of a checked object with the fields of a shape. Editors show the shape's docstrings for its fields. */
export type Output<Fields extends Shape> = { readonly [Name in keyof Fields]: z.output<Fields[Name]> }

/** The type of a caller's object with the fields of a shape. A field is optional if its type includes undefined. */
export type Input<Fields extends Shape> = {
  readonly [Name in keyof Fields as undefined extends z.input<Fields[Name]> ? never : Name]: z.input<
    Fields[Name]
  >
} & {
  readonly [Name in keyof Fields as undefined extends z.input<Fields[Name]> ? Name : never]?: z.input<
    Fields[Name]
  >
}

/** Whether a value is an object that is neither null nor an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Creates a schema that converts values with the function `read`, which returns `undefined` for invalid values. */
export const field = <Value, Given = unknown>(
  rule: string,
  read: (value: unknown) => Value | undefined,
): Field<Value, Given> =>
  z.transform((value, { issues }) => {
    const result = read(value)
    if (result === undefined) issues.push({ code: 'custom', message: rule, input: value })
    return result
  }) as Field<Value, Given>

// These schemas read responses, so they accept several forms of a value.

/** Returns a string unchanged, a finite number as text, and `undefined` for any other value. */
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' || Number.isFinite(value) ? String(value) : undefined

const ABSENT = new Set<unknown>([undefined, null, '', 'NA', 'N/A', 'null'])
const INTEGER = /^-?\d+$/
const DECIMAL = /^\s*[+-]?\d+(?:\.\d+)?\s*$/
const ZERO = /^[+-]?0*(?:\.0*)?$/

/** Text. A number is converted to text. */
export const text = field('text', asText)

/** Text with known values that the server may extend. */
export const openText = <const Known extends string>(): Field<Open<Known>> =>
  field<Open<Known>>('text', asText)

/** Text that a server may omit: `""`, `"NA"`, null and a missing field are read as null. */
export const absentableText = field<string | null>('text or null', (value) =>
  ABSENT.has(value) ? null : asText(value),
)

/** Integer identifier. Converts text to a number, but keeps text that a number cannot represent, such as `007`. */
export const integerId = field<number | string>('an integer', (value) => {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : undefined
  const id = typeof value === 'string' ? value.trim() : ''
  // `NA` is not an identifier, because several records may have the text `NA`.
  if (ABSENT.has(id)) return undefined
  const number = Number(id)
  return Number.isSafeInteger(number) && String(number) === id ? number : id
})

/** Number, or decimal text. Refuses text with an unsafe integer, because JavaScript would round the number. */
export const decimal = field('a number', (value) => {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !DECIMAL.test(value)) return undefined
  const number = Number(value)
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
})

/** Numeric flag. `true` and `false`, also as text, are read as 1 and 0. */
export const flag = field('a numeric flag', (value) => {
  const word = typeof value === 'boolean' ? String(value) : (asText(value)?.toLowerCase() ?? '')
  if (word === 'true' || word === 'false') return Number(word === 'true')
  return INTEGER.test(word) ? Number(word) : undefined
})

/** Amount of a reversal as text. Reads null, `""`, zero and a missing field as null. */
export const reversedAmount = field<string | null>('an amount or null', (value) => {
  if (ABSENT.has(value)) return null
  const amount = asText(value)
  return amount !== undefined && ZERO.test(amount) ? null : amount
})

/** Any JSON value. */
export const anyJson: Field<unknown> = z.unknown()

const otherCasing = (name: string): string => name.replace(/I[dD]$/, (end) => (end === 'ID' ? 'Id' : 'ID'))

type Members = Readonly<Record<string, unknown>>

/** Returns the field `name` of a received object. For `invoiceID`, also looks for `invoiceId`, and vice versa. */
export const received = (body: Members, name: string): unknown => body[name] ?? body[otherCasing(name)]

/** The invalid values that a schema found, each with its `path` and the rule. */
export type Issues = z.core.ParsePayload['issues']

/** Reads a value with a schema, and adds errors to `issues` under the path `at`. zod's wrappers take 1.5 kB more. */
export const readWith = <Value, Given>(
  inner: z.ZodMiniType<Value, Given>,
  value: unknown,
  issues: Issues,
  ...at: readonly PropertyKey[]
): Value => {
  const read = inner._zod.run({ value, issues: [] }, {}) as { value: Value; issues: Issues }
  for (const issue of read.issues) issues.push({ ...issue, path: [...at, ...(issue.path ?? [])] })
  return read.value
}

// Inherited options are read too, because callers may use Object.create with defaults. A null option counts as
// omitted. But a null `idempotencyKey` is an error, because the caller intended to pass a key.
const withoutAbsent = (value: Members, isOption: boolean): Members => {
  // In an object without a prototype, `__proto__` is an unknown field like any other.
  const kept: Record<string, unknown> = Object.create(null)
  for (const name in value)
    if (value[name] !== undefined && !(isOption && value[name] === null && name !== 'idempotencyKey'))
      kept[name] = value[name]
  return kept
}

/** Creates the schema of an object. Keeps unknown fields, but if `noun` is set, they cause an error with this word. */
export const object = <Value, Given = Value>(
  fields: Shape,
  rule = 'an object',
  noun?: 'field' | 'option',
): Field<Value, Given> =>
  z.transform((value: unknown, { issues }): unknown => {
    if (!isObject(value)) {
      issues.push({ code: 'custom', message: rule, input: value })
      return undefined
    }
    const given = noun ? withoutAbsent(value, noun === 'option') : value
    const result: Record<string, unknown> = noun ? {} : { ...given }
    for (const [name, inner] of Object.entries(fields)) {
      const read = readWith(inner, noun ? given[name] : received(given, name), issues, name)
      if (!(name in given)) delete result[otherCasing(name)]
      if (read === undefined) delete result[name]
      else result[name] = read
    }
    const keys = noun ? Object.keys(given).filter((name) => !Object.hasOwn(fields, name)) : []
    const message = `${noun}s: ${Object.keys(fields).join(', ')}`
    if (keys.length > 0) issues.push({ code: 'unrecognized_keys', message, keys, input: value })
    return result
  }) as unknown as Field<Value, Given>

/** A response object. Field names may end in `ID` or `Id`, and unknown fields are kept at run time. */
export const response = <const Fields extends Shape>(fields: Fields) =>
  object<Output<Fields>, unknown>(fields)

/** A list. Reads null as an empty list. */
export const listOf = <Item>(item: Field<Item>): Field<readonly Item[]> =>
  z.transform((value: unknown, { issues }) => {
    const items = value === null ? [] : value
    if (!Array.isArray(items)) {
      issues.push({ code: 'custom', message: 'a list', input: value })
      return undefined
    }
    const read = items.map((each, index) => readWith<unknown, unknown>(item, each, issues, index))
    return read.filter((each) => each !== undefined)
  }) as unknown as Field<readonly Item[]>

// These schemas check a caller's input strictly.

/** Creates a schema that uses `otherwise` for each value that `isOther` accepts, and `inner` for all other values. */
export const unless = <Value, Other, Given>(
  inner: Field<Value, unknown> | Field<Value, never>,
  isOther: (value: unknown) => boolean,
  otherwise: (value: unknown) => Other,
): Field<Value | Other, Given> =>
  z.transform((value: unknown, { issues }): Value | Other =>
    isOther(value) ? otherwise(value) : readWith(inner as Field<Value>, value, issues),
  ) as Field<Value | Other, Given>

/** A field that may be omitted. */
export const optional = <Value, Given>(inner: Field<Value, Given>) =>
  unless<Value, undefined, Given | undefined>(
    inner,
    (value) => value === undefined,
    () => undefined,
  )

/** A field with a default. */
export const withDefault = <Value, Given>(inner: Field<Value, Given>, otherwise: NoInfer<Value>) =>
  unless<Value, Value, Given | undefined>(
    inner,
    (value) => value === undefined,
    () => otherwise,
  )

/** Text that obeys a rule. Error messages print `rule` after the words "must be". */
export const input = (rule: string, obeys: (value: string) => boolean): Field<string, string> =>
  field(rule, (value) => (typeof value === 'string' && obeys(value) ? value : undefined))

/** Any text. */
export const anyText = input('a string', () => true)

// UTF-8 cannot encode half of a surrogate pair, so the server would receive different text.
const isFilled = (value: string): boolean => value.trim() !== '' && !/\p{Cs}/u.test(value)

/** Text that is not blank. */
export const filledText = (rule = 'a string that is not blank'): Field<string, string> =>
  input(rule, isFilled)

/** A calendar date. */
export const inputDate = input('a calendar date in the form YYYY-MM-DD', isCalendarDate)

/** One of the given texts. */
export const oneOf = <const Choice extends string>(choices: readonly Choice[]): Field<Choice, Choice> =>
  field(choices.map((choice) => JSON.stringify(choice)).join(' or '), (value) =>
    choices.find((choice) => choice === value),
  )

/** A safe integer from `least` to `most`. */
export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER): Field<number, number> =>
  field(`a whole number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''}`, (value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return undefined
    return value >= least && value <= most ? value : undefined
  })

/** Returns the text of a `URL` object, even from another JavaScript realm. Returns any other value unchanged. */
export const urlText = (value: unknown): unknown => (isObject(value) && 'href' in value ? value.href : value)

/** An absolute URL that the payer's browser may open. A `URL` object is converted to text. */
export const inputUrl = field<string, string | URL>(
  'an absolute URL such as https://shop.example/return',
  (value) => {
    const address = urlText(value)
    return typeof address === 'string' && isAbsoluteUrl(address) ? address : undefined
  },
)

/** Adds a rule that compares fields of an object. `blamed` is the field that the error names. */
export const refined = <Value extends object, Given>(
  inner: Field<Value, Given>,
  obeys: (value: Value) => boolean,
  blamed: keyof Value & string,
  rule: string,
): Field<Value, Given> =>
  z.transform((given: unknown, { issues }) => {
    const value = readWith(inner, given, issues)
    if (issues.length === 0 && !obeys(value))
      issues.push({ code: 'custom', message: rule, input: value[blamed], path: [blamed] })
    return value
  }) as unknown as Field<Value, Given>

/**
 * An object that a caller passes. An unknown field is an error, because a misspelled `idempotencyKey` could cause a
 * second charge. Fields whose value is undefined count as omitted.
 */
export const strict = <const Fields extends Shape>(fields: Fields, noun: 'field' | 'option' = 'field') =>
  object<Output<Fields>, Input<Fields>>(fields, `an object with ${Object.keys(fields).join(', ')}`, noun)

import { $ZodType, type input as InputOf, type output as OutputOf, type ParsePayload } from 'zod/v4/core'
import { isAbsoluteUrl, isCalendarDate } from './formats.ts'

/** A string type. Editors suggest the known values, but any string is accepted: the server may add values. */
export type Open<Known extends string> = Known | (string & {})

/** A zod schema that converts a `Given` to a `Value`. For responses, `Given` is `unknown`. */
export type Field<Value, Given = unknown> = $ZodType<Value, Given>

/** The fields of an object, by name. */
export type Shape = Readonly<Record<string, $ZodType>>

export type Json = Readonly<Record<string, unknown>>

/** The type of the objects that a schema with these fields returns. Editors show the fields' docstrings. */
export type Output<Fields extends Shape> = { readonly [Name in keyof Fields]: OutputOf<Fields[Name]> }

/** The type of the objects that a schema with these fields accepts. A field is optional if it may be undefined. */
export type Input<Fields extends Shape> = {
  readonly [Name in keyof Fields as undefined extends InputOf<Fields[Name]> ? never : Name]: InputOf<
    Fields[Name]
  >
} & {
  readonly [Name in keyof Fields as undefined extends InputOf<Fields[Name]> ? Name : never]?: InputOf<
    Fields[Name]
  >
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The invalid values that a schema found, each with its `path` and the rule that it breaks. */
export type Issues = ParsePayload['issues']

/**
 * Creates a schema. `read` checks a value and converts it to the form in the specification. `json` returns the JSON
 * Schema of this form, for zod's `toJSONSchema`. Pass `optin` if objects may omit the value.
 */
export const schema = <Value, Given = unknown>(
  json: () => Json,
  read: (value: unknown, issues: Issues) => unknown,
  optin?: 'optional' | 'defaulted',
): Field<Value, Given> => {
  const made = new $ZodType({ type: 'transform' })
  const run = (payload: ParsePayload) => {
    payload.value = read(payload.value, payload.issues)
    return payload
  }
  Object.assign(made._zod, { parse: run, run, optin, toJSONSchema: json })
  return made as Field<Value, Given>
}

export const jsonOf = (one: $ZodType): Json => Object(one._zod.toJSONSchema?.())

/** Reports an invalid value. `more` can contain the `path` of a nested field and, in `params`, the expected type. */
const refuse = (issues: Issues, rule: string, value: unknown, more: object = {}): undefined => {
  issues.push({ code: 'custom', message: rule, input: value, ...more })
}

/** Creates a schema that converts values with the function `read`, which returns `undefined` for invalid values. */
export const field = <Value, Given = unknown>(
  rule: string,
  read: (value: unknown) => Value | undefined,
  json: Json = {},
): Field<Value, Given> =>
  schema(
    () => json,
    (value, issues) => {
      const result = read(value)
      // If the value already has the type `expected`, the error omits the type, because the type is not the problem.
      if (result === undefined) refuse(issues, rule, value, { params: { expected: json.type } })
      return result
    },
  )

/** Creates a schema that accepts the values of one type and leaves them unchanged. */
export const guarded = <Value extends Given, Given = Value>(
  rule: string,
  isValue: (value: unknown) => value is Value,
  json?: Json,
) => field<Value, Given>(rule, (value) => (isValue(value) ? value : undefined), json)

/** Returns a string unchanged, a finite number as text, and `undefined` for any other value. */
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' || Number.isFinite(value) ? String(value) : undefined

export const STRING = { type: 'string' } as const
export const INT64 = { type: 'integer', format: 'int64' } as const

export const anyJson: Field<unknown> = schema(
  () => ({}),
  (value) => value,
  'optional',
)

const otherCasing = (name: string): string => name.replace(/I[dD]$/, (end) => (end === 'ID' ? 'Id' : 'ID'))

/** Returns the field `name` of a received object. For `invoiceID`, also looks for `invoiceId`, and vice versa. */
export const received = (body: Json, name: string): unknown => body[name] ?? body[otherCasing(name)]

const CONTEXT = {}
/**
 * Reads a value. Adds each error to `issues`: its path begins with `at`. Replaces zod functions, which add 1.5 kB to
 * bundles.
 */
export const readWith = <Value, Given>(
  inner: Field<Value, Given>,
  value: unknown,
  issues: Issues,
  ...at: readonly PropertyKey[]
): Value => {
  const read = inner._zod.run({ value, issues: [] }, CONTEXT) as { value: Value; issues: Issues }
  for (const issue of read.issues) issues.push({ ...issue, path: [...at, ...(issue.path ?? [])] })
  return read.value
}

// Inherited options are read too, because callers may use Object.create with defaults. A null option counts as
// omitted. But a null `idempotencyKey` is an error, because the caller intended to pass a key.
const withoutAbsent = (value: Json, isOption: boolean): Json => {
  // In an object without a prototype, `__proto__` is an unknown field like any other.
  const kept: Record<string, unknown> = Object.create(null)
  for (const name in value)
    if (value[name] !== undefined && !(isOption && value[name] === null && name !== 'idempotencyKey'))
      kept[name] = value[name]
  return kept
}

/** Creates the schema of an object. Unknown fields are kept, or refused if `noun` is given (for a caller's input). */
export const object = <Value, Given = Value>(
  fields: Shape,
  rule?: string,
  noun?: 'field' | 'option',
): Field<Value, Given> => {
  const entries = Object.entries(fields)
  const names = Object.keys(fields)
  const required = names.filter((name) => fields[name]?._zod.optin === undefined)
  const shown = noun ? ` with ${(required.length > 0 ? required : names).join(', ')}` : ''
  return schema(
    () => ({
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, one]) => [name, jsonOf(one)])),
      required,
    }),
    (value, issues) => {
      if (!isObject(value)) return refuse(issues, rule ?? `an object${shown}`, value)
      const given = noun ? withoutAbsent(value, noun === 'option') : value
      const result: Record<string, unknown> = noun ? {} : { ...given }
      for (const [name, inner] of entries) {
        const read = readWith(inner, noun ? given[name] : received(given, name), issues, name)
        if (!(name in given)) delete result[otherCasing(name)]
        if (read === undefined) delete result[name]
        else result[name] = read
      }
      const keys = noun ? Object.keys(given).filter((name) => !Object.hasOwn(fields, name)) : []
      const message = `${noun}s: ${names.join(', ')}`
      if (keys.length > 0) issues.push({ code: 'unrecognized_keys', message, keys, input: value })
      return result
    },
  )
}

export const response = <const Fields extends Shape>(fields: Fields) =>
  object<Output<Fields>, unknown>(fields)

export const listOf = <Item>(item: Field<Item>): Field<readonly Item[]> =>
  schema(
    () => ({ type: 'array', items: jsonOf(item) }),
    (value, issues) => {
      const items = value === null ? [] : value
      if (!Array.isArray(items)) return refuse(issues, 'a list', value)
      const read = items.map((each, index) => readWith<unknown, unknown>(item, each, issues, index))
      return read.filter((each) => each !== undefined)
    },
  )

// The schemas below check a caller's input, and accept no other forms of a value.

/** Creates a schema that uses `otherwise` for each value that `isOther` accepts, and `inner` for all other values. */
export const unless = <Value, Other, Given>(
  inner: Field<Value>,
  isOther: (value: unknown) => boolean,
  otherwise: (value: unknown) => Other,
  optin?: 'optional' | 'defaulted',
): Field<Value | Other, Given> =>
  schema(
    () => jsonOf(inner),
    (value, issues) => (isOther(value) ? otherwise(value) : readWith<Value, unknown>(inner, value, issues)),
    optin,
  )

const isOmitted = (value: unknown): boolean => value === undefined

export const optional = <Value, Given>(inner: Field<Value, Given>) =>
  unless<Value, undefined, Given | undefined>(inner, isOmitted, () => undefined, 'optional')

export const withDefault = <Value, Given>(inner: Field<Value, Given>, otherwise: NoInfer<Value>) =>
  unless<Value, Value, Given | undefined>(inner, isOmitted, () => otherwise, 'defaulted')

/** Creates a schema of text. Errors say `<field> must be <rule>` or `Missing <field>: pass <rule>`. */
export const input = (rule: string, obeys: (value: string) => boolean, form?: Json) =>
  guarded(rule, (value): value is string => typeof value === 'string' && obeys(value), {
    ...STRING,
    ...form,
  })

export const anyText = /* @__PURE__ */ input('a string', () => true)
export const inputDate = input('a calendar date in the form YYYY-MM-DD', isCalendarDate, { format: 'date' })

// UTF-8 cannot encode half of a surrogate pair, so the server would receive different text.
const isFilled = (value: string): boolean => value.trim() !== '' && !/\p{Cs}/u.test(value)
export const filledText = (rule = 'a string that is not blank') => input(rule, isFilled)

export const oneOf = <const Choice extends string>(choices: readonly Choice[]): Field<Choice, Choice> =>
  field(
    choices.map((choice) => JSON.stringify(choice)).join(' or '),
    (value) => choices.find((choice) => choice === value),
    { ...STRING, enum: choices },
  )

const isSafeInteger = (value: unknown): value is number => Number.isSafeInteger(value)

export const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER, more = '') =>
  guarded(
    `a whole number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ''}${more}`,
    (value): value is number => isSafeInteger(value) && value >= least && value <= most,
    { ...INT64, minimum: least, ...(most < Number.MAX_SAFE_INTEGER && { maximum: most }) },
  )

/** Returns the text of a `URL` object, even from another JavaScript realm. Returns any other value unchanged. */
export const urlText = (value: unknown): unknown => (isObject(value) && 'href' in value ? value.href : value)

/** Accepts an absolute URL that the payer's browser can open. Converts a `URL` object to text. */
export const inputUrl = field<string, string | URL>(
  'an absolute URL such as https://shop.example/return',
  (value) => {
    const address = urlText(value)
    return typeof address === 'string' && isAbsoluteUrl(address) ? address : undefined
  },
  { ...STRING, format: 'uri' },
)

/** Adds to `inner` a rule that compares fields of an object. `blamed` is the field that the error names. */
export const refined = <Value extends object, Given>(
  inner: Field<Value, Given>,
  obeys: (value: Value) => boolean,
  blamed: keyof Value & string,
  rule: string,
): Field<Value, Given> =>
  schema(
    () => jsonOf(inner),
    (given, issues) => {
      const value = readWith(inner, given, issues)
      if (issues.length > 0 || obeys(value)) return value
      const found = value[blamed]
      // The field's own schema has accepted the type of this value, so the error does not name the type.
      refuse(issues, rule, found, { path: [blamed], params: { expected: typeof found } })
      return value
    },
  )

/**
 * Creates the schema of an object that a caller passes. An unknown field is an error, because a misspelled
 * `idempotencyKey` could cause a second charge. Fields whose value is undefined count as omitted.
 */
export const strict = <const Fields extends Shape>(fields: Fields, noun: 'field' | 'option' = 'field') =>
  object<Output<Fields>, Input<Fields>>(fields, undefined, noun)

import type { input as InputOf } from 'zod/v4/core'
import { toIssues } from '../../src/check.ts'
import {
  type Field,
  field,
  filledText,
  type Input,
  type Issues,
  input,
  listOf as itemsOf,
  type Json,
  jsonOf,
  type Output,
  readWith,
  type Shape,
  schema,
  strict as strictFields,
} from '../../src/contract/fields.ts'
import { isAbsoluteUrl, isHeaderText } from '../../src/contract/formats.ts'
import { attempt } from './result.ts'

/** A schema that checks a value from the caller and does not convert it. */
export type Rule<Value> = Field<Value, Value>

/** Accepts a value for which `obeys` returns true. The error says "<name> must be <words>". */
export const rule = <Value>(words: string, obeys: (value: unknown) => boolean, json: Json = {}) =>
  field<Value, Value>(words, (value) => (obeys(value) ? (value as Value) : undefined), {
    description: words,
    ...json,
  })

/** Accepts only the given numbers, or only the given booleans. */
export const literals = <const Choice extends number | boolean>(...choices: readonly Choice[]) =>
  rule<Choice>(choices.join(' or '), (value) => choices.some((choice) => choice === value), {
    type: typeof choices[0],
    enum: choices,
  })

/** Accepts `true` or `false`. */
export const flag = literals(true, false)

/** Accepts a finite number from `least` to `most`. */
export const number = (words = 'a number', least = -Number.MAX_VALUE, most = Number.MAX_VALUE) =>
  rule<number>(words, (value) => typeof value === 'number' && value >= least && value <= most, {
    type: 'number',
    ...(least > -Number.MAX_VALUE && { minimum: least }),
    ...(most < Number.MAX_VALUE && { maximum: most }),
  })

/** Accepts what `inner` accepts. Its JSON Schema has more keywords. */
const described = <Value, Given>(inner: Field<Value, Given>, json: Json) =>
  schema<Value, Given>(
    () => ({ ...jsonOf(inner), ...json }),
    (value, issues) => readWith(inner, value, issues),
  )

/** Accepts text that is not blank. */
export const filled = described(filledText(), { pattern: '\\S' })

/** Accepts a probability. */
export const probability = number('a number from 0 to 1', 0, 1)
/** Accepts a one-time code without spaces. The payer may type spaces, but the pages remove them. */
export const code = input('a string without spaces', (value) => /^\S+$/.test(value))
const HEADER_TEXT = '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$'

/** Accepts text that an HTTP header can carry, such as an API key. */
export const headerText = input('visible ASCII text that a header can carry', isHeaderText, {
  pattern: HEADER_TEXT,
})
/** Accepts an absolute URL, as text. */
export const absoluteUrl = input('an absolute URL such as https://shop.example/return', isAbsoluteUrl, {
  format: 'uri',
})

const tagOf = (value: unknown): string => Object.prototype.toString.call(value)
const isPlain = (value: unknown): boolean => tagOf(value) === '[object Object]'

const isPatternText = (value: unknown): boolean =>
  typeof value === 'string' && attempt(() => new RegExp(value) !== undefined, false)

/** Accepts a regular expression, even from another realm such as an iframe, or its text, as a JSON file has it. */
export const pattern = rule<RegExp | string>(
  'a regular expression, or its text',
  (value) => tagOf(value) === '[object RegExp]' || isPatternText(value),
)

/** Accepts a plain object with any fields. Refuses a Date, a Map or a promise. */
export const plainObject = rule<object>('a plain object', isPlain)

/** Accepts a value if `obeys` returns true and `inner` accepts it. */
const guarded = <Value, Given>(
  words: string,
  obeys: (value: unknown) => boolean,
  inner: Field<Value>,
  json?: Json,
) =>
  schema<Value, Given>(
    () => ({ ...jsonOf(inner), ...json }),
    (value, issues) => {
      if (obeys(value)) return readWith(inner, value, issues)
      return void issues.push({ code: 'custom', message: words, input: value })
    },
  )

/** Accepts a plain object that has only fields named in `fields`. */
export const strict = <const Fields extends Shape>(fields: Fields, noun: 'field' | 'option' = 'field') =>
  guarded<Output<Fields>, Input<Fields>>(
    `a plain object with ${Object.keys(fields).join(', ')}`,
    isPlain,
    strictFields(fields, noun),
    { additionalProperties: false },
  )

/** Accepts a list of at least `least` items. */
export const listOf = <Item>(item: Rule<Item>, least = 0) =>
  guarded<readonly Item[], readonly Item[]>(
    least === 0 ? 'a list' : `a list with at least ${least} item${least === 1 ? '' : 's'}`,
    (value) => Array.isArray(value) && value.length >= least,
    itemsOf(item),
    least === 0 ? undefined : { minItems: least },
  )

/** Accepts a value if `inner` accepts it and `obeys` returns true. */
export const also = <Value>(
  inner: Rule<Value>,
  words: string,
  obeys: (value: Value) => boolean,
  json?: Json,
) =>
  schema<Value, Value>(
    () => ({ ...jsonOf(inner), description: words, ...json }),
    (given, issues) => {
      const value = readWith(inner, given, issues)
      if (issues.length === 0 && !obeys(value)) issues.push({ code: 'custom', message: words, input: given })
      return value
    },
  )

/** Accepts all values that at least one of the two schemas accepts. */
export const either = <One, Other>(one: Field<unknown, One>, other: Field<unknown, Other>) =>
  schema<One | Other, One | Other>(
    () => ({ anyOf: [jsonOf(one), jsonOf(other)] }),
    (value, issues) => {
      const found: Issues = []
      for (const inner of [one, other]) {
        const own: Issues = []
        const read = readWith<unknown, unknown>(inner, value, own)
        if (own.length === 0) return read
        found.push(...own)
      }
      // An issue about a field helps more than "must be a number, or an object".
      const inside = found.find((issue) => issue.code !== 'custom' || issue.path?.length)
      const message = [...new Set(found.map((issue) => issue.message))].join(', or ')
      return void issues.push(inside ?? { code: 'custom', message, input: value })
    },
  )

/** Accepts `false` and all values that the given schema accepts. */
export const orFalse = <Value>(one: Field<unknown, Value>) => either(one, literals(false))

/** Accepts a plain object with any field names. The content of each field must obey `value`. */
export const tableOf = <Value>(value: Rule<Value>) =>
  guarded<Readonly<Record<string, Value>>, Readonly<Record<string, Value>>>(
    'a plain object',
    isPlain,
    schema(
      () => ({ type: 'object', additionalProperties: jsonOf(value) }),
      (given, issues) => {
        const read = Object.entries<unknown>(Object(given)).map(([name, each]) => [
          name,
          readWith<Value, unknown>(value, each, issues, name),
        ])
        return Object.fromEntries(read)
      },
    ),
  )

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
// Headers of the connection itself: each of them breaks a response in HTTP/1 or in HTTP/2.
const OWN_HEADER = /^(?:content-length|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i
const HEADER_CONTENT = `^$|${HEADER_TEXT}`

/** Accepts an object of header names and values. */
export const headers = also(
  tableOf(
    input('text that a header can carry', (content) => content === '' || isHeaderText(content), {
      pattern: HEADER_CONTENT,
    }),
  ),
  'an object with valid header names, without those of the connection such as Content-Length',
  (given) => Object.keys(given).every((name) => HEADER_NAME.test(name) && !OWN_HEADER.test(name)),
  { propertyNames: { pattern: HEADER_NAME.source } },
)

type Texts = Readonly<Record<string, string>>

/** Adds headers. They replace headers with the same name in any letter case. */
export const withHeaders = (own: Texts, added: Texts): Texts => {
  const names = new Set(Object.keys(added).map((name) => name.toLowerCase()))
  const kept = Object.entries(own).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...Object.fromEntries(kept), ...added }
}

/** Returns whether a schema accepts a value. */
export const accepts = (one: Field<unknown>, value: unknown): boolean => {
  const issues: Issues = []
  readWith(one, value, issues)
  return issues.length === 0
}

/** Throws a TypeError that describes the issues, if there are any. `caller` is the start of the message. */
const refuse = (issues: Issues, caller: string): void => {
  if (issues.length === 0) return
  const found = issues.flatMap((issue) => toIssues(issue, issue.path?.length ? 'options' : 'the argument'))
  const error = new TypeError(`${caller}${found.map(({ message }) => message).join('; ')}`)
  throw Object.defineProperty(error, 'issues', { value: found })
}

/** Returns the issues, without values, that `refuse` describes in an error; `undefined` for another error. */
export const issuesOf = (error: unknown): ReturnType<typeof toIssues> | undefined => Object(error).issues

/**
 * Checks a value and returns a copy of it. Throws a TypeError that names the wrong fields and the allowed values.
 *
 * @param caller the start of the message, such as `faults.add: `
 * @param name the value's name in the message; without `name`, the message starts with the field's name
 */
export const check = <Value>(one: Field<Value>, value: unknown, caller = '', ...name: string[]): Value => {
  const issues: Issues = []
  const result = readWith<Value, unknown>(one, value, issues, ...name)
  refuse(issues, caller)
  return result
}

/** `spec`: the mock applies the specification's rules. `strict`: the mock also applies restrictions of its own. */
export type Rules = 'spec' | 'strict'

/** An option. `rule` checks the value. `strict`, if set, replaces `default` in a mock with `rules: 'strict'`. */
export interface Option<Value, Default extends Value = Value, Strict extends Value = Value> {
  readonly rule: Field<unknown, Value>
  readonly default: Default
  readonly strict?: Strict
}

/** Defines an option. */
export const option = <Value, const Default extends Value, const Strict extends Value = never>(
  rule: Field<unknown, Value>,
  otherwise: Default,
  more: { readonly strict?: Strict } = {},
): Option<Value, Default, Strict> => ({ rule, default: otherwise, ...more })

/** A table of options by name. */
type OptionTable = Readonly<Record<string, Option<unknown>>>

/** An object with a value for each option of a table. */
export type OptionsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]: InputOf<Table[Name]['rule']>
}

type DefaultsOf<Table extends OptionTable> = { readonly [Name in keyof Table]: Table[Name]['default'] }

type StrictOf<Table extends OptionTable> = {
  readonly [Name in keyof Table as [Table[Name]['strict']] extends [undefined] ? never : Name]: Exclude<
    Table[Name]['strict'],
    undefined
  >
}

/** Returns the default of each option of a table. */
export const defaultsOf = <const Table extends OptionTable>(table: Table): DefaultsOf<Table> => {
  const entries = Object.entries(table).map(([name, { default: value }]) => [name, value])
  return Object.fromEntries(entries)
}

/** Returns the defaults that apply only with `rules: 'strict'`. */
export const strictOf = <const Table extends OptionTable>(table: Table): StrictOf<Table> => {
  const entries = Object.entries(table).map(([name, { strict }]) => [name, strict])
  return Object.fromEntries(entries.filter(([, strict]) => strict !== undefined))
}

/**
 * Returns a value for each option of a table. A missing or `undefined` option gets its default value.
 * Throws a TypeError that names the wrong options and the allowed values.
 *
 * @param area the area of the options in messages, such as `gateway`
 */
export const readOptions = <Table extends OptionTable>(
  table: Table,
  rules: Rules,
  given: object,
  ...area: readonly string[]
): OptionsOf<Table> => {
  const issues: Issues = []
  const options: Record<string, unknown> = {
    ...defaultsOf(table),
    ...(rules === 'strict' && strictOf(table)),
  }
  const keys = Object.keys(given).filter((name) => !Object.hasOwn(table, name))
  const message = `options: ${Object.keys(table).join(', ')}`
  if (keys.length > 0)
    issues.push({ code: 'unrecognized_keys', keys, message, input: { ...given }, path: [...area] })
  for (const [name, { rule }] of Object.entries(table)) {
    const value: unknown = Object.hasOwn(given, name) ? Reflect.get(given, name) : undefined
    if (value !== undefined) options[name] = readWith(rule, value, issues, ...area, name)
  }
  refuse(issues, '')
  return options as OptionsOf<Table>
}

import * as z from 'zod/mini'
import type { Field, Input, Output } from '../../src/contract/fields.ts'
import { strict as strictFields } from '../../src/contract/fields.ts'
import { isAbsoluteUrl, isHeaderText } from '../../src/contract/formats.ts'

/** `spec`: the mock applies the specification's rules. `strict`: the mock also applies restrictions of its own. */
export type Rules = 'spec' | 'strict'

/** A schema for a value from the caller. The error message is "<name> must be <error text of the schema>, got …". */
export type Rule<Value> = Field<Value, Value>

// Rules for values.

/** Accepts only the given values. */
export const oneOf = <const Choice extends string | number | boolean>(
  ...choices: readonly Choice[]
): Rule<Choice> => {
  const last = JSON.stringify(choices.at(-1))
  const others = choices.slice(0, -1).map((choice) => JSON.stringify(choice))
  return z.literal(choices, { error: others.length === 0 ? last : `${others.join(', ')} or ${last}` })
}

/** Accepts `true` or `false`. */
export const flag = oneOf(true, false)

/** Accepts a finite number from `least` to `most`. */
export const number = (
  words = 'a number',
  least = Number.NEGATIVE_INFINITY,
  most = Number.POSITIVE_INFINITY,
): Rule<number> =>
  z
    .number({ error: words })
    .check(z.gte(least, { error: words, abort: true }), z.lte(most, { error: words, abort: true }))

/** Accepts a probability. */
export const probability = number('a number from 0 to 1', 0, 1)

/** Accepts a value for which `obeys` returns true. The error message is "<name> must be <words>, got …". */
export const rule = <Value>(words: string, obeys: (value: unknown) => boolean): Rule<Value> =>
  z.custom<Value>(obeys, { error: words })

/** Does the same as `rule`, but error messages hide the value, because the value may contain a secret. */
export const secretRule = <Value>(words: string, obeys: (value: unknown) => boolean): Rule<Value> =>
  z.custom<Value>(obeys, { error: words, params: { secret: true } })

/** Accepts a string for which `obeys` returns true. Error messages hide the string, because it may be secret. */
export const secretText = (words: string, obeys: (value: string) => boolean): Rule<string> =>
  secretRule(words, (value) => typeof value === 'string' && obeys(value))

/** Accepts a string. */
export const anyString: Rule<string> = z.string('a string')
/** Accepts a string that is not blank. */
export const text = secretText('a string that is not blank', (value) => value.trim() !== '')
/** Accepts text that an HTTP header can carry, such as an API key. */
export const headerText = secretText('visible ASCII text that a header can carry', isHeaderText)
/** Accepts a one-time code without spaces. The payer may type spaces, but the pages remove them. */
export const code = secretText('a string without spaces', (value) => /^\S+$/.test(value))

/** Accepts an absolute URL. */
export const absoluteUrl = secretText('an absolute URL such as https://shop.example/return', isAbsoluteUrl)

/** Accepts a regular expression, even from another realm such as an iframe. */
export const pattern = rule<RegExp>('a regular expression', (value) => tagOf(value) === 'RegExp')

/** Accepts a plain object with any fields. Refuses a Date, a Map or a promise. */
export const plainObject = (words = 'an object'): Rule<object> =>
  secretRule(words, (value) => tagOf(value) === 'Object')

/** Accepts an object that has only fields named in `fields`. */
export const strict = <const Fields extends Parameters<typeof strictFields>[0]>(
  fields: Fields,
  noun: 'field' | 'option' = 'field',
): Field<Output<Fields>, Input<Fields>> =>
  z.pipe(
    plainObject(`an object with ${Object.keys(fields).join(', ')}`),
    strictFields(fields, noun) as Field<Output<Fields>, object>,
  ) as Field<Output<Fields>, Input<Fields>>

/** Accepts `undefined` and all values that the given rule accepts. */
export const optional = <Value>(one: Field<unknown, Value>): Rule<Value | undefined> =>
  z.optional(one) as Rule<Value | undefined>

/** Accepts all values that at least one of the two rules accepts. */
export const either = <One, Other>(one: Rule<One>, other: Rule<Other>): Rule<One | Other> =>
  z.union([one, other])

/** Accepts `false` and all values that the given rule accepts. */
export const orFalse = <Value>(one: Rule<Value>): Rule<Value | false> => either(one, oneOf(false))

/** Accepts a list of at least `least` items. */
export const listOf = <Item>(item: Rule<Item>, least = 0): Rule<readonly Item[]> => {
  const words = least === 0 ? 'a list' : `a list with at least ${least} item${least === 1 ? '' : 's'}`
  return z.array(item, { error: words }).check(z.minLength(least, words)) as Rule<readonly Item[]>
}

/** Accepts a value if the given rule accepts it and `obeys` returns true. */
export const also = <Value>(one: Rule<Value>, words: string, obeys: (value: Value) => boolean): Rule<Value> =>
  z.pipe(one, z.custom<Value>(obeys, { error: words })) as Rule<Value>

/** Accepts an object with any field names. The content of each field must obey the rule `value`. */
export const tableOf = <Value>(value: Rule<Value>): Rule<Readonly<Record<string, Value>>> =>
  z.record(z.string(), value, { error: 'an object' })

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/

/** Accepts an object of header names and values. */
export const headers = also(
  tableOf(secretText('text that a header can carry', (content) => content === '' || isHeaderText(content))),
  'an object with valid header names',
  (given) => Object.keys(given).every((name) => HEADER_NAME.test(name)),
)

// Errors.

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice('[object '.length, -1)

const typeName = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (typeof value !== 'object') return value === '' ? 'an empty string' : `a ${typeof value}`
  const tag = tagOf(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return tag === 'Object' ? 'an object' : `an instance of ${tag}`
}

const LONGEST_SHOWN = 40

const shown = (value: unknown): string => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string' || value === '') return typeName(value)
  const whole = JSON.stringify(value)
  return whole.length > LONGEST_SHOWN ? `${whole.slice(0, LONGEST_SHOWN)}…` : whole
}

type Issue = z.core.$ZodIssue

/** Returns the issue. For a union, returns the first issue about a field; if there is none, returns all its issues. */
const causes = (issue: Issue): readonly Issue[] => {
  if (issue.code !== 'invalid_union') return [issue]
  const all = issue.errors.flat().flatMap(causes)
  const inside = all.find(({ code, path }) => path.length > 0 || code === 'unrecognized_keys')
  const found = inside === undefined ? all : [inside]
  return found.map((cause) => ({ ...cause, path: [...issue.path, ...cause.path] }))
}

/** Returns whether a message may quote a rejected string. A string in the place of a number may be a secret. */
const isShown = (issue: Issue): boolean =>
  issue.code === 'custom'
    ? issue.params?.secret !== true
    : issue.code === 'invalid_value' && issue.values.some((choice) => typeof choice === 'string')

const inWords = (issue: Issue, value: unknown, name: string): string => {
  const found = causes(issue)
  const [first = issue] = found
  const steps = first.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
  const place = `${name}${steps.join('')}`.replace(/^\./, '')
  if (first.code === 'unrecognized_keys') {
    const [noun = ''] = first.message.split('s: ')
    const known = first.message.charAt(0).toUpperCase() + first.message.slice(1)
    return `Unknown ${noun} ${[place, first.keys[0]].filter(Boolean).join('.')}. ${known}`
  }
  const words = [...new Set(found.map(({ message }) => message))].join(', or ')
  const wrong = first.path.reduce<unknown>((outer, step) => Reflect.get(Object(outer), step), value)
  const got = typeof wrong === 'string' && !found.some(isShown) ? typeName(wrong) : shown(wrong)
  return `${place || 'the argument'} must be ${words}, got ${got}`
}

/**
 * Checks a value and returns a copy of it. Throws a TypeError that names the wrong field and the allowed values.
 *
 * @param caller the start of the message, such as `faults.add: `
 * @param name the value's name in the message; without `name`, the message starts with the field's name
 */
export const check = <Value>(rule: Field<Value>, value: unknown, caller = '', name = ''): Value => {
  const result = z.safeParse(rule, value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new TypeError(`${caller}${issue === undefined ? result.error.message : inWords(issue, value, name)}`)
}

// Tables of options.

/** An option. `rule` checks the value. `strict`, if set, replaces `default` in a mock with `rules: 'strict'`. */
export interface Option<Value, Default extends Value = Value, Strict extends Value = Value> {
  readonly rule: Rule<Value>
  readonly default: Default
  readonly strict?: Strict
}

/** Defines an option. */
export const option = <Value, const Default extends Value, const Strict extends Value = never>(
  rule: Field<unknown, Value>,
  otherwise: Default,
  more: { readonly strict?: Strict } = {},
): Option<Value, Default, Strict> => ({ rule: rule as Rule<Value>, default: otherwise, ...more })

/** A table of options by name. */
export type OptionTable = Readonly<Record<string, Option<unknown>>>

/** An object with a value for each option of a table. */
export type OptionsOf<Table extends OptionTable> = {
  readonly [Name in keyof Table]: z.input<Table[Name]['rule']>
}

type DefaultsOf<Table extends OptionTable> = { readonly [Name in keyof Table]: Table[Name]['default'] }

type StrictOf<Table extends OptionTable> = {
  readonly [Name in keyof Table as [Table[Name]['strict']] extends [undefined] ? never : Name]: Exclude<
    Table[Name]['strict'],
    undefined
  >
}

/** Returns the default of each option of a table. */
export const defaultsOf = <const Table extends OptionTable>(table: Table): DefaultsOf<Table> =>
  Object.fromEntries(
    Object.entries(table).map(([name, { default: value }]) => [name, value]),
  ) as DefaultsOf<Table>

/** Returns the defaults that apply only with `rules: 'strict'`. */
export const strictOf = <const Table extends OptionTable>(table: Table): StrictOf<Table> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([name, { strict }]) => (strict === undefined ? [] : [[name, strict]])),
  ) as StrictOf<Table>

/**
 * Returns a value for each option of a table. A missing or `undefined` option gets its default value.
 * Throws a TypeError that names a wrong option and the allowed values.
 *
 * @param area the prefix of option names in messages, such as `gateway.`
 */
export const readOptions = <Table extends OptionTable>(
  area: string,
  table: Table,
  rules: Rules,
  given: object = {},
): OptionsOf<Table> => {
  const options: Record<string, unknown> = { ...defaultsOf(table) }
  if (rules === 'strict') Object.assign(options, strictOf(table))
  for (const [name, value] of Object.entries(given)) {
    const known = Object.hasOwn(table, name) ? table[name] : undefined
    if (known === undefined) {
      throw new TypeError(`Unknown option ${area}${name}. Options: ${Object.keys(table).join(', ')}`)
    }
    if (value !== undefined) options[name] = check(known.rule, value, '', `${area}${name}`)
  }
  return options as OptionsOf<Table>
}

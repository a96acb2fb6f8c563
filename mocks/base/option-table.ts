import type { input as InputOf } from 'zod/v4/core'
import { type Field, type Issues, readWith } from '../../src/contract/fields.ts'
import { refuse } from './fields.ts'

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
export type OptionTable = Readonly<Record<string, Option<unknown>>>

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

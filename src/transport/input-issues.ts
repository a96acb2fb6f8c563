import type { Wanted } from '../contract/fields.ts'
import { nearestName } from '../contract/nearest-name.ts'
import type { InputIssue } from '../errors.ts'
import { InvalidRequestError, isMandateKitError } from '../errors.ts'
import { kindOfValue } from './kind-of-value.ts'

/**
 * Whether a value is an object of named fields. A list, a Map, a promise or an AbortSignal would pass for one without
 * fields, and what it was meant to say go unheard.
 */
export const isFields = (value: unknown): value is Record<string, unknown> =>
  kindOfValue(value) === 'an object'

/** No issue when the rule holds, else the one that says so. `wanted` makes the kind of the value more precise. */
export const unless = (
  holds: boolean,
  field: string,
  rule: string,
  value: unknown,
  wanted?: Wanted,
): InputIssue[] => (holds ? [] : [{ field, rule, received: kindOfValue(value, wanted) }])

/** The issue of an option that is a function, or left out. */
export const functionIssues = (field: string, value: unknown, rule = 'a function'): InputIssue[] =>
  unless(value === undefined || typeof value === 'function', field, rule, value)

/** The issue of an option that is one of a few words, or left out. */
export const choiceIssues = (field: string, choices: readonly string[], value: unknown): InputIssue[] => {
  const holds = value === undefined || choices.some((choice) => choice === value)
  return unless(holds, field, choices.map((choice) => JSON.stringify(choice)).join(' or '), value, choices)
}

/** The issue of a number from `from` on that is no whole one, or of what is no number. */
export const countIssues = (field: string, value: unknown, from: number): InputIssue[] => {
  const holds = Number.isSafeInteger(value) && Number(value) >= from
  return unless(holds, field, `a whole number from ${from}`, value, { from })
}

/** The issue of what should have methods and lacks one; `what` says what it should be. */
export const methodIssues = (
  field: string,
  what: string,
  names: readonly string[],
  value: unknown,
): InputIssue[] => {
  const isObject = value !== null && (typeof value === 'object' || typeof value === 'function')
  const missing = names.filter((name) => !isObject || typeof Reflect.get(value, name) !== 'function')
  if (missing.length === 0) return []
  const without = isObject ? ` without ${missing.join(', ')}` : ''
  const rule = `${what}: an object with the methods ${names.join(', ')}`
  return [{ field, rule, received: `${kindOfValue(value)}${without}` }]
}

/** The issue of what is no clock; it may be left out. */
export const clockIssues = (clock: unknown): InputIssue[] =>
  clock === undefined ? [] : methodIssues('clock', 'a clock', ['now', 'sleep'], clock)

/** The issue of a name that does not exist; `what` says of what: `field of subscribe`. */
export const unknownName = (
  name: string,
  names: readonly string[],
  what: string,
  within = '',
): InputIssue => {
  const nearest = nearestName(name, names)
  const field = `${within}${name}`
  const instead =
    nearest === undefined ? `; there are ${names.join(', ')}` : `; did you mean ${within}${nearest}?`
  return {
    field,
    rule: `one of ${names.join(', ')}`,
    received: 'an unknown name',
    sentence: `${field} is no ${what}${names.length === 0 ? '' : instead}`,
  }
}

/** The issues of names that do not exist: a misspelt one would go unheard. `within` is the option that holds them. */
export const unknownNames = (
  given: unknown,
  names: readonly string[],
  what = 'option',
  within?: string,
): InputIssue[] =>
  Object.keys(isFields(given) ? given : {})
    .filter((name) => !names.includes(name))
    .map((name) => unknownName(name, names, what, within === undefined ? '' : `${within}.`))

const unreadable = (operation: string, field: string): InvalidRequestError =>
  new InvalidRequestError(operation, [
    { field, rule: 'made of fields that can be read', received: 'an object that threw while it was read' },
  ])

/**
 * Runs a check of what a caller gave. A getter of the caller that throws, or a proxy that was revoked, is input that
 * breaks a rule like any other; what it threw is not kept, since it may hold a secret.
 */
export const whileReading = <Result>(operation: string, field: string, check: () => Result): Result => {
  try {
    return check()
  } catch (error) {
    throw isMandateKitError(error) ? error : unreadable(operation, field)
  }
}

/** The options themselves, each of whose fields can be read. */
export const readable = <Options>(operation: string, options: Options): Options =>
  whileReading(operation, 'options', () => {
    refuse(operation, unless(isFields(options), 'options', 'an object such as { timeout: 10_000 }', options))
    Object.values(Object(options))
    return options
  })

/** Throws `InvalidRequestError` unless there are no issues. */
export const refuse = (operation: string, issues: readonly InputIssue[]): void => {
  if (issues.length > 0) throw new InvalidRequestError(operation, issues)
}

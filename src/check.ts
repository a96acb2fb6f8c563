import type { Clock } from './clock.ts'
import { type Field, guarded, type Issues, readWith } from './contract/fields.ts'
import { type ErrorDetails, type InputIssue, InvalidRequestError } from './errors.ts'

export const typeOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Returns an issue about an invalid value. It contains the value's type, but not the value, which may be a secret. */
export const inputIssue = (field: string, rule: string, value: unknown, expected?: unknown): InputIssue => {
  const received = typeOf(value)
  // If a string is expected, `received string` would not help, so the message omits it.
  const but = received === expected ? '' : `, received ${received}`
  const message = value === undefined ? `Missing ${field}: pass ${rule}` : `${field} must be ${rule}${but}`
  return { field, rule, received, message }
}

export const inputError = (operation: string, ...issue: Parameters<typeof inputIssue>): InvalidRequestError =>
  new InvalidRequestError(operation, [inputIssue(...issue)])

/** Returns whether two names differ by at most `edits` added, removed or changed letters. */
const isNear = (one: string, other: string, edits = 2): boolean => {
  if (one === other) return true
  if (edits === 0) return false
  const [rest, otherRest] = [one.slice(1), other.slice(1)]
  if (one[0] === other[0]) return isNear(rest, otherRest, edits)
  const left = edits - 1
  return isNear(rest, other, left) || isNear(one, otherRest, left) || isNear(rest, otherRest, left)
}

const hintFor = (key: string, known: readonly string[]): string => {
  const near = known.find((name) => isNear(name.toLowerCase(), key.toLowerCase()))
  return near === undefined ? '' : `: did you mean ${near}?`
}

/** Converts a zod issue to issues of an error: one, or one for each unknown key. `name` is the value's name. */
export const toIssues = (issue: Issues[number], name: string): InputIssue[] => {
  const { path: steps = [], message = '' } = issue
  const path = steps.map(String)
  if (issue.code !== 'unrecognized_keys') {
    const field = name === 'options' || name === 'request' ? path.join('.') : [name, ...path].join('.')
    const expected: unknown = issue.code === 'custom' && issue.params?.expected
    return [inputIssue(field || name, message, issue.input, expected === 'integer' ? 'number' : expected)]
  }
  const [noun = '', names = ''] = message.split('s: ')
  return issue.keys.map((key, index) => {
    const field = [...path, key].join('.')
    const known = index === issue.keys.length - 1 ? ` (${message})` : ''
    const text = `Unknown ${noun} ${field}${hintFor(key, names.split(', '))}${known}`
    return { field, rule: `one of the ${message}`, received: 'an unknown name', message: text }
  })
}

/** Validates a value and adds defaults, or throws `InvalidRequestError`. `name` is the value's name in the error. */
export const check = <Value>(
  operation: string,
  schema: Field<Value>,
  value: unknown,
  name = 'options',
  details?: Partial<ErrorDetails>,
): Value => {
  const issues: Issues = []
  const result = readWith<Value, unknown>(schema, value, issues)
  if (issues.length === 0) return result
  throw new InvalidRequestError(
    operation,
    issues.flatMap((issue) => toIssues(issue, name)),
    details,
  )
}

type AnyFunction = (...input: never[]) => unknown

const isFunction = <Value extends AnyFunction>(value: unknown): value is Value => typeof value === 'function'

export const functionOption = <Value extends AnyFunction>(): Field<Value, Value> =>
  guarded('a function', isFunction<Value>)

/** Creates the schema of an option that is an object with certain methods, such as a clock or a store. */
export const objectWith = <Value extends object>(
  what: string,
  ...methods: readonly (keyof Value & string)[]
): Field<Value, Value> =>
  guarded(`${what} with the methods ${methods.join(', ')}`, (value): value is Value =>
    methods.every((name) => isFunction(Reflect.get(Object(value), name))),
  )

// The client calls `signal.removeEventListener` after each call, so a signal must have this method.
const isSignal = (value: unknown): value is AbortSignal =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'removeEventListener' in value

export const signalOption = guarded('an AbortSignal', isSignal)

export const clockOption = objectWith<Clock>('a clock', 'now', 'sleep')

export const duration = (longest = Infinity): Field<number, number> =>
  guarded(
    `milliseconds above 0${longest < Infinity ? ` and at most ${longest}` : ''}`,
    (value): value is number => typeof value === 'number' && value > 0 && value <= longest,
  )

export const fromZero = guarded(
  'milliseconds from 0',
  (value): value is number => typeof value === 'number' && value >= 0,
)

import type * as z from 'zod/mini'
import type { Clock } from './clock.ts'
import type { Field } from './contract/fields.ts'
import { field } from './contract/fields.ts'
import type { ErrorDetails, InputIssue } from './errors.ts'
import { InvalidRequestError } from './errors.ts'

/** Returns the name of a value's type, for an error or a report. */
export const typeOf = (value: unknown): string => {
  if (value === null) return 'null'
  if (value === '') return 'an empty string'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Returns an issue about an invalid value. The issue contains only the type, because the value may be a secret. */
export const inputIssue = (field: string, rule: string, value: unknown): InputIssue => {
  const received = typeOf(value)
  const message =
    value === undefined ? `Missing ${field}: pass ${rule}` : `${field} must be ${rule}, received ${received}`
  return { field, rule, received, message }
}

const toIssues = (issue: z.core.$ZodIssue, name: string): InputIssue[] => {
  const path = issue.path.map(String)
  if (issue.code !== 'unrecognized_keys') {
    const field = name === 'options' || name === 'request' ? path.join('.') : [name, ...path].join('.')
    return [inputIssue(field || name, issue.message, issue.input)]
  }
  const [noun = ''] = issue.message.split('s:')
  return issue.keys.map((key, index) => {
    const field = [...path, key].join('.')
    const known = index === issue.keys.length - 1 ? ` (${issue.message})` : ''
    const message = `Unknown ${noun} ${field}${known}`
    return { field, rule: `one of the ${issue.message}`, received: 'an unknown name', message }
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
  const result = schema.safeParse(value, { reportInput: true })
  if (result.success) return result.data
  throw new InvalidRequestError(
    operation,
    result.error.issues.flatMap((issue) => toIssues(issue, name)),
    details,
  )
}

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** An option that is a function. */
export const functionOption = <Value extends (...input: never[]) => unknown>(): Field<Value, Value> =>
  field('a function', (value) => (isFunction(value) ? (value as Value) : undefined))

/** An option that is an object with certain methods, such as a clock or a store. */
export const objectWith = <Value extends object>(
  what: string,
  ...methods: readonly (keyof Value & string)[]
): Field<Value, Value> =>
  field(`${what} with the methods ${methods.join(', ')}`, (value) =>
    methods.every((name) => isFunction(Reflect.get(Object(value), name))) ? (value as Value) : undefined,
  )

// The client calls `signal.removeEventListener` after each call, so a signal must have this method.
/** An option that is an `AbortSignal`. */
export const signalOption = field<AbortSignal, AbortSignal>('an AbortSignal', (value) =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'removeEventListener' in value
    ? (value as AbortSignal)
    : undefined,
)

/** An option that is a clock. */
export const clockOption = objectWith<Clock>('a clock', 'now', 'sleep')

/** A time span in milliseconds, above 0 and at most `longest`. */
export const duration = (longest = Number.POSITIVE_INFINITY): Field<number, number> =>
  field(
    `milliseconds above 0${longest < Number.POSITIVE_INFINITY ? ` and at most ${longest}` : ''}`,
    (value) => (typeof value === 'number' && value > 0 && value <= longest ? value : undefined),
  )

/** A time span in milliseconds: 0 or more. */
export const fromZero = field<number, number>('milliseconds from 0', (value) =>
  typeof value === 'number' && value >= 0 ? value : undefined,
)

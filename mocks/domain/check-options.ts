import { parseDate, parseTimeOfDay } from './calendar.ts'
import type { Duration } from './duration.ts'
import { toInstantMilliseconds, toMilliseconds } from './duration.ts'

/** The rules a mock follows: what the specification states, or also the restrictions we invented. */
export type Rules = 'spec' | 'strict'

/** What is wrong with a value: where in it, and what it should be. */
export interface Problem {
  /** Path from the value that was checked, such as `.limit` or `[0].amount`; empty for the value itself. */
  readonly at: string
  /** Completes "… must be". */
  readonly must: string
  /** Completes "…, not". */
  readonly not: string
  /** A value of another type, or a name that does not exist: TypeError; one out of range: RangeError. */
  readonly isType: boolean
  /** There is nothing of this name; there are these. */
  readonly known?: readonly string[]
}

/** Says what is wrong with a value, or nothing. */
export type Check = (value: unknown) => Problem | undefined

const LONGEST_SHOWN = 40

/** The kind of an object in words: `an object` is one of fields; a list, a Date or a promise has none to be read. */
const kindOfObject = (value: object): string => {
  if (Array.isArray(value)) return 'a list'
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (name === 'Object' || name === 'Module') return 'an object'
  if (name === 'Promise') return 'a promise (is an await missing?)'
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`
}

/** A value in a message: as it is, shortened, or its kind. */
export const shown = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value === 'object' && value !== null) return kindOfObject(value)
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

const problem = (must: string, value: unknown, isType: boolean): Problem => ({
  at: '',
  must,
  not: shown(value),
  isType,
})

const inside = (step: string, found: Problem | undefined): Problem | undefined =>
  found && { ...found, at: `${step}${found.at}` }

/** Another kind of value than an object or a list; its content is not repeated: it may be a secret. */
const notOfKind = (must: string, value: unknown): Problem => ({
  ...problem(must, value, true),
  ...(typeof value === 'string' ? { not: 'text' } : {}),
})

/** Whether a value is an object of fields. A Date or a list would pass for one without any, and go unheard. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && kindOfObject(value) === 'an object'

/** One of these values. */
export const oneOf =
  (...choices: readonly (string | number | boolean)[]): Check =>
  (value) =>
    choices.some((choice) => choice === value)
      ? undefined
      : problem(
          choices.map((choice) => JSON.stringify(choice)).join(' or '),
          value,
          !choices.some((choice) => typeof choice === typeof value),
        )

/** True or false. */
export const flag: Check = oneOf(true, false)

/** A whole number from `from` on. */
export const wholeNumber =
  (from: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= from
      ? undefined
      : problem(`a whole number from ${from}`, value, typeof value !== 'number')

/** Any number that is one. */
export const finiteNumber: Check = (value) =>
  Number.isFinite(value) ? undefined : problem('a number', value, typeof value !== 'number')

/** Text with something in it. Its value is not repeated: it may be a secret. */
export const text: Check = (value) => {
  if (typeof value !== 'string') return problem('text', value, true)
  return value.trim() === '' ? { ...problem('text', value, false), not: 'empty text' } : undefined
}

const KEY = /^[!-~]+(?: +[!-~]+)*$/

/** Text that arrives in a header as it is: without it no request could carry the key. Its value is not repeated. */
export const headerText: Check = (value) => {
  const found = text(value)
  if (found !== undefined || KEY.test(String(value))) return found
  return { at: '', must: 'ASCII text that a header can carry', not: 'this text', isType: false }
}

/** A code that can be typed: a page drops the spaces that people put into it. */
export const code: Check = (value) => {
  const found = text(value)
  if (found !== undefined || !/\s/.test(String(value))) return found
  return { at: '', must: 'text without spaces', not: 'this text', isType: false }
}

/** Any text. */
export const anyText: Check = (value) =>
  typeof value === 'string' ? undefined : problem('text', value, true)

const TEXT_OF: Readonly<Record<string, (value: string) => boolean>> = {
  'a day as YYYY-MM-DD': (value) => parseDate(value) !== undefined,
  'a time of day as HH:MM:SS': (value) => parseTimeOfDay(value) !== undefined,
  'an absolute URL': (value) => URL.canParse(value),
  'decimal text above zero': (value) => /^\d+(\.\d+)?$/.test(value) && Number(value) > 0,
}

const textOf =
  (must: string): Check =>
  (value) => {
    if (typeof value !== 'string') return problem(must, value, true)
    return TEXT_OF[must]?.(value) === true ? undefined : problem(must, value, false)
  }

/** `YYYY-MM-DD`, a day that the calendar has. */
export const day: Check = textOf('a day as YYYY-MM-DD')
/** `HH:MM:SS`. */
export const timeOfDay: Check = textOf('a time of day as HH:MM:SS')
/** A URL with its scheme. */
export const absoluteUrl: Check = textOf('an absolute URL')
/** Such as `25.00`. */
export const decimalText: Check = textOf('decimal text above zero')

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A length of time that ends. */
export const length: Check = (value) => {
  const must = 'a length of time, in milliseconds or such as { days: 1 }'
  try {
    return Number.isFinite(toMilliseconds(value as Duration)) ? undefined : problem(must, value, false)
  } catch (error) {
    return { ...problem(must, value, error instanceof TypeError), not: `${shown(value)}: ${reason(error)}` }
  }
}

/** A Date, milliseconds, or ISO 8601 text with its zone. */
export const pointInTime: Check = (value) => {
  try {
    toInstantMilliseconds(value as Date)
    return undefined
  } catch (error) {
    return { ...problem('a point in time', value, false), not: `${shown(value)}: ${reason(error)}` }
  }
}

/** A regular expression, of this realm or another. */
export const pattern: Check = (value) =>
  Object.prototype.toString.call(value) === '[object RegExp]'
    ? undefined
    : problem('a regular expression', value, true)

/** `false`, or what `check` takes. */
export const orFalse =
  (check: Check): Check =>
  (value) => {
    const found = value === false ? undefined : check(value)
    return found === undefined || found.at !== '' ? found : { ...found, must: `${found.must}, or false` }
  }

/** A list whose items pass; with `fewest`, of at least so many. */
export const listOf =
  (check: Check, fewest = 0): Check =>
  (value) => {
    if (!Array.isArray(value)) return notOfKind('a list', value)
    if (value.length < fewest)
      return { ...problem(`a list of at least ${fewest}`, value, false), not: 'an empty one' }
    for (const [index, item] of value.entries()) {
      const found = inside(`[${index}]`, check(item))
      if (found !== undefined) return found
    }
    return undefined
  }

/** An object with all of `required` and, at most, `optional`; what is undefined counts as left out. */
export const fields =
  (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check =>
  (value) => {
    if (!isRecord(value)) return notOfKind('an object', value)
    const all = { ...optional, ...required }
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(all, name)) continue
      return { at: `.${name}`, must: '', not: '', isType: true, known: Object.keys(all) }
    }
    for (const [name, check] of Object.entries(all)) {
      if (value[name] === undefined && !Object.hasOwn(required, name)) continue
      const found = inside(`.${name}`, check(value[name]))
      if (found !== undefined) return found
    }
    return undefined
  }

/** An object whose names and values are free, as far as the checks let them. */
export const tableOf =
  (name: Check, value: Check): Check =>
  (table) => {
    if (!isRecord(table)) return notOfKind('an object', table)
    for (const [key, item] of Object.entries(table)) {
      const found = inside(`[${shown(key)}]`, name(key) ?? value(item))
      if (found !== undefined) return found
    }
    return undefined
  }

/**
 * Throws what a check says.
 *
 * @param what names the value in the message, for example `Option gateway.otp`
 */
export const assertPasses = (what: string, value: unknown, check: Check): void => {
  const found = check(value)
  if (found === undefined) return
  const wrong =
    found.known === undefined
      ? `must be ${found.must}, not ${found.not}`
      : `does not exist; there are ${found.known.join(', ')}`
  // What a reason is taken from may be a sentence already.
  const message = `${what}${found.at} ${wrong.replace(/\.$/, '')}.`
  throw found.isType ? new TypeError(message) : new RangeError(message)
}

/** The options that were given: one that is undefined counts as left out. */
export const present = <Options extends object>(given: Options): Options =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Options

/** Checks each option of an area by its own check; those left out are not looked at. */
export const assertOptions = <Options extends object>(
  area: string,
  given: Partial<Options>,
  checks: { readonly [Name in keyof Options]-?: Check },
): void => {
  for (const name of Object.keys(checks) as (keyof Options & string)[]) {
    if (given[name] !== undefined) assertPasses(`Option ${area}.${name}`, given[name], checks[name])
  }
}

import type { Operation } from './area.ts'

/**
 * A change to area S's successful responses, to test whether a client accepts the variants (row 44).
 *
 * - `id-casing`: changes `Id` at the end of a name to `ID`, and `ID` to `Id`.
 * - `number-ids`: writes identifiers such as `"123"` as numbers. `text-ids`: writes numeric identifiers as text.
 * - `text-amounts`: writes amounts as text with two decimal places.
 * - `text-flags`: writes `enabled` as text, such as `"true"`. `boolean-flags`: writes `enabled` as a boolean.
 * - `empty-reversals`: writes `""` instead of null in fields of a reversal. `zero-reversals`: writes `"0.00"` instead
 *   of null in the amount of a reversal, and `""` instead of null in its other fields.
 * - `iso-dates`: writes times as `2026-11-28T12:00:00`. `number-codes`: writes an errorCode of digits as a number.
 */
export type VariantForm =
  | 'id-casing'
  | 'number-ids'
  | 'text-ids'
  | 'text-amounts'
  | 'text-flags'
  | 'boolean-flags'
  | 'empty-reversals'
  | 'zero-reversals'
  | 'iso-dates'
  | 'number-codes'

/** Changes the body of a successful response. */
export type Vary = (operation: string, body: unknown) => unknown

/** A list of forms, which the mock applies in order, or a function that changes the body. */
export type Variant = readonly VariantForm[] | ((operation: Operation, body: unknown) => unknown)

type Change = (name: string, value: unknown) => readonly [string, unknown]

const IDENTIFIER = /^(?:id|.*I[dD])$/
const SPACED = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/

const whenNamed =
  (names: RegExp, change: (value: unknown) => unknown): Change =>
  (name, value) => [name, names.test(name) ? change(value) : value]

const digitsToNumber = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value

const FORMS: Record<VariantForm, Change> = {
  'id-casing': (name, value) => {
    if (name.endsWith('ID')) return [`${name.slice(0, -2)}Id`, value]
    return [name.endsWith('Id') ? `${name.slice(0, -2)}ID` : name, value]
  },
  'number-ids': whenNamed(IDENTIFIER, digitsToNumber),
  'text-ids': whenNamed(IDENTIFIER, (value) => (typeof value === 'number' ? String(value) : value)),
  'text-amounts': whenNamed(/^amount$/, (value) => (typeof value === 'number' ? value.toFixed(2) : value)),
  'text-flags': whenNamed(/^enabled$/, (value) => String(Boolean(value))),
  'boolean-flags': whenNamed(/^enabled$/, Boolean),
  'empty-reversals': whenNamed(/^reverseTransaction/, (value) => value ?? ''),
  'zero-reversals': (name, value) => {
    if (value !== null || !name.startsWith('reverseTransaction')) return [name, value]
    return [name, name.endsWith('Amount') ? '0.00' : '']
  },
  'iso-dates': (name, value) => [name, typeof value === 'string' ? value.replace(SPACED, '$1T$2') : value],
  'number-codes': whenNamed(/^errorCode$/, digitsToNumber),
}

/** The names of all variant forms. */
export const variantForms = Object.keys(FORMS) as readonly VariantForm[]

const changed = (value: unknown, change: Change): unknown => {
  if (Array.isArray(value)) return value.map((item) => changed(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => change(name, changed(inner, change))),
  )
}

const isPromise = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Returns the function that applies a variant to the body of a response. */
export const createVary = (variant: Variant): Vary => {
  if (typeof variant === 'function') {
    return (operation, body) => {
      const changedBody = variant(operation as Operation, body)
      if (changedBody === undefined)
        throw new TypeError('subscriptions.variant: the function returned undefined.')
      if (isPromise(changedBody))
        throw new TypeError('subscriptions.variant: the function must return the body, not a promise.')
      return changedBody
    }
  }
  if (variant.length === 0) return (_operation, body) => body
  return (_operation, body) => variant.reduce((rest, form) => changed(rest, FORMS[form]), body)
}

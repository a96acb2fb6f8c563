import type { Operation } from './operations.ts'

/**
 * Other forms of area S's answers, for tests of a client's tolerance (row 44).
 *
 * - `id-casing`: `invoiceID` for `invoiceId`, and the other way round, in every name that ends so.
 * - `number-ids`: identifiers of digits, as numbers. `text-ids`: numeric identifiers as text.
 * - `text-amounts`: amounts as text with two places.
 * - `text-flags`, `boolean-flags`: `enabled` as `"true"` or true.
 * - `empty-reversals`, `zero-reversals`: no reversal as `""`, or with the amount `"0.00"`.
 * - `iso-dates`: `2026-11-28T12:00:00` for `2026-11-28 12:00:00`.
 * - `number-codes`: an errorCode of digits as a number.
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

/** Changes the body of a successful answer. */
export type Vary = (operation: string, body: unknown) => unknown

/** Option `subscriptions.variant`: forms, applied in order, or a function of one's own. */
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

const changed = (value: unknown, change: Change): unknown => {
  if (Array.isArray(value)) return value.map((item) => changed(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => change(name, changed(inner, change))),
  )
}

const isPromise = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

const isList = (value: unknown): boolean => Array.isArray(value)

/** The change that an option asks for. Throws a TypeError for a form that does not exist. */
export const createVary = (variant: Variant): Vary => {
  if (typeof variant === 'function') {
    return (operation, body) => {
      const changedBody = variant(operation as Operation, body)
      if (changedBody === undefined)
        throw new TypeError('subscriptions.variant: the function gave nothing back.')
      if (isPromise(changedBody))
        throw new TypeError(
          'subscriptions.variant: the function gave a promise back; it is to give the body.',
        )
      return changedBody
    }
  }
  if (!isList(variant)) {
    throw new TypeError('Option subscriptions.variant must be a list of forms or a function.')
  }
  for (const form of variant) {
    if (!Object.hasOwn(FORMS, form)) {
      throw new TypeError(
        `subscriptions.variant: there is no form ${JSON.stringify(form)}; there are ${Object.keys(FORMS).join(', ')}.`,
      )
    }
  }
  if (variant.length === 0) return (_operation, body) => body
  return (_operation, body) => variant.reduce((rest, form) => changed(rest, FORMS[form]), body)
}

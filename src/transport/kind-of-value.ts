import type { Wanted } from '../contract/fields.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/
const NUMBER = /^\s*[+-]?\d+(?:\.\d+)?\s*$/
/** Classes whose name helps whoever gave the wrong thing. A name of anyone's own could be anything. */
const CLASSES =
  /^(?:Date|Map|Set|RegExp|URL|URLSearchParams|FormData|Headers|Request|Response|Error|AbortSignal|AbortController|ArrayBuffer|Uint8Array)$/

const isChoice = (wanted: Wanted): wanted is readonly string[] => Array.isArray(wanted)

const kindOfText = (text: string, wanted: Wanted | undefined): string => {
  if (text === '') return 'empty text'
  if (text.trim() === '') return 'blank text'
  if (wanted === undefined) return 'text'
  if (wanted === 'day' && DAY.test(text)) return 'a day that the calendar does not have'
  if (typeof wanted === 'string') return 'text of another form'
  if (!isChoice(wanted)) return NUMBER.test(text) ? 'a number as text' : 'text'
  const alike = text.trim().toLowerCase()
  return wanted.some((word) => word.toLowerCase() === alike) ? 'one of them in another case' : 'other text'
}

const kindOfNumber = (number: number, wanted: Wanted | undefined): string => {
  if (!Number.isFinite(number)) return String(number)
  if (typeof wanted === 'object' && !isChoice(wanted)) {
    const { above, from, to } = wanted
    if (above !== undefined && number <= above) return `${above} or less`
    if (from !== undefined && number < from) return `a number below ${from}`
    if (to !== undefined && number > to) return `a number above ${to}`
  }
  if (!Number.isInteger(number)) return 'a number with a fraction'
  return Number.isSafeInteger(number) ? 'a whole number' : 'a whole number too large to be exact'
}

const kindOfObject = (value: object): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if ('then' in value && typeof value.then === 'function') return 'a promise (is an await missing?)'
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (!CLASSES.test(name)) return 'an object'
  return /^[AE]/.test(name) ? `an ${name}` : `a ${name}`
}

/** Names the kind of a value for a report or an error, never the value; `wanted` makes the kind more precise. */
export const kindOfValue = (value: unknown, wanted?: Wanted): string => {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (typeof value === 'string') return kindOfText(value, wanted)
  if (typeof value === 'number') return kindOfNumber(value, wanted)
  if (typeof value !== 'object') return `a ${typeof value}`
  try {
    return kindOfObject(value)
  } catch {
    // A proxy that was revoked, or a getter that throws.
    return 'an object that cannot be read'
  }
}

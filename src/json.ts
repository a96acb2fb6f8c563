/** The result of reading a text as JSON. */
export type JsonReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

const MANY_DIGITS = /\d{16}/
const INTEGER = /^-?\d+$/
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

const isInexact = (digits: string): boolean => INTEGER.test(digits) && !Number.isSafeInteger(Number(digits))

/** Returns an unsafe integer as its text, `context.source`. Runtimes before 2024 do not pass `context`. */
const byReviver = (_: string, value: unknown, context?: { readonly source?: string }): unknown =>
  typeof value === 'number' && isInexact(context?.source ?? '') ? context?.source : value

const hasSource = JSON.parse('1', (_, __, context?: { readonly source?: string }) => context?.source) === '1'

const quoted = (json: string): string =>
  json.replace(STRING_OR_NUMBER, (token) => (isInexact(token) ? `"${token}"` : token))

/**
 * Parses JSON. An integer that a number cannot hold exactly becomes a string, so that no identifier is rounded. A
 * byte order mark is ignored. The result never contains the parser's error, which quotes the text.
 */
export const readJson = (text: string): JsonReading => {
  try {
    const json = text.trim()
    if (!MANY_DIGITS.test(json)) return { ok: true, value: JSON.parse(json) }
    return { ok: true, value: hasSource ? JSON.parse(json, byReviver) : JSON.parse(quoted(json)) }
  } catch {
    return { ok: false }
  }
}

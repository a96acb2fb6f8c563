/** The result of reading a text as JSON. */
export type JsonReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

const MANY_DIGITS = /\d{16}/
const INTEGER = /^-?\d+$/

/** Returns an unsafe integer as text. Without `context` (runtimes before 2024), the parsed JSON omits the integer. */
const byReviver = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source === undefined || INTEGER.test(source) ? source : value
}

/**
 * Parses JSON. An integer that a number cannot hold exactly becomes a string, so that no identifier is rounded. A
 * byte order mark is ignored. The result never contains the parser's error, which quotes the text.
 */
export const readJson = (text: string): JsonReading => {
  try {
    const json = text.trim()
    return { ok: true, value: JSON.parse(json, MANY_DIGITS.test(json) ? byReviver : undefined) }
  } catch {
    return { ok: false }
  }
}

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

/** A string, whose group is empty if its end is missing, or a bracket. */
const STRING_OR_BRACKET = /"[^"\\]*(?:\\.[^"\\]*)*("?)|[[\]{}]/gs
/** Texts that complete JSON that ends in or after a value, or after a comma, a name or a colon. */
const ENDS = ['', '0', '"":0', ':0']

/** Returns whether a text is the beginning of a JSON object or list whose end is missing. */
export const isCutJson = (text: string): boolean => {
  const closers: string[] = []
  let start = text
  for (const { 0: token, 1: quote, index } of text.matchAll(STRING_OR_BRACKET)) {
    if (quote === '') start = `${text.slice(0, index)}""`
    else if (token === '{' || token === '[') closers.unshift(token === '{' ? '}' : ']')
    else if (quote === undefined) closers.shift()
  }
  const whole = start.replace(/\b(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)$/, '0')
  return closers.length > 0 && ENDS.some((end) => readJson(`${whole}${end}${closers.join('')}`).ok)
}

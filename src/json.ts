export type JsonReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

const MANY_DIGITS = /\d{16}/
const INTEGER = /^-?\d+$/

/** Returns an unsafe integer as text, or omits it in runtimes from before 2024, which pass no `context`. */
const byReviver = (_: string, value: unknown, context?: { readonly source?: string }): unknown => {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value
  const source = context?.source
  return source === undefined || INTEGER.test(source) ? source : value
}

/**
 * Parses JSON. An unsafe integer becomes a string, so that no identifier is rounded. Ignores a byte order mark. The
 * result omits the parser's error, because that error quotes the text, which may be secret.
 */
export const readJson = (text: string): JsonReading => {
  try {
    const json = text.trim()
    return { ok: true, value: JSON.parse(json, MANY_DIGITS.test(json) ? byReviver : undefined) }
  } catch {
    return { ok: false }
  }
}

/** If JSON is cut off after a value, comma, name or colon, one of these texts plus closing brackets completes it. */
const ENDS = ['', '0', '"":0', ':0']

/** Returns whether a text is the beginning of a JSON object or list whose end is missing. */
export const isCutJson = (text: string): boolean => {
  const closers: string[] = []
  let string = -1
  for (const { 0: token, index } of text.matchAll(/\\.|["[\]{}]/gs)) {
    if (token === '"') string = string < 0 ? index : -1
    else if (string < 0 && (token === '{' || token === '[')) closers.push(token === '{' ? '}' : ']')
    else if (string < 0 && (token === '}' || token === ']')) closers.pop()
  }
  const start = string < 0 ? text : `${text.slice(0, string)}""`
  const whole = start.replace(/\b(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)$/, '0')
  const rest = closers.reverse().join('')
  return rest !== '' && ENDS.some((end) => readJson(whole + end + rest).ok)
}
